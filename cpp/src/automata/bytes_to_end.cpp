// How far the end of a rule is: breadth first from the end, against the edges; empty ones first.

#include <algorithm>
#include <deque>

#include "maskwright/automata/store.h"
#include "nfa.h"

namespace maskwright {

namespace {

struct Reverse {
  Position from;
  uint32_t bytes;
};

std::vector<std::vector<Reverse>> reversed(const Nfa& nfa) {
  std::vector<std::vector<Reverse>> edges(nfa.nodes.size());
  for (Position from = 0; from < nfa.nodes.size(); ++from) {
    for (const Position to : nfa.nodes[from].empty) edges[to].push_back({from, 0});
    for (const ByteEdge& edge : nfa.nodes[from].bytes) edges[edge.target].push_back({from, 1});
  }
  return edges;
}

}  // namespace

std::vector<uint32_t> bytes_to_end(const Nfa& nfa) {
  const auto is_more = [](const Nfa::Node& node) {
    return !node.calls.empty() || !node.tokens.empty();
  };
  if (std::ranges::any_of(nfa.nodes, is_more)) return {};
  const auto edges = reversed(nfa);
  std::vector<uint32_t> bytes(nfa.nodes.size(), kUnbounded);
  std::deque<Position> waiting;
  for (Position at = 0; at < nfa.nodes.size(); ++at) {
    if (nfa.nodes[at].ends_rule == kNone) continue;
    bytes[at] = 0;
    waiting.push_back(at);
  }
  while (!waiting.empty()) {
    const Position at = waiting.front();
    waiting.pop_front();
    for (const Reverse& edge : edges[at]) {
      const uint32_t more = bytes[at] + edge.bytes;
      if (more >= bytes[edge.from]) continue;
      bytes[edge.from] = more;
      if (edge.bytes == 0) {
        waiting.push_front(edge.from);
      } else {
        waiting.push_back(edge.from);
      }
    }
  }
  return bytes;
}

}  // namespace maskwright

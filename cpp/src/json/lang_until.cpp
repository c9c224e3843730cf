// An Aho-Corasick automaton over stops and excludes (Aho, Corasick 1975).
//
// A state is the longest suffix of the text so far that begins a stop or an exclude. A state at
// which an exclude ends is dead, one at which a stop ends accepts and has no arcs: the text is
// over. The row of a state is the row of its failure state, overlaid with its own children; rows
// name only code points that do not lead to the root.
#include "json/lang_until.h"

#include <algorithm>
#include <map>

namespace maskwright::langs {

namespace {

class AhoCorasick {
 public:
  AhoCorasick() { nodes_.emplace_back(); }

  void add(std::span<const uint32_t> word, bool stop) {
    uint32_t node = 0;
    for (const uint32_t code_point : word) {
      const auto [child, inserted] =
          nodes_[node].children.try_emplace(code_point, static_cast<uint32_t>(nodes_.size()));
      node = child->second;
      if (inserted) nodes_.emplace_back();
    }
    (stop ? nodes_[node].stop : nodes_[node].exclude) = true;
  }

  Dfa run(std::span<const CodeRange> alphabet, EagerBudget& budget) {
    const LangLimits& limits = budget.limits();
    std::vector<uint32_t> order{0};  // breadth first
    rows_.resize(nodes_.size());
    uint64_t arcs = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const uint32_t node = order[i];
      link(node);
      arcs += rows_[node].size();
      if (i > limits.max_states || arcs > limits.arcs()) limits.exceeded("a text with stops");
      for (const auto& [code_point, child] : nodes_[node].children) {
        nodes_[child].failure = node == 0 ? 0 : step(nodes_[node].failure, code_point);
        order.push_back(child);
      }
    }
    budget.charge(nodes_.size(), arcs);
    Dfa dfa;
    for (uint32_t node = 0; node < nodes_.size(); ++node) render(node, alphabet, dfa);
    return trim(dfa);
  }

 private:
  struct Node {
    std::map<uint32_t, uint32_t> children;
    uint32_t failure = 0;
    bool stop = false;
    bool exclude = false;
  };
  using Row = std::vector<std::pair<uint32_t, uint32_t>>;  // code point, target

  uint32_t step(uint32_t node, uint32_t code_point) const {
    const Row& row = rows_[node];
    const auto place = std::lower_bound(row.begin(), row.end(), std::pair{code_point, uint32_t{0}});
    return place != row.end() && place->first == code_point ? place->second : 0;
  }

  void link(uint32_t id) {
    Node& node = nodes_[id];
    const Row none;
    const Row& base = id == 0 ? none : rows_[node.failure];
    if (id != 0) {
      node.stop = node.stop || nodes_[node.failure].stop;
      node.exclude = node.exclude || nodes_[node.failure].exclude;
    }
    Row row;
    auto inherited = base.begin();
    for (const auto& child : node.children) {
      while (inherited != base.end() && inherited->first < child.first) row.push_back(*inherited++);
      if (inherited != base.end() && inherited->first == child.first) ++inherited;
      row.emplace_back(child.first, child.second);
    }
    row.insert(row.end(), inherited, base.end());
    rows_[id] = std::move(row);
  }

  void render(uint32_t id, std::span<const CodeRange> alphabet, Dfa& dfa) const {
    const Node& node = nodes_[id];
    dfa.add_state(node.stop && !node.exclude);
    if (node.stop || node.exclude) return;
    auto next = rows_[id].begin();
    const auto end = rows_[id].end();
    for (const CodeRange& range : alphabet) {
      uint32_t lo = range.lo;
      for (; next != end && next->first <= range.hi; ++next) {
        if (lo < next->first) dfa.add_arc(lo, next->first - 1, 0);
        dfa.add_arc(next->first, next->first, next->second);
        lo = next->first + 1;
      }
      if (lo <= range.hi) dfa.add_arc(lo, range.hi, 0);
    }
  }

  std::vector<Node> nodes_;
  std::vector<Row> rows_;
};

}  // namespace

Dfa text_until(std::span<const std::vector<uint32_t>> stops,
               std::span<const std::vector<uint32_t>> excludes, std::span<const CodeRange> alphabet,
               EagerBudget& budget) {
  AhoCorasick automaton;
  for (const auto& stop : stops) automaton.add(stop, true);
  for (const auto& exclude : excludes) automaton.add(exclude, false);
  return automaton.run(alphabet, budget);
}

}  // namespace maskwright::langs

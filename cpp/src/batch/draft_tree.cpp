#include "maskwright/batch/draft_tree.h"

#include <algorithm>
#include <mutex>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

using Links = std::span<const int64_t>;

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& message) {
  throw Error(ErrorKind::kDraftTree, code, what + message);
}

std::string node(int64_t index) { return "node " + std::to_string(index); }

void check_link(Links links, std::size_t from, const char* name, const std::string& what) {
  const auto last = static_cast<int64_t>(links.size()) - 1;
  if (links[from] >= -1 && links[from] <= last) return;
  refuse("draft-tree-link", what,
         std::string(name) + " of " + node(static_cast<int64_t>(from)) + " is " +
             std::to_string(links[from]) + "; expected a node from 0 to " + std::to_string(last) +
             ", or -1 for none");
}

// A node that lies on a loop; -1 if there is none. Takes away nodes that no link leads to until
// none is left, or only loops and what lies behind them.
int64_t find_loop(Links next_token, Links next_sibling) {
  const std::size_t n = next_token.size();
  std::vector<uint32_t> incoming(n, 0);
  for (const Links links : {next_token, next_sibling}) {
    for (const int64_t to : links) {
      if (to >= 0) ++incoming[static_cast<std::size_t>(to)];
    }
  }
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < n; ++i) {
    if (incoming[i] == 0) free.push_back(i);
  }
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (const int64_t to : {next_token[free[i]], next_sibling[free[i]]}) {
      if (to < 0) continue;
      const auto target = static_cast<std::size_t>(to);
      if (--incoming[target] == 0) free.push_back(target);
    }
  }
  if (free.size() == n) return -1;
  // Backwards along links between nodes that are left: each has one that leads to it.
  std::vector<int64_t> before(n, -1);
  int64_t at = -1;
  for (std::size_t i = 0; i < n; ++i) {
    if (incoming[i] == 0) continue;
    at = static_cast<int64_t>(i);
    for (const int64_t to : {next_token[i], next_sibling[i]}) {
      if (to >= 0) before[static_cast<std::size_t>(to)] = at;
    }
  }
  for (std::size_t i = 0; i < n; ++i) at = before[static_cast<std::size_t>(at)];
  return at;
}

}  // namespace

DraftTree::DraftTree(Links next_token, Links next_sibling, int64_t root, const std::string& what)
    : num_nodes_(static_cast<uint32_t>(next_token.size())) {
  const std::size_t n = next_token.size();
  if (next_sibling.size() != n) {
    refuse("draft-tree-sizes", what,
           "retrieve_next_token has " + std::to_string(n) + " nodes and retrieve_next_sibling " +
               std::to_string(next_sibling.size()) + "; give both one link for each node");
  }
  bool forwards = true;
  for (std::size_t i = 0; i < n; ++i) {
    check_link(next_token, i, "retrieve_next_token", what);
    check_link(next_sibling, i, "retrieve_next_sibling", what);
    const auto here = static_cast<int64_t>(i);
    for (const int64_t to : {next_token[i], next_sibling[i]}) {
      if (to >= 0 && to <= here) forwards = false;
    }
  }
  if (!forwards) {
    if (const int64_t at = find_loop(next_token, next_sibling); at >= 0) {
      refuse("draft-tree-loop", what,
             "the links lead from " + node(at) +
                 " back to itself; a tree has one way to each of its nodes");
    }
  }
  if (root < 0 || root >= static_cast<int64_t>(n)) {
    refuse("draft-tree-root", what,
           "the root position is " + std::to_string(root) + "; " +
               (n == 0 ? "the tree has no nodes"
                       : "expected a node from 0 to " + std::to_string(n - 1)));
  }
  list_visits(next_token, next_sibling, static_cast<uint32_t>(root), what);
}

void DraftTree::list_visits(Links next_token, Links next_sibling, uint32_t root,
                            const std::string& what) {
  std::vector<uint8_t> seen(num_nodes_, 0);
  std::vector<Visit> waiting;  // the top one is next; those of the root's siblings never come
  visits_.reserve(num_nodes_);
  const auto enqueue = [&](int64_t link, uint32_t depth) {
    if (link < 0) return;
    const auto to = static_cast<uint32_t>(link);
    if (seen[to] != 0) {
      refuse("draft-tree-shared-node", what,
             "two links lead to " + node(link) +
                 " below the root; a tree has one way to each of its nodes");
    }
    seen[to] = 1;
    waiting.push_back({to, depth});
  };
  enqueue(root, 0);
  while (!waiting.empty()) {
    const Visit visit = waiting.back();
    waiting.pop_back();
    visits_.push_back(visit);
    if (visit.depth != 0) enqueue(next_sibling[visit.node], visit.depth);
    enqueue(next_token[visit.node], visit.depth + 1);
  }
  for (uint32_t i = 0; i < num_nodes_; ++i) {
    if (seen[i] == 0) unreached_.push_back(i);
  }
}

bool traverse(const HeldMatcher& matcher, const DraftTree& tree, std::span<const int64_t> tokens,
              const BitmaskRows& bitmask, int64_t first, const Deadline& deadline,
              std::span<uint8_t> reached) {
  constexpr uint32_t kAlive = 0xFFFFFFFF;
  const HeldMatcher::Excursion excursion(matcher);
  std::vector<HeldMatcher::Excursion::Place> places;  // by depth, of the node visited last
  uint32_t refused = kAlive;                          // the depth of a refused token
  bool complete = true;
  for (const DraftTree::Visit visit : tree.visits()) {
    const auto row = bitmask.row(first + visit.node);
    if (visit.depth <= refused) refused = kAlive;
    if (complete && refused == kAlive && visit.depth != 0) {
      complete = !deadline.has_value() || std::chrono::steady_clock::now() < *deadline;
      excursion.go_back(places[visit.depth - 1]);
      if (!excursion.accept_token(tokens[visit.node])) refused = visit.depth;
    }
    if (!complete || refused != kAlive) {
      std::ranges::fill(row, 0U);
      continue;
    }
    places.resize(visit.depth);
    places.push_back(excursion.place());
    const bool ended = matcher.fill(row, true) == Matcher::Fill::kNone;
    if (!reached.empty()) reached[visit.node] = ended ? 0 : 1;
  }
  for (const uint32_t node : tree.unreached()) {
    std::ranges::fill(bitmask.row(first + node), 0U);
  }
  return complete;
}

bool traverse_draft_tree(Matcher& matcher, const DraftTree& tree, std::span<const int64_t> tokens,
                         const BitmaskRows& bitmask, const Deadline& deadline,
                         std::span<uint8_t> reached) {
  const std::lock_guard lock(matcher.grammar().mutex());
  const HeldMatcher held(matcher);
  if (!held.can_go_on()) {
    throw Error(ErrorKind::kMatcher, "matcher-terminated",
                "no token can follow: the matcher is terminated; check is_terminated() before "
                "giving it a draft, or roll back or reset it");
  }
  return traverse(held, tree, tokens, bitmask, 0, deadline, reached);
}

}  // namespace maskwright

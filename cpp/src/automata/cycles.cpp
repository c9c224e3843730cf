#include "cycles.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "maskwright/ir/ir.h"

namespace maskwright {

namespace {

class CycleFinder {
 public:
  explicit CycleFinder(const std::vector<std::vector<uint32_t>>& edges)
      : edges_(edges), on_stack_(edges.size(), false), low_(edges.size(), 0) {
    index_.assign(edges.size(), kNone);
    found_.member.assign(edges.size(), false);
  }

  Cycles find() {
    for (uint32_t root = 0; root < edges_.size(); ++root) {
      if (index_[root] == kNone) visit(root);
    }
    return std::move(found_);
  }

 private:
  void visit(uint32_t root) {
    std::vector<std::pair<uint32_t, std::size_t>> work{{root, 0}};
    while (!work.empty()) {
      auto& [node, edge] = work.back();
      if (edge == 0 && index_[node] == kNone) open(node);
      if (edge < edges_[node].size()) {
        const uint32_t next = edges_[node][edge++];
        if (index_[next] == kNone) {
          work.push_back({next, 0});
        } else if (on_stack_[next]) {
          low_[node] = std::min(low_[node], index_[next]);
        }
        continue;
      }
      const uint32_t done = node;
      work.pop_back();
      if (!work.empty()) low_[work.back().first] = std::min(low_[work.back().first], low_[done]);
      found_.order.push_back(done);
      if (low_[done] == index_[done]) close_component(done);
    }
  }

  void open(uint32_t node) {
    index_[node] = low_[node] = counter_++;
    stack_.push_back(node);
    on_stack_[node] = true;
  }

  void close_component(uint32_t root) {
    const bool alone = stack_.back() == root;
    uint32_t member = kNone;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      if (!alone || std::ranges::binary_search(edges_[member], member)) {
        found_.member[member] = true;
      }
    } while (member != root);
  }

  const std::vector<std::vector<uint32_t>>& edges_;
  Cycles found_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> index_, low_, stack_;
  uint32_t counter_ = 0;
};

}  // namespace

Cycles find_cycles(const std::vector<std::vector<uint32_t>>& edges) {
  if (std::ranges::any_of(edges, [](const auto& list) { return !list.empty(); })) {
    return CycleFinder(edges).find();
  }
  Cycles none{std::vector<bool>(edges.size(), false), std::vector<uint32_t>(edges.size())};
  std::iota(none.order.begin(), none.order.end(), 0);
  return none;
}

}  // namespace maskwright

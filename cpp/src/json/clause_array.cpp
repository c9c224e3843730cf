// Arrays of a clause: the conjunction of its nodes, place by place.
//
// An item is judged by the conjunction of what each node says of its place. In strict mode places
// that no node names are closed where some node names places and none says what else may come.
#include <algorithm>

#include "json/clause.h"
#include "json/clause_leaves.h"

namespace maskwright {

uint32_t ClauseTable::resolve_array(uint32_t options, const Leaves& leaves) {
  std::size_t longest = 0;
  bool says_rest = false;
  for (const uint32_t node : leaves.arrays) {
    const auto payload = ir_.node(node);
    longest = std::max<std::size_t>(longest, payload[0]);
    says_rest = says_rest || payload[payload.size() - 1] != kNone;
  }
  std::vector<uint32_t> nodes;
  const auto target_at = [&](std::size_t index) {
    nodes.clear();
    for (const uint32_t node : leaves.arrays) {
      const auto payload = ir_.node(node);
      const uint32_t item = index < payload[0] ? payload[1 + index] : payload[payload.size() - 1];
      if (item != kNone) nodes.push_back(item);
    }
    return target_of(options, nodes);
  };
  const bool closed = options_.get(options).strict && longest != 0 && !says_rest;
  std::vector<uint32_t> words{options, leaves.items.min, leaves.items.max,
                              closed ? kNone : target_at(longest)};
  for (std::size_t i = 0; i < longest; ++i) words.push_back(target_at(i));
  while (words.size() > 4 && words.back() == words[3]) words.pop_back();
  return arrays_.intern(words).id;
}

}  // namespace maskwright

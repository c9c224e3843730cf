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
  std::size_t named = 0;
  bool says_rest = false;
  for (const uint32_t word : leaves.arrays) {
    const auto payload = ir_.node(node_of(word));
    longest = std::max<std::size_t>(longest, payload[0]);
    if ((word & kSilent) != 0) continue;
    named = std::max<std::size_t>(named, payload[0]);
    says_rest = says_rest || payload[payload.size() - 1] != kNone;
  }
  for (const auto& rule : leaves.item_rules) {
    longest = std::max<std::size_t>(longest, std::size_t{rule.index} + 1);
  }
  const bool closed = options_.get(options).strict && named != 0 && !says_rest;
  if (closed) longest = named;
  std::vector<uint32_t> nodes;
  const auto target_at = [&](std::size_t index) {
    nodes.clear();
    for (const uint32_t word : leaves.arrays) {
      const auto payload = ir_.node(node_of(word));
      const uint32_t item = index < payload[0] ? payload[1 + index] : payload[payload.size() - 1];
      if (item != kNone) nodes.push_back(inherit(word, item));
    }
    for (const auto& rule : leaves.item_rules) {
      if (rule.index == index) nodes.push_back(rule.word);
    }
    return target_of(options, nodes);
  };
  std::vector<uint32_t> words{options, leaves.items.min, leaves.items.max,
                              closed ? kNone : target_at(longest)};
  for (std::size_t i = 0; i < longest; ++i) words.push_back(target_at(i));
  while (words.size() > 4 && words.back() == words[3]) words.pop_back();
  return arrays_.intern(words).id;
}

}  // namespace maskwright

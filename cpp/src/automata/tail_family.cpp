#include "tail_family.h"

#include <algorithm>
#include <array>

#include "maskwright/ir/ir.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

StateId TailFamily::make(std::vector<std::pair<uint32_t, SetId>> map) {
  std::ranges::sort(map);
  std::vector<uint32_t> content;
  for (std::size_t i = 0; i < map.size();) {
    std::vector<uint32_t> merged;
    const uint32_t callee = map[i].first;
    for (; i < map.size() && map[i].first == callee; ++i) {
      const auto set = store_.set(map[i].second);
      merged.insert(merged.end(), set.begin(), set.end());
    }
    make_set(merged);
    content.push_back(callee);
    content.push_back(store_.intern_set(merged));
  }
  return store_.intern(FamilyId::kTail, content);
}

StateId TailFamily::same() {
  const std::array<uint32_t, 1> content{kNone};
  return store_.intern(FamilyId::kTail, content);
}

SetId TailFamily::renamed(StateId state, SetId accepted) {
  const auto content = store_.content(state);
  if (content.size() == 1) return accepted;
  std::vector<uint32_t> returned;
  for (const uint32_t callee : store_.set(accepted)) {
    for (std::size_t i = 0; i < content.size(); i += 2) {
      if (content[i] != callee) continue;
      const auto set = store_.set(content[i + 1]);
      returned.insert(returned.end(), set.begin(), set.end());
    }
  }
  if (returned.empty()) return kEmptySet;
  make_set(returned);
  return store_.intern_set(returned);
}

Target TailFamily::resume(StateId state, Reg /*reg*/, SetId accepted, Reg /*returned*/,
                          RegisterPool& /*regs*/) {
  const SetId returned = renamed(state, accepted);
  return returned == kEmptySet ? Target{} : Target{store_.done(returned), 0};
}

StateId TailFamily::compose(StateId upper, StateId lower) {
  const auto content = store_.content(upper);
  std::vector<std::pair<uint32_t, SetId>> map;
  for (std::size_t i = 0; i < content.size(); i += 2) {
    const SetId returned = renamed(lower, content[i + 1]);
    if (returned != kEmptySet) map.push_back({content[i], returned});
  }
  return make(std::move(map));
}

}  // namespace maskwright

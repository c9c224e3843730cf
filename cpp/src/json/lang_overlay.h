// Several automata read side by side: the ranges of code points that none of them tells apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/json/lang.h"

namespace maskwright {

// Calls emit(lo, hi, targets) for each range of the arcs of `base`, cut where an arc of an operand
// begins or ends; targets[i] is kDeadLang where operand i has no arc. Arcs are sorted and disjoint.
// Cost: the ranges given out times the operands.
template <typename Emit>
void overlay(std::span<const Lang::Arc> base, std::span<const std::span<const Lang::Arc>> operands,
             const Emit& emit) {
  std::vector<std::size_t> at(operands.size(), 0);
  std::vector<uint32_t> targets(operands.size(), kDeadLang);
  for (const Lang::Arc& whole : base) {
    for (uint32_t lo = whole.lo; lo <= whole.hi;) {
      uint32_t hi = whole.hi;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto arcs = operands[i];
        while (at[i] < arcs.size() && arcs[at[i]].hi < lo) ++at[i];
        const bool later = at[i] == arcs.size() || arcs[at[i]].lo > lo;
        targets[i] = later ? kDeadLang : arcs[at[i]].target;
        if (!later) {
          hi = std::min(hi, arcs[at[i]].hi);
        } else if (at[i] < arcs.size()) {
          hi = std::min(hi, arcs[at[i]].lo - 1);
        }
      }
      emit(lo, hi, std::span<const uint32_t>(targets));
      lo = hi + 1;
    }
  }
}

}  // namespace maskwright

// The assertion nodes of a clause, by kind, with the bounds already merged.
#pragma once

#include <cstdint>
#include <vector>

#include "json/clause.h"

namespace maskwright {

struct Bounds {
  uint32_t min = 0;
  uint32_t max = kNone;
  void meet(uint32_t lo, uint32_t hi) {
    min = lo > min ? lo : min;
    max = hi < max ? hi : max;
  }
};

struct ClauseTable::Leaves {
  uint32_t types = kAllTypes;
  uint32_t literals = kEnumNull | kEnumFalse | kEnumTrue;
  Bounds length, items, members;
  std::vector<uint32_t> numbers, languages, enums, arrays, objects, required;
};

}  // namespace maskwright

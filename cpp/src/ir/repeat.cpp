#include "maskwright/ir/repeat.h"

#include <algorithm>

#include "maskwright/ir/ir.h"

namespace maskwright {

// k rounds of the outer repeat give the totals [k * inner.min, k * inner.max]; those of k and k + 1
// must touch, which is hardest for the smallest k. No round at all gives 0, which [inner.min, ...]
// must touch as well.
std::optional<RepeatBounds> join_nested(RepeatBounds outer, RepeatBounds inner) {
  if (outer.max == 0 || inner.max == 0) return RepeatBounds{0, 0};
  const uint64_t rounds = std::max(outer.min, 1U);
  const bool touch = outer.min == outer.max || inner.max == kNone ||
                     (rounds + 1) * inner.min <= rounds * inner.max + 1;
  const bool from_zero = outer.min != 0 || inner.min <= 1;
  const bool endless = outer.max == kNone || inner.max == kNone;
  const uint64_t min = uint64_t{outer.min} * inner.min;
  const uint64_t max = endless ? kNone : uint64_t{outer.max} * inner.max;
  const bool fits = min < kNone && (endless || max < kNone);
  if (!touch || !from_zero || !fits) return std::nullopt;
  return RepeatBounds{static_cast<uint32_t>(min), static_cast<uint32_t>(max)};
}

}  // namespace maskwright

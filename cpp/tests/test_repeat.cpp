// Repeats of repeats against the totals that they can reach, for all small bounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "maskwright/ir/ir.h"
#include "maskwright/ir/repeat.h"

namespace maskwright {

namespace {

constexpr uint32_t kFar = 40;  // totals beyond are not told apart

std::vector<RepeatBounds> small_bounds() {
  std::vector<RepeatBounds> all;
  for (uint32_t min = 0; min < 5; ++min) {
    for (uint32_t max = min; max < 5; ++max) all.push_back({min, max});
    all.push_back({min, kNone});
  }
  return all;
}

std::set<uint32_t> totals(RepeatBounds outer, RepeatBounds inner) {
  std::set<uint32_t> result;
  std::set<uint32_t> now{0};
  for (uint32_t round = 0; round <= std::min(outer.max, kFar); ++round) {
    if (round >= outer.min) result.insert(now.begin(), now.end());
    std::set<uint32_t> next;
    for (const uint32_t total : now) {
      for (uint32_t add = inner.min; add <= inner.max && total + add <= kFar; ++add) {
        next.insert(total + add);
      }
    }
    now = next;
  }
  return result;
}

}  // namespace

TEST_CASE("a repeat of repeats is one repeat iff its totals have no gap") {
  for (const RepeatBounds outer : small_bounds()) {
    for (const RepeatBounds inner : small_bounds()) {
      CAPTURE(outer.min);
      CAPTURE(outer.max);
      CAPTURE(inner.min);
      CAPTURE(inner.max);
      const std::set<uint32_t> expected = totals(outer, inner);
      const bool gapless = *expected.rbegin() - *expected.begin() + 1 == expected.size();
      const auto joined = join_nested(outer, inner);
      REQUIRE(joined.has_value() == gapless);
      if (!joined) continue;
      CHECK(joined->min == *expected.begin());
      CHECK(std::min(joined->max, kFar) == *expected.rbegin());
    }
  }
}

TEST_CASE("totals beyond 32 bits are not joined") {
  CHECK(!join_nested({65536, 65536}, {65536, 65536}));
  CHECK(!join_nested({0, 65536}, {0, 65536}));
  CHECK(join_nested({0, kNone}, {0, 65536})->max == kNone);
}

}  // namespace maskwright

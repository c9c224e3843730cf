// The arithmetic of items against trying out all short arrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "json/item_rules.h"

namespace maskwright {

namespace {

// Whether some choice of cells for further items, at most `most` of them, completes the array.
bool can_be_completed(const ItemRules& rules, uint32_t count, const std::vector<uint32_t>& found,
                      uint32_t most) {
  if (rules.can_end(count, found)) return true;
  if (most == 0 || count >= rules.max) return false;
  for (uint32_t cell = 0; cell < 1U << rules.contains.size(); ++cell) {
    if ((rules.cells(count) >> cell & 1) == 0) continue;
    std::vector<uint32_t> next = found;
    bool fits = true;
    for (std::size_t k = 0; k < next.size(); ++k) {
      next[k] += cell >> k & 1;
      fits = fits && next[k] <= rules.contains[k].max;
    }
    if (fits && can_be_completed(rules, count + 1, next, most - 1)) return true;
  }
  return false;
}

ItemRules random_rules(std::mt19937& rng, uint32_t conditions) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  ItemRules rules;
  rules.min = below(4);
  if (below(2) == 0) rules.max = below(5);
  uint32_t longest = below(3);
  for (uint32_t k = 0; k < conditions; ++k) {
    ItemCount count{below(3) == 0 ? below(3) : 0, below(3), kUnbounded};
    if (below(2) == 0) count.max = below(4);
    longest = std::max(longest, count.from);
    rules.contains.push_back(count);
  }
  const uint32_t all = 1U << (1U << conditions);
  for (uint32_t index = 0; index < longest; ++index) {
    uint64_t cells = below(all);
    for (uint32_t cell = 0; cell < 1U << conditions; ++cell) {
      for (uint32_t k = 0; k < conditions; ++k) {
        const bool early = index < rules.contains[k].from && (cell >> k & 1) != 0;
        if (early) cells &= ~(uint64_t{1} << cell);
      }
    }
    rules.prefix.push_back(cells);
  }
  rules.rest = below(all);
  return rules;
}

TEST_CASE("item rules agree with trying") {
  std::mt19937 rng(7);
  uint32_t completable = 0;
  for (int round = 0; round < 3000; ++round) {
    const uint32_t conditions = static_cast<uint32_t>(rng() % 3);
    const ItemRules rules = random_rules(rng, conditions);
    for (uint32_t count = 0; count < 3; ++count) {
      std::vector<uint32_t> found(conditions);
      bool possible = count <= rules.max;
      for (uint32_t k = 0; k < conditions; ++k) {
        found[k] = static_cast<uint32_t>(rng() % (count + 1));
        possible = possible && found[k] <= rules.contains[k].max;
      }
      const bool expected = possible && can_be_completed(rules, count, found, 8);
      CHECK(rules.can_complete(count, found) == expected);
      completable += expected ? 1 : 0;
    }
  }
  CHECK(completable > 1000);
  CHECK(completable < 8000);
}

TEST_CASE("item rules count far") {
  ItemRules rules;
  rules.max = 1000000;
  rules.contains = {{0, 400000, 500000}};
  rules.rest = 3;
  const std::vector<uint32_t> none{0};
  const std::vector<uint32_t> some{399999};
  CHECK(rules.can_complete(600000, none));
  CHECK(!rules.can_complete(600001, none));
  CHECK(rules.can_complete(999999, some));
  CHECK(!rules.can_take(999999, some, 0));
  CHECK(rules.can_take(999999, some, 1));
  CHECK(!rules.can_complete(1000000, some));
}

}  // namespace
}  // namespace maskwright

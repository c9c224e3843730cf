#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "maskwright/matcher/mask_table.h"

using maskwright::kNoMaskId;
using maskwright::MaskIds;
using maskwright::MaskTable;

TEST_CASE("equal masks have one id, up to the limit") {
  constexpr uint32_t kWords = 40;
  MaskTable table(kWords, 2000);
  std::vector<uint32_t> mask(kWords);
  std::vector<maskwright::MaskId> ids;
  for (uint32_t i = 0; i < 20; ++i) {
    mask[i] = i + 1;
    ids.push_back(table.id_of(mask));
    CHECK(table.id_of(mask) == ids.back());
    CHECK(table.memory_bytes() <= table.limit_bytes());
  }
  const auto kept = static_cast<std::size_t>(table.size());
  CHECK(kept > 2);
  CHECK(kept < 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(ids[i] == (i < kept ? static_cast<maskwright::MaskId>(i) : kNoMaskId));
  }
  std::ranges::fill(mask, 0U);
  mask[0] = 1;
  CHECK(table.id_of(mask) == 0);
  CHECK(std::ranges::equal(table.mask(0), mask));
  CHECK(table.mask(-1).empty());
  CHECK(table.mask(static_cast<int64_t>(kept)).empty());
}

TEST_CASE("a grammar remembers ids by what decides the mask") {
  const auto table = std::make_shared<MaskTable>(2, 10000);
  MaskIds first(table), second(table);
  const std::vector<uint32_t> key{1, 2}, other{1, 3}, mask{5, 6};
  CHECK_FALSE(first.find(key).has_value());
  CHECK(first.keep(key, mask) == 0);
  CHECK(first.find(key) == 0);
  CHECK(first.keep(other, mask) == 0);
  CHECK_FALSE(second.find(key).has_value());
  CHECK(second.keep(key, std::vector<uint32_t>{7, 8}) == 1);
  CHECK(first.size() == 2);
  CHECK(table->size() == 2);
}

TEST_CASE("masks without words have an id as well") {
  MaskTable table(0, 10000);
  CHECK(table.id_of({}) == 0);
  CHECK(table.id_of({}) == 0);
  CHECK(table.size() == 1);
}

TEST_CASE("masks of one text are kept in half of the room") {
  MaskTable all(2, 10000);
  uint32_t most = 0;
  while (all.id_of(std::vector<uint32_t>{most, 1}) != kNoMaskId) ++most;
  MaskTable table(2, 10000);
  uint32_t kept = 0;
  constexpr auto kHalf = MaskTable::Room::kHalf;
  while (table.id_of(std::vector<uint32_t>{kept, 1}, kHalf) != kNoMaskId) ++kept;
  CHECK(kept == most / 2);
  for (uint32_t i = kept; i < most; ++i) {
    CHECK(table.id_of(std::vector<uint32_t>{i, 1}) == static_cast<maskwright::MaskId>(i));
    CHECK(table.id_of(std::vector<uint32_t>{i, 1}, kHalf) == static_cast<maskwright::MaskId>(i));
  }
  CHECK(table.id_of(std::vector<uint32_t>{most, 1}) == kNoMaskId);
}

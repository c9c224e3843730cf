#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "maskwright/mask/shared_masks.h"

using maskwright::ByteLedger;
using maskwright::SharedMask;
using maskwright::SharedMaskRef;
using maskwright::SharedMasks;
using maskwright::Vocabulary;

namespace {

std::shared_ptr<const Vocabulary> letters() {
  return std::make_shared<const Vocabulary>(std::vector<std::string>{"a", "b"}, 2,
                                            std::vector<uint32_t>{}, std::vector<uint32_t>{});
}

std::shared_ptr<SharedMask> mask_of(uint32_t name, uint32_t num_ids = 100) {
  auto mask = std::make_shared<SharedMask>();
  mask->key = {1, name};
  mask->ids.assign(num_ids, 0);
  return mask;
}

}  // namespace

TEST_CASE("a mask is found by its whole key") {
  SharedMasks masks(letters(), SharedMasks::kUnlimited);
  const SharedMaskRef kept = masks.keep(mask_of(7));
  CHECK(masks.find(std::vector<uint32_t>{1, 7}) == kept);
  CHECK(masks.find(std::vector<uint32_t>{1, 8}) == nullptr);
  CHECK(masks.find(std::vector<uint32_t>{1}) == nullptr);
  CHECK(masks.keep(mask_of(7)) == kept);
  CHECK(masks.stats().entries == 1);
  CHECK(masks.stats().hits == 1);
  CHECK(masks.stats().misses == 2);
}

TEST_CASE("equal lists have one number, others have others, also once they are gone") {
  SharedMasks masks(letters(), 2000);
  const std::vector<uint32_t> content{5, 0};
  const uint64_t number = masks.list(content)->number;
  CHECK(masks.list(content)->number == number);
  CHECK(masks.list(std::vector<uint32_t>{6, 0})->number != number);
  for (uint32_t name = 0; name < 50; ++name) masks.keep(mask_of(name));
  CHECK(masks.list(content)->number > number + 1);
}

TEST_CASE("the limit holds, and what is in use stays") {
  const auto ledger = std::make_shared<ByteLedger>();
  {
    SharedMasks masks(letters(), 5000, ledger);
    std::vector<SharedMaskRef> used{masks.keep(mask_of(0))};
    for (uint32_t name = 1; name < 50; ++name) {
      CHECK(masks.keep(mask_of(name)) != nullptr);
      CHECK(masks.bytes() <= 5000);
      CHECK(ledger->bytes() == masks.bytes());
    }
    CHECK(masks.find(std::vector<uint32_t>{1, 0}) == used[0]);
    CHECK(masks.find(std::vector<uint32_t>{1, 1}) == nullptr);
    CHECK(masks.stats().evictions > 40);
    for (uint32_t name = 100; name < 150; ++name) {
      if (SharedMaskRef kept = masks.keep(mask_of(name))) used.push_back(std::move(kept));
    }
    CHECK(used.size() < 20);
    CHECK(masks.keep(mask_of(200)) == nullptr);
    used.clear();
    CHECK(masks.keep(mask_of(200)) != nullptr);
    CHECK(masks.keep(mask_of(300, 5000)) == nullptr);
  }
  CHECK(ledger->bytes() == 0);
}

TEST_CASE("a store takes what lies below it, which takes nothing more") {
  const auto vocabulary = letters();
  const auto ledger = std::make_shared<ByteLedger>();
  const auto below = std::make_shared<SharedMasks>(vocabulary, SharedMasks::kUnlimited);
  const SharedMaskRef kept = below->keep(mask_of(7));
  const std::vector<uint32_t> content{5, 0}, other{6, 0};
  const SharedMaskRef list = below->list(content);
  SharedMasks masks(vocabulary, SharedMasks::kUnlimited, ledger, below);
  CHECK(masks.find(std::vector<uint32_t>{1, 7}) == kept);
  CHECK(masks.keep(mask_of(7)) == kept);
  CHECK(masks.list(content) == list);
  CHECK(masks.stats().entries == 0);
  CHECK(ledger->bytes() == 0);
  CHECK(masks.list(other)->number > list->number);
  CHECK(masks.keep(mask_of(8)) != nullptr);
  CHECK(masks.stats().entries == 2);
  CHECK(below->keep(mask_of(8)) == nullptr);
  CHECK(below->list(other) == nullptr);
  CHECK(below->keep(mask_of(7)) == kept);
  CHECK(below->stats().entries == 2);
}

TEST_CASE("what lies below is of the same vocabulary") {
  const auto below = std::make_shared<SharedMasks>(letters(), SharedMasks::kUnlimited);
  CHECK_THROWS_AS(SharedMasks(letters(), SharedMasks::kUnlimited, nullptr, below),
                  std::invalid_argument);
}

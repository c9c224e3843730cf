// Dropping the newest contents: as if they had never been there.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "maskwright/support/interner.h"

namespace {

using maskwright::WordInterner;
using Words = std::vector<uint32_t>;

Words random_words(std::mt19937& random) {
  Words words(random() % 5 == 0 ? random() % 300 : random() % 4);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random() % 50);
  return words;
}

void check(const WordInterner& interner, const std::vector<Words>& wanted) {
  REQUIRE(interner.size() == wanted.size());
  for (uint32_t id = 0; id < wanted.size(); ++id) {
    const auto words = interner.get(id);
    REQUIRE(Words(words.begin(), words.end()) == wanted[id]);
    REQUIRE(interner.find(wanted[id]) == id);
  }
}

TEST_CASE("an interner that is truncated again and again") {
  std::mt19937 random(5);
  WordInterner interner;
  std::vector<Words> wanted;
  for (int round = 0; round < 60; ++round) {
    std::vector<Words> dropped;
    for (auto n = random() % (round % 7 == 0 ? 3000U : 60U); n > 0; --n) {
      const Words words = random_words(random);
      const auto [id, inserted] = interner.intern(words);
      if (inserted) wanted.push_back(words);
      REQUIRE(wanted[id] == words);
    }
    const auto size = static_cast<uint32_t>(random() % (wanted.size() + 1));
    dropped.assign(wanted.begin() + static_cast<std::ptrdiff_t>(size), wanted.end());
    wanted.resize(size);
    interner.truncate(size);
    for (const Words& words : dropped) REQUIRE(interner.find(words) == WordInterner::kMissing);
    check(interner, wanted);
  }
}

TEST_CASE("a truncated interner gives memory back") {
  std::mt19937 random(6);
  WordInterner interner;
  interner.intern(Words{1});
  const std::size_t before = interner.memory_bytes();
  for (int n = 0; n < 50000; ++n) interner.intern(random_words(random));
  CHECK(interner.memory_bytes() > 50 * before);
  interner.truncate(1);
  CHECK(interner.memory_bytes() < 3 * before);
  check(interner, {Words{1}});
}

}  // namespace

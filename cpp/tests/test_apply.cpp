#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "maskwright/mask/apply.h"

using maskwright::LogitType;

namespace {

// Words that allow all, none, all but a few and a mixture, in runs.
std::vector<uint32_t> random_words(std::size_t count, std::mt19937& random) {
  std::vector<uint32_t> words;
  while (words.size() < count) {
    const auto kind = random() % 5;
    for (auto left = 1 + random() % 3; left != 0 && words.size() < count; --left) {
      const auto one = 1U << random() % 32;
      const uint32_t few = ~(one | 1U << random() % 32 | 1U << random() % 32 | 1U << random() % 32);
      const uint32_t choices[] = {0xFFFFFFFF, 0, few, static_cast<uint32_t>(random()), one};
      words.push_back(choices[kind]);
    }
  }
  return words;
}

template <typename Element>
void check_rows(LogitType type, Element minus_infinity) {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 31, 32, 33, 64, 97, 500, 1000}) {
    for (const std::size_t vocab : {size, size / 2, size - size % 32, std::size_t{0}}) {
      // Exactly as long as they must be, so that a sanitizer sees every step too far.
      const auto bits = random_words((vocab + 31) / 32, random);
      std::vector<Element> logits(size);
      for (Element& logit : logits) logit = static_cast<Element>(random());
      std::vector<Element> expected = logits;
      for (std::size_t i = 0; i < size; ++i) {
        const bool allowed = i < vocab && (bits[i / 32] >> i % 32 & 1) != 0;
        if (!allowed) expected[i] = minus_infinity;
      }
      maskwright::apply_bitmask_row(logits.data(), type, size, bits.data(), vocab);
      CHECK(logits == expected);
    }
  }
}

}  // namespace

TEST_CASE("exactly the masked logits become minus infinity") {
  check_rows<uint32_t>(LogitType::kFloat32, 0xFF800000U);
  check_rows<uint16_t>(LogitType::kFloat16, 0xFC00);
  check_rows<uint16_t>(LogitType::kBFloat16, 0xFF80);
}

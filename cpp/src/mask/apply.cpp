#include "maskwright/mask/apply.h"

#include <algorithm>
#include <array>
#include <bit>

namespace maskwright {

namespace {

constexpr uint32_t kAllowAll = 0xFFFFFFFF;

// The bit of each element of a word, so that a vector register tests several at once.
constexpr auto kBits = [] {
  std::array<uint32_t, 32> bits{};
  for (uint32_t i = 0; i < bits.size(); ++i) bits[i] = 1U << i;
  return bits;
}();

// Without branches, and 32 elements for every type: the compiler vectorises this (shorter loops it
// would unroll before it gets to that).
template <typename Element>
void apply_word(Element* out, Element minus_infinity, uint32_t word) {
  for (uint32_t i = 0; i < kBits.size(); ++i) {
    out[i] = (word & kBits[i]) != 0 ? out[i] : minus_infinity;
  }
}

// At most four bits are set. Those that are masked alone then cost a line of the cache each, and
// not both lines of a word.
bool is_few(uint32_t bits) {
  for (int i = 0; i < 4; ++i) bits &= bits - 1;
  return bits == 0;
}

// -inf by bit pattern, so that the 16-bit types need no arithmetic.
template <typename Element>
void apply_row(Element* logits, Element minus_infinity, std::size_t row_size, const uint32_t* bits,
               std::size_t vocab_size) {
  const uint32_t* const end = bits + vocab_size / 32;
  Element* out = logits;
  for (const uint32_t* word = bits; word != end; ++word, out += 32) {
    if (*word == kAllowAll) continue;
    if (*word == 0) {
      std::fill_n(out, 32, minus_infinity);
    } else if (uint32_t refused = ~*word; is_few(refused)) {
      for (; refused != 0; refused &= refused - 1) out[std::countr_zero(refused)] = minus_infinity;
    } else {
      apply_word(out, minus_infinity, *word);
    }
  }
  for (uint32_t i = 0; i < vocab_size % 32; ++i) {
    if ((*end >> i & 1) == 0) out[i] = minus_infinity;
  }
  std::fill(logits + vocab_size, logits + row_size, minus_infinity);
}

}  // namespace

void apply_bitmask_row(void* logits, LogitType type, std::size_t row_size, const uint32_t* bits,
                       std::size_t vocab_size) {
  switch (type) {
    case LogitType::kFloat32:
      apply_row(static_cast<uint32_t*>(logits), 0xFF800000U, row_size, bits, vocab_size);
      break;
    case LogitType::kFloat16:
      apply_row(static_cast<uint16_t*>(logits), uint16_t{0xFC00}, row_size, bits, vocab_size);
      break;
    case LogitType::kBFloat16:
      apply_row(static_cast<uint16_t*>(logits), uint16_t{0xFF80}, row_size, bits, vocab_size);
      break;
  }
}

}  // namespace maskwright

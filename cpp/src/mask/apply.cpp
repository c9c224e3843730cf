#include "maskwright/mask/apply.h"

#include <algorithm>

namespace maskwright {

namespace {

// -inf by bit pattern, so that the 16-bit types need no arithmetic.
template <typename Word>
void apply_row(Word* logits, Word minus_infinity, uint32_t row_size, const uint32_t* bits,
               uint32_t vocab_size) {
  const uint32_t limit = std::min(row_size, vocab_size);
  for (uint32_t begin = 0; begin < limit; begin += 32) {
    const uint32_t word = bits[begin / 32];
    if (word == 0xFFFFFFFF) continue;
    const uint32_t count = std::min<uint32_t>(32, limit - begin);
    Word* out = logits + begin;
    for (uint32_t i = 0; i < count; ++i) {
      out[i] = (word >> i & 1U) != 0 ? out[i] : minus_infinity;
    }
  }
  std::fill(logits + limit, logits + row_size, minus_infinity);
}

}  // namespace

void apply_bitmask_row(void* logits, LogitType type, uint32_t row_size, const uint32_t* bits,
                       uint32_t vocab_size) {
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

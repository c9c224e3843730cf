// Applying a token bitmask to logits: masked entries become -inf. Plain loops that the compiler
// vectorises; a row of all ones costs one pass over the mask words.
#pragma once

#include <cstdint>

namespace maskwright {

enum class LogitType : uint8_t { kFloat32, kFloat16, kBFloat16 };

// One row: `bits` covers at least `vocab_size` tokens; the entries at and beyond it, up to
// `row_size`, are masked too (padding of the logits).
void apply_bitmask_row(void* logits, LogitType type, uint32_t row_size, const uint32_t* bits,
                       uint32_t vocab_size);

}  // namespace maskwright

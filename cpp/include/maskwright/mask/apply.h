// Applying a token bitmask to logits: masked entries become -inf.
//
// Idea: by words of 32 tokens. Words that allow all are skipped, words that allow none are written
// without being read, the others go through a loop that the compiler vectorises, or bit by bit if
// few are refused. Cost: where little is allowed, what writing the row costs; where nearly all is,
// a pass over the words of the mask.
#pragma once

#include <cstddef>
#include <cstdint>

namespace maskwright {

enum class LogitType : uint8_t { kFloat32, kFloat16, kBFloat16 };

// One row: `bits` covers at least `vocab_size` tokens; the entries at and beyond it, up to
// `row_size`, are masked too (padding of the logits).
void apply_bitmask_row(void* logits, LogitType type, std::size_t row_size, const uint32_t* bits,
                       std::size_t vocab_size);

}  // namespace maskwright

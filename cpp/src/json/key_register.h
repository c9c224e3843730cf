// The register of a KeyFamily state as words: doubts, then one bit per label (strings.h). Bits
// behind the end are 0. A mask walk's register may have as many words again: a bit per listed name
// of which it doesn't know whether it is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "json/key_lang.h"

namespace maskwright::key_register {

using Words = std::span<const uint32_t>;

inline bool is_unsure(Words reg) { return !reg.empty() && (reg[0] & 1) != 0; }

// In a mask walk: whatever is read can become an unlisted name, and there are bits of unknown
// names.
inline constexpr uint32_t kHasUnknown = 1U << 31;

// How many names at most are refused that are not known.
inline uint32_t refused_at_most(Words reg) { return reg.empty() ? 0 : (reg[0] & ~kHasUnknown) / 2; }

inline bool is_allowed(Words reg, uint32_t label) {
  const std::size_t word = label / 32 + 1;
  return word < reg.size() && (reg[word] >> (label % 32) & 1) != 0;
}

// It is not known whether the name is allowed; else is_allowed() says.
inline bool is_unknown_name(Words reg, uint32_t key) {
  if (reg.empty() || (reg[0] & kHasUnknown) == 0) return false;
  const std::size_t word = (reg.size() - 1) / 2 + 1 + key / 32;
  return (reg[word] >> (key % 32) & 1) != 0;
}

// Makes all listed names of the register unknown but those in `known`, which are sorted.
inline std::vector<uint32_t> with_unknown(Words reg, uint32_t num_listed, uint32_t num_labels,
                                          std::span<const uint32_t> known) {
  const std::size_t words = (std::size_t{num_labels} + 31) / 32;
  std::vector<uint32_t> out(1 + 2 * words, 0);
  std::ranges::copy(reg.first(std::min(reg.size(), words + 1)), out.begin());
  out[0] |= kHasUnknown;
  for (uint32_t key = 0; key < num_listed; ++key) {
    if (!known.empty() && known.front() == key) {
      known = known.subspan(1);
      continue;
    }
    out[1 + key / 32] |= 1U << key % 32;
    out[1 + words + key / 32] |= 1U << key % 32;
  }
  return out;
}

// The allowed bits of a range that lie in the word.
inline uint32_t bit_word(Words reg, uint32_t index, KeyRange range) {
  if (index + 1 >= reg.size()) return 0;
  uint32_t word = reg[index + 1];
  if (index == range.lo / 32) word &= 0xFFFFFFFFU << (range.lo % 32);
  if (index == (range.hi - 1) / 32) word &= 0xFFFFFFFFU >> (31 - (range.hi - 1) % 32);
  return word;
}

inline bool any_allowed(Words reg, KeyRange range) {
  if (range.empty()) return false;
  const uint32_t last = (range.hi - 1) / 32;
  for (uint32_t index = range.lo / 32; index <= last; ++index) {
    if (bit_word(reg, index, range) != 0) return true;
  }
  return false;
}

}  // namespace maskwright::key_register

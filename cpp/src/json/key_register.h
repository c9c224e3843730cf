// The register of a KeyFamily state as words: doubts, then one bit per label (strings.h). Bits
// behind the end are 0.
#pragma once

#include <cstdint>
#include <span>

#include "json/key_lang.h"

namespace maskwright::key_register {

using Words = std::span<const uint32_t>;

inline bool is_unsure(Words reg) { return !reg.empty() && (reg[0] & 1) != 0; }

// How many names at most are refused that are not known.
inline uint32_t refused_at_most(Words reg) { return reg.empty() ? 0 : reg[0] / 2; }

inline bool is_allowed(Words reg, uint32_t label) {
  const std::size_t word = label / 32 + 1;
  return word < reg.size() && (reg[word] >> (label % 32) & 1) != 0;
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

// What a vocabulary can spell of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "json/exponent_set.h"
#include "json/lang_chars.h"
#include "json/lang_dfa.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct NumberAlphabet {
  static constexpr int32_t kMaxExponent = 400;

  std::string chars;         // sorted
  bool has_digits = false;   // all of them
  bool complete = false;     // all digits and the point
  int32_t min = 0, max = 0;  // of exponents
  ExponentSet written;       // exponents that can be written

  NumberAlphabet(std::span<const CodeRange> ascii, bool exponents);
  bool has(char c) const { return chars.find(c) != std::string::npos; }
  std::size_t memory_bytes() const { return heap_bytes(chars, written); }
};

// The JSON grammar of numbers, with all exponents.
Dfa any_number(const NumberAlphabet& alphabet);

}  // namespace maskwright::langs

// What a schema asks of a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

// Between two bounds; they are plain decimals.
struct NumberRange {
  bool has_lo = false, has_hi = false, lo_exclusive = false, hi_exclusive = false;
  std::string lo, hi;

  std::size_t memory_bytes() const { return heap_bytes(lo, hi); }
};

// How numbers are written.
enum class NumberSpelling : uint8_t {
  kAny,      // as JSON has it
  kDecimal,  // without exponent; plain where the numbers are integers by their type or by their
             // list
  kPlain,    // one spelling each: no exponent, no zeros at the end of a fraction, no "-0"
};

// All of it must hold. Numbers are JSON spellings without leading zeros: "-12.5", "3e-7".
struct NumberSpec {
  bool integer = false;                                     // 1, 1.0 and 10e-1 are integers
  bool fractional = false;                                  // no integer
  std::vector<NumberRange> within, outside;                 // in each of these, in none of those
  std::vector<std::string> multiples_of, not_multiples_of;  // of each, of none; positive
  bool has_values = false;                                  // only `values`
  std::vector<std::string> values, excluded;
  NumberSpelling spelling = NumberSpelling::kAny;

  std::size_t memory_bytes() const {
    return heap_bytes(within, outside, multiples_of, not_multiples_of, values, excluded);
  }
};

// The value of a JSON number of any length and exponent as its one normal form: "0", or the digits
// without zeros around them and an exponent, as in "-125e-1"; equal values have equal forms.
std::string canonical_number(const std::string& text);

}  // namespace maskwright

// The digits of a number of one sign, read against what a NumberSet says of that sign.
//
// Idea: a mantissa may still be scaled by any exponent, so what is kept of its digits is what
// decides the set at *every* exponent, and no more: where the digits stand among those of the
// bounds and of single values, the magnitude of the first digit, the place of the last digit that
// is not zero, and residues modulo each divisor. From these the exponents with which the number is
// in the set are computed exactly. All counts are clipped where more of them changes nothing at any
// exponent, so readings are finitely many, and a long number goes through few of them.
//
// Whether digits can still be completed is decided in closed form too: what follows the digits D
// of the integer part reaches exactly the decimals in [D, D + 1) * 10^j, for all j from the least
// exponent on; behind the point j is at most the greatest exponent minus the digits there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/exponent_set.h"
#include "json/number_set.h"
#include "json/significands.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

struct Residue {
  uint64_t prime = 0;    // of the digits, modulo the divisor's prime part
  uint64_t power = 0;    // of the digits, modulo its power
  uint32_t factors = 0;  // of the digits up to the last that is not zero
  bool operator==(const Residue& other) const = default;
};

// What was read behind the sign.
struct Reading {
  bool significant = false;  // some digit was not zero; else only `fraction` is in use
  int64_t magnitude = 0;     // the number is 0.d1d2d3... * 10^magnitude
  int64_t fraction = 0;      // digits behind the point
  int64_t last = 0;          // the exponent of ten at the last digit that is not zero
  Significands::Place bounds, points;
  std::vector<Residue> residues;  // per divisor
  bool operator==(const Reading& other) const = default;
  std::size_t memory_bytes() const { return heap_bytes(residues); }
};

class NumberSide {
 public:
  // Exponents from `min_exponent` <= 0 up to `max_exponent` >= 0; `set` outlives this.
  NumberSide(const NumberSet& set, bool negative, int32_t min_exponent, int32_t max_exponent);

  Reading start() const;
  Reading whole_digit(Reading reading, char digit) const;
  Reading point(Reading reading) const;
  Reading fraction_digit(Reading reading, char digit) const;

  // The exponents with which the number that was read is in the set.
  ExponentSet exponents(const Reading& reading) const;
  // Of a set that is a list: the one of its values that the number is with this exponent.
  Decimal value(const Reading& reading, int64_t exponent) const;
  // ... all values that begin with its digits; nothing if there are more than `most`.
  std::vector<Decimal> values_of(const Reading& reading, uint32_t most) const;
  // Can the number be completed? `digits` are all that were read, `fraction` of them behind the
  // point; `more_whole`: further digits of the integer part may follow; `to_others`: only to
  // numbers that differ from the one read.
  bool can_go_on(const std::string& digits, int64_t fraction, bool more_whole,
                 bool to_others) const;
  // True only if it can be, to others too, told without the digits; in most cases where it can.
  bool goes_on_anyway(const Reading& reading, bool more_whole) const;
  bool is_possible(bool besides_zero) const;
  std::size_t memory_bytes() const { return heap_bytes(bounds_, points_, intervals_, divisors_); }

 private:
  struct Bound {
    enum Kind : uint8_t { kBelowAll, kAboveAll, kCut } kind;
    bool behind;
    uint32_t entry;
    int64_t magnitude;
  };

  Bound bound_of(const Cut& cut) const;
  int64_t first_exponent_above(const Bound& bound, const Reading& reading) const;
  int64_t first_multiple(std::size_t divisor, const Reading& reading) const;
  void compare_digit(Reading& reading, char digit) const;
  void divide_digit(Reading& reading, char digit) const;
  void forget_whole(Reading& reading) const;
  bool values_go_on(const Decimal& read, int64_t least, int64_t most, bool to_others) const;
  bool interval_goes_on(const Interval& interval, const Decimal& read, int64_t least, int64_t most,
                        bool to_others) const;

  const NumberSet& set_;
  bool negative_;
  int32_t min_exponent_, max_exponent_;
  Significands bounds_, points_;
  std::vector<std::pair<Bound, Bound>> intervals_;
  // That of the set, if it has one, those that are out, and those of which one must divide.
  std::vector<Divisor> divisors_;
  // Where counts are clipped.
  int64_t least_magnitude_ = 0, most_magnitude_ = 0;
  int64_t least_last_ = 0, most_last_ = 0;
  int64_t most_fraction_ = 0;
  // From this power of ten on, every two neighbours have a multiple of the divisor between them,
  // and one that is not out, and are in an endless interval; or kFar.
  int64_t roomy_exponent_;
};

}  // namespace maskwright::langs

// Exact decimals of any length, and divisors of them.
//
// Idea: bounds and values have a few digits or thousands of them, and are only compared, scaled by
// powers of ten, reduced by a machine word and raised by one: on digits in text all of that is a
// simple pass. A divisor is q * 2^twos * 5^fives with q prime to ten, so that powers of ten never
// touch q, and divisibility, the least common multiple and fractions like 0.01 need no fractions.
//
// Cost: linear in the digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

// digits * 10^exponent, negated or not.
struct Decimal {
  bool negative = false;
  std::string digits;    // without zeros at either end; none: the value is 0
  int64_t exponent = 0;  // 0 for 0

  Decimal() = default;
  // Digits may have zeros at both ends.
  Decimal(bool negative, std::string digits, int64_t exponent);

  bool is_zero() const { return digits.empty(); }
  // n in 0.d1d2d3... * 10^n; not for 0.
  int64_t magnitude() const { return static_cast<int64_t>(digits.size()) + exponent; }
  bool operator==(const Decimal& other) const = default;
  std::size_t memory_bytes() const { return heap_bytes(digits); }
};

// A JSON number whose exponent has at most 17 digits.
Decimal parse_decimal(std::string_view text);
// As canonical_number() gives it.
std::string canonical_text(const Decimal& value);
// -1, 0 or 1.
int compare(const Decimal& a, const Decimal& b);
// The value of decimal digits modulo `modulus` < 2^60.
uint64_t remainder(std::string_view digits, uint64_t modulus);
// Adds to decimal digits, at their end.
void add(std::string& digits, uint64_t summand);

class Divisor {
 public:
  // Greater ones don't fit the residues, which are multiplied by ten in a machine word.
  static constexpr uint64_t kMaxUnits = uint64_t{1} << 59;

  // None if the value, which is positive, has more than kMaxUnits in its last digit's place.
  static std::optional<Divisor> make(const Decimal& value);
  // The smallest common multiple, or none if it is too large.
  static std::optional<Divisor> common(const Divisor& a, const Divisor& b);

  bool divides(const Divisor& other) const;
  bool divides(const Decimal& value) const;
  // The smallest multiple >= a value that is >= 0, or > with `above`.
  Decimal next(const Decimal& value, bool above) const;

  // The divisor is units() * 10^exponent(), and units() is prime_part() * base()^valuation():
  // base() is 2 or 5 and power() is base()^valuation().
  int64_t exponent() const { return twos_ < fives_ ? twos_ : fives_; }
  uint64_t units() const { return prime_ * power_; }
  uint64_t prime_part() const { return prime_; }
  uint64_t power() const { return power_; }
  uint32_t base() const { return twos_ > fives_ ? 2 : 5; }
  uint32_t valuation() const {
    return static_cast<uint32_t>(twos_ > fives_ ? twos_ - fives_ : fives_ - twos_);
  }
  // The number of times that base() divides a residue modulo power(), up to valuation().
  uint32_t factors(uint64_t residue) const;

  bool operator==(const Divisor& other) const = default;

 private:
  static std::optional<Divisor> make(uint64_t prime, int64_t twos, int64_t fives);

  uint64_t prime_ = 1;
  int64_t twos_ = 0, fives_ = 0;
  uint64_t power_ = 1;
};

}  // namespace maskwright::langs

// Exact judgement of short numbers, and random specifications, for tests of number languages.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "maskwright/json/number_spec.h"

namespace maskwright::test {

// Of texts that satisfies() can judge.
inline constexpr std::size_t kMaxLength = 17;

// Is the text a JSON number that satisfies the specification, with an exponent of -400 to 400 if
// it specifies anything of the value? In 64-bit arithmetic, independent of the code under test;
// bounds and divisors have at most five digits, texts at most kMaxLength beside zeros at the end.
bool satisfies(const NumberSpec& spec, const std::string& text);

NumberRange at_most(const std::string& hi);
NumberRange between(const std::string& lo, const std::string& hi);
std::string describe(const NumberSpec& spec);

// Random specifications with all that there is in them, small enough for satisfies().
class Specs {
 public:
  explicit Specs(uint32_t seed) : random_(seed) {}
  NumberSpec next();
  // A number of about 400 zeros and an exponent of that size, positive or negative.
  std::string long_text();

 private:
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::string decimal();
  NumberRange range();

  std::mt19937 random_;
};

}  // namespace maskwright::test

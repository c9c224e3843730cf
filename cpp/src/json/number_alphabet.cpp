#include "json/number_alphabet.h"

#include <algorithm>
#include <string_view>

namespace maskwright::langs {

NumberAlphabet::NumberAlphabet(std::span<const CodeRange> ascii, bool exponents) {
  static constexpr std::string_view kAll = "+-.0123456789Ee";
  static constexpr std::string_view kWithoutExponents = "-.0123456789";
  const std::string_view kNumberChars = exponents ? kAll : kWithoutExponents;
  for (const char c : kNumberChars) {
    if (contains(ascii, static_cast<uint8_t>(c))) chars += c;
  }
  has_digits =
      std::all_of(kAll.begin(), kAll.end(), [&](char c) { return !is_digit(c) || has(c); });
  complete = has_digits && has('.');
  if (!has('e') && !has('E')) return;
  min = has('-') ? -kMaxExponent : 0;
  max = kMaxExponent;
  if (has_digits) written.append(min, max);
  for (int32_t exponent = min; exponent <= max && !has_digits; ++exponent) {
    const std::string digits = std::to_string(exponent < 0 ? -exponent : exponent);
    if (std::all_of(digits.begin(), digits.end(), [&](char c) { return has(c); })) {
      written.append(exponent, exponent);
    }
  }
}

Dfa any_number(const NumberAlphabet& alphabet) {
  enum State : uint32_t { kStart, kMinus, kZero, kWhole, kDot, kFraction, kE, kSign, kExponent };
  Dfa dfa;
  dfa.states.reserve(kExponent + 1);
  dfa.arcs.reserve(std::size_t{kExponent + 1} * 4);
  for (uint32_t state = kStart; state <= kExponent; ++state) {
    dfa.add_state(state == kZero || state == kWhole || state == kFraction || state == kExponent);
    for (const char c : alphabet.chars) {
      uint32_t target = kStart;  // none
      if (is_digit(c)) {
        const bool first = state <= kMinus;
        if (first) target = c == '0' ? kZero : kWhole;
        if (state == kWhole) target = kWhole;
        if (state == kDot || state == kFraction) target = kFraction;
        if (state >= kE) target = kExponent;
      } else if (c == '-' && state == kStart) {
        target = kMinus;
      } else if (c == '.' && (state == kZero || state == kWhole)) {
        target = kDot;
      } else if ((c == '+' || c == '-') && state == kE) {
        target = kSign;
      } else if ((c == 'e' || c == 'E') &&
                 (state == kZero || state == kWhole || state == kFraction)) {
        target = kE;
      }
      if (target != kStart) dfa.add_arc(static_cast<uint8_t>(c), static_cast<uint8_t>(c), target);
    }
  }
  return trim(dfa);
}

}  // namespace maskwright::langs

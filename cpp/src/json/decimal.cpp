#include "json/decimal.h"

#include <algorithm>
#include <numeric>

#include "maskwright/json/number_spec.h"

namespace maskwright::langs {

namespace {

// Reads a sign and digits.
int64_t parse_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  for (const char digit : text) value = value * 10 + (digit - '0');
  return negative ? -value : value;
}

// The digits of a number and the exponent that its point stands for, as it is spelled.
struct Mantissa {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
  std::string_view written;  // the exponent in the text; "" = none

  explicit Mantissa(std::string_view text) {
    const std::size_t e = text.find_first_of("eE");
    if (e != std::string_view::npos) {
      written = text.substr(e + 1);
      text = text.substr(0, e);
    }
    negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::size_t dot = text.find('.');
    digits = text.substr(0, dot);
    if (dot == std::string_view::npos) return;
    digits += text.substr(dot + 1);
    exponent = -static_cast<int64_t>(text.size() - dot - 1);
  }
};

}  // namespace

Decimal::Decimal(bool minus, std::string text, int64_t scale)
    : negative(minus), digits(std::move(text)), exponent(scale) {
  const std::size_t last = digits.find_last_not_of('0');
  if (last == std::string::npos) {
    *this = Decimal();
    return;
  }
  exponent += static_cast<int64_t>(digits.size() - last - 1);
  digits.resize(last + 1);
  digits.erase(0, digits.find_first_not_of('0'));
}

Decimal parse_decimal(std::string_view text) {
  Mantissa mantissa(text);
  const int64_t exponent = mantissa.exponent + parse_exponent(mantissa.written);
  return {mantissa.negative, std::move(mantissa.digits), exponent};
}

std::string canonical_text(const Decimal& value) {
  if (value.is_zero()) return "0";
  return (value.negative ? "-" : "") + value.digits + "e" + std::to_string(value.exponent);
}

int compare(const Decimal& a, const Decimal& b) {
  const int sign_a = a.is_zero() ? 0 : (a.negative ? -1 : 1);
  const int sign_b = b.is_zero() ? 0 : (b.negative ? -1 : 1);
  if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
  if (sign_a == 0) return 0;
  if (a.magnitude() != b.magnitude()) return a.magnitude() < b.magnitude() ? -sign_a : sign_a;
  // Digits without zeros at the end compare as texts.
  const int order = a.digits.compare(b.digits);
  return order == 0 ? 0 : (order < 0 ? -sign_a : sign_a);
}

uint64_t remainder(std::string_view digits, uint64_t modulus) {
  uint64_t rest = 0;
  if (modulus == 1) return rest;
  for (const char digit : digits) rest = (rest * 10 + static_cast<uint64_t>(digit - '0')) % modulus;
  return rest;
}

void add(std::string& digits, uint64_t summand) {
  for (auto digit = digits.rbegin(); digit != digits.rend() && summand != 0; ++digit) {
    summand += static_cast<uint64_t>(*digit - '0');
    *digit = static_cast<char>('0' + summand % 10);
    summand /= 10;
  }
  if (summand != 0) digits.insert(0, std::to_string(summand));
}

std::optional<Divisor> Divisor::make(uint64_t prime, int64_t twos, int64_t fives) {
  Divisor made;
  made.prime_ = prime;
  made.twos_ = twos;
  made.fives_ = fives;
  for (uint32_t i = made.valuation(); i > 0; --i) {
    if (made.power_ > kMaxUnits / made.base()) return std::nullopt;
    made.power_ *= made.base();
  }
  if (made.power_ > kMaxUnits / prime) return std::nullopt;
  return made;
}

std::optional<Divisor> Divisor::make(const Decimal& value) {
  uint64_t units = 0;
  for (const char digit : value.digits) {
    units = units * 10 + static_cast<uint64_t>(digit - '0');
    if (units > kMaxUnits) return std::nullopt;
  }
  int64_t twos = value.exponent;
  int64_t fives = value.exponent;
  for (; units % 2 == 0; units /= 2) ++twos;
  for (; units % 5 == 0; units /= 5) ++fives;
  return make(units, twos, fives);
}

std::optional<Divisor> Divisor::common(const Divisor& a, const Divisor& b) {
  const uint64_t rest = b.prime_ / std::gcd(a.prime_, b.prime_);
  if (a.prime_ > kMaxUnits / rest) return std::nullopt;
  return make(a.prime_ * rest, std::max(a.twos_, b.twos_), std::max(a.fives_, b.fives_));
}

bool Divisor::divides(const Divisor& other) const {
  return other.prime_ % prime_ == 0 && twos_ <= other.twos_ && fives_ <= other.fives_;
}

bool Divisor::divides(const Decimal& value) const {
  if (value.is_zero()) return true;
  const int64_t places = value.exponent - exponent();
  if (places < 0 || remainder(value.digits, prime_) != 0) return false;
  return places + factors(remainder(value.digits, power_)) >= valuation();
}

uint32_t Divisor::factors(uint64_t residue) const {
  if (residue == 0) return valuation();
  uint32_t count = 0;
  for (; residue % base() == 0; residue /= base()) ++count;
  return count;
}

Decimal Divisor::next(const Decimal& value, bool above) const {
  // The value in units of the divisor's last place, rounded down.
  const int64_t places = value.is_zero() ? 0 : value.exponent - exponent();
  std::string digits = value.digits;
  bool exact = true;
  if (places >= 0) {
    digits.append(static_cast<std::size_t>(places), '0');
  } else {
    exact = false;
    const auto cut = static_cast<uint64_t>(-places);
    digits.resize(cut < digits.size() ? digits.size() - cut : 0);
  }
  if (digits.empty()) digits = "0";
  const uint64_t rest = remainder(digits, units());
  if (rest != 0 || above || !exact) add(digits, units() - rest);
  return {false, std::move(digits), exponent()};
}

}  // namespace maskwright::langs

namespace maskwright {

namespace {

// Adds to an integer of any length in text, with a sign or without.
std::string add_to_integer(std::string_view text, int64_t summand) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() < 18) {
    int64_t value = 0;
    for (const char digit : text) value = value * 10 + (digit - '0');
    return std::to_string((negative ? -value : value) + summand);
  }
  // The sum keeps the sign of the long text.
  std::string digits(text);
  if (negative != (summand < 0)) {
    // a - b as the complement of (complement of a) + b.
    const auto complement = [&] {
      for (char& digit : digits) digit = static_cast<char>('0' + '9' - digit);
    };
    complement();
    langs::add(digits, static_cast<uint64_t>(summand < 0 ? -summand : summand));
    complement();
    digits.erase(0, digits.find_first_not_of('0'));
  } else {
    langs::add(digits, static_cast<uint64_t>(summand < 0 ? -summand : summand));
  }
  return negative ? "-" + digits : digits;
}

}  // namespace

std::string canonical_number(const std::string& text) {
  langs::Mantissa mantissa(text);
  const langs::Decimal value(mantissa.negative, std::move(mantissa.digits), mantissa.exponent);
  if (value.is_zero()) return "0";
  return (value.negative ? "-" : "") + value.digits + "e" +
         add_to_integer(mantissa.written, value.exponent);
}

}  // namespace maskwright

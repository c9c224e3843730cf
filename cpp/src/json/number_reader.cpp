#include "json/number_reader.h"

#include <algorithm>
#include <string>

namespace maskwright {

namespace {

int compare_natural(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

std::string add_natural(std::string a, const std::string& b) {
  if (a.size() < b.size()) a.insert(0, b.size() - a.size(), '0');
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int sum = digit - '0' + carry + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    digit = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  if (carry != 0) a.insert(0, 1, '1');
  return a;
}

// a >= b
std::string subtract_natural(std::string a, const std::string& b) {
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int rest = digit - '0' - borrow - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    digit = static_cast<char>('0' + (rest + 10) % 10);
    borrow = rest < 0 ? 1 : 0;
  }
  a.erase(0, std::min(a.find_first_not_of('0'), a.size() - 1));
  return a;
}

// scale + (-)magnitude, for magnitudes of any length.
std::string add_exponents(int32_t scale, bool negative, const std::string& magnitude) {
  const std::string own = std::to_string(scale < 0 ? -int64_t{scale} : int64_t{scale});
  const bool own_negative = scale < 0;
  if (own_negative == negative) {
    const std::string sum = add_natural(own, magnitude);
    return (negative && sum != "0" ? "-" : "") + sum;
  }
  const bool larger = compare_natural(own, magnitude) >= 0;
  const std::string rest =
      larger ? subtract_natural(own, magnitude) : subtract_natural(magnitude, own);
  return ((larger ? own_negative : negative) && rest != "0" ? "-" : "") + rest;
}

}  // namespace

NumberReader NumberReader::decode(std::span<const uint32_t> words) {
  NumberReader out;
  out.part = static_cast<Part>(words[0]);
  out.negative = words[1] != 0;
  out.negative_exponent = words[2] != 0;
  out.digits = words[3];
  out.zeros = words[4];
  out.scale = static_cast<int32_t>(words[5]);
  out.exponent = words[6];
  out.text = words[7];
  return out;
}

void NumberReader::encode(std::vector<uint32_t>& out) const {
  out.insert(out.end(), {part, negative ? 1U : 0U, negative_exponent ? 1U : 0U, digits, zeros,
                         static_cast<uint32_t>(scale), exponent, text});
}

void NumberReader::read(uint8_t byte, RegisterPool& regs) {
  text = append_to_chain(text, byte, regs);
  if (byte == '-') {
    (part == kExponent ? negative_exponent : negative) = true;
  } else if (byte == '.') {
    part = kFraction;
  } else if (byte == 'e' || byte == 'E') {
    part = kExponent;
    zeros = 0;
  } else if (byte != '+') {
    read_digit(byte - uint32_t{'0'}, regs);
  }
}

void NumberReader::read_digit(uint32_t digit, RegisterPool& regs) {
  if (part == kExponent) {
    if (exponent != 0 || digit != 0) exponent = append_to_chain(exponent, digit, regs);
    return;
  }
  if (part == kInteger && (digits != 0 || digit != 0)) ++scale;
  if (digit == 0) {
    if (digits != 0) {
      ++zeros;
    } else if (part == kFraction) {
      --scale;
    }
    return;
  }
  for (; zeros > 0; --zeros) digits = append_to_chain(digits, 0, regs);
  digits = append_to_chain(digits, digit, regs);
}

ValueId NumberReader::value(RegisterPool& regs) const {
  std::string magnitude;
  for (const uint32_t digit : chain_links(exponent, regs)) {
    magnitude.push_back(static_cast<char>('0' + digit));
  }
  if (magnitude.empty()) magnitude = "0";
  return number_value(negative, digits, add_exponents(scale, negative_exponent, magnitude), regs);
}

std::string NumberReader::characters(const RegisterPool& regs) const {
  std::string out;
  for (const uint32_t byte : chain_links(text, regs)) out.push_back(static_cast<char>(byte));
  return out;
}

bool NumberReader::may_become(ValueId value, const RegisterPool& regs,
                              std::optional<uint32_t> digit) const {
  if (!is_number(value, regs)) return false;
  const Reg other = digits_of(value, regs);
  if (other == 0) return digits == 0 && digit.value_or(0) == 0;
  if (is_negative(value, regs) != negative) return false;
  if (part == kExponent) return other == digits;
  // The digits of the value behind those that were read, from the end.
  std::vector<uint32_t> behind;
  Reg at = other;
  for (; at != digits && at != 0; at = regs.get(at)[0]) behind.push_back(regs.get(at)[1]);
  if (at != digits) return false;
  // They begin with the zeros that were read, and the digit; zeros may follow the last one.
  const auto next = [&](std::size_t i) {
    return i < behind.size() ? behind[behind.size() - 1 - i] : 0;
  };
  for (uint32_t i = 0; i < zeros && i < behind.size(); ++i) {
    if (next(i) != 0) return false;
  }
  // Before the first digit that counts zeros only move the point.
  if (!digit.has_value() || (digits == 0 && *digit == 0)) return true;
  return next(zeros) == *digit;
}

}  // namespace maskwright

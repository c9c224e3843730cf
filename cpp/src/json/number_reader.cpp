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
  return out;
}

void NumberReader::encode(std::vector<uint32_t>& out) const {
  out.insert(out.end(),
             {part, negative ? 1U : 0U, negative_exponent ? 1U : 0U, digits, zeros,
              static_cast<uint32_t>(scale), exponent});
}

void NumberReader::read(uint8_t byte, uint32_t max_zeros, RegisterPool& regs) {
  if (byte == '-') {
    (part == kExponent ? negative_exponent : negative) = digits != 0 || part != kExponent;
  } else if (byte == '.') {
    part = kFraction;
  } else if (byte == 'e' || byte == 'E') {
    part = kExponent;
    zeros = 0;
  } else if (byte != '+') {
    read_digit(byte - uint32_t{'0'}, max_zeros, regs);
  }
}

void NumberReader::read_digit(uint32_t digit, uint32_t max_zeros, RegisterPool& regs) {
  if (part == kExponent) {
    // Zero times any power is zero.
    if (digits != 0 && (exponent != 0 || digit != 0)) {
      exponent = append_to_chain(exponent, digit, regs);
    }
    return;
  }
  if (part == kInteger && (digits != 0 || digit != 0)) ++scale;
  if (digit == 0) {
    const bool uncounted = part == kFraction && zeros >= max_zeros;
    if (digits != 0) {
      zeros += uncounted ? 0 : 1;
    } else if (part == kFraction && scale > -static_cast<int64_t>(max_zeros)) {
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

bool NumberReader::may_become(ValueId value, const RegisterPool& regs) const {
  if (!is_number(value, regs)) return false;
  const Reg other = digits_of(value, regs);
  if (digits == 0) return other == 0 || is_negative(value, regs) == negative;
  if (other == 0 || is_negative(value, regs) != negative) return false;
  // Behind 'e' all digits are known.
  if (other == digits) return true;
  if (part == kExponent) return false;
  // The links of `other` behind those of `digits`, from the end.
  uint32_t leading_zeros = 0;
  for (Reg at = other; at != 0; at = regs.get(at)[0]) {
    if (at == digits) return leading_zeros >= zeros;
    leading_zeros = regs.get(at)[1] == 0 ? leading_zeros + 1 : 0;
  }
  return false;
}

}  // namespace maskwright

// The value of a number while its text is read, as words of a register.
//
// 1, 1.0 and 10e-1 are one value: 0.1 times ten to the power 1. So the reader keeps the significant
// digits without zeros at either end, the zeros read behind them, and where the point stands. The
// text itself is kept for questions about what it can go on to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "json/json_value.h"

namespace maskwright {

struct NumberReader {
  enum Part : uint32_t { kInteger, kFraction, kExponent };

  Part part = kInteger;
  bool negative = false, negative_exponent = false;
  Reg digits = 0;      // chain
  uint32_t zeros = 0;  // behind the digits
  int32_t scale = 0;   // the exponent without what the text says behind its 'e'
  Reg exponent = 0;    // chain of digits, without leading zeros
  Reg text = 0;        // chain of bytes

  static NumberReader decode(std::span<const uint32_t> words);
  void encode(std::vector<uint32_t>& out) const;

  void read(uint8_t byte, RegisterPool& regs);
  ValueId value(RegisterPool& regs) const;
  // The text may go on to this value, as far as the significant digits tell; with `digit`, when it
  // goes on with that digit.
  bool may_become(ValueId value, const RegisterPool& regs,
                  std::optional<uint32_t> digit = std::nullopt) const;
  std::string characters(const RegisterPool& regs) const;

 private:
  void read_digit(uint32_t digit, RegisterPool& regs);
};

}  // namespace maskwright

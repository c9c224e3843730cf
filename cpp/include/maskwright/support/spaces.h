// The whitespace of JSON (RFC 8259, section 2).
#pragma once

#include <array>
#include <cstdint>

namespace maskwright {

inline constexpr std::array<uint8_t, 4> kSpaces{' ', '\n', '\t', '\r'};
inline bool is_space(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

}  // namespace maskwright

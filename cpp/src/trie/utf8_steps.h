// A decoder of UTF-8, byte by byte, as far as validity goes (RFC 3629).
#pragma once

#include <cstdint>

namespace maskwright {

// Between code points; 1 to 3 continuation bytes to come; and the four lead bytes after which the
// second byte has a range of its own.
enum Utf8State : uint8_t {
  kBoundary,
  kOne,
  kTwo,
  kThree,
  kAfterE0,
  kAfterED,
  kAfterF0,
  kAfterF4,
  kDeadUtf8
};

// The state behind the byte.
Utf8State utf8_step(Utf8State state, uint8_t byte);

// A code point begins with the byte, or may.
inline bool begins_code_point(uint8_t byte) { return (byte & 0xC0) != 0x80; }

}  // namespace maskwright

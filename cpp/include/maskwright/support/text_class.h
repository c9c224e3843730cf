// A class of characters as the vocabulary's bitmaps know them: any set of ASCII characters, all
// other code points (but for those that begin with some bytes), those of a class that the
// vocabulary keeps, or none, and what JSON strings spell with a backslash or not.
#pragma once

#include <array>
#include <cstdint>

namespace maskwright {

struct TextClass {
  std::array<uint64_t, 2> ascii{};  // bytes below 0x80
  bool beyond_ascii = false;  // code points from U+0080 on, by their UTF-8 bytes, but `missing`
  bool escapes = false;       // every code point as JSON escapes it
  uint64_t missing = 0;       // bit i: none that begins with byte 0xC0 + i
  uint32_t kept = 0;          // else those beyond ASCII of TokenTexts::code_class()

  bool operator==(const TextClass&) const = default;
  void add(uint8_t byte) { ascii[byte / 64] |= uint64_t{1} << byte % 64; }
  void remove(uint8_t byte) { ascii[byte / 64] &= ~(uint64_t{1} << byte % 64); }
  bool has(uint8_t byte) const { return (ascii[byte / 64] >> byte % 64 & 1) != 0; }
  bool has_any_of(const TextClass& other) const {
    return ((other.ascii[0] & ascii[0]) | (other.ascii[1] & ascii[1])) != 0;
  }
  bool covers_ascii_of(const TextClass& other) const {
    return ((other.ascii[0] & ~ascii[0]) | (other.ascii[1] & ~ascii[1])) == 0;
  }
  // All that `other` has of ASCII, and of other code points by the bytes that begin them.
  bool covers(const TextClass& other) const {
    return covers_ascii_of(other) &&
           (!other.beyond_ascii || (beyond_ascii && (missing & ~other.missing) == 0));
  }
  bool misses(uint8_t lead) const { return lead >= 0xC0 && (missing >> (lead - 0xC0) & 1) != 0; }
  // Begins the UTF-8 bytes of a character of the class; also true of bytes that go on with one.
  bool begins(uint8_t byte) const {
    return byte < 0x80 ? has(byte) : beyond_ascii && !misses(byte);
  }
  bool empty() const { return ascii[0] == 0 && ascii[1] == 0 && !beyond_ascii && kept == 0; }
};

}  // namespace maskwright

// Code points, and their UTF-8 encodings as RFC 3629 has them: no overlong forms, no surrogates,
// nothing beyond U+10FFFF.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace maskwright {

inline constexpr uint32_t kMaxCodePoint = 0x10FFFF;

struct CodeRange {
  uint32_t lo, hi;  // inclusive; lo > hi = empty
  bool operator==(const CodeRange&) const = default;
};

struct Utf8 {
  std::array<uint8_t, 4> buffer;
  uint32_t length;
  std::span<const uint8_t> bytes() const& { return std::span(buffer).first(length); }
  std::span<const uint8_t> bytes() && = delete;  // of a temporary they would dangle
};
Utf8 encode_utf8(uint32_t code_point);

bool valid_utf8(std::string_view text);
// Appends the code points of `text`; false (and nothing useful in `out`) if it is not valid UTF-8.
bool decode_utf8(std::string_view text, std::vector<uint32_t>& out);

}  // namespace maskwright

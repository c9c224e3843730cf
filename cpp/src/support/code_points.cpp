#include "maskwright/support/code_points.h"

namespace maskwright {

namespace {

constexpr uint32_t kInvalid = 0xFFFFFFFF;

// The code point that begins at `at`, which is moved behind it; kInvalid if none does.
uint32_t next_code_point(std::string_view text, std::size_t& at) {
  static constexpr std::array<uint32_t, 4> kSmallest{0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  if (lead < 0xC2 || lead > 0xF4) return kInvalid;
  const std::size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  if (text.size() - at < more) return kInvalid;
  uint32_t value = lead & (0x3FU >> more);
  for (std::size_t k = 0; k < more; ++k) {
    const auto next = static_cast<uint8_t>(text[at++]);
    if ((next & 0xC0U) != 0x80) return kInvalid;
    value = value << 6 | (next & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value < kSmallest[more] || value > kMaxCodePoint || surrogate ? kInvalid : value;
}

}  // namespace

Utf8 encode_utf8(uint32_t c) {
  if (c < 0x80) return {{static_cast<uint8_t>(c)}, 1};
  const auto tail = [](uint32_t value) { return static_cast<uint8_t>(0x80 | (value & 0x3F)); };
  if (c < 0x800) return {{static_cast<uint8_t>(0xC0 | c >> 6), tail(c)}, 2};
  if (c < 0x10000) return {{static_cast<uint8_t>(0xE0 | c >> 12), tail(c >> 6), tail(c)}, 3};
  return {{static_cast<uint8_t>(0xF0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)}, 4};
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (next_code_point(text, at) == kInvalid) return false;
  }
  return true;
}

bool decode_utf8(std::string_view text, std::vector<uint32_t>& out) {
  for (std::size_t at = 0; at < text.size();) {
    const uint32_t code_point = next_code_point(text, at);
    if (code_point == kInvalid) return false;
    out.push_back(code_point);
  }
  return true;
}

}  // namespace maskwright

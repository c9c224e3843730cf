// The bytes that begin code points beyond ASCII (RFC 3629, section 4; no surrogates).
#pragma once

#include <cstdint>
#include <span>

#include "maskwright/support/code_points.h"

namespace maskwright {

inline constexpr uint8_t kFirstLead = 0xC2;
inline constexpr uint8_t kLastLead = 0xF4;

// The code points that begin with a byte.
inline CodeRange begun_by(uint8_t lead) {
  const uint32_t low = lead;
  if (lead < 0xE0) return {(low & 0x1F) << 6, ((low & 0x1F) << 6) + 0x3F};
  if (lead == 0xE0) return {0x800, 0xFFF};
  if (lead == 0xED) return {0xD000, 0xD7FF};
  if (lead < 0xF0) return {(low & 0xF) << 12, ((low & 0xF) << 12) + 0xFFF};
  if (lead == 0xF0) return {0x10000, 0x3FFFF};
  if (lead == 0xF4) return {0x100000, kMaxCodePoint};
  return {(low & 0x7) << 18, ((low & 0x7) << 18) + 0x3FFFF};
}

// As TextClass::missing: the bytes of which not all code points are in the ranges, of which no two
// touch.
inline uint64_t missing_leads(std::span<const CodeRange> ranges) {
  uint64_t missing = 0;
  for (uint32_t lead = kFirstLead; lead <= kLastLead; ++lead) {
    const CodeRange own = begun_by(static_cast<uint8_t>(lead));
    bool whole = false;
    for (const CodeRange range : ranges) whole |= range.lo <= own.lo && own.hi <= range.hi;
    if (!whole) missing |= uint64_t{1} << (lead - 0xC0);
  }
  return missing;
}

// What missing_leads() says of no ranges.
inline constexpr uint64_t kAllLeads = ((uint64_t{1} << (kLastLead - 0xC0 + 1)) - 1) & ~uint64_t{3};

}  // namespace maskwright

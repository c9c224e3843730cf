// Code point ranges as byte edges of their UTF-8 encodings.
//
// Idea: split a range at the limits of the encoding lengths (0x80, 0x800, 0x10000), then peel it
// at continuation boundaries, so that every piece is a product of byte ranges. At most 2 * length
// pieces per range.

#include <algorithm>

#include "maskwright/support/code_points.h"
#include "nfa.h"

namespace maskwright {

namespace {

void add_product(Nfa& nfa, uint32_t lo, uint32_t hi, Position from, Position to) {
  const Utf8 first = encode_utf8(lo);
  const Utf8 last = encode_utf8(hi);
  Position at = from;
  for (uint32_t i = 0; i < first.length; ++i) {
    Position target = to;
    if (i + 1 < first.length) {
      target = static_cast<Position>(nfa.nodes.size());
      nfa.nodes.emplace_back();
    }
    nfa.nodes[at].bytes.push_back({first.buffer[i], last.buffer[i], target});
    at = target;
  }
}

// The largest end such that [lo, end] is one product of byte ranges.
uint32_t product_end(uint32_t lo, uint32_t hi, uint32_t length) {
  // With k trailing continuation bytes free, lo must be aligned and hi must cover the block.
  for (uint32_t k = length - 1; k > 0; --k) {
    const uint32_t block = 1U << (6 * k);
    if (lo % block == 0 && hi - lo >= block - 1) {
      // The byte before the free ones may run too, within its own block.
      const uint32_t outer = k + 1 == length ? kMaxCodePoint : (lo | ((block << 6) - 1));
      const uint32_t full = (hi + 1) / block * block - 1;
      return std::min(full, outer);
    }
  }
  const uint32_t outer = length == 1 ? 0x7F : (lo | 0x3F);
  return std::min(hi, outer);
}

}  // namespace

void add_utf8_ranges(Nfa& nfa, std::span<const uint32_t> ranges, Position from, Position to) {
  static constexpr std::array<uint32_t, 4> kLast{0x7F, 0x7FF, 0xFFFF, kMaxCodePoint};
  for (std::size_t i = 0; i + 1 < ranges.size(); i += 2) {
    uint32_t lo = ranges[i];
    while (lo <= ranges[i + 1]) {
      const auto length = static_cast<uint32_t>(
          std::find_if(kLast.begin(), kLast.end(), [&](uint32_t last) { return lo <= last; }) -
          kLast.begin() + 1);
      const uint32_t hi = std::min(ranges[i + 1], kLast[length - 1]);
      const uint32_t end = product_end(lo, hi, length);
      add_product(nfa, lo, end, from, to);
      lo = end + 1;
    }
  }
}

}  // namespace maskwright

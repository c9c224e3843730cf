// Code point sets, and what a vocabulary can spell inside a JSON string.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/support/code_points.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright::langs {

using CodeRanges = std::vector<CodeRange>;  // sorted, disjoint, non-adjacent unless said otherwise

// Sorts and joins ranges that overlap or touch.
CodeRanges normalise(CodeRanges ranges);
CodeRanges intersect(std::span<const CodeRange> a, std::span<const CodeRange> b);
bool contains(std::span<const CodeRange> ranges, uint32_t code_point);

// All code points without surrogates.
CodeRanges all_code_points();
bool is_all_code_points(std::span<const CodeRange> ranges);  // sorted, disjoint, non-adjacent
// The code points that can be written inside a JSON string: raw if all bytes of the UTF-8 form are
// spellable (never controls, '"' or '\'), else by a short escape, else by \uXXXX or a pair of them.
CodeRanges spellable_code_points(const std::array<bool, 256>& spellable);
// The ASCII characters that can be written outside strings.
CodeRanges spellable_ascii(const std::array<bool, 256>& spellable);
// Every spelling in JSON that can be begun can be completed: the letters, digits and marks of its
// syntax are spellable, and so is every continuation byte if some lead byte is.
bool completes_spellings(const std::array<bool, 256>& spellable);

// Hash-consed code point sets.
class ClassPool {
 public:
  uint32_t intern(std::span<const CodeRange> ranges);
  uint32_t intern(uint32_t code_point);
  std::size_t num_ranges(uint32_t id) const { return words_.get(id).size() / 2; }
  CodeRange range(uint32_t id, std::size_t index) const {
    const auto words = words_.get(id);
    return {words[2 * index], words[2 * index + 1]};
  }
  CodeRanges get(uint32_t id) const;
  std::size_t memory_bytes() const { return heap_bytes(words_, scratch_); }

 private:
  WordInterner words_;
  std::vector<uint32_t> scratch_;
};

}  // namespace maskwright::langs

#include "json/lang_chars.h"

#include <algorithm>
#include <ranges>

#include "support/unescape.h"

namespace maskwright::langs {

CodeRanges normalise(CodeRanges ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.lo < b.lo; });
  std::size_t count = 0;
  for (const CodeRange& range : ranges) {
    if (count > 0 && range.lo <= ranges[count - 1].hi + 1) {
      ranges[count - 1].hi = std::max(ranges[count - 1].hi, range.hi);
    } else {
      ranges[count++] = range;
    }
  }
  ranges.resize(count);
  ranges.shrink_to_fit();
  return ranges;
}

CodeRanges intersect(std::span<const CodeRange> a, std::span<const CodeRange> b) {
  CodeRanges result;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const uint32_t lo = std::max(a[i].lo, b[j].lo);
    const uint32_t hi = std::min(a[i].hi, b[j].hi);
    if (lo <= hi) result.push_back({lo, hi});
    if (a[i].hi < b[j].hi)
      ++i;
    else
      ++j;
  }
  return result;
}

bool contains(std::span<const CodeRange> ranges, uint32_t code_point) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](uint32_t value, const CodeRange& range) { return value < range.lo; });
  return after != ranges.begin() && code_point <= std::prev(after)->hi;
}

CodeRanges all_code_points() { return {{0, 0xD7FF}, {0xE000, kMaxCodePoint}}; }

bool is_all_code_points(std::span<const CodeRange> ranges) {
  static const CodeRanges all = all_code_points();
  return std::ranges::equal(ranges, all);
}

namespace {

// What can be written inside a JSON string (see unescape.h for the spellings).
class Speller {
 public:
  explicit Speller(const std::array<bool, 256>& spellable) : bytes_(spellable) {
    static constexpr std::string_view kLower = "0123456789abcdef";
    static constexpr std::string_view kUpper = "0123456789ABCDEF";
    escape_ = has('\\') && has('u');
    all_ = escape_;
    for (std::size_t digit = 0; digit < 16; ++digit) {
      digits_[digit] = has(kLower[digit]) || has(kUpper[digit]);
      all_ = all_ && digits_[digit];
    }
  }

  // Every code point has a \u spelling: the usual case, nothing else to compute.
  bool all() const { return all_; }

  bool spells(uint32_t code_point) const {
    return raw(code_point) || short_escape(code_point) || long_escape(code_point);
  }

 private:
  bool has(char c) const { return bytes_[static_cast<uint8_t>(c)]; }

  bool raw(uint32_t c) const {
    if (c < 0x20 || c == '"' || c == '\\') return false;
    const Utf8 encoded = encode_utf8(c);
    return std::ranges::all_of(encoded.bytes(), [&](uint8_t byte) { return bytes_[byte]; });
  }

  bool short_escape(uint32_t c) const {
    return has('\\') && std::ranges::any_of(kShortEscapes, [&](const ShortEscape& escape) {
             return escape.code_point == c && has(escape.letter);
           });
  }

  bool unit(uint32_t value) const {
    return digits_[value >> 12] && digits_[value >> 8 & 15] && digits_[value >> 4 & 15] &&
           digits_[value & 15];
  }

  bool long_escape(uint32_t c) const {
    if (!escape_) return false;
    if (c < 0x10000) return unit(c);
    return unit(0xD800 + ((c - 0x10000) >> 10)) && unit(0xDC00 + (c & 0x3FF));
  }

  const std::array<bool, 256>& bytes_;
  std::array<bool, 16> digits_{};
  bool escape_ = false;
  bool all_ = false;
};

}  // namespace

CodeRanges spellable_code_points(const std::array<bool, 256>& spellable) {
  const Speller speller(spellable);
  if (speller.all()) return all_code_points();
  CodeRanges result;
  for (const CodeRange& block : all_code_points()) {
    for (uint32_t c = block.lo; c <= block.hi; ++c) {
      if (!speller.spells(c)) continue;
      if (!result.empty() && result.back().hi + 1 == c) {
        result.back().hi = c;
      } else {
        result.push_back({c, c});
      }
    }
  }
  return result;
}

bool completes_spellings(const std::array<bool, 256>& spellable) {
  const auto has = [&](uint32_t byte) { return spellable[byte]; };
  static constexpr std::string_view kMarks = "{}[]\":,-.0123456789abcdeflnrstu\\";
  if (!std::ranges::all_of(kMarks, [&](char c) { return has(static_cast<uint8_t>(c)); })) {
    return false;
  }
  const auto leads = std::views::iota(0xC2U, 0xF5U);
  const auto tails = std::views::iota(0x80U, 0xC0U);
  return std::ranges::none_of(leads, has) || std::ranges::all_of(tails, has);
}

CodeRanges spellable_ascii(const std::array<bool, 256>& spellable) {
  CodeRanges result;
  for (uint32_t c = 0; c < 0x80; ++c) {
    if (!spellable[c]) continue;
    if (!result.empty() && result.back().hi + 1 == c) {
      result.back().hi = c;
    } else {
      result.push_back({c, c});
    }
  }
  return result;
}

uint32_t ClassPool::intern(std::span<const CodeRange> ranges) {
  scratch_.clear();
  for (const CodeRange& range : ranges) {
    scratch_.push_back(range.lo);
    scratch_.push_back(range.hi);
  }
  return words_.intern(scratch_).id;
}

uint32_t ClassPool::intern(uint32_t code_point) {
  const std::array<CodeRange, 1> single{{{code_point, code_point}}};
  return intern(std::span<const CodeRange>(single));
}

CodeRanges ClassPool::get(uint32_t id) const {
  CodeRanges result;
  const auto words = words_.get(id);
  result.reserve(words.size() / 2);
  for (std::size_t i = 0; i < words.size(); i += 2) result.push_back({words[i], words[i + 1]});
  return result;
}

}  // namespace maskwright::langs

#include "json/lang_chars.h"

#include <algorithm>
#include <ranges>

#include "maskwright/ir/ir.h"

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

bool decode_utf8(std::string_view text, std::vector<uint32_t>& out) {
  static constexpr std::array<uint32_t, 4> kSmallest{0, 0x80, 0x800, 0x10000};
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i++]);
    if (lead < 0x80) {
      out.push_back(lead);
      continue;
    }
    std::size_t more = 0;
    uint32_t value = 0;
    if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      value = lead & 0x07U;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      more = 2;
      value = lead & 0x0FU;
    } else if (lead >= 0xC2 && lead < 0xE0) {
      more = 1;
      value = lead & 0x1FU;
    } else {
      return false;
    }
    if (text.size() - i < more) return false;
    for (std::size_t k = 0; k < more; ++k) {
      const auto next = static_cast<uint8_t>(text[i++]);
      if ((next & 0xC0U) != 0x80) return false;
      value = value << 6 | (next & 0x3FU);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < kSmallest[more] || value > kMaxCodePoint || surrogate) return false;
    out.push_back(value);
  }
  return true;
}

CodeRanges all_code_points() { return {{0, 0xD7FF}, {0xE000, kMaxCodePoint}}; }

namespace {

class Spelling {
 public:
  explicit Spelling(const std::array<bool, 256>& spellable) : bytes_(spellable) {
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
  bool tail(uint32_t value) const { return bytes_[0x80 | (value & 0x3F)]; }

  bool raw(uint32_t c) const {
    if (c < 0x20 || c == '"' || c == '\\') return false;
    if (c < 0x80) return bytes_[c];
    if (c < 0x800) return bytes_[0xC0 | c >> 6] && tail(c);
    if (c < 0x10000) return bytes_[0xE0 | c >> 12] && tail(c >> 6) && tail(c);
    return bytes_[0xF0 | c >> 18] && tail(c >> 12) && tail(c >> 6) && tail(c);
  }

  bool short_escape(uint32_t c) const {
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    if (c >= 0x80 || !has('\\')) return false;
    const std::size_t index = kValues.find(static_cast<char>(c));
    return index != std::string_view::npos && has(kLetters[index]);
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
  const Spelling spelling(spellable);
  if (spelling.all()) return all_code_points();
  CodeRanges result;
  for (const CodeRange& block : all_code_points()) {
    for (uint32_t c = block.lo; c <= block.hi; ++c) {
      if (!spelling.spells(c)) continue;
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
    if (spellable[c]) result.push_back({c, c});
  }
  return normalise(std::move(result));
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

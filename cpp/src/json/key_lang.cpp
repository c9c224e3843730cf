#include "json/key_lang.h"

#include <algorithm>
#include <array>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

[[noreturn]] void bad_key(const std::string& what) {
  throw Error(ErrorKind::kMalformed, "ir-malformed", "member names: " + what);
}

// Appends the code points of valid UTF-8.
void decode(const std::string& text, std::vector<uint32_t>& out) {
  constexpr std::array<uint32_t, 4> kLeast{0, 0x80, 0x800, 0x10000};  // by continuation bytes
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i++]);
    const std::size_t more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if ((lead >= 0x80 && lead < 0xC0) || lead > 0xF4 || text.size() - i < more)
      bad_key("not UTF-8");
    uint32_t value = more == 0 ? lead : lead & (0x3FU >> more);
    for (std::size_t k = 0; k < more; ++k) {
      const auto byte = static_cast<uint8_t>(text[i++]);
      if ((byte & 0xC0) != 0x80) bad_key("not UTF-8");
      value = value << 6 | (byte & 0x3FU);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < kLeast[more] || value > 0x10FFFF || surrogate) bad_key("not UTF-8");
    out.push_back(value);
  }
}

}  // namespace

KeyLang::KeyLang(std::span<const std::string> keys, std::span<const Lang::Arc> text)
    : text_(text.begin(), text.end()) {
  begin_.push_back(0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // The order of UTF-8 bytes is that of code points.
    if (i > 0 && keys[i - 1].compare(keys[i]) >= 0) bad_key("not sorted and unique");
    decode(keys[i], code_points_);
    begin_.push_back(static_cast<uint32_t>(code_points_.size()));
  }
  positions_.intern({});
}

uint32_t KeyLang::start() {
  if (size() == 0) return kOff;
  const std::array<uint32_t, 3> root{0, size(), 0};
  return positions_.intern(root).id;
}

KeyRange KeyLang::keys(uint32_t position) const {
  if (position == kOff) return {};
  const auto words = positions_.get(position);
  return {words[0], words[1]};
}

bool KeyLang::ends(uint32_t position) const {
  if (position == kOff) return false;
  const auto words = positions_.get(position);
  return length(words[0]) == words[2];
}

std::vector<Lang::Arc> KeyLang::children(uint32_t lo, uint32_t hi, uint32_t depth) {
  std::vector<Lang::Arc> out;
  if (length(lo) == depth) ++lo;  // the key that ends here sorts first
  while (lo < hi) {
    const uint32_t code_point = at(lo, depth);
    const auto same = [&](uint32_t key) { return at(key, depth) == code_point; };
    uint32_t end = lo + 1;  // gallop to the end of the run
    uint32_t step = 1;
    while (end + step <= hi && same(end + step - 1)) {
      end += step;
      step *= 2;
    }
    for (; step > 0; step /= 2) {
      while (end + step <= hi && same(end + step - 1)) end += step;
    }
    const std::array<uint32_t, 3> child{lo, end, depth + 1};
    out.push_back({code_point, code_point, positions_.intern(child).id});
    lo = end;
  }
  return out;
}

std::span<const Lang::Arc> KeyLang::arcs(uint32_t position) {
  if (position >= arcs_.size()) arcs_.resize(positions_.size());
  if (arcs_[position] != nullptr) return *arcs_[position];
  std::vector<Lang::Arc> arcs;
  if (position != kOff) {
    const auto words = positions_.get(position);
    arcs = children(words[0], words[1], words[2]);
  }
  const std::size_t declared = arcs.size();
  std::size_t next = 0;
  for (const Lang::Arc& text : text_) {
    uint32_t lo = text.lo;
    while (next < declared && arcs[next].lo < text.lo) ++next;
    for (; next < declared && arcs[next].lo <= text.hi; ++next) {
      if (arcs[next].lo > lo) arcs.push_back({lo, arcs[next].lo - 1, kOff});
      lo = arcs[next].lo + 1;
    }
    if (lo <= text.hi) arcs.push_back({lo, text.hi, kOff});
  }
  std::ranges::sort(arcs, {}, &Lang::Arc::lo);
  arcs_[position] = std::make_unique<std::vector<Lang::Arc>>(std::move(arcs));
  return *arcs_[position];
}

}  // namespace maskwright

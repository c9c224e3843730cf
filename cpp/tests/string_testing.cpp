#include "string_testing.h"

#include <algorithm>
#include <map>
#include <set>

namespace maskwright::testing {

namespace {

using Arc = Lang::Arc;
using Table = std::vector<std::vector<Arc>>;

std::optional<uint32_t> hex4(std::string_view text, std::size_t at) {
  if (text.size() < at + 4) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(at, 4)) {
    const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!is_hex) return std::nullopt;
    value = value * 16 + static_cast<uint32_t>(digit);
  }
  return value;
}

// Reads an escape behind its backslash.
std::optional<uint32_t> read_escape(std::string_view text, std::size_t& at) {
  if (at >= text.size()) return std::nullopt;
  const char kind = text[at++];
  const std::string_view names = "\"\\/bfnrt";
  const std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const auto i = names.find(kind); i != std::string_view::npos) {
    return static_cast<uint8_t>(meanings[i]);
  }
  if (kind != 'u') return std::nullopt;
  const auto first = hex4(text, at);
  if (!first) return std::nullopt;
  at += 4;
  if (*first < 0xD800 || *first > 0xDFFF) return first;
  if (*first > 0xDBFF || text.substr(at, 2) != "\\u") return std::nullopt;
  const auto second = hex4(text, at + 2);
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return std::nullopt;
  at += 6;
  return 0x10000 + (*first - 0xD800) * 0x400 + (*second - 0xDC00);
}

// Reads raw UTF-8: any sequence that is what encode_utf8() writes for its value.
std::optional<uint32_t> read_raw(std::string_view text, std::size_t& at) {
  for (std::size_t length = 1; length <= 4 && at + length <= text.size(); ++length) {
    const std::string_view bytes = text.substr(at, length);
    uint32_t value = static_cast<uint8_t>(bytes[0]);
    if (length > 1) value &= (1U << (7 - length)) - 1;
    for (const char c : bytes.substr(1)) value = value << 6 | (static_cast<uint8_t>(c) & 0x3FU);
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) continue;
    if (encode_utf8(value) != bytes) continue;
    if (value < 0x20) return std::nullopt;
    at += length;
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::string encode_utf8(uint32_t c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

std::optional<CodePoints> decode_json(std::string_view text) {
  CodePoints out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      if (at + 1 != text.size()) return std::nullopt;
      return out;
    }
    const bool escape = text[at] == '\\';
    if (escape) ++at;
    const auto code_point = escape ? read_escape(text, at) : read_raw(text, at);
    if (!code_point) return std::nullopt;
    out.push_back(*code_point);
  }
  return std::nullopt;
}

// --- walking ------------------------------------------------------------------------------------

Place Walker::step(Place at, uint8_t byte) {
  const Edge* edge = at.state == kDead ? nullptr : store_.row(at.state).find(byte);
  if (edge == nullptr) return {};
  if (edge->op == Op::kPlain) return {edge->target, at.reg};
  const Target target = store_.family(store_.state(at.state).family)
                            .scan(at.state, at.reg, byte, edge->target, regs_);
  return target.state == kDead ? Place{} : Place{target.state, target.reg};
}

Place Walker::walk(Place at, std::string_view text) {
  for (const char c : text) at = step(at, static_cast<uint8_t>(c));
  return at;
}

std::optional<std::vector<uint32_t>> Walker::returned(Place at) const {
  const State& state = store_.state(at.state);
  if (at.state == kDead || state.family != FamilyId::kDone) return std::nullopt;
  const auto set = store_.set(state.accepts);
  return std::vector<uint32_t>(set.begin(), set.end());
}

std::vector<Place> Walker::reachable(Place from, std::size_t limit) {
  std::vector<Place> places{from};
  std::set<Place> seen{from};
  for (std::size_t i = 0; i < places.size() && places.size() < limit; ++i) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const Place to = step(places[i], static_cast<uint8_t>(byte));
      if (to.state != kDead && seen.insert(to).second) places.push_back(to);
    }
  }
  return places;
}

std::size_t Walker::dead_ends(const std::vector<Place>& places) {
  std::map<Place, std::size_t> index;
  for (std::size_t i = 0; i < places.size(); ++i) index.emplace(places[i], i);
  std::vector<std::vector<std::size_t>> sources(places.size());
  std::vector<std::size_t> work;
  std::vector<bool> ends(places.size(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (returned(places[i])) {
      ends[i] = true;
      work.push_back(i);
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      const Place to = step(places[i], static_cast<uint8_t>(byte));
      if (const auto found = index.find(to); found != index.end()) {
        sources[found->second].push_back(i);
      }
    }
  }
  while (!work.empty()) {
    const std::size_t at = work.back();
    work.pop_back();
    for (const std::size_t source : sources[at]) {
      if (ends[source]) continue;
      ends[source] = true;
      work.push_back(source);
    }
  }
  return static_cast<std::size_t>(std::ranges::count(ends, false));
}

bool Walker::same(Place a, Place b, std::string_view alphabet, unsigned depth) {
  if ((a.state == kDead) != (b.state == kDead)) return false;
  if (a == b || a.state == kDead) return true;
  if (returned(a) != returned(b)) return false;
  if (depth == 0) return true;
  return std::ranges::all_of(alphabet, [&](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return same(step(a, byte), step(b, byte), alphabet, depth - 1);
  });
}

// --- languages ----------------------------------------------------------------------------------

TableTestLang::TableTestLang(std::vector<std::vector<Arc>> arcs, std::vector<bool> accepting,
                             uint32_t horizon)
    : arcs_(std::move(arcs)),
      accepting_(std::move(accepting)),
      horizon_(horizon),
      lengths_(arcs_.size()) {
  for (uint32_t n = 0; n <= kLongest; ++n) {
    for (std::size_t s = 0; s < arcs_.size(); ++s) {
      lengths_[s][n] = n == 0 ? accepting_[s] : std::ranges::any_of(arcs_[s], [&](const Arc& arc) {
        return lengths_[arc.target][n - 1];
      });
    }
  }
}

bool TableTestLang::can_finish(uint32_t state, uint32_t min, uint32_t max) {
  if (min > horizon_) {  // what the horizon promises
    if (max != kUnbounded) max -= min - horizon_;
    min = horizon_;
  }
  for (uint32_t n = min; n <= std::min(max, kLongest); ++n) {
    if (lengths_[state][n]) return true;
  }
  return false;
}

namespace {

std::vector<Arc> arcs_to(const std::vector<std::pair<uint32_t, uint32_t>>& ranges,
                         uint32_t target) {
  std::vector<Arc> arcs;
  for (const auto& [lo, hi] : ranges) arcs.push_back({lo, hi, target});
  return arcs;
}

const std::vector<std::pair<uint32_t, uint32_t>> kAll{{0, 0xD7FF}, {0xE000, 0x10FFFF}};

}  // namespace

std::unique_ptr<Lang> any_lang() { return class_star_lang(kAll); }

std::unique_ptr<Lang> class_star_lang(std::vector<std::pair<uint32_t, uint32_t>> ranges) {
  return std::make_unique<TableTestLang>(Table{arcs_to(ranges, 0)}, std::vector<bool>{true}, 0U);
}

std::unique_ptr<Lang> class_plus_lang(std::vector<std::pair<uint32_t, uint32_t>> ranges) {
  return std::make_unique<TableTestLang>(Table{arcs_to(ranges, 1), arcs_to(ranges, 1)},
                                         std::vector<bool>{false, true}, 1U);
}

std::unique_ptr<Lang> literal_lang(const CodePoints& text) {
  std::vector<std::vector<Arc>> arcs(text.size() + 1);
  std::vector<bool> accepting(text.size() + 1, false);
  accepting.back() = true;
  for (uint32_t i = 0; i < text.size(); ++i) arcs[i] = {{text[i], text[i], i + 1}};
  return std::make_unique<TableTestLang>(std::move(arcs), std::move(accepting),
                                         static_cast<uint32_t>(text.size()) + 1);
}

std::unique_ptr<Lang> even_lang() {
  return std::make_unique<TableTestLang>(Table{arcs_to(kAll, 1), arcs_to(kAll, 0)},
                                         std::vector<bool>{true, false}, kUnbounded);
}

std::unique_ptr<Lang> zigzag_lang() {
  const std::vector<std::pair<uint32_t, uint32_t>> letters{{'A', 'Z'}, {'a', 'z'}};
  const std::vector<std::pair<uint32_t, uint32_t>> others{{'0', '9'}, {0x10000, 0x10FFFF}};
  return std::make_unique<TableTestLang>(Table{arcs_to(letters, 1), arcs_to(others, 0)},
                                         std::vector<bool>{true, true}, 0U);
}

std::unique_ptr<Lang> long_tail_lang() {
  Table arcs{{{'0', '9', 0}, {'a', 'a', 1}}};
  for (uint32_t state = 2; state <= 5; ++state) arcs.push_back({{'a', 'a', state}});
  arcs.emplace_back();
  return std::make_unique<TableTestLang>(
      std::move(arcs), std::vector<bool>{false, false, false, false, false, true}, 6U);
}

std::unique_ptr<Lang> short_tail_lang() {
  return std::make_unique<TableTestLang>(
      Table{{{'0', '9', 0}, {'a', 'a', 1}}, {{'a', 'a', 2}}, {{'a', 'a', 3}}, {}},
      std::vector<bool>{false, true, true, true}, 3U);
}

void for_each_sequence(const std::vector<std::string>& parts, unsigned length,
                       const std::function<void(const std::string&)>& visit) {
  std::string text;
  const std::function<void(unsigned)> extend = [&](unsigned left) {
    visit(text);
    if (left == 0) return;
    const std::size_t size = text.size();
    for (const std::string& part : parts) {
      text += part;
      extend(left - 1);
      text.resize(size);
    }
  };
  extend(length);
}

}  // namespace maskwright::testing

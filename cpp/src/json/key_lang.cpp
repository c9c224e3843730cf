#include "json/key_lang.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "json/lang_overlay.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

[[noreturn]] void bad_key(const std::string& what) {
  throw Error(ErrorKind::kMalformed, "ir-malformed", "member names: " + what);
}

}  // namespace

KeyLang::KeyLang(std::span<const std::string> keys, std::span<const NameClasses* const> classes,
                 std::span<const Lang::Arc> text)
    : classes_(classes.begin(), classes.end()), text_(text.begin(), text.end()) {
  begin_.push_back(0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // The order of UTF-8 bytes is that of code points.
    if (i > 0 && keys[i - 1].compare(keys[i]) >= 0) bad_key("not sorted and unique");
    if (!decode_utf8(keys[i], code_points_)) bad_key("not UTF-8");
    begin_.push_back(static_cast<uint32_t>(code_points_.size()));
  }
  uint32_t base = size();
  for (const NameClasses* names : classes_) {
    bases_.push_back(base);
    base += names->size();
    listed_.emplace_back();
    if (names->start() == kDeadLang || names->endless(names->start())) continue;
    for (const std::string& key : keys) listed_.back().push_back(names->class_of(key));
  }
  bases_.push_back(base);
}

uint32_t KeyLang::start() {
  std::vector<uint32_t> words{0, size(), 0};
  for (const NameClasses* names : classes_) words.push_back(names->start());
  return positions_.intern(words).id;
}

KeyRange KeyLang::keys(uint32_t position) const {
  const auto words = node(position);
  return {words[0], words[1]};
}

std::string KeyLang::rest(uint32_t key, uint32_t position) const {
  std::string out;
  for (uint32_t depth = node(position)[2]; depth < length(key); ++depth) {
    const Utf8 spelled = encode_utf8(at(key, depth));
    for (const uint8_t byte : spelled.bytes()) out.push_back(static_cast<char>(byte));
  }
  return out;
}

uint32_t KeyLang::unlisted(uint32_t position) {
  const auto from = places(position);
  std::vector<uint32_t>& words = words_;
  words.assign(kNodeWords, 0);
  words.insert(words.end(), from.begin(), from.end());
  return positions_.intern(words).id;
}

bool KeyLang::ends(uint32_t position) const {
  const auto words = node(position);
  return words[0] < words[1] && length(words[0]) == words[2];
}

std::vector<uint32_t> KeyLang::labels(uint32_t position) const {
  if (ends(position)) return {node(position)[0]};
  std::vector<uint32_t> out;
  const auto states = places(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const uint32_t found = states[i] == kDeadLang ? kNone : classes_[i]->class_at(states[i]);
    if (found != kNone) out.push_back(bases_[i] + found);
  }
  return out;
}

// --- what lies ahead ----------------------------------------------------------------------------

bool KeyLang::endless(uint32_t position) const {
  const auto states = places(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (states[i] != kDeadLang && !classes_[i]->endless(states[i])) return false;
  }
  return true;
}

// Adds the unlisted names behind the position, so many times, to the counts by label.
void KeyLang::count(uint32_t position, uint64_t times, std::vector<uint64_t>& counts) const {
  const auto states = places(position);
  const KeyRange range = keys(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (states[i] == kDeadLang) continue;
    for (uint32_t c = 0; c < classes_[i]->size(); ++c) {
      uint64_t names = classes_[i]->count(states[i], c);
      if (names != 0 && names != kUnbounded) {
        for (uint32_t key = range.lo; key < range.hi; ++key) names -= listed_[i][key] == c ? 1 : 0;
      }
      uint64_t& sum = counts[bases_[i] + c - size()];
      sum = std::min<uint64_t>(sum + names * times, kUnbounded);
    }
  }
}

uint32_t KeyLang::intern_ahead(bool endless, std::span<const uint64_t> counts) {
  std::vector<uint32_t> words{endless ? 1U : 0U};
  for (uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    words.push_back(size() + i);
    words.push_back(static_cast<uint32_t>(counts[i]));
  }
  return aheads_.intern(words).id;
}

uint32_t KeyLang::ahead_of(uint32_t position) {
  if (position >= ahead_of_.size()) ahead_of_.resize(positions_.size(), kNone);
  uint32_t& known = ahead_of_[position];
  if (known != kNone) return known;
  // Nearly always other names are all of one class, or there are none.
  if (classes_.size() <= 1 && others_are_plain(position)) {
    const bool some = !classes_.empty() && place(position) != kDeadLang;
    if (some) {
      known = aheads_.intern(std::array<uint32_t, 3>{1, size(), kUnbounded}).id;
    } else {
      known = aheads_.intern(std::array<uint32_t, 1>{1}).id;
    }
  } else {
    std::vector<uint64_t> counts(bases_.back() - size(), 0);
    count(position, 1, counts);
    known = intern_ahead(endless(position), counts);
  }
  return known;
}

uint32_t KeyLang::ahead_of(uint32_t position, std::span<const CodeRange> ranges) {
  std::vector<uint64_t> counts(bases_.back() - size(), 0);
  const auto row = arcs(position);
  for (const CodeRange range : ranges) {
    for (const Lang::Arc& arc : row) {
      const uint32_t lo = std::max(arc.lo, range.lo);
      const uint32_t hi = std::min(arc.hi, range.hi);
      if (lo <= hi) count(arc.target, uint64_t{hi} - lo + 1, counts);
    }
  }
  return intern_ahead(endless(position), counts);
}

KeyLang::Ahead KeyLang::ahead(uint32_t id) const {
  const auto words = aheads_.get(id);
  return {words[0] != 0, words.subspan(1)};
}

// --- arcs ---------------------------------------------------------------------------------------

// The nodes behind a node of the trie, by code point.
std::vector<KeyLang::Child> KeyLang::children(uint32_t position) const {
  const auto from = node(position);
  uint32_t lo = from[0];
  const uint32_t hi = from[1];
  const uint32_t depth = from[2];
  std::vector<Child> out;
  if (lo < hi && length(lo) == depth) ++lo;  // the key that ends here sorts first
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
    out.push_back({code_point, {lo, end}});
    lo = end;
  }
  return out;
}

std::span<const Lang::Arc> KeyLang::arcs(uint32_t position) {
  if (position < arcs_.size() && arcs_[position] != nullptr) return *arcs_[position];
  const auto from = node(position);
  const uint32_t depth = from[2];
  const std::vector<Child> below = children(position);
  std::vector<Lang::Arc> listed;
  for (uint32_t i = 0; i < below.size(); ++i) {
    listed.push_back({below[i].code_point, below[i].code_point, i});
  }
  std::vector<std::span<const Lang::Arc>> operands{listed};
  const auto states = places(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    operands.push_back(states[i] == kDeadLang ? std::span<const Lang::Arc>()
                                              : classes_[i]->arcs(states[i]));
  }
  std::vector<Lang::Arc> arcs;
  std::vector<uint32_t> words(kNodeWords + classes_.size());
  overlay(text_, operands, [&](uint32_t lo, uint32_t hi, std::span<const uint32_t> targets) {
    if (std::ranges::all_of(targets, [](uint32_t target) { return target == kDeadLang; })) return;
    const bool on = targets[0] != kDeadLang;
    words[0] = on ? below[targets[0]].keys.lo : 0;
    words[1] = on ? below[targets[0]].keys.hi : 0;
    words[2] = on ? depth + 1 : 0;
    std::copy(targets.begin() + 1, targets.end(), words.begin() + kNodeWords);
    const uint32_t target = positions_.intern(words).id;
    if (!arcs.empty() && arcs.back().target == target && arcs.back().hi + 1 == lo) {
      arcs.back().hi = hi;
    } else {
      arcs.push_back({lo, hi, target});
    }
  });
  if (position >= arcs_.size()) arcs_.resize(positions_.size());
  arcs_[position] = std::make_unique<std::vector<Lang::Arc>>(std::move(arcs));
  return *arcs_[position];
}

uint32_t KeyLang::move(uint32_t position, uint32_t code_point) {
  const auto within = std::ranges::lower_bound(text_, code_point, {}, &Lang::Arc::hi);
  if (within == text_.end() || within->lo > code_point) return kDeadLang;
  const KeyRange below = child(position, code_point);
  std::vector<uint32_t>& words = words_;
  words.assign(kNodeWords, 0);
  if (!below.empty()) {
    words[0] = below.lo;
    words[1] = below.hi;
    words[2] = node(position)[2] + 1;
  }
  bool dead = below.empty();
  const auto states = places(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const uint32_t from = states[i];
    words.push_back(from == kDeadLang ? kDeadLang : classes_[i]->move(from, code_point));
    dead = dead && words.back() == kDeadLang;
  }
  return dead ? kDeadLang : positions_.intern(words).id;
}

// The keys behind a node that go on with the code point.
KeyRange KeyLang::child(uint32_t position, uint32_t code_point) const {
  const auto from = node(position);
  const uint32_t depth = from[2];
  const uint32_t lo = from[0] + (ends(position) ? 1 : 0);
  const auto keys = std::views::iota(std::min(lo, from[1]), from[1]);
  const auto [begin, end] =
      std::ranges::equal_range(keys, code_point, {}, [&](uint32_t key) { return at(key, depth); });
  if (begin == end) return {};
  return {*begin, *begin + static_cast<uint32_t>(end - begin)};
}

bool KeyLang::others_are_plain(uint32_t position) const {
  const auto states = places(position);
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (states[i] != kDeadLang && !classes_[i]->plain()) return false;
  }
  return true;
}

}  // namespace maskwright

#include "json/lang_term.h"

#include <algorithm>
#include <array>

#include "maskwright/automata/store.h"
#include "maskwright/ir/repeat.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright::langs {

namespace {

// Concatenating texts must not cost a square of a long chain.
constexpr std::size_t kMaxJoinedText = 256;
constexpr uint64_t kSizeCap = uint64_t{1} << 40;

uint64_t add_sizes(uint64_t a, uint64_t b) { return std::min(a + b, kSizeCap); }
uint64_t multiply_sizes(uint64_t a, uint64_t b) {
  return a != 0 && b > kSizeCap / a ? kSizeCap : std::min(a * b, kSizeCap);
}

}  // namespace

TermPool::TermPool(CodeRanges alphabet, ClassPool& classes, const LangLimits& limits)
    : alphabet_(std::move(alphabet)), classes_(classes), limits_(limits) {
  const CodeRanges all = all_code_points();
  spells_all_ = std::equal(all.begin(), all.end(), alphabet_.begin(), alphabet_.end(),
                           [](CodeRange a, CodeRange b) { return a.lo == b.lo && a.hi == b.hi; });
  intern(TermKind::kNever, {}, 0);
  intern(TermKind::kEmpty, {}, 1);
}

TermId TermPool::intern(TermKind kind, std::span<const uint32_t> content, uint64_t size) {
  const auto [id, inserted] = terms_.intern(content, static_cast<uint32_t>(kind));
  if (inserted) {
    kinds_.push_back(kind);
    sizes_.push_back(size);
  }
  return id;
}

bool TermPool::can_spell(std::span<const uint32_t> text) const {
  if (spells_all_) return true;
  return std::all_of(text.begin(), text.end(), [&](uint32_t c) { return contains(alphabet_, c); });
}

TermId TermPool::char_class(std::span<const CodeRange> ranges) {
  const CodeRanges spelled = intersect(ranges, alphabet_);
  if (spelled.empty()) return never();
  const std::array<uint32_t, 1> content{classes_.intern(spelled)};
  return intern(TermKind::kClass, content, 1);
}

TermId TermPool::text(std::string_view utf8) {
  const std::array<std::string_view, 1> one{utf8};
  return sorted_texts(one);
}

TermId TermPool::sorted_texts(std::span<const std::string_view> sorted) {
  std::size_t total = sorted.size();
  for (const std::string_view utf8 : sorted) total += utf8.size();
  std::vector<uint32_t> packed;
  packed.reserve(total);
  for (const std::string_view utf8 : sorted) {
    const std::size_t at = packed.size();
    packed.push_back(0);
    const bool valid = decode_utf8(utf8, packed);
    if (valid && can_spell(std::span(packed).subspan(at + 1))) {
      packed[at] = static_cast<uint32_t>(packed.size() - at - 1);
    } else {
      packed.resize(at);
    }
  }
  return packed_texts(packed);
}

TermId TermPool::texts(std::vector<CodePoints> texts) {
  std::erase_if(texts, [&](const CodePoints& text) { return !can_spell(text); });
  if (!std::is_sorted(texts.begin(), texts.end())) std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::vector<uint32_t> packed;
  for (const CodePoints& text : texts) {
    packed.push_back(static_cast<uint32_t>(text.size()));
    packed.insert(packed.end(), text.begin(), text.end());
  }
  return packed_texts(packed);
}

TermId TermPool::packed_texts(std::span<const uint32_t> packed) {
  if (packed.empty()) return never();
  const auto first = packed.subspan(1, packed.front());
  if (first.size() + 1 < packed.size()) return intern(TermKind::kTexts, packed, packed.size());
  if (first.empty()) return empty();
  if (first.size() > 1) return intern(TermKind::kText, first, first.size());
  const std::array<uint32_t, 1> content{classes_.intern(first.front())};
  return intern(TermKind::kClass, content, 1);
}

// Is it a class of one code point?
bool TermPool::single(TermId id, uint32_t& code_point) const {
  if (kind(id) != TermKind::kClass || classes_.num_ranges(content(id)[0]) != 1) return false;
  const CodeRange range = classes_.range(content(id)[0], 0);
  code_point = range.lo;
  return range.lo == range.hi;
}

bool TermPool::is_texts(TermId id) const {
  uint32_t code_point = 0;
  const TermKind k = kind(id);
  return k == TermKind::kEmpty || k == TermKind::kText || k == TermKind::kTexts ||
         single(id, code_point);
}

void TermPool::list_texts(TermId id, std::vector<CodePoints>& out) const {
  const auto words = content(id);
  uint32_t code_point = 0;
  switch (kind(id)) {
    case TermKind::kEmpty: out.emplace_back(); break;
    case TermKind::kText: out.emplace_back(words.begin(), words.end()); break;
    case TermKind::kTexts:
      for (std::size_t at = 0; at < words.size(); at += words[at] + 1) {
        const auto text = words.subspan(at + 1, words[at]);
        out.emplace_back(text.begin(), text.end());
      }
      break;
    default:
      if (single(id, code_point)) out.push_back({code_point});
  }
}

std::vector<uint32_t> TermPool::pack_texts(TermId id) const {
  const auto words = content(id);
  if (kind(id) == TermKind::kTexts) return {words.begin(), words.end()};
  std::vector<CodePoints> one;
  list_texts(id, one);
  std::vector<uint32_t> packed{static_cast<uint32_t>(one.front().size())};
  packed.insert(packed.end(), one.front().begin(), one.front().end());
  return packed;
}

TermId TermPool::sequence(std::span<const TermId> parts) {
  std::vector<TermId> joined;
  joined.reserve(parts.size());
  for (const TermId part : parts) {
    if (part == never()) return never();
    if (part == empty()) continue;
    TermId both = 0;
    if (!joined.empty() &&
        (join_repeat(joined.back(), part, both) || join_text(joined.back(), part, both))) {
      joined.back() = both;
    } else {
      joined.push_back(part);
    }
  }
  if (joined.empty()) return empty();
  if (joined.size() == 1) return joined.front();
  uint64_t size = joined.size();
  for (const TermId part : joined) size = add_sizes(size, sizes_[part]);
  return intern(TermKind::kSequence, joined, size);
}

// x{a,b} x{c,d} = x{a+c,b+d}
bool TermPool::join_repeat(TermId first, TermId second, TermId& joined) {
  struct Run {
    TermId body;
    uint64_t min, max;
  };
  const auto run = [&](TermId id) -> Run {
    if (kind(id) != TermKind::kRepeat) return {id, 1, 1};
    return {content(id)[0], content(id)[1], content(id)[2]};
  };
  if (kind(first) != TermKind::kRepeat && kind(second) != TermKind::kRepeat) return false;
  const Run a = run(first);
  const Run b = run(second);
  if (a.body != b.body) return false;
  const bool endless = a.max == kUnbounded || b.max == kUnbounded;
  const uint64_t max = endless ? kUnbounded : a.max + b.max;
  if (a.min + b.min >= kUnbounded || (!endless && max >= kUnbounded)) return false;
  joined = repeat(a.body, static_cast<uint32_t>(a.min + b.min), static_cast<uint32_t>(max));
  return true;
}

bool TermPool::join_text(TermId first, TermId second, TermId& joined) {
  if (kind(first) == TermKind::kTexts || kind(second) == TermKind::kTexts) return false;
  if (!is_texts(first) || !is_texts(second)) return false;
  std::vector<CodePoints> both;
  list_texts(first, both);
  list_texts(second, both);
  if (both[0].size() + both[1].size() > kMaxJoinedText) return false;
  both[0].insert(both[0].end(), both[1].begin(), both[1].end());
  both.pop_back();
  joined = texts(std::move(both));
  return true;
}

TermId TermPool::choice(std::span<const TermId> parts) {
  std::vector<TermId> rest;
  std::vector<TermId> text_parts;
  CodeRanges ranges;
  for (const TermId part : parts) {
    if (part == never()) continue;
    if (is_texts(part)) {
      text_parts.push_back(part);
    } else if (kind(part) == TermKind::kClass) {
      const CodeRanges more = classes_.get(content(part)[0]);
      ranges.insert(ranges.end(), more.begin(), more.end());
    } else {
      rest.push_back(part);
    }
  }
  std::vector<CodePoints> listed;
  bool has_empty = false;
  for (const TermId part : text_parts) {
    // Single code points join the classes, unless all alternatives are texts.
    const bool all_texts = ranges.empty() && rest.empty();
    if (part == empty() && !all_texts) {
      has_empty = true;
    } else if (kind(part) == TermKind::kClass && !all_texts) {
      const uint32_t c = classes_.range(content(part)[0], 0).lo;
      ranges.push_back({c, c});
    } else {
      list_texts(part, listed);
    }
  }
  if (!ranges.empty()) rest.push_back(char_class(normalise(std::move(ranges))));
  if (!listed.empty()) rest.push_back(texts(std::move(listed)));
  make_set(rest);
  if (rest.empty()) return has_empty ? empty() : never();
  uint64_t size = rest.size();
  for (const TermId part : rest) size = add_sizes(size, sizes_[part]);
  const TermId united = rest.size() == 1 ? rest.front() : intern(TermKind::kChoice, rest, size);
  return has_empty ? repeat(united, 0, 1) : united;
}

TermId TermPool::repeat(TermId body, uint32_t min, uint32_t max) {
  if (max == 0 || body == empty()) return empty();
  if (body == never()) return min == 0 ? empty() : never();
  if (min == 1 && max == 1) return body;
  if (kind(body) == TermKind::kRepeat) {
    const auto inner = content(body);
    const auto joined = join_nested({min, max}, {inner[1], inner[2]});
    if (joined) return repeat(inner[0], joined->min, joined->max);
  }
  const std::array<uint32_t, 3> content{body, min, max};
  const uint64_t copies = max == kUnbounded ? std::max<uint32_t>(min, 1) : max;
  return intern(TermKind::kRepeat, content, multiply_sizes(copies, sizes_[body] + 1));
}

TermId TermPool::dfa(Dfa dfa) {
  if (dfa.states.empty()) return never();
  uint64_t size = dfa.states.size();
  std::vector<uint32_t> targets;
  for (uint32_t state = 0; state < dfa.states.size(); ++state) {
    targets.clear();
    for (const Lang::Arc& arc : dfa.arcs_of(state)) targets.push_back(arc.target);
    std::sort(targets.begin(), targets.end());
    size += static_cast<uint64_t>(std::unique(targets.begin(), targets.end()) - targets.begin());
  }
  dfas_.push_back(std::make_unique<const Dfa>(std::move(dfa)));
  const std::array<uint32_t, 1> content{static_cast<uint32_t>(dfas_.size() - 1)};
  return intern(TermKind::kDfa, content, size);
}

}  // namespace maskwright::langs

#include "json/key_family.h"

#include <algorithm>
#include <array>
#include <bit>

#include "json/name_set.h"

namespace maskwright {

namespace {

using Words = std::span<const uint32_t>;

// The register's words: doubts, then one bit per label. Bits behind the end are 0.
bool is_unsure(Words reg) { return !reg.empty() && (reg[0] & 1) != 0; }

uint32_t refused_at_most(Words reg) { return reg.empty() ? 0 : reg[0] / 2; }

uint32_t bit_word(Words reg, uint32_t index, KeyRange range) {
  if (index + 1 >= reg.size()) return 0;
  uint32_t word = reg[index + 1];
  if (index == range.lo / 32) word &= 0xFFFFFFFFU << (range.lo % 32);
  if (index == (range.hi - 1) / 32) word &= 0xFFFFFFFFU >> (31 - (range.hi - 1) % 32);
  return word;
}

bool any_allowed(Words reg, KeyRange range) {
  if (range.empty()) return false;
  const uint32_t last = (range.hi - 1) / 32;
  for (uint32_t index = range.lo / 32; index <= last; ++index) {
    if (bit_word(reg, index, range) != 0) return true;
  }
  return false;
}

bool is_allowed(Words reg, uint32_t label) {
  const std::size_t word = label / 32 + 1;
  return word < reg.size() && (reg[word] >> (label % 32) & 1) != 0;
}

void append_allowed(Words reg, KeyRange range, KeyWords& key) {
  if (range.empty()) return;
  const uint32_t last = (range.hi - 1) / 32;
  for (uint32_t index = range.lo / 32; index <= last; ++index) {
    key.push_back(bit_word(reg, index, range));
  }
}

std::vector<CodeRange> ranges_of(Spelling spelling, uint32_t value) {
  const Reach possible = reach(spelling, value);
  std::vector<CodeRange> ranges{possible.first};
  if (possible.second.lo <= possible.second.hi) ranges.push_back(possible.second);
  return ranges;
}

}  // namespace

KeyFrames::View KeyFrames::view(std::span<const uint32_t> c) {
  return {c[0], c[1], c[2], c[3], {c[4], c[5]}, {c[6], c[7]}, c[8]};
}

StateId KeyFrames::intern(const View& v) {
  const std::array<uint32_t, 9> content{v.spelling,  v.value,     v.list,
                                        v.position,  v.first.lo,  v.first.hi,
                                        v.second.lo, v.second.hi, v.ahead};
  return store_.intern(FamilyId::kKey, content);
}

uint32_t KeyFrames::key_list(std::span<const std::string> keys,
                             std::span<const NameClasses* const> classes) {
  std::vector<uint32_t> content;
  for (const NameClasses* names : classes) content.push_back(names->id());
  content.push_back(kNone);
  for (const std::string& key : keys) {
    content.push_back(static_cast<uint32_t>(key.size()));
    for (const char unit : key) content.push_back(static_cast<uint8_t>(unit));
  }
  if (const uint32_t known = list_ids_.find(content); known != WordInterner::kMissing) return known;
  lists_.push_back(std::make_unique<KeyLang>(keys, classes, text_));
  return list_ids_.intern(content).id;
}

StateId KeyFrames::start(uint32_t key_list) {
  KeyLang& lang = *lists_[key_list];
  const uint32_t start = lang.start();
  return intern({kBeforeQuote, 0, key_list, start, lang.keys(start), {}, lang.ahead_of(start)});
}

void KeyFrames::describe(std::span<const uint32_t> content, State& state) {
  state.flags = kHasRegister | kPooledRegister;
  if (content[0] == kExactMark) state.flags |= kGuarded;
}

// --- rows ---------------------------------------------------------------------------------------

void KeyFrames::expand(StateId state, RowBuilder& row) {
  if (is_exact(state)) {
    for (const Edge& edge : store_.row(store_.content(state)[1]).edges) {
      row.add(edge.lo, edge.hi, kDead, Op::kDynamic);
    }
    return;
  }
  const View from = view(store_.content(state));
  if (from.spelling == kBeforeQuote) {
    row.add('"', '"', moved(Spelling::kBetween, from.list, from.position), Op::kDynamic);
    return;
  }
  const auto spelling = static_cast<Spelling>(from.spelling);
  const bool between = spelling == Spelling::kBetween;
  if (!between && from.value == kDecided) {
    expand_decided(from, row);
    return;
  }
  KeyLang& lang = *lists_[from.list];
  const auto branches = spelling_branches(
      spelling, from.value, 1, [&](uint32_t /*item*/) { return lang.arcs(from.position); });
  for (const SpellingBranch& branch : branches) {
    const StateId target = branch_target(from, branch);
    for (const uint8_t byte : branch.bytes) add_edge(from, byte, target, row);
  }
  if (between) expand_quote(from, row);
}

StateId KeyFrames::moved(Spelling spelling, uint32_t list, uint32_t position) {
  const uint32_t value = spelling == Spelling::kBetween ? 0 : kDecided;
  KeyLang& lang = *lists_[list];
  return intern({static_cast<uint32_t>(spelling),
                 value,
                 list,
                 position,
                 lang.keys(position),
                 {},
                 lang.ahead_of(position)});
}

StateId KeyFrames::branch_target(const View& from, const SpellingBranch& branch) {
  if (branch.decided) return moved(branch.next, from.list, branch.hits[0].target);
  KeyLang& lang = *lists_[from.list];
  const Reach possible = reach(branch.next, branch.value);
  KeyRange first = reached(lang, from.position, possible.first);
  KeyRange second = reached(lang, from.position, possible.second);
  if (first.empty()) std::swap(first, second);
  if (first.hi == second.lo) {
    first.hi = second.hi;
    second = {};
  }
  const uint32_t ahead = lang.ahead_of(from.position, ranges_of(branch.next, branch.value));
  return intern({static_cast<uint32_t>(branch.next), branch.value, from.list, from.position, first,
                 second, ahead});
}

// The keys whose next code point lies in the range: neighbours, as the keys are sorted.
KeyRange KeyFrames::reached(KeyLang& lang, uint32_t position, CodeRange range) {
  KeyRange all;
  for (const Lang::Arc& arc : arcs_within(lang.arcs(position), range)) {
    const KeyRange keys = lang.keys(arc.target);
    if (keys.empty()) continue;
    if (all.empty()) all = keys;
    all.hi = keys.hi;
  }
  return all;
}

void KeyFrames::add_edge(const View& from, uint8_t byte, StateId target, RowBuilder& row) {
  const View to = view(store_.content(target));
  const bool same =
      to.first == from.first && to.second == from.second && to.ahead == from.ahead;
  row.add(byte, byte, target, same ? Op::kPlain : Op::kDynamic);
}

void KeyFrames::expand_decided(const View& from, RowBuilder& row) {
  std::vector<SpellingStep> steps;
  spelling_steps(static_cast<Spelling>(from.spelling), 0, steps);
  for (const SpellingStep& step : steps) {
    const StateId target = moved(step.next, from.list, from.position);
    row.add(step.byte, step.byte, target);
    if (step.twin != 0) row.add(step.twin, step.twin, target);
  }
}

void KeyFrames::expand_quote(const View& from, RowBuilder& row) {
  const std::vector<uint32_t> labels = lists_[from.list]->labels(from.position);
  if (!labels.empty()) row.add('"', '"', store_.done(store_.intern_set(labels)), Op::kDynamic);
}

// --- the register -------------------------------------------------------------------------------

Target KeyFrames::scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
                       RegisterPool& regs) {
  const auto content = store_.content(state);
  if (content[0] == kExactMark) return scan_exact(content[1], reg, byte, regs);
  const Words words = regs.get(reg);
  const State& target = store_.state(edge_target);
  if (target.family == FamilyId::kDone) {
    const auto labels = store_.set(target.accepts);
    const bool possible =
        std::ranges::any_of(labels, [&](uint32_t label) { return is_allowed(words, label); });
    const bool listed = labels[0] < lists_[content[2]]->size();
    if (possible && !listed && is_unsure(words)) {
      regs.note_unsure();
      return {};
    }
    return {possible ? edge_target : kDead, 0};
  }
  const bool alive = is_alive(view(store_.content(edge_target)), words, regs);
  return {alive ? edge_target : kDead, alive ? reg : 0};
}

// Some allowed name lies ahead. If names that are not known here may have used up all of them that
// is not decided.
bool KeyFrames::is_alive(const View& at, std::span<const uint32_t> words, RegisterPool& regs) {
  if (any_allowed(words, at.first) || any_allowed(words, at.second)) return true;
  const KeyLang::Ahead ahead = lists_[at.list]->ahead(at.ahead);
  bool some = false;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const auto [label, count] = ahead.get(i);
    if (!is_allowed(words, label)) continue;
    some = true;
    if (count > refused_at_most(words)) return true;
  }
  if (some) regs.note_unsure();
  return false;
}

// --- unlisted names ---------------------------------------------------------------------------

StateId KeyFrames::exact(StateId inside) {
  const std::array<uint32_t, 2> content{kExactMark, inside};
  return store_.intern(FamilyId::kKey, content);
}

Target KeyFrames::start_refusing(StateId start, Reg reg, Reg names, RegisterPool& regs) {
  const std::array<uint32_t, 5> content{reg, names, empty_name(regs), kBeforeQuote, 0};
  return {exact(start), regs.intern(content)};
}

std::pair<Spelling, uint32_t> KeyFrames::spell(Spelling spelling, uint32_t value, uint8_t byte) {
  const bool plain = byte >= 0x20 && byte < 0x80 && byte != '\\';
  if (spelling == Spelling::kBetween && plain) return {Spelling::kBetween, byte};
  steps_.clear();
  spelling_steps(spelling, value, steps_);
  for (const SpellingStep& step : steps_) {
    if (step.byte == byte || (step.twin != 0 && step.twin == byte)) return {step.next, step.value};
  }
  return {Spelling::kCount, 0};  // not possible: the state inside has the same edges
}

Target KeyFrames::scan_exact(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs) {
  const Words words = regs.get(reg);
  const Edge* edge = store_.row(inside).find(byte);
  if (edge == nullptr) return {};
  Target to{edge->target, words[0]};
  if (edge->op == Op::kDynamic) to = scan(inside, words[0], byte, edge->target, regs);
  if (to.state == kDead || regs.memory() == RegisterPool::Memory::kIgnored) return to;
  if (store_.state(to.state).family == FamilyId::kDone) {
    if (holds_empty_name(words[1], regs)) return {};
    return {to.state, words[2]};
  }
  std::array<uint32_t, 5> content{words[0], words[1], words[2], words[3], words[4]};
  if (content[3] == kBeforeQuote) {
    content[3] = static_cast<uint32_t>(Spelling::kBetween);
  } else {
    const auto [next, value] = spell(static_cast<Spelling>(content[3]), content[4], byte);
    const bool whole = next == Spelling::kBetween;
    content[3] = static_cast<uint32_t>(next);
    content[4] = whole ? 0 : value;
    if (whole) {
      content[1] = names_behind(content[1], value, regs);
      content[2] = append_to_name(content[2], value, regs);
    }
  }
  if (content[1] != 0 && !names_left(view(store_.content(to.state)), content, regs)) return {};
  return {exact(to.state), regs.intern(content)};
}

// Some allowed name ahead is not refused. `exact`: the register of an exact state.
bool KeyFrames::names_left(const View& at, std::span<const uint32_t> exact,
                           const RegisterPool& regs) {
  KeyLang& lang = *lists_[at.list];
  const KeyLang::Ahead ahead = lang.ahead(at.ahead);
  const Words words = regs.get(exact[0]);
  if (ahead.endless || any_allowed(words, at.first) || any_allowed(words, at.second)) return true;
  const auto spelling = static_cast<Spelling>(exact[3]);
  // The sets of refused names that may still be spelled, and where they go on from.
  std::vector<std::pair<Reg, uint32_t>> refused;
  uint64_t times = 1;
  if (spelling == Spelling::kBetween) {
    refused.emplace_back(exact[1], at.position);
  } else {
    const bool decided = at.value == kDecided;
    if (decided) times = 0;
    const auto entries = name_entries(exact[1], regs);
    for (const CodeRange range : ranges_of(spelling, exact[4])) {
      if (decided) times += range.hi - range.lo + 1;
      for (std::size_t i = 0; i < entries.size(); i += 2) {
        if (entries[i] < range.lo || entries[i] > range.hi) continue;
        refused.emplace_back(entries[i + 1],
                             decided ? at.position : lang.move(at.position, entries[i]));
      }
    }
  }
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const auto [label, count] = ahead.get(i);
    if (!is_allowed(words, label)) continue;
    if (count == kUnbounded || count * times > used_names(lang, label, refused, regs)) return true;
  }
  return false;
}

// How many of the names have the label. Each set is one of names that go on from its position.
uint64_t KeyFrames::used_names(KeyLang& lang, uint32_t label,
                               std::span<const std::pair<Reg, uint32_t>> sets,
                               const RegisterPool& regs) {
  uint64_t used = 0;
  std::vector<std::pair<Reg, uint32_t>> stack(sets.begin(), sets.end());
  while (!stack.empty()) {
    const auto [set, position] = stack.back();
    stack.pop_back();
    if (position == kDeadLang) continue;
    if (holds_empty_name(set, regs)) {
      const std::vector<uint32_t> labels = lang.labels(position);
      used += std::ranges::binary_search(labels, label) ? 1 : 0;
    }
    const auto entries = name_entries(set, regs);
    for (std::size_t i = 0; i < entries.size(); i += 2) {
      stack.emplace_back(entries[i + 1], lang.move(position, entries[i]));
    }
  }
  return used;
}

// What is unknown in a walk: how many names may be refused, where that matters.
uint32_t KeyFrames::doubts(StateId inside, Reg names, const RegisterPool& regs) {
  const View at = view(store_.content(inside));
  if (names == 0 || lists_[at.list]->ahead(at.ahead).endless) return 0;
  return std::bit_ceil(count_names(names, regs)) * 2;
}

Target KeyFrames::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  if (!is_exact(state)) return Family::localise(state, reg, from, to);
  const StateId inside = store_.content(state)[1];
  const Words words = from.get(reg);
  const Words allowed = from.get(words[0]);
  std::vector<uint32_t> content(allowed.begin(), allowed.end());
  content[0] |= doubts(inside, words[1], from);
  return {inside, to.intern(content)};
}

bool KeyFrames::guard(StateId /*state*/, Reg reg, const RegisterPool& regs, Guard& out) {
  const Words words = regs.get(reg);
  if (words[1] == 0) return false;
  out.refused = '"';
  if (words[3] == static_cast<uint32_t>(Spelling::kBetween)) {
    out.next = first_bytes(words[1], regs);
  } else {
    out.next.set();
  }
  return true;
}

void KeyFrames::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  if (is_exact(state)) {
    const Words words = regs.get(reg);
    const StateId inside = store_.content(state)[1];
    append_key(inside, regs.get(words[0]), doubts(inside, words[1], regs), key);
  } else {
    append_key(state, regs.get(reg), 0, key);
  }
}

void KeyFrames::append_key(StateId inside, std::span<const uint32_t> words, uint32_t doubts,
                           KeyWords& key) const {
  const View at = view(store_.content(inside));
  const KeyLang::Ahead ahead = lists_[at.list]->ahead(at.ahead);
  key.push_back(inside);
  key.push_back(words.empty() ? 0 : words[0] | doubts);
  // The state is alive, so the only thing that may come is allowed.
  if (at.first.empty() && ahead.size() == 1 && at.spelling != kBeforeQuote) return;
  append_allowed(words, at.first, key);
  append_allowed(words, at.second, key);
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    if (is_allowed(words, ahead.get(i).label)) key.push_back(ahead.get(i).label);
  }
}

std::unique_ptr<KeyFamily> make_key_family(Store& store, LangTable& langs) {
  Lang& text = langs.get(langs.any_text());
  return std::make_unique<KeyFrames>(store, text.arcs(text.start()));
}

}  // namespace maskwright

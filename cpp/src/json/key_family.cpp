#include "json/key_family.h"

#include <algorithm>
#include <array>

#include "json/name_set.h"

namespace maskwright {

namespace {

using Words = std::span<const uint32_t>;

// The register's words: open, then the bits. Bits behind the end are 0.
bool is_open(Words reg) { return !reg.empty() && reg[0] != 0; }

bool is_unsure(Words reg) { return !reg.empty() && reg[0] == 3; }

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

void append_allowed(Words reg, KeyRange range, KeyWords& key) {
  if (range.empty()) return;
  const uint32_t last = (range.hi - 1) / 32;
  for (uint32_t index = range.lo / 32; index <= last; ++index) {
    key.push_back(bit_word(reg, index, range));
  }
}

}  // namespace

KeyFrames::View KeyFrames::view(std::span<const uint32_t> c) {
  return {c[0], c[1], c[2], c[3], {c[4], c[5]}, {c[6], c[7]}};
}

StateId KeyFrames::intern(const View& v) {
  const std::array<uint32_t, 8> content{v.spelling, v.value,    v.list,      v.position,
                                        v.first.lo, v.first.hi, v.second.lo, v.second.hi};
  return store_.intern(FamilyId::kKey, content);
}

uint32_t KeyFrames::key_list(std::span<const std::string> keys) {
  std::vector<uint32_t> content;
  for (const std::string& key : keys) {
    content.push_back(static_cast<uint32_t>(key.size()));
    for (const char unit : key) content.push_back(static_cast<uint8_t>(unit));
  }
  if (const uint32_t known = list_ids_.find(content); known != WordInterner::kMissing) return known;
  lists_.push_back(std::make_unique<KeyLang>(keys, text_));
  return list_ids_.intern(content).id;
}

StateId KeyFrames::start(uint32_t key_list) {
  KeyLang& lang = *lists_[key_list];
  return intern({kBeforeQuote, 0, key_list, lang.start(), {0, lang.size()}, {}});
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
  return intern(
      {static_cast<uint32_t>(spelling), value, list, position, lists_[list]->keys(position), {}});
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
  return intern(
      {static_cast<uint32_t>(branch.next), branch.value, from.list, from.position, first, second});
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
  const bool same = to.first == from.first && to.second == from.second;
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
  const KeyLang& lang = *lists_[from.list];
  const std::array<uint32_t, 1> label{lang.ends(from.position) ? from.first.lo : lang.size()};
  row.add('"', '"', store_.done(store_.intern_set(label)), Op::kDynamic);
}

// --- the register -------------------------------------------------------------------------------

Target KeyFrames::scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
                       RegisterPool& regs) {
  const auto content = store_.content(state);
  if (content[0] == kExactMark) return scan_exact(content[1], reg, byte, regs);
  const Words words = regs.get(reg);
  const State& target = store_.state(edge_target);
  if (target.family == FamilyId::kDone) {
    const uint32_t label = store_.set(target.accepts)[0];
    const bool declared = label < lists_[content[2]]->size();
    if (!declared && is_unsure(words)) {
      regs.note_unsure();
      return {};
    }
    const bool possible = declared ? any_allowed(words, {label, label + 1}) : is_open(words);
    return {possible ? edge_target : kDead, 0};
  }
  const View to = view(store_.content(edge_target));
  const bool alive =
      is_open(words) || any_allowed(words, to.first) || any_allowed(words, to.second);
  return {alive ? edge_target : kDead, alive ? reg : 0};
}

// --- undeclared names ---------------------------------------------------------------------------

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
  return {exact(to.state), regs.intern(content)};
}

Target KeyFrames::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  if (!is_exact(state)) return Family::localise(state, reg, from, to);
  return Family::localise(store_.content(state)[1], from.get(reg)[0], from, to);
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
    mask_key(store_.content(state)[1], regs.get(reg)[0], regs, key);
    return;
  }
  key.push_back(state);
  const View at = view(store_.content(state));
  if (at.position == KeyLang::kOff && at.spelling != kBeforeQuote) return;
  const Words words = regs.get(reg);
  key.push_back(is_open(words) ? 1 : 0);
  append_allowed(words, at.first, key);
  append_allowed(words, at.second, key);
}

std::unique_ptr<KeyFamily> make_key_family(Store& store, LangTable& langs) {
  Lang& text = langs.get(langs.any_text());
  auto family = std::make_unique<KeyFrames>(store, text.arcs(text.start()));
  return family;
}

}  // namespace maskwright

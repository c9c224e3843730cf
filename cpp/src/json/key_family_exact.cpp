// Exact states of the key family: unlisted names that must not come again.
#include <array>
#include <bit>

#include "json/key_family.h"
#include "json/key_register.h"
#include "json/name_set.h"

namespace maskwright {

using namespace key_register;

// --- unlisted names ---------------------------------------------------------------------------

StateId KeyFrames::exact(StateId inside) {
  const std::array<uint32_t, 2> content{kExactMark, inside};
  return store_.intern(FamilyId::kKey, content);
}

Target KeyFrames::start_refusing(StateId start, Reg reg, Reg names, RegisterPool& regs) {
  const std::array<uint32_t, 5> content{reg, names, empty_name(regs), kBeforeQuote, 0};
  return {exact(start), regs.intern(content)};
}

Target KeyFrames::scan_exact(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs) {
  const Words words = regs.get(reg);
  const Target to = read(inside, words[0], byte, regs);
  if (to.state == kDead || regs.memory() == RegisterPool::Memory::kIgnored) return to;
  if (store_.state(to.state).family == FamilyId::kDone) {
    if (holds_empty_name(words[1], regs)) return {};
    return {to.state, words[2]};
  }
  std::array<uint32_t, 5> content{words[0], words[1], words[2], words[3], words[4]};
  if (content[3] == kBeforeQuote) {
    content[3] = static_cast<uint32_t>(Spelling::kBetween);
  } else {
    const auto [next, value] = spell({static_cast<Spelling>(content[3]), content[4]}, byte);
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

// What the row of the state says of a byte. A text is read once, so that rows are made only for
// bytes that begin a spelling of more than one.
Target KeyFrames::read(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs) {
  const View at = view(store_.content(inside));
  const bool has_row = store_.state(inside).row != nullptr;
  if (at.spelling == kBeforeQuote) {
    if (byte != '"') return {};
    return scan(inside, reg, byte, moved(Spelling::kBetween, at.list, at.position), regs);
  }
  const bool between = at.spelling == static_cast<uint32_t>(Spelling::kBetween);
  if (between && !has_row && byte < 0x80 && byte != '\\') {
    if (byte == '"') {
      const StateId end = ended(at);
      return end == kDead ? Target{} : scan(inside, reg, byte, end, regs);
    }
    if (!kRawText.has(byte)) return {};
    const uint32_t position = lists_[at.list]->move(at.position, byte);
    if (position == kDeadLang) return {};
    const StateId target = moved(Spelling::kBetween, at.list, position);
    if (op_between(at, target) == Op::kPlain) return {target, reg};
    return scan(inside, reg, byte, target, regs);
  }
  const Edge* edge = store_.row(inside).find(byte);
  if (edge == nullptr) return {};
  if (edge->op == Op::kPlain) return {edge->target, reg};
  return scan(inside, reg, byte, edge->target, regs);
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
    for (const CodeRange range : reachable_ranges(spelling, exact[4])) {
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
  const bool exact = is_exact(state);
  const StateId known = exact ? store_.content(state)[1] : state;
  const Words words = from.get(reg);
  const Words allowed = exact ? from.get(words[0]) : words;
  std::vector<uint32_t> content(allowed.begin(), allowed.end());
  if (content.empty()) content.push_back(0);
  if (exact) content[0] |= doubts(known, words[1], from);
  const StateId inside = same_for_tokens(known, content);
  const View at = view(store_.content(inside));
  if (reads_any(at, content)) {
    const KeyLang& lang = *lists_[at.list];
    content = with_unknown(content, lang.size(), lang.num_labels(), near_names(inside));
  }
  return {inside, to.intern(content)};
}

Target KeyFrames::forget(StateId state, Reg reg, RegisterPool& regs) {
  if (!is_exact(state)) return {state, reg};
  return {store_.content(state)[1], regs.get(reg)[0]};
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

}  // namespace maskwright

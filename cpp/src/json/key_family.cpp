#include "json/key_family.h"

#include <algorithm>
#include <array>
#include <bit>

#include "json/key_register.h"
#include "json/text_region.h"

namespace maskwright {

using namespace key_register;

namespace {

void append_allowed(Words reg, KeyRange range, KeyWords& key) {
  if (range.empty()) return;
  const uint32_t last = (range.hi - 1) / 32;
  for (uint32_t index = range.lo / 32; index <= last; ++index) {
    key.push_back(bit_word(reg, index, range));
  }
}

// The bytes at which the spelling of a code point of the name may begin, and are not of the text.
void add_name(std::string_view name, FreeRun& run) {
  for (const char unit : name) {
    const auto byte = static_cast<uint8_t>(unit);
    const bool begins = byte < 0x80 ? kRawText.has(byte) : byte >= 0xC0;
    if (begins && !run.text.begins(byte)) run.others.add(byte);
  }
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
  if (content[0] == kExactMark) state.flags |= kGuarded | kScans;
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
  if (between && store_.shortcuts().sharing && expand_listed(from, row)) {
    expand_quote(from, row);
    return;
  }
  KeyLang& lang = *lists_[from.list];
  const auto branches = spelling_branches(
      spelling, from.value, 1, [&](uint32_t /*item*/) { return lang.arcs(from.position); });
  for (const SpellingBranch& branch : branches) {
    const StateId target = branch_target(from, branch);
    const Op op = op_between(from, target);
    for (const auto [lo, hi] : branch.bytes) row.add(lo, hi, target, op);
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
  const uint32_t ahead = lang.ahead_of(from.position, reachable_ranges(branch.next, branch.value));
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

Op KeyFrames::op_between(const View& from, StateId target) const {
  const View to = view(store_.content(target));
  const bool same = to.first == from.first && to.second == from.second && to.ahead == from.ahead;
  // Where names can run out, those that are left of as many may still be others.
  return same && lists_[to.list]->ahead(to.ahead).endless ? Op::kPlain : Op::kDynamic;
}

void KeyFrames::expand_decided(const View& from, RowBuilder& row) {
  std::vector<SpellingStep> steps;
  spelling_steps(static_cast<Spelling>(from.spelling), 0, steps);
  std::array<StateId, static_cast<std::size_t>(Spelling::kCount)> targets{};
  for (const SpellingStep& step : steps) {
    StateId& target = targets[static_cast<std::size_t>(step.next)];
    if (target == kDead) target = moved(step.next, from.list, from.position);
    const Op op = op_between(from, target);
    row.add(step.byte, step.byte, target, op);
    if (step.twin != 0) row.add(step.twin, step.twin, target, op);
  }
}

void KeyFrames::expand_quote(const View& from, RowBuilder& row) {
  const StateId end = ended(from);
  if (end != kDead) row.add('"', '"', end, Op::kDynamic);
}

// Behind the quotation mark; kDead if no name ends there.
StateId KeyFrames::ended(const View& at) {
  const std::vector<uint32_t> labels = lists_[at.list]->labels(at.position);
  return labels.empty() ? kDead : store_.done(store_.intern_set(labels));
}

// The row between two letters of listed names, the usual one: all of them go on with a character
// that is spelled as it is, and others are not told apart. It is that of a place without listed
// names, which is made once, but for these characters. False, and nothing added, elsewhere.
bool KeyFrames::expand_listed(const View& from, RowBuilder& row) {
  KeyLang& lang = *lists_[from.list];
  if (from.first.empty() || !lang.others_are_plain(from.position)) return false;
  const std::vector<KeyLang::Child> next = lang.children(from.position);
  const bool raw = std::ranges::all_of(next, [](const KeyLang::Child& child) {
    return child.code_point < 0x80 && kRawText.has(static_cast<uint8_t>(child.code_point));
  });
  if (!raw || next.empty()) return false;
  std::vector<uint32_t> positions;
  for (const KeyLang::Child& child : next) {
    positions.push_back(lang.move(from.position, child.code_point));
    if (positions.back() == kDeadLang) return false;  // no token has that character
  }
  const bool others = lang.ahead(from.ahead).size() != 0;
  StateId other = kDead;
  if (others) {
    other = moved(Spelling::kBetween, from.list, lang.unlisted(from.position));
    if (view(store_.content(other)).ahead != from.ahead) return false;
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    const StateId target = moved(Spelling::kBetween, from.list, positions[i]);
    const auto byte = static_cast<uint8_t>(next[i].code_point);
    row.add(byte, byte, target, op_between(from, target));
  }
  const KeyRange listed{next.front().keys.lo, next.back().keys.hi};
  const StateId escape = intern({static_cast<uint32_t>(Spelling::kEscape),
                                 0,
                                 from.list,
                                 from.position,
                                 listed,
                                 {},
                                 from.ahead});
  row.add('\\', '\\', escape, op_between(from, escape));
  if (!others) return true;
  for (const Edge& edge : store_.row(other).edges) {
    uint32_t lo = edge.lo;
    const auto keep_to = [&](uint32_t end) {
      if (lo < end) {
        row.add(static_cast<uint8_t>(lo), static_cast<uint8_t>(end - 1), edge.target, Op::kDynamic);
      }
      lo = end + 1;
    };
    if (edge.lo == '"' || edge.lo == '\\') continue;
    for (const KeyLang::Child& child : next) {
      if (child.code_point >= lo && child.code_point <= edge.hi) keep_to(child.code_point);
    }
    keep_to(edge.hi + 1U);
  }
  return true;
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
    if (is_unknown_name(words, labels[0])) {
      regs.note_unsure();
      return {};
    }
    const bool possible =
        std::ranges::any_of(labels, [&](uint32_t label) { return is_allowed(words, label); });
    const bool listed = labels[0] < lists_[content[2]]->size();
    if (possible && !listed && is_unsure(words)) {
      regs.note_unsure();
      return {};
    }
    return {possible ? edge_target : kDead, 0};
  }
  const bool any = !words.empty() && (words[0] & kHasUnknown) != 0;
  const bool alive = any || is_alive(view(store_.content(edge_target)), words, regs);
  return {alive ? edge_target : kDead, alive ? reg : 0};
}

bool KeyFrames::reads_escapes(StateId state) {
  if (is_exact(state)) return false;
  const View at = view(store_.content(state));
  if (at.spelling != static_cast<uint32_t>(Spelling::kBetween)) return false;
  return all_lead_to(at.position, lists_[at.list]->arcs(at.position));
}

// Where names that aren't listed may come and are of one class, whatever is read can become one.
bool KeyFrames::reads_all(StateId state, Reg reg, const RegisterPool& regs, FreeRun& run,
                          uint32_t& length) {
  if (is_exact(state)) return false;
  const View at = view(store_.content(state));
  length = kUnbounded;
  if (at.spelling != static_cast<uint32_t>(Spelling::kBetween)) return false;
  if (!reads_any(at, regs.get(reg))) return find_region(at, regs.get(reg), run);
  run.text = kSpelledText;
  run.others.add('"');
  run.others_known = true;
  return true;
}

// Text behind which there are always endlessly many names of an allowed class.
bool KeyFrames::find_region(const View& at, std::span<const uint32_t> words, FreeRun& run) {
  const KeyLang& lang = *lists_[at.list];
  const NameClasses* names = lang.only_classes();
  if (names == nullptr || lang.place(at.position) == kDeadLang) return false;
  std::vector<uint32_t>& classes = allowed_classes_;
  classes.clear();
  for (uint32_t c = 0; c < names->size(); ++c) {
    if (is_allowed(words, lang.label_base(0) + c)) classes.push_back(c);
  }
  const FreeRun& region = region_of_classes(*names, lang.place(at.position), classes);
  if (!region.others_known) return false;
  run = region;
  for (uint32_t key = at.first.lo; key < at.first.hi; ++key) {
    add_name(lang.rest(key, at.position), run);
  }
  return true;
}

// The same where no names are listed, kept for all key lists: `others_known` is false where there
// is no such text.
const FreeRun& KeyFrames::region_of_classes(const NameClasses& names, uint32_t place,
                                            std::span<const uint32_t> classes) {
  std::vector<uint32_t> key{names.id(), place};
  key.insert(key.end(), classes.begin(), classes.end());
  const uint32_t id = region_ids_.intern(key).id;
  if (id < regions_.size()) return regions_[id];
  regions_.resize(id + 1);
  const auto any_left = [&](uint32_t state, uint32_t least) {
    return std::ranges::any_of(classes, [&](uint32_t c) { return names.count(state, c) >= least; });
  };
  std::vector<Lang::Arc> kept;
  const auto arcs_to = [&](uint32_t state, auto condition) {
    kept.clear();
    for (const Lang::Arc& arc : names.arcs(state)) {
      if (condition(arc.target)) kept.push_back(arc);
    }
    return std::span<const Lang::Arc>(kept);
  };
  const auto no_class = [](std::span<const CodeRange>) { return 0U; };
  const auto endless = [&](uint32_t state) { return any_left(state, kUnbounded); };
  const TextRegion region =
      find_text_region([&](uint32_t state) { return arcs_to(state, endless); }, no_class, place,
                       store_.max_advance());
  if (region.length != kUnbounded) return regions_[id];
  FreeRun& run = regions_[id];
  run = region.run;
  const auto few = [&](uint32_t state) { return !endless(state) && any_left(state, 1); };
  for (const uint32_t state : region.states) {
    add_bytes_read(arcs_to(state, few), run.text, run.others);
  }
  return run;
}

uint32_t KeyFrames::listed(StateId state, std::array<ListedRange, 2>& texts) {
  if (is_exact(state)) return 0;
  const View at = view(store_.content(state));
  texts = {at.first, at.second};
  return lists_[at.list]->size();
}

bool KeyFrames::listed_below(StateId state, Reg reg, const RegisterPool& regs,
                             std::vector<uint32_t>& count) {
  const Words words = regs.get(reg);
  if (words.empty() || (words[0] & kHasUnknown) != 0) return false;
  const KeyLang& lang = *lists_[view(store_.content(state)).list];
  for (uint32_t label = lang.size(); label < lang.num_labels(); ++label) {
    if (is_allowed(words, label)) return false;
  }
  count.assign(1, 0);
  for (uint32_t key = 0; key < lang.size(); ++key) {
    count.push_back(count.back() + (is_allowed(words, key) ? 1 : 0));
  }
  return true;
}

// Between two code points, and unlisted names of one class may come.
bool KeyFrames::reads_any(const View& at, std::span<const uint32_t> words) const {
  if (at.spelling != static_cast<uint32_t>(Spelling::kBetween) && at.spelling != kBeforeQuote) {
    return false;
  }
  return lists_[at.list]->any_plain([&](uint32_t label) { return is_allowed(words, label); });
}

// The listed names, sorted, that a token can read to the end from here.
std::span<const uint32_t> KeyFrames::near_names(StateId inside) {
  const auto [entry, added] = near_names_.try_emplace(inside);
  if (added) {
    const View at = view(store_.content(inside));
    const KeyLang& lang = *lists_[at.list];
    for (const KeyRange range : {at.first, at.second}) {
      for (uint32_t key = range.lo; key < range.hi; ++key) {
        const std::string rest = lang.rest(key, at.position);
        const bool near =
            at.spelling == kBeforeQuote ? store_.tokens_quote(rest) : store_.tokens_end_name(rest);
        if (near) entry->second.push_back(key);
      }
    }
  }
  return entry->second;
}

// A state with the same masks, the same one for as many states as may be.
StateId KeyFrames::same_for_tokens(StateId inside, std::span<const uint32_t> words) {
  if (!store_.shortcuts().sharing) return inside;
  const View at = view(store_.content(inside));
  if (at.spelling == kBeforeQuote || at.first.empty() || !reads_any(at, words)) return inside;
  if (!near_names(inside).empty()) return inside;
  const StateId other = moved(Spelling::kBetween, at.list, lists_[at.list]->unlisted(at.position));
  return view(store_.content(other)).ahead == at.ahead ? other : inside;
}

// The listed names, where JSON spells them as they are.
void KeyFrames::likely(StateId state, Reg reg, const RegisterPool& regs,
                       std::vector<std::string>& out) {
  Words words = regs.get(reg);
  if (is_exact(state)) {
    words = regs.get(words[0]);
    state = store_.content(state)[1];
  }
  const View at = view(store_.content(state));
  const bool before = at.spelling == kBeforeQuote;
  if (!before && at.spelling != static_cast<uint32_t>(Spelling::kBetween)) return;
  for (const KeyRange range : {at.first, at.second}) {
    for (uint32_t key = range.lo; key < range.hi; ++key) {
      if (!is_allowed(words, key)) continue;
      const std::string rest = lists_[at.list]->rest(key, at.position);
      const bool plain = std::ranges::all_of(
          rest, [](char c) { return c != '"' && c != '\\' && static_cast<uint8_t>(c) >= ' '; });
      if (plain) out.push_back((before ? "\"" : "") + rest + '"');
    }
  }
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
                           KeyWords& key) {
  inside = same_for_tokens(inside, words);
  const View at = view(store_.content(inside));
  const KeyLang::Ahead ahead = lists_[at.list]->ahead(at.ahead);
  key.push_back(inside);
  const bool any = reads_any(at, words);
  key.push_back((words.empty() ? 0 : words[0] | doubts) | (any ? kHasUnknown : 0));
  if (any) {
    uint32_t count = 0;
    for (const uint32_t near : near_names(inside)) {
      if (count % 32 == 0) key.push_back(0);
      if (is_allowed(words, near)) key.back() |= 1U << count % 32;
      ++count;
    }
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      if (is_allowed(words, ahead.get(i).label)) key.push_back(ahead.get(i).label);
    }
    return;
  }
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

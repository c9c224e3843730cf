// Budgets of texts with member names, or items of arrays, that must not come again. Both are called
// names here.
//
// Idea: the shortest text is found without the names that are there, so those in it may be there
// already. One that is made longer by d of n letters is new if n^d is more than the number of names
// there are. So the number of tokens depends on how many there are and not on what they are, and is
// the same behind all characters of a name: near the end thousands of tokens are judged as one.
//
// An item that is no string takes the letters in a string inside it, the last one of any letters:
// what differs in a part differs. If it has none, an item that does, or a whole number of any
// digits, comes in its place (text_search.h). Where a part must differ itself, in arrays in arrays
// or the name of a member, its letters serve both: there are enough of them for what is there of
// each.
//
// The letters must lead nowhere else: behind them the name must be where all of them lead back to.
// A letter leads there (`Pad::enter`) where listed names might follow. Where no letter does, or
// names may run out, a search must do (completions.cpp).

#include <algorithm>
#include <string_view>
#include <utility>

#include "maskwright/support/sorted_set.h"
#include "matcher/completions.h"
#include "matcher/text_search.h"

namespace maskwright {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";

constexpr std::string_view kDigits = "123456789";  // zeros at the end may lead elsewhere

// So many of the letters make more names than there are.
uint32_t length_for(uint32_t names, std::string_view letters) {
  uint32_t length = 1;
  for (uint64_t many = letters.size(); many <= names; many *= letters.size()) ++length;
  return length;
}

// The number in these letters, so many.
std::string spelled(uint64_t number, std::string_view letters, uint32_t length) {
  std::string text;
  for (uint32_t i = 0; i < length; ++i, number /= letters.size()) {
    text += letters[number % letters.size()];
  }
  return text;
}

}  // namespace

// --- what stacks remember -----------------------------------------------------------------------

// Nodes are made after those below them, so one pass knows all.
void Completions::note_stacks() {
  const uint32_t size = arena_.size().nodes;
  for (auto id = static_cast<uint32_t>(names_.size()); id < size; ++id) {
    if (id == kBottom) {
      names_.push_back(0);
      forgotten_.push_back(kBottom);
      continue;
    }
    const Arena::Node node = arena_.node(id);
    uint32_t most = names_in({node.state, node.reg});
    std::vector<uint32_t> below;
    for (const uint32_t other : arena_.nodes(node.below)) {
      most = std::max(most, names_[other]);
      below.push_back(forgotten_[other]);
    }
    make_set(below);
    const Target at = forgotten(store_, {node.state, node.reg}, arena_);
    names_.push_back(most);
    forgotten_.push_back(arena_.push(at.state, at.reg, arena_.reference(below)));
  }
}

uint32_t Completions::names_in(Target at) {
  const State& state = store_.state(at.state);
  if ((state.flags & kPooledRegister) == 0) return 0;
  return store_.family(state.family).remembered(at.state, at.reg, arena_.regs());
}

// The most that any open frame has.
uint32_t Completions::remembered(Place at) {
  note_stacks();
  uint32_t most = 0;
  for (const Config& config : configs(at)) {
    most = std::max(most, names_in({config.state, config.reg}));
    for (const uint32_t node : arena_.nodes(config.stack)) most = std::max(most, names_[node]);
  }
  return most;
}

// Places that differ in the names that they remember, or in how much whitespace was read, share
// their texts.
Completions::Place Completions::loose_place(Place at) {
  const auto [known, added] = loose_places_.try_emplace(at, kNoPlace);
  if (!added) return known->second;
  note_stacks();
  ConfigSet set;
  for (const Config& config : configs(at)) {
    std::vector<uint32_t> nodes;
    for (const uint32_t node : arena_.nodes(config.stack)) nodes.push_back(forgotten_[node]);
    make_set(nodes);
    const Target target = forgotten(store_, {config.state, config.reg}, arena_);
    set.add({target.state, target.reg, 0, arena_.reference(nodes)}, arena_);
  }
  return known->second = intern(set.configs());
}

// --- longer names -------------------------------------------------------------------------------

// Reads a text and closes; false if it can't be read.
bool Completions::follow(ConfigSet& set, std::string_view text) {
  if (text.empty()) return true;
  ConfigSet after;
  if (!runner_.read(set.configs(), text, arena_, after) || after.empty()) {
    return false;
  }
  close(after);
  std::swap(set, after);
  return true;
}

// In a name in which all letters lead back.
bool Completions::reads_letters(const ConfigSet& set) {
  if (set.size() != 1) return false;
  const FamilyId family = store_.state(set[0].state).family;
  if (family != FamilyId::kKey && family != FamilyId::kString) return false;
  const TextClass& text = store_.free_run(set[0].state).text;
  if (!std::ranges::all_of(kLetters, [&](char c) { return text.has(static_cast<uint8_t>(c)); })) {
    return false;
  }
  ConfigSet after = set;
  return follow(after, kLetters.substr(0, 1)) && after.size() == 1 && after[0] == set[0];
}

// In a number that goes on with any digits.
bool Completions::reads_digits(const ConfigSet& set) {
  return std::ranges::all_of(kDigits, [&](const char& digit) {
    ConfigSet after = set;
    return follow(after, {&digit, 1}) && std::ranges::equal(after.configs(), set.configs());
  });
}

// What must come before the letters; nothing if no such place is near.
std::optional<std::string> Completions::enter_letters(ConfigSet& set) {
  if (reads_letters(set)) return std::string();
  for (const char letter : kLetters) {
    ConfigSet after = set;
    const std::string text(1, letter);
    if (!follow(after, text) || !reads_letters(after)) continue;
    std::swap(set, after);
    return text;
  }
  return std::nullopt;
}

// The last quotation mark of the item before which all letters lead back. The configurations are at
// `at`, and then at the item's end.
std::optional<Completions::Pad> Completions::pad_in_string(ConfigSet& set, std::string_view text,
                                                           uint32_t at, const Repeat& item) {
  std::optional<Pad> pad;
  while (at < item.end) {
    const auto quote = static_cast<uint32_t>(std::min<std::size_t>(text.find('"', at), item.end));
    if (!follow(set, text.substr(at, quote - at))) return std::nullopt;
    if (quote == item.end) return pad;
    if (quote >= item.begin && reads_letters(set)) pad = Pad{quote, quote, {}, {}};
    if (!follow(set, text.substr(quote, 1))) return std::nullopt;
    at = quote + 1;
  }
  return pad;
}

// Letters in the item, or another item in its place.
std::optional<Completions::Pad> Completions::pad_item(ConfigSet& set, std::string_view text,
                                                      uint32_t begin, const Repeat& item) {
  const bool whole = item.begin > begin && item.end < text.size();
  if (whole && !follow(set, text.substr(begin, item.begin - begin))) return std::nullopt;
  const Place start = whole ? intern(set.configs()) : kNoPlace;
  auto pad = pad_in_string(set, text, whole ? item.begin : begin, item);
  if (pad.has_value() || !whole) return pad;
  ConfigSet after = set;
  if (!follow(after, text.substr(item.end, 1))) return std::nullopt;
  pad = TextSearch(*this).find_pad(start, intern(after.configs()));
  if (!pad.has_value()) return std::nullopt;
  pad->at = item.begin;
  pad->end = item.end;
  return pad;
}

// What leads to the letters of a name, and of a string, comes before its quotation mark.
std::optional<Completions::Pad> Completions::pad_name(ConfigSet& set, const Repeat& name) {
  auto enter = enter_letters(set);
  if (!enter.has_value() || !follow(set, "\"")) return std::nullopt;
  return Pad{name.begin, name.begin, std::move(*enter), {}};
}

// From `at`, to where the doubt is over.
std::optional<Completions::Pad> Completions::find_pad(ConfigSet& set, std::string_view text,
                                                      uint32_t& at, const Repeat& repeat) {
  if (repeat.end <= at) return std::nullopt;  // inside of another one
  const uint32_t begin = std::exchange(at, repeat.end);
  const bool is_name = repeat.begin + 1 == repeat.end && text[repeat.begin] == '"';
  if (!is_name) return pad_item(set, text, begin, repeat);
  if (!follow(set, text.substr(begin, repeat.begin - begin))) return std::nullopt;
  return pad_name(set, repeat);
}

// The pad of what is inside of an item makes the item a new one too.
bool Completions::add_pad(ConfigSet& set, std::string_view text, uint32_t& at, const Repeat& repeat,
                          std::vector<Pad>& pads) {
  ConfigSet before = set;
  const uint32_t begin = at;
  if (auto pad = find_pad(set, text, at, repeat)) {
    pads.push_back(std::move(*pad));
    return true;
  }
  if (pads.empty() || pads.back().at < repeat.begin) return false;
  ++pads.back().doubts;
  std::swap(set, before);
  at = repeat.end;
  return follow(set, text.substr(begin, repeat.end - begin));
}

const Completions::Padding& Completions::padding(Place loose_at, Loose& loose, bool first_is_new) {
  auto& known = loose.padding[first_is_new ? 1 : 0];
  if (known.has_value()) return *known;
  Padding padding;
  const std::string text = loose_text(loose_at).bytes;
  arena_.regs().set_memory(Memory::kIgnored);
  ConfigSet set;
  set.assign(configs(loose_at));
  uint32_t at = 0;
  bool found = true;
  const std::span<const Repeat> repeats(loose.doubts.repeats);
  for (const Repeat& repeat : first_is_new ? repeats.subspan(1) : repeats) {
    found = found && add_pad(set, text, at, repeat, padding.pads);
  }
  padding.possible = found && follow(set, text.substr(at)) && close(set);
  if (padding.possible) padding.tokens = count_parts(text, padding.pads);
  arena_.regs().set_memory(Memory::kExact);
  return known.emplace(std::move(padding));
}

// So many tokens spell the text but for the letters and digits.
uint32_t Completions::count_parts(std::string_view text, std::span<const Pad> pads) {
  uint32_t tokens = 0;
  std::size_t done = 0;
  std::string part;
  for (std::size_t i = 0; i <= pads.size(); ++i) {
    const std::size_t end = i == pads.size() ? text.size() : pads[i].at;
    part += text.substr(done, end - done);
    if (i != pads.size()) part += pads[i].enter;
    const uint32_t more = speller_.count(part);
    if (more == kUnbounded) return kUnbounded;
    tokens += more;
    if (i == pads.size()) break;
    done = pads[i].end;
    part = pads[i].leave;
  }
  return tokens;
}

// How the place's text can be padded, so that it is none that is there. Takes no search for itself.
std::optional<Completions::Named> Completions::named(Place at) {
  if (const auto alone = named_alone(at)) return alone;
  const Place loose_at = loose_place(at);
  Loose& found = loose(loose_at);
  const uint32_t names = remembered(at);
  // The first item may be a new one already, whatever the letters in it are.
  if (!may_be_padded(found) || names == 0 || !padding(loose_at, found, true).possible ||
      !reads_first(at, loose_text(loose_at).bytes, found.doubts.repeats[0].end)) {
    return std::nullopt;
  }
  return Named{&padding(loose_at, found, true), names + 1, 1};
}

// The same by the loosened configurations and the number of names alone.
std::optional<Completions::Named> Completions::named_alone(Place at) {
  const Place loose_at = loose_place(at);
  Loose& found = loose(loose_at);
  if (!may_be_padded(found)) return std::nullopt;
  const uint32_t names = remembered(at);
  const Padding& all = padding(loose_at, found, names == 0);
  if (!all.possible) return std::nullopt;
  return names == 0 ? Named{&all, 1, 1} : Named{&all, names, 0};
}

bool Completions::may_be_padded(const Loose& loose) const {
  return bytes_suffice_ && loose.tokens != kUnbounded && loose.doubts.others == 0 &&
         !loose.doubts.repeats.empty();
}

// Whether the place reads the text up to where its first doubt is over.
bool Completions::reads_first(Place at, std::string_view text, uint32_t end) {
  ConfigSet set;
  set.assign(configs(at));
  // What follows an item says whether that has ended.
  if (!follow(set, text.substr(0, end + 1))) return false;
  return end < text.size() || close(set);
}

// The tokens that complete the padded text.
uint32_t Completions::padded_tokens(const Named& named) const {
  if (named.padding->tokens == kUnbounded) return kUnbounded;
  uint32_t letters = 0;
  uint32_t before = named.before;
  for (const Pad& pad : named.padding->pads) {
    before += pad.doubts;
    letters += length_for((before - 1) * pad.doubts, pad.digits ? kDigits : kLetters);
  }
  return named.padding->tokens + letters;
}

// A plan of no more tokens than that.
std::optional<Completions::Plan> Completions::padded_plan(Place at, const Named& named) {
  const ShortestTexts::Text loose = loose_text(loose_place(at));
  ConfigSet set;
  set.assign(configs(at));
  std::string text;
  std::string part;
  std::size_t done = 0;
  uint32_t before = named.before;
  uint32_t doubt = named.skipped;
  for (const Pad& pad : named.padding->pads) {
    part += loose.bytes.substr(done, pad.at - done) + pad.enter;
    if (!follow(set, part)) return std::nullopt;
    text += part;
    before += pad.doubts;
    doubt += pad.doubts;
    // The byte behind an item tells that it has ended.
    const uint32_t end = loose.doubts.repeats[doubt - 1].end + 1;
    const std::string rest = pad.leave + loose.bytes.substr(pad.end, end - pad.end);
    const auto letters = new_letters(set, pad, (before - 1) * pad.doubts, rest);
    if (!letters.has_value() || !follow(set, *letters)) return std::nullopt;
    text += *letters;
    part = pad.leave;
    done = pad.end;
  }
  text += part + loose.bytes.substr(done);
  auto plan = speller_.spell(text);
  if (!plan.has_value() || !completes(at, *plan)) return std::nullopt;
  return plan;
}

// Those of more than so many with which the configurations read the rest.
std::optional<std::string> Completions::new_letters(const ConfigSet& set, const Pad& pad,
                                                    uint32_t names, std::string_view rest) {
  const std::string_view alphabet = pad.digits ? kDigits : kLetters;
  const uint32_t length = length_for(names, alphabet);
  for (uint64_t number = 0; number <= names; ++number) {
    std::string letters = spelled(number, alphabet, length);
    ConfigSet after = set;
    if (follow(after, letters) && follow(after, rest)) return letters;
  }
  return std::nullopt;
}

}  // namespace maskwright

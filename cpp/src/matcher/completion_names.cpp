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

namespace maskwright {

namespace {

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
  const Named named{&padding(loose_at, found, true), names + 1, 1};
  return padded_tokens(named) == kUnbounded ? std::nullopt : std::optional(named);
}

// The same by the loosened configurations and the number of names alone.
std::optional<Completions::Named> Completions::named_alone(Place at) {
  const Place loose_at = loose_place(at);
  Loose& found = loose(loose_at);
  if (!may_be_padded(found)) return std::nullopt;
  const uint32_t names = remembered(at);
  const Padding& all = padding(loose_at, found, names == 0);
  if (!all.possible) return std::nullopt;
  const Named named = names == 0 ? Named{&all, 1, 1} : Named{&all, names, 0};
  return padded_tokens(named) == kUnbounded ? std::nullopt : std::optional(named);
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

// The tokens that complete the padded text; kUnbounded where there is no room for the letters.
uint32_t Completions::padded_tokens(const Named& named) const {
  if (named.padding->tokens == kUnbounded) return kUnbounded;
  uint32_t letters = 0;
  uint32_t before = named.before;
  for (const Pad& pad : named.padding->pads) {
    before += pad.doubts;
    const uint32_t length = length_for((before - 1) * pad.doubts, pad.letters.letters);
    if (length > pad.letters.room) return kUnbounded;
    letters += length;
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
  const std::string_view alphabet = pad.letters.letters;
  const uint32_t length = length_for(names, alphabet);
  for (uint64_t number = 0; number <= names; ++number) {
    std::string letters = spelled(number, alphabet, length);
    ConfigSet after = set;
    if (follow(after, letters) && follow(after, rest)) return letters;
  }
  return std::nullopt;
}

}  // namespace maskwright

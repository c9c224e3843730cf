// Budgets of texts with member names, or strings of arrays, that must not come again. Both are
// called names here.
//
// Idea: the shortest text is found without the names that are there, so those in it may be there
// already. One that is made longer by d of n letters is new if n^d is more than the number of names
// there are. So the number of tokens depends on how many there are and not on what they are, and is
// the same behind all characters of a name: near the end thousands of tokens are judged as one.
//
// The letters must lead nowhere else: behind them the name must be where all of them lead back to.
// A letter leads there (`enters`) where listed names might follow. Where no letter does, or names
// may run out, a search must do (completions.cpp).

#include <algorithm>
#include <string_view>
#include <utility>

#include "maskwright/support/sorted_set.h"
#include "matcher/completions.h"

namespace maskwright {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";

// So many letters make more names than there are.
uint32_t letters_for(uint32_t names) {
  uint32_t digits = 1;
  for (uint64_t many = kLetters.size(); many <= names; many *= kLetters.size()) ++digits;
  return digits;
}

// The letters of the number, so many.
std::string letters_of(uint64_t number, uint32_t digits) {
  std::string text;
  for (uint32_t i = 0; i < digits; ++i, number /= kLetters.size()) {
    text += kLetters[number % kLetters.size()];
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

const Completions::Padding& Completions::padding(Place loose_at, Loose& loose, bool first_is_new) {
  auto& known = loose.padding[first_is_new ? 1 : 0];
  if (known.has_value()) return *known;
  Padding padding;
  const std::string text = loose_text(loose_at).bytes;
  arena_.regs().set_memory(Memory::kIgnored);
  ConfigSet set;
  set.assign(configs(loose_at));
  std::size_t at = 0;
  bool reads = true;
  for (const uint32_t name : loose.doubts.names) {
    std::optional<std::string> enters = std::string();
    if (!first_is_new || !padding.enters.empty()) {
      reads = reads && follow(set, text.substr(at, name - at));
      at = name;
      if (reads) enters = enter_letters(set);
      reads = reads && enters.has_value();
    }
    padding.enters.push_back(enters.value_or(""));
  }
  const std::span<const uint32_t> cuts(loose.doubts.names);
  padding.tokens = count_parts(text, first_is_new ? cuts.subspan(1) : cuts);
  padding.possible = reads && follow(set, text.substr(at)) && close(set);
  arena_.regs().set_memory(Memory::kExact);
  return known.emplace(std::move(padding));
}

// So many tokens spell the parts of the text between the ascending cuts.
uint32_t Completions::count_parts(std::string_view text, std::span<const uint32_t> cuts) {
  uint32_t tokens = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i == cuts.size() ? text.size() : cuts[i];
    const uint32_t part = speller_.count(text.substr(at, end - at));
    if (part == kUnbounded) return kUnbounded;
    tokens += part;
    at = end;
  }
  return tokens;
}

// The tokens that complete the text with longer names, where so many are remembered.
uint32_t Completions::padded_tokens(const Loose& loose, const Padding& padding,
                                    uint32_t names) const {
  if (padding.tokens == kUnbounded) return kUnbounded;
  uint32_t letters = 0;
  for (uint32_t i = 0; i < loose.doubts.names.size(); ++i) {
    if (names + i == 0) continue;
    letters += static_cast<uint32_t>(padding.enters[i].size()) + letters_for(names + i);
  }
  return padding.tokens + letters;
}

// A plan of no more tokens than that.
std::optional<Completions::Plan> Completions::padded_plan(Place at, const Padding& padding,
                                                          uint32_t names) {
  const ShortestTexts::Text loose = loose_text(loose_place(at));
  ConfigSet set;
  set.assign(configs(at));
  std::string text;
  std::size_t done = 0;
  for (uint32_t i = 0; i < loose.doubts.names.size(); ++i) {
    if (names + i == 0) continue;
    const uint32_t name = loose.doubts.names[i];
    std::string part = loose.bytes.substr(done, name - done) + padding.enters[i];
    done = name;
    if (!follow(set, part)) return std::nullopt;
    const uint32_t digits = letters_for(names + i);
    const auto ends = [&](const std::string& letters) {
      ConfigSet after = set;
      return follow(after, letters + '"');
    };
    uint64_t number = 0;
    while (number <= names + i && !ends(letters_of(number, digits))) ++number;
    const std::string letters = letters_of(number, digits);
    if (!follow(set, letters)) return std::nullopt;
    text += part + letters;
  }
  text += loose.bytes.substr(done);
  auto plan = speller_.spell(text);
  if (!plan.has_value() || !completes(at, *plan)) return std::nullopt;
  return plan;
}

}  // namespace maskwright

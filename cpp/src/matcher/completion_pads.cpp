// Where letters go into a text, so that names and items are none that are there: see
// completion_names.cpp.

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "matcher/completions.h"
#include "matcher/text_search.h"

namespace maskwright {

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

// Those that lead back in a name, which the byte ends.
std::optional<Completions::Letters> Completions::letters_at(const ConfigSet& set, char behind) {
  if (set.size() != 1) return std::nullopt;
  const StateId state = set[0].state;
  const FamilyId family = store_.state(state).family;
  if (family != FamilyId::kKey && family != FamilyId::kString) return std::nullopt;
  const TextClass& text = store_.free_run(state).text;
  Letters found;
  std::ranges::copy_if(kLetters, std::back_inserter(found.letters),
                       [&](char letter) { return text.has(static_cast<uint8_t>(letter)); });
  if (found.letters.size() < 2) return std::nullopt;
  ConfigSet at = set;
  while (found.room < kMostLetters) {
    ConfigSet after = at;
    if (!follow(after, found.letters.substr(0, 1)) || after.size() != 1) break;
    if (after[0] == at[0]) {
      found.room = kUnbounded;
      break;
    }
    const bool counts = after[0].state == state && after[0].stack == set[0].stack &&
                        family == FamilyId::kString && store_.family(family).only_counts(state);
    ConfigSet end = after;
    if (!counts || !follow(end, {&behind, 1})) break;
    ++found.room;
    std::swap(at, after);
  }
  return found.room == 0 ? std::nullopt : std::optional(std::move(found));
}

// In a number that goes on with any digits.
bool Completions::reads_digits(const ConfigSet& set) {
  return std::ranges::all_of(kDigits, [&](const char& digit) {
    ConfigSet after = set;
    return follow(after, {&digit, 1}) && std::ranges::equal(after.configs(), set.configs());
  });
}

// `enter`: what must come before them. None if no such place is near.
std::optional<Completions::Letters> Completions::enter_letters(ConfigSet& set, std::string& enter) {
  if (auto letters = letters_at(set, '"')) return letters;
  for (const char letter : kLetters) {
    ConfigSet after = set;
    enter.assign(1, letter);
    if (!follow(after, enter)) continue;
    if (auto letters = letters_at(after, '"')) {
      std::swap(set, after);
      return letters;
    }
  }
  return std::nullopt;
}

// The last quotation mark of the item before which letters lead back. The configurations are at
// `at`, and then at the item's end.
std::optional<Completions::Pad> Completions::pad_in_string(ConfigSet& set, std::string_view text,
                                                           uint32_t at, const Repeat& item) {
  std::optional<Pad> pad;
  while (at < item.end) {
    const auto quote = static_cast<uint32_t>(std::min<std::size_t>(text.find('"', at), item.end));
    if (!follow(set, text.substr(at, quote - at))) return std::nullopt;
    if (quote == item.end) return pad;
    if (quote >= item.begin) {
      if (auto letters = letters_at(set, '"')) pad = Pad{quote, quote, {}, {}, std::move(*letters)};
    }
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
  Pad pad{name.begin, name.begin, {}, {}, {}};
  auto letters = enter_letters(set, pad.enter);
  if (!letters.has_value() || !follow(set, "\"")) return std::nullopt;
  pad.letters = std::move(*letters);
  return pad;
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

}  // namespace maskwright

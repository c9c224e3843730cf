#include "matcher/text_search.h"

#include <algorithm>
#include <utility>

namespace maskwright {

namespace {

// The first byte of an edge comes first, so that items are alike, and then an order that is another
// one for each item, so that they do not all try the same bytes.
uint32_t order_of(char byte, bool first, uint32_t item) {
  return first ? 0 : 1 + (static_cast<uint8_t>(byte) * 167U + item * 59U) % 256;
}

}  // namespace

std::optional<std::string> TextSearch::find(Completions::Place at) {
  if (!run(at)) return std::nullopt;
  return text_to(static_cast<uint32_t>(visits_.size() - 1));
}

bool TextSearch::run(Completions::Place at) {
  visit(at, 0, 0, 0);
  uint32_t index = 0;
  while (reads_ < max_reads_ && next(index)) {
    if (expand(index)) return true;
  }
  return false;
}

// Leaves the best one that waits, by one order and the other in turns; false if none does.
bool TextSearch::next(uint32_t& index) {
  auto& waiting = waiting_[turn_];
  turn_ = 1 - turn_;
  while (!waiting.empty()) {
    index = std::get<4>(waiting.top());
    waiting.pop();
    if (!std::exchange(visits_[index].left, true)) return true;
  }
  return false;
}

void TextSearch::visit(Completions::Place place, uint32_t from, char byte, uint32_t led) {
  if (!seen_.insert(place).second) return;
  const ShortestTexts::Length rest = known_.shortest(place);
  if (rest.bytes == kUnbounded || rest.repeats < repeats_) return;
  if (led >= kBytesOfEdge && rest.bytes >= least_) return;
  least_ = std::min(least_, rest.bytes);
  const auto index = static_cast<uint32_t>(visits_.size());
  const uint32_t bytes = index == 0 ? 0 : visits_[from].bytes + 1;
  const uint32_t order = order_of(byte, led == 0, rest.repeats);
  waiting_[0].emplace(rest.repeats, bytes + rest.bytes, rest.bytes, order, index);
  waiting_[1].emplace(bytes + rest.bytes, rest.repeats, rest.bytes, order, index);
  visits_.push_back({place, from, bytes, byte});
}

// True at the end of a text, which is the last visit then.
bool TextSearch::expand(uint32_t index) {
  for (const Config& config : known_.configs(visits_[index].place)) {
    for (const Edge& edge : known_.store_.row(config.state).edges) {
      uint32_t led = 0;
      least_ = kUnbounded;
      for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) {
        if (!known_.vocabulary_.spellable()[byte] || reads_ >= max_reads_) continue;
        const Led to = read(index, static_cast<uint8_t>(byte), led);
        if (to == Led::kToEnd) return true;
        if (to == Led::kOn) ++led;
      }
    }
  }
  return false;
}

TextSearch::Led TextSearch::read(uint32_t index, uint8_t byte, uint32_t led) {
  ++reads_;
  ConfigSet after;
  known_.runner_.scan(known_.configs(visits_[index].place), byte, known_.arena_, after);
  if (after.empty()) return Led::kNowhere;
  const bool complete = known_.close(after);
  const Completions::Place place = known_.intern(after.configs());
  const bool pads = behind_ != Completions::kNoPlace;
  if (pads && leads_to_pad(index, place, byte)) return Led::kToEnd;
  if (pads || !complete) {
    visit(place, index, static_cast<char>(byte), led);
    return Led::kOn;
  }
  visits_.push_back({place, index, visits_[index].bytes + 1, static_cast<char>(byte)});
  return Led::kToEnd;
}

std::optional<Completions::Pad> TextSearch::find_pad(Completions::Place at,
                                                     Completions::Place behind) {
  max_reads_ = kMaxPadReads;
  behind_ = behind;
  repeats_ = known_.shortest(at).repeats;
  if (!run(at)) return std::nullopt;
  // Names in the item differ from each other. Its end is not read: it was begun without a record of
  // its value, which the array would ask for.
  const bool digits = pad_.leave.empty();
  std::string inside = pad_.enter + pad_.letters.letters[0] + pad_.leave;
  if (!digits) inside.pop_back();
  ConfigSet item;
  item.assign(known_.configs(at));
  known_.arena_.regs().set_memory(RegisterPool::Memory::kExact);
  const bool exact = digits || known_.follow(item, inside);
  known_.arena_.regs().set_memory(RegisterPool::Memory::kIgnored);
  return exact ? std::optional(pad_) : std::nullopt;
}

// Whether any letters, or digits of a whole number, may be read at a place of the item.
bool TextSearch::leads_to_pad(uint32_t index, Completions::Place place, uint8_t byte) {
  ConfigSet here;
  here.assign(known_.configs(place));
  if (auto letters = known_.letters_at(here, '"')) {
    pad_.letters = std::move(*letters);
    pad_.leave = known_.texts_.text(here.configs(), known_.arena_).bytes;
    for (std::size_t i = 0; i < pad_.leave.size(); ++i) {
      if (!known_.follow(here, std::string_view(pad_.leave).substr(i, 1))) return false;
      if (known_.intern(here.configs()) != behind_) continue;
      pad_.enter = text_to(index) + static_cast<char>(byte);
      pad_.leave.resize(i);
      return true;
    }
    return false;
  }
  // Nothing is behind the digits.
  if (index != 0 || byte < '1' || byte > '9' || !known_.reads_digits(here)) return false;
  for (const char next : {',', ']'}) {
    ConfigSet after = here;
    if (!known_.follow(after, {&next, 1}) || known_.intern(after.configs()) != behind_) continue;
    pad_.enter = static_cast<char>(byte);
    pad_.leave.clear();
    pad_.letters = {std::string(Completions::kDigits), kUnbounded};
    return true;
  }
  return false;
}

std::string TextSearch::text_to(uint32_t index) const {
  std::string text;
  for (; index != 0; index = visits_[index].from) text += visits_[index].byte;
  std::ranges::reverse(text);
  return text;
}

}  // namespace maskwright

#include "matcher/text_search.h"

#include <algorithm>

namespace maskwright {

std::optional<std::string> TextSearch::find(Completions::Place at) {
  visit(at, 0, 0);
  while (!waiting_.empty() && reads_ < kMaxReads) {
    const uint32_t index = std::get<3>(waiting_.top());
    waiting_.pop();
    if (expand(index)) return text_to(static_cast<uint32_t>(visits_.size() - 1));
  }
  return std::nullopt;
}

void TextSearch::visit(Completions::Place place, uint32_t from, char byte) {
  if (!seen_.insert(place).second) return;
  const ShortestTexts::Length rest = known_.shortest(place);
  if (rest.bytes == kUnbounded) return;
  const auto index = static_cast<uint32_t>(visits_.size());
  const uint32_t bytes = index == 0 ? 0 : visits_[from].bytes + 1;
  waiting_.emplace(rest.repeats, bytes + rest.bytes, rest.bytes, index);
  visits_.push_back({place, from, bytes, byte});
}

// True at the end of a text, which is the last visit then.
bool TextSearch::expand(uint32_t index) {
  for (const Config& config : known_.configs(visits_[index].place)) {
    for (const Edge& edge : known_.store_.row(config.state).edges) {
      uint32_t led = 0;
      for (uint32_t byte = edge.lo; byte <= edge.hi && led < kBytesOfEdge; ++byte) {
        if (!known_.vocabulary_.spellable()[byte] || reads_ >= kMaxReads) continue;
        const Led to = read(index, static_cast<uint8_t>(byte));
        if (to == Led::kToEnd) return true;
        if (to == Led::kOn) ++led;
      }
    }
  }
  return false;
}

TextSearch::Led TextSearch::read(uint32_t index, uint8_t byte) {
  ++reads_;
  ConfigSet after;
  known_.runner_.scan(known_.configs(visits_[index].place), byte, known_.arena_, after);
  if (after.empty()) return Led::kNowhere;
  const bool complete = known_.close(after);
  const Completions::Place place = known_.intern(after.configs());
  if (!complete) {
    visit(place, index, static_cast<char>(byte));
    return Led::kOn;
  }
  visits_.push_back({place, index, visits_[index].bytes + 1, static_cast<char>(byte)});
  return Led::kToEnd;
}

std::string TextSearch::text_to(uint32_t index) const {
  std::string text;
  for (; index != 0; index = visits_[index].from) text += visits_[index].byte;
  std::ranges::reverse(text);
  return text;
}

}  // namespace maskwright

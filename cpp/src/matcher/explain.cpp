// What a matcher tells people about the place that its text has got to.
//
// Cost: bounded in the frames and alternatives that are looked at, and in the size of their rules.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

namespace {

constexpr std::size_t kMaxConfigs = 16;
constexpr std::size_t kMaxFrames = 64;  // of each

const char* kind_of(FamilyId family) {
  switch (family) {
    case FamilyId::kValue: return "JSON value";
    case FamilyId::kKeyword: return "JSON keyword";
    case FamilyId::kString: return "JSON string";
    case FamilyId::kKey: return "JSON member name";
    case FamilyId::kNumber: return "JSON number";
    case FamilyId::kArray: return "JSON array";
    case FamilyId::kObject: return "JSON object";
    case FamilyId::kListed: return "JSON value of a list";
    default: return nullptr;
  }
}

}  // namespace

std::vector<std::string> Matcher::surroundings() const {
  const std::lock_guard lock(grammar_->mutex());
  std::vector<std::string> found;
  const auto add = [&](std::string name) {
    if (std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
  };
  const auto add_frame = [&](StateId state) {
    if (state == kDead) return;
    if (const char* kind = kind_of(grammar_->store().state(state).family)) add(kind);
    for (const uint32_t rule : grammar_->rules().rules_of(state)) {
      add(std::string(grammar_->ir().rule_name(rule)));
    }
  };
  const Arena& arena = family_->arena;
  const auto all = configs();
  std::vector<std::vector<StateId>> frames;  // of each configuration, the innermost first
  for (const Config& config : all.first(std::min(all.size(), kMaxConfigs))) {
    std::vector<StateId>& states = frames.emplace_back(1, config.state);
    StackRef below = config.stack;
    while (states.size() < kMaxFrames && below != kBottom) {
      const uint32_t node = arena.nodes(below)[0];
      if (node == kBottom) break;
      states.push_back(arena.node(node).state);
      below = arena.node(node).below;
    }
  }
  std::ranges::stable_sort(frames, std::greater{}, &std::vector<StateId>::size);
  for (const auto& states : frames) std::ranges::for_each(states, add_frame);
  return found;
}

std::size_t Matcher::num_readable(std::string_view text) {
  const std::lock_guard lock(grammar_->mutex());
  reclaim();
  std::size_t size = 0;
  if (now().stopped) return size;
  ConfigSet after;
  while (size < text.size() && read(text.substr(0, size + 1), after)) ++size;
  return size;
}

std::vector<uint8_t> Matcher::next_bytes() const {
  const std::lock_guard lock(grammar_->mutex());
  std::vector<uint8_t> bytes;
  if (now().stopped) return bytes;
  const ByteSet set = tokens_.readable_bytes(configs());
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (set.has(static_cast<uint8_t>(byte))) bytes.push_back(static_cast<uint8_t>(byte));
  }
  return bytes;
}

bool Matcher::may_read_symbol() const {
  const std::lock_guard lock(grammar_->mutex());
  return !now().stopped && tokens_.may_read_symbol(configs());
}

}  // namespace maskwright

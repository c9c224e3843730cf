#include "maskwright/automata/way_out.h"

#include <algorithm>
#include <unordered_set>

namespace maskwright {

bool WayOut::suspect(const Config& config, Arena& arena, std::bitset<256>& next) const {
  const State& state = store_.state(config.state);
  return (state.flags & kSuspects) != 0 &&
         store_.family(state.family).suspect(config.state, config.reg, arena.regs(), next);
}

bool WayOut::any_clear(const ConfigSet& set, Arena& arena) const {
  std::bitset<256> next;
  for (const Config& config : set.configs()) {
    if (!suspect(config, arena, next)) return true;
  }
  return false;
}

// The set as an id. Whitespace runs are left out: what follows a longer one may follow a shorter.
uint32_t WayOut::place(const ConfigSet& set, Arena& arena) {
  std::vector<uint32_t> words;
  words.reserve(set.size() * 3);
  for (const Config& config : set.configs()) {
    words.insert(words.end(), {config.state, config.reg, config.stack});
  }
  return arena.verdicts().sets.intern(words).id;
}

bool WayOut::exists(const ConfigSet& set, Arena& arena) {
  if (set.empty()) return false;
  if (any_clear(set, arena)) return true;
  const uint32_t start = place(set, arena);
  using Verdict = Arena::Verdict;
  std::vector<Verdict>& known = arena.verdicts().known;
  if (known.size() <= start) known.resize(start + 1, Verdict::kNone);
  if (known[start] == Verdict::kNone) {
    std::vector<uint32_t> places{start};
    const Verdict verdict = search(places, arena) ? Verdict::kWayOut : Verdict::kDeadEnd;
    known.resize(arena.verdicts().sets.size(), Verdict::kNone);
    // Without a way out, none of the places on the way has one.
    if (verdict == Verdict::kWayOut) places.resize(1);
    for (const uint32_t place : places) known[place] = verdict;
  }
  return known[start] == Verdict::kWayOut;
}

// The bytes that can be read, but for whitespace that leads nowhere new.
std::bitset<256> WayOut::readable(const ConfigSet& closed) const {
  std::bitset<256> bytes;
  for (const Config& config : closed.configs()) {
    for (const Edge& edge : store_.row(config.state).edges) {
      for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) bytes.set(byte);
    }
  }
  return bytes;
}

// Moves the configurations that know all that they can return out of the set, to what follows.
void WayOut::complete(ConfigSet& closed, Arena& arena, std::vector<ConfigSet>& out) {
  std::vector<Config> others;
  std::vector<Completion> completions;
  for (const Config& config : closed.configs()) {
    const State& state = store_.state(config.state);
    completions.clear();
    if ((state.flags & kSuspects) == 0 ||
        !store_.family(state.family)
             .completions(config.state, config.reg, arena.regs(), completions)) {
      others.push_back(config);
      continue;
    }
    for (const Completion& completion : completions) {
      ConfigSet& after = out.emplace_back();
      runner_.add({store_.done(completion.accepted), completion.reg, 0, config.stack}, arena,
                  after);
    }
  }
  closed.clear();
  for (const Config& config : others) closed.add(config, arena);
}

// Appends the places that it meets to `places`, which holds the first one.
bool WayOut::search(std::vector<uint32_t>& places, Arena& arena) {
  const Arena::Verdicts& verdicts = arena.verdicts();
  std::unordered_set<uint32_t> met(places.begin(), places.end());
  const auto reach = [&](const ConfigSet& after) {
    if (after.empty()) return false;
    if (any_clear(after, arena)) return true;
    const uint32_t next = place(after, arena);
    const bool known = next < verdicts.known.size();
    if (known && verdicts.known[next] == Arena::Verdict::kWayOut) return true;
    if (known && verdicts.known[next] == Arena::Verdict::kDeadEnd) return false;
    if (met.insert(next).second) places.push_back(next);
    return false;
  };
  ConfigSet closed;
  ConfigSet after;
  std::vector<ConfigSet> completed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    closed.clear();
    const auto words = verdicts.sets.get(places[i]);
    for (std::size_t at = 0; at < words.size(); at += 3) {
      closed.add({words[at], words[at + 1], 0, words[at + 2]}, arena);
    }
    runner_.close(closed, arena, nullptr);
    // A frame that returned may have led to one.
    if (any_clear(closed, arena)) return true;
    completed.clear();
    complete(closed, arena, completed);
    if (std::ranges::any_of(completed, reach)) return true;
    const std::bitset<256> bytes = readable(closed);
    for (uint32_t byte = 0; byte < 256; ++byte) {
      if (!bytes[byte]) continue;
      after.clear();
      runner_.scan(closed.configs(), static_cast<uint8_t>(byte), arena, after);
      if (reach(after)) return true;
    }
  }
  return false;
}

}  // namespace maskwright

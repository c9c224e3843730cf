// Masks under a budget, and what is known of the places that they are of.

#include <algorithm>
#include <utility>

#include "matcher/budget_walk.h"
#include "matcher/completions.h"

namespace maskwright {

const std::vector<uint32_t>* Completions::mask(Place at, uint32_t left) const {
  const auto known = masks_.find(uint64_t{at} << 32 | left);
  return known == masks_.end() ? nullptr : &known->second;
}

void Completions::drop_beyond(Place at, uint32_t left, std::span<uint32_t> row) {
  ++walks_;
  BudgetWalk walk(*this, at, left, row);
  walk.run();
  most_work_ = std::max(most_work_, walk.work());
  const Reach reach = reach_key(at);
  most_[reach.key] = {reach.reg, walk.most()};
  const auto loose = loose_reach(at);
  // Behind read whitespace less can be read than the loosened place stands for.
  const bool whole = std::ranges::all_of(configs(at), [](const Config& c) { return c.run == 0; });
  if (whole && walk.by_names() && loose.has_value()) most_[*loose] = {0, walk.most()};
  masks_.try_emplace(uint64_t{at} << 32 | left, row.begin(), row.end());
}

// --- how far a token leads ----------------------------------------------------------------------

Completions::Reach Completions::reach_key(Place at) {
  const auto closed = configs(at);
  // In a string of any characters a larger count allows less, and what it allows leads to the same.
  if (closed.size() == 1 && has_register(closed[0].state)) {
    auto& family = store_.family(store_.state(closed[0].state).family);
    if (family.only_counts(closed[0].state) && store_.free_run(closed[0].state).text.escapes) {
      const Config shape{closed[0].state, 0, 0, closed[0].stack};
      return {intern({&shape, 1}), closed[0].reg};
    }
  }
  return {at, 0};
}

// The place, whatever the name under way is and how much whitespace was read. None where names are
// remembered: which tokens may end the name depends on them.
std::optional<uint64_t> Completions::loose_reach(Place at) {
  constexpr uint64_t kLoose = uint64_t{1} << 32;
  if (remembered(at) != 0) return std::nullopt;
  return kLoose | loose_place(at);
}

bool Completions::all_fit(Place at, uint32_t left) {
  const auto enough = [&](uint64_t key, Reg reg) {
    const auto known = most_.find(key);
    return known != most_.end() && known->second.from <= reg && known->second.tokens <= left;
  };
  const Reach reach = reach_key(at);
  if (enough(reach.key, reach.reg)) return true;
  const auto loose = loose_reach(at);
  return loose.has_value() && enough(*loose, 0);
}

// --- places -------------------------------------------------------------------------------------

// The characters that lead the configurations back to themselves, but for a count; null if nothing
// is known.
const TextClass* Completions::loop_text(std::span<const Config> closed) const {
  if (closed.size() != 1) return nullptr;
  const StateId id = closed[0].state;
  const State& state = store_.state(id);
  // One that accepts has no callers that read anything, or they were here too.
  constexpr uint16_t kOther = (kNotPlain & ~kAccepts) | kSuspects;
  if ((state.flags & kOther) != 0) return nullptr;
  const TextClass& text = store_.free_run(id).text;
  if (state.family == FamilyId::kKey) {
    const bool plain = std::ranges::none_of(store_.row(id).edges, [&](const Edge& edge) {
      return edge.op == Op::kDynamic && edge.target == id;
    });
    return plain && (state.flags & kGuarded) == 0 ? &text : nullptr;
  }
  if ((state.flags & kPooledRegister) != 0) return nullptr;
  if ((state.flags & kHasRegister) == 0) return &text;
  return store_.family(state.family).only_counts(id) && text.escapes ? &text : nullptr;
}

bool Completions::counts(StateId state) const {
  return has_register(state) && store_.state(state).family != FamilyId::kKey;
}

// The most tokens are the same whatever the names are.
bool Completions::depends_on_names_alone(Place at) {
  if (bytes_suffice_ && sure_bytes(at) != kUnbounded) return true;
  return named_alone(at).has_value();
}

// What a byte leads to; kNoPlace for nothing.
Completions::Place Completions::move(Place at, uint8_t byte) {
  const auto [known, added] = moves_.try_emplace(uint64_t{at} << 8 | byte, kNoPlace);
  if (!added) return known->second;
  ConfigSet after;
  runner_.scan(configs(at), byte, arena_, after);
  return known->second = close_and_intern(after);
}

// The same place without the names that must not come again, where these make no difference to
// what is needed; else the place itself.
Completions::Place Completions::without_names(Place at) {
  const auto closed = configs(at);
  if (closed.size() != 1) return at;
  Config config = closed[0];
  const State& state = store_.state(config.state);
  const bool recorded = state.family == FamilyId::kRecord;
  if ((state.flags & kGuarded) == 0 && !recorded) return at;
  const Target plain = forgotten(store_, {config.state, config.reg}, arena_);
  const FamilyId family = store_.state(plain.state).family;
  if (recorded && family != FamilyId::kString && family != FamilyId::kKey) return at;
  config.state = plain.state;
  config.reg = plain.reg;
  const Place without = intern({&config, 1});
  return named_alone(without).has_value() ? without : at;
}

}  // namespace maskwright

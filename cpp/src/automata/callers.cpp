#include "callers.h"

#include <algorithm>
#include <array>

namespace maskwright {

RulesMachine::Caller Callers::get(StateId state) {
  const auto found = known_.find(state);
  if (found != known_.end()) return found->second;
  const RulesMachine::Caller caller = find(state);
  known_.emplace(state, caller);
  return caller;
}

RulesMachine::Caller Callers::find(StateId state) {
  const std::vector<uint32_t> called = hooks_.called(state);
  if (called.size() > kMaxCalled) return {state, false};
  std::vector<uint32_t> ways;
  for (const uint32_t callee : called) {
    const StateId after = hooks_.resume(state, store_.intern_set({&callee, 1}));
    ways.insert(ways.end(), {callee, after});
  }
  const auto [id, inserted] = ways_on_.intern(ways);
  if (inserted) first_.push_back({state, is_loop(state, called)});
  return first_[id];
}

bool Callers::is_loop(StateId state, std::span<const uint32_t> called) {
  const StateId after = hooks_.resume(state, store_.intern_set(called));
  const auto leads_there = [&](uint32_t callee) {
    return hooks_.resume(state, store_.intern_set({&callee, 1})) == after;
  };
  const State& looped = store_.state(after);
  return (looped.flags & kAccepts) != 0 && hooks_.resume(state, looped.accepts) == after &&
         std::ranges::all_of(called, leads_there) && returns_only_at(after);
}

// No other state that can be reached in the frame returns.
bool Callers::returns_only_at(StateId state) {
  std::vector<StateId> reached{state};
  const auto visit = [&](StateId next) {
    if (next != kDead && std::ranges::find(reached, next) == reached.end()) reached.push_back(next);
  };
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const StateId at = reached[i];
    if (reached.size() > kMaxSearched) return false;
    if (at != state && (store_.state(at).flags & kAccepts) != 0) return false;
    for (const Edge& edge : store_.row(at).edges) visit(edge.target);
    for (const RulesMachine::TokenEdge& edge : hooks_.token_edges(at)) visit(edge.target);
    for (const uint32_t callee : hooks_.called(at)) {
      visit(hooks_.resume(at, store_.intern_set({&callee, 1})));
    }
  }
  return true;
}

}  // namespace maskwright

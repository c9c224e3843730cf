#include "repeat_family.h"

#include <algorithm>
#include <array>

namespace maskwright {

StateId RepeatFamily::state(uint32_t repeat, StateId inner) {
  const std::array<uint32_t, 2> content{repeat, inner};
  return store_.intern(FamilyId::kRepeat, content);
}

void RepeatFamily::describe(std::span<const uint32_t> content, State& state) {
  state.flags = kHasRegister | kOrderedRegister;
  if (content[1] != kDead) return;
  state.flags |= kAccepts | kDynamicAccepts;
  if (!body(content[0]).read_here) state.flags |= kCalls;
}

RepeatFamily::Body RepeatFamily::body(uint32_t repeat) {
  const auto found = bodies_.find(repeat);
  if (found != bodies_.end()) return found->second;
  const uint32_t rule = nfa_.repeats[repeat].body;
  const StateId start = hooks_.start(rule);
  return bodies_.emplace(repeat, Body{start, ends_at_once(rule, start)}).first->second;
}

// The body is a frame that only reads, and where it may return it can do nothing else.
bool RepeatFamily::ends_at_once(uint32_t rule, StateId start) {
  if (nfa_.nullable[rule]) return false;
  std::vector<StateId> reached{start};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const StateId at = reached[i];
    const uint16_t flags = store_.state(at).flags;
    if ((flags & kReturnOnly) != 0) continue;
    if ((flags & kNotPlain) != 0 || hooks_.reads_symbols(at)) return false;
    for (const Edge& edge : store_.row(at).edges) {
      if (std::ranges::find(reached, edge.target) == reached.end()) reached.push_back(edge.target);
    }
    if (reached.size() > kMaxBodyStates) return false;
  }
  return true;
}

// Without a maximum more finished iterations can do all that fewer can. Else, once the minimum is
// reached, fewer leave more to come. A caller, or a state inside an iteration, will have finished
// one more.
bool RepeatFamily::dominates(StateId state, Reg a, Reg b) {
  if (rule(state).max == kUnbounded) return a >= b;
  const bool under_way = !is_between(state) || !body(store_.content(state)[0]).read_here;
  return a <= b && a + (under_way ? 1 : 0) >= std::max(rule(state).min, 1U);
}

void RepeatFamily::expand(StateId from, RowBuilder& row) {
  const uint32_t repeat = store_.content(from)[0];
  const Body own = body(repeat);
  if (!own.read_here) return;
  const bool between = is_between(from);
  for (const Edge& edge : store_.row(between ? own.start : store_.content(from)[1]).edges) {
    const bool ends = (store_.state(edge.target).flags & kReturnOnly) != 0;
    const StateId target = state(repeat, ends ? kDead : edge.target);
    row.add(edge.lo, edge.hi, target, between || ends ? Op::kDynamic : Op::kPlain);
  }
}

Target RepeatFamily::scan(StateId state, Reg count, uint8_t /*byte*/, StateId edge_target,
                          RegisterPool& /*regs*/) {
  const RepeatRule& repeat = rule(state);
  if (is_between(state) && !may_go_on(repeat, count)) return {};
  return {edge_target, is_between(edge_target) ? next(repeat, count) : count};
}

uint32_t RepeatFamily::free_length(StateId state, Reg count) {
  // What leads an iteration back to where it is does not end it.
  if (!is_between(state)) return kUnbounded;
  const RepeatRule& repeat = rule(state);
  return repeat.max == kUnbounded ? kUnbounded : repeat.max - count;
}

SetId RepeatFamily::accepted(StateId state, Reg count, const RegisterPool& /*regs*/) {
  const RepeatRule& repeat = rule(state);
  return count >= std::max(repeat.min, 1U) ? store_.intern_set({&repeat.callee, 1}) : kEmptySet;
}

void RepeatFamily::callees(StateId state, Reg count, RegisterPool& /*regs*/,
                           std::vector<Target>& out) {
  if (may_go_on(rule(state), count)) out.push_back({body(store_.content(state)[0]).start, 0});
}

Reg RepeatFamily::next(const RepeatRule& repeat, Reg count) {
  const Reg last = repeat.max == kUnbounded ? std::max(repeat.min, 1U) : repeat.max;
  return std::min(count + 1, last);
}

Target RepeatFamily::resume(StateId state, Reg count, SetId /*accepted*/, Reg /*returned*/,
                            RegisterPool& /*regs*/) {
  return {state, next(rule(state), count)};
}

void RepeatFamily::mask_key(StateId state, Reg count, const RegisterPool& /*regs*/, KeyWords& key) {
  const RepeatRule& repeat = rule(state);
  const uint32_t clip = store_.max_advance();
  key.push_back(state);
  key.push_back(std::min(left_to_least(repeat, count), clip));
  key.push_back(repeat.max == kUnbounded ? clip : std::min(repeat.max - count, clip));
}

// The iteration under way may end before the token begins, and a token may have as many more as it
// has bytes: so what decides is the count behind it.
void RepeatFamily::caller_key(StateId state, Reg count, const RegisterPool& regs, KeyWords& key) {
  mask_key(state, next(rule(state), count), regs, key);
}

bool RepeatFamily::far_key(StateId state, Reg count, KeyWords& key, uint32_t& room) {
  const RepeatRule& repeat = rule(state);
  if (repeat.max == kUnbounded || body(store_.content(state)[0]).read_here) return false;
  key.push_back(state);
  key.push_back(std::min(left_to_least(repeat, count), store_.max_advance()));
  room = repeat.max - count;
  return true;
}

void RepeatFamily::watch(StateId state, Reg count) {
  watched_ = &rule(state);
  highest_ = count;
}

}  // namespace maskwright

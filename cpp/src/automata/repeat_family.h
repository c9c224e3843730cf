// Counted repeats: the register is the number of finished iterations, saturated where it no longer
// matters.
//
// A body from which no text can be read on once it has been read, such as a character class or
// [0-9]{2}:, is read by the repeat itself: the end of an iteration is known at once, and a token of
// many iterations is a walk over rows. Other bodies are called.
//
// State: [repeat index, state of the body's frame]; kDead between two iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"
#include "nfa.h"

namespace maskwright {

class RepeatFamily final : public Family {
 public:
  struct Hooks {
    std::function<StateId(uint32_t rule)> start;  // the state that a call enters
    std::function<bool(StateId)> reads_symbols;   // the state reads whole tokens
  };

  RepeatFamily(Store& store, const Nfa& nfa, Hooks hooks)
      : store_(store), nfa_(nfa), hooks_(std::move(hooks)) {}

  // Before the first iteration, with register 0.
  StateId start(uint32_t repeat) { return state(repeat, kDead); }

  void describe(std::span<const uint32_t> content, State& state) override;
  bool dominates(StateId state, Reg a, Reg b) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg count, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  StateId unhindered(const Edge& edge) override { return edge.target; }
  uint32_t free_length(StateId state, Reg count) override;
  SetId accepted(StateId state, Reg count, const RegisterPool& regs) override;
  void callees(StateId state, Reg count, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg count, SetId accepted, Reg returned,
                RegisterPool& regs) override;
  void mask_key(StateId state, Reg count, const RegisterPool& regs, KeyWords& key) override;
  void caller_key(StateId state, Reg count, const RegisterPool& regs, KeyWords& key) override;

  // A repeat whose body is called asks of its maximum only whether a count has come to it. So what
  // a walk finds is the same for all counts of one key that stay below the maximum as far as they
  // go up in it (mask/mask_store_counts.cpp).
  //
  // Appends that key and sets how far the count is from the maximum; false for other states.
  bool far_key(StateId state, Reg count, KeyWords& key, uint32_t& room);
  // Begins to watch the counts of the state's repeat.
  void watch(StateId state, Reg count);
  // The highest one seen, or kUnbounded if one met the maximum.
  uint32_t highest() const { return highest_; }
  std::size_t memory_bytes() const { return heap_bytes(bodies_); }

 private:
  static constexpr std::size_t kMaxBodyStates = 1024;

  struct Body {
    StateId start;
    bool read_here;
    std::size_t memory_bytes() const { return 0; }
  };

  const RepeatRule& rule(StateId state) const { return nfa_.repeats[store_.content(state)[0]]; }
  StateId state(uint32_t repeat, StateId inner);
  bool is_between(StateId state) const { return store_.content(state)[1] == kDead; }
  bool may_go_on(const RepeatRule& repeat, Reg count) {
    const bool below = repeat.max == kUnbounded || count < repeat.max;
    if (&repeat == watched_) highest_ = below ? std::max(highest_, count) : kUnbounded;
    return below;
  }
  static uint32_t left_to_least(const RepeatRule& repeat, Reg count) {
    const uint32_t least = std::max(repeat.min, 1U);
    return least - std::min(count, least);
  }
  static Reg next(const RepeatRule& repeat, Reg count);
  Body body(uint32_t repeat);
  bool ends_at_once(uint32_t rule, StateId start);

  Store& store_;
  const Nfa& nfa_;
  Hooks hooks_;
  std::unordered_map<uint32_t, Body> bodies_;  // by repeat
  const RepeatRule* watched_ = nullptr;
  uint32_t highest_ = 0;
};

}  // namespace maskwright

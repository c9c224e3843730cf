// Counted repeats: the register is the number of finished iterations, saturated where it no longer
// matters.
//
// A body from which no text can be read on once it has been read, such as a character class or
// [0-9]{2}:, is read by the repeat itself: the end of an iteration is known at once, and a token of
// many iterations is a walk over rows. Other bodies are called.
//
// State: [repeat index, state of the body's frame]; kDead between two iterations.
#pragma once

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
  static bool may_go_on(const RepeatRule& repeat, Reg count) {
    return repeat.max == kUnbounded || count < repeat.max;
  }
  static Reg next(const RepeatRule& repeat, Reg count);
  Body body(uint32_t repeat);
  bool ends_at_once(uint32_t rule, StateId start);

  Store& store_;
  const Nfa& nfa_;
  Hooks hooks_;
  std::unordered_map<uint32_t, Body> bodies_;  // by repeat
};

}  // namespace maskwright

// Which states stand for a calling state on the stack.
//
// On the stack a state of the rules only says how to go on after each callee, so one state stands
// for all that go on alike: in `e: e "+" e | e "*" e` it does not matter which operator was read.
// And a caller can be a *loop*: after any callee it is in a state that has already returned, all
// ways from there that return lead through that state again, and what it returns leads the same
// caller back to it. Then the caller reads a list, two of it on top of each other read one list
// after another, which is a list, and one is enough. That makes ambiguous grammars such as
// `s: s s | "a"` loops with a stack of constant size.
//
// Cost: one resume for each callee of a calling state; where a caller may be a loop, a search of
// its frame up to kMaxSearched states.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "maskwright/automata/rules.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class Callers {
 public:
  struct Hooks {
    // The ids that a state pushes itself for, sorted.
    std::function<std::vector<uint32_t>(StateId)> called;
    std::function<StateId(StateId caller, SetId returned)> resume;
    std::function<std::span<const RulesMachine::TokenEdge>(StateId)> token_edges;
  };

  Callers(Store& store, Hooks hooks) : store_(store), hooks_(std::move(hooks)) {}

  // For a state of the rules with kCalls.
  RulesMachine::Caller get(StateId state);
  std::size_t memory_bytes() const { return heap_bytes(known_, ways_on_, first_); }

 private:
  static constexpr std::size_t kMaxCalled = 16;
  static constexpr std::size_t kMaxSearched = 64;

  RulesMachine::Caller find(StateId state);
  bool is_loop(StateId state, std::span<const uint32_t> called);
  bool returns_only_at(StateId state);

  Store& store_;
  Hooks hooks_;
  std::unordered_map<StateId, RulesMachine::Caller> known_;
  WordInterner ways_on_;                     // (callee, state after it)...
  std::vector<RulesMachine::Caller> first_;  // by id: the first state that goes on so
};

}  // namespace maskwright

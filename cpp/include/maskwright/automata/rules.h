// Grammar rules as frames over bytes.
//
// Lowering turns every rule into a piece of one NFA over bytes (classes through UTF-8 ranges), with
// edges that call other rules, JSON targets or counted repetitions. Small rules are inlined, small
// repeats unrolled; larger repeats become a frame of their own whose register is the count. What
// cannot be completed is cut away, so every position that is left leads to the end of its rule.
//
// A frame is entered for a *set* of rules. Calls that can come first in it (left corners) are not
// pushed: the callee's start joins the frame, and its end continues after the call. That makes
// left recursion of every kind (direct, mutual, hidden behind nullable rules) a loop, and
// factors common prefixes. A call at the very end of its rule is a tail call: a kTail state that
// only renames the returned set is pushed in its place, merged with one below it, or nothing. Of
// states that go on alike after their calls one is pushed, and a loop only once (callers.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "maskwright/automata/rule_tables.h"
#include "maskwright/automata/shared_key.h"
#include "maskwright/automata/store.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

struct RuleLimits {
  uint32_t max_states = 1000000;  // NFA positions
};

// How rules reach JSON values without knowing them.
struct JsonHooks {
  std::function<uint32_t(uint32_t json_expr)> target;  // callee id
  std::function<bool(uint32_t target)> productive;
  std::function<StateId(std::span<const uint32_t> targets)> start;
  std::function<uint32_t(uint32_t target)> options_of;
};

// A regular operator (intersect, complement, text_until) as a deterministic automaton over code
// points, made by the languages layer.
struct RegularAutomaton {
  struct Arc {
    uint32_t lo, hi, target;
  };
  std::vector<std::vector<Arc>> arcs;  // per state; state 0 is the start; empty = no text at all
  std::vector<bool> accepting;
};
using RegularHook = std::function<RegularAutomaton(uint32_t expr)>;

class RulesMachine {
 public:
  // Raises kUnsatisfiable if the root rule has no completion, kLimit for max_states.
  RulesMachine(const Ir& ir, Store& store, const std::array<bool, 256>& spellable,
               const RuleLimits& limits, const JsonHooks& json, const RegularHook& regular);
  // From tables that were checked against the IR and the vocabulary (serialize/). Raises
  // kStoredFormat where they hold what no compiled grammar does, and what `json` raises.
  RulesMachine(const Ir& ir, Store& store, const JsonHooks& json, const RuleTables& tables);
  ~RulesMachine();

  // The state before the root rule.
  StateId start() const;
  uint32_t num_positions() const;
  // The rules before subset construction; the same whatever was asked for since.
  RuleTables tables() const;
  // The kTail state for `upper` pushed directly on `lower`, both kTail.
  StateId compose_tails(StateId upper, StateId lower);
  // The bytes of a shortest text from a state to the end, where no rule calls another; else, and of
  // states that are not of the rules, 0.
  uint32_t least_bytes(StateId state);
  // The kTail state that renames nothing: a node of it stands for all that is below it.
  StateId gather() const { return gather_; }
  // What to push for a state of the rules with kCalls.
  struct Caller {
    StateId state;  // goes on like it
    bool loops;     // on top of itself it changes nothing
  };
  Caller caller(StateId state);
  // Token symbols that the state can read as a whole: (expression of the token set, target).
  struct TokenEdge {
    uint32_t expr;
    StateId target;
  };
  std::span<const TokenEdge> token_edges(StateId state);
  // The rules of the IR that a state is in: those that its places are of, then those that its frame
  // was entered for. For a person to read: of a state of many places some are left out. Takes time
  // in the size of those rules.
  std::vector<uint32_t> rules_of(StateId state) const;
  // The numbers that the normal form (rule_tables.h) gives to positions and ids; kNone for what it
  // leaves out. A machine that was made from tables has those already.
  struct NormalNumbers {
    std::vector<uint32_t> positions, ids;
  };
  NormalNumbers normal_numbers() const;
  // Appends what decides a mask of this grammar, wherever it is compiled or loaded; false for
  // states that are not of the rules.
  bool append_stored_key(StateId state, Reg reg, const NormalNumbers& numbers, SharedKey& key);
  std::size_t memory_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  StateId gather_;
};

}  // namespace maskwright

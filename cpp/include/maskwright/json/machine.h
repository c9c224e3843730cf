// JSON values under a schema graph, evaluated while they are written.
//
// A *target* is what a value is judged by: an interned set of schema nodes (a conjunction) under
// one set of JSON options. It is flattened into *clauses*: sets of assertion nodes without Boolean
// operators, one clause per way to satisfy the any_of nodes. A state before a value holds a set of
// targets; a value frame returns the targets that the value satisfies. A recursive all_of needs no
// rewriting, since conjunctions are sets of nodes and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "maskwright/automata/store.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

struct JsonLimits {
  uint32_t max_targets = 200000;     // distinct conjunctions of schema nodes
  uint32_t max_clauses = 10000;      // alternatives of one target
  uint32_t max_lang_states = 50000;  // states of one product of patterns
};

class JsonMachine {
 public:
  JsonMachine(const Ir& ir, Store& store, const std::array<bool, 256>& spellable,
              const JsonLimits& limits);
  ~JsonMachine();

  // The callee id (with kTargetTag) of a JSON expression of the IR.
  uint32_t target(uint32_t json_expr);
  // True iff some value satisfies the target and can be spelled. Explores everything reachable
  // from it, so that no limit can be met later.
  bool productive(uint32_t target);
  // The schema node to blame for a JSON expression without a value: the smallest that has none.
  uint32_t blame(uint32_t json_expr);
  // The state before a value judged by `targets` (sorted callee ids, all productive, all of the
  // same options), without leading whitespace.
  StateId start(std::span<const uint32_t> targets);
  // Some array of unique items met so far may run out of values.
  bool has_few_values() const;
  // The undeclared names of some object met so far may run out. `endless`: the vocabulary's tokens
  // spell endlessly many names between quotation marks.
  bool has_few_names(bool endless) const;
  // Targets of different options must not share a frame.
  uint32_t options_of(uint32_t target) const;

  // Drops what only target() and productive() use, once the grammar is compiled.
  void forget_outlines();
  // Of those that were asked for so far.
  uint32_t num_targets() const;
  std::size_t memory_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maskwright

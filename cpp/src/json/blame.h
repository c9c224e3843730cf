// Why a schema has no value: the smallest part of it that has none by itself.
//
// Idea: go down from the root as long as one conjunct, or the value at one place that must be
// there, is without a value on its own. Only asked once a grammar is refused.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "json/machine_solver.h"
#include "json/target.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

class Blame {
 public:
  Blame(const Ir& ir, TargetTable& targets, ClauseTable& clauses, ProductivitySolver& solver)
      : ir_(ir), targets_(targets), clauses_(clauses), solver_(solver) {}

  // The node to blame for a node without a value; NEVER never is, but what holds it.
  uint32_t find(uint32_t options, uint32_t node);

 private:
  bool hopeless(uint32_t options, uint32_t node);
  uint32_t below(uint32_t options, uint32_t node);
  uint32_t conjunct(uint32_t options, uint32_t node);
  uint32_t place(uint32_t options, uint32_t node);
  uint32_t member_node(uint32_t object, uint32_t key);

  const Ir& ir_;
  TargetTable& targets_;
  ClauseTable& clauses_;
  ProductivitySolver& solver_;
};

}  // namespace maskwright

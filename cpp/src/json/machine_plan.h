// Plans: array and object shapes after productivity is known, as the families run them.
//
// What can never be completed is taken out here (unproductive items cap the item count, members
// without a value are refused, counts that cannot matter are dropped), so that at run time every
// alternative that obeys its counts can be completed. Targets in plans are callee ids.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "json/clause.h"
#include "json/machine_solver.h"

namespace maskwright {

struct ArrayPlan {
  uint32_t options = 0;
  bool unique = false;
  uint32_t values = 0;  // if unique: each item has so many, or more
  ItemRules rules;
  uint32_t cells = 1;            // targets of a place
  std::vector<uint32_t> prefix;  // of all places; kNone: no value
  std::vector<uint32_t> rest;
  uint32_t length() const { return static_cast<uint32_t>(rules.prefix.size()); }
  uint32_t item(uint32_t index, uint32_t cell = 0) const {
    return index < length() ? prefix[std::size_t{index} * cells + cell] : rest[cell];
  }
  // Which items there were does not matter, only how many.
  bool plain() const { return cells == 1 && !unique; }
};

struct ObjectPlan {
  struct Member {
    uint32_t key;
    uint32_t target;  // kNone: refused
    bool required, undeclared;
  };
  uint32_t options = 0, min = 0, max = kNone;
  uint32_t other = kNone;  // kNone: no other names
  std::vector<Member> members;
};

class PlanTable {
 public:
  PlanTable(ClauseTable& clauses, ProductivitySolver& solver)
      : clauses_(clauses), solver_(solver) {}

  // Of productive shapes. References stay valid.
  const ArrayPlan& array(uint32_t shape);
  const ObjectPlan& object(uint32_t shape);

 private:
  ArrayPlan plan_array(uint32_t shape) const;
  void trim(ArrayPlan& plan) const;
  ObjectPlan plan_object(uint32_t shape) const;
  uint32_t callee(uint32_t target) const;

  ClauseTable& clauses_;
  ProductivitySolver& solver_;
  std::vector<std::unique_ptr<ArrayPlan>> arrays_;
  std::vector<std::unique_ptr<ObjectPlan>> objects_;
};

}  // namespace maskwright

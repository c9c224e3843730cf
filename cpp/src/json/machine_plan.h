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
  uint32_t options = 0, min = 0, max = kNone;
  std::vector<uint32_t> prefix;
  uint32_t rest = kNone;
  // Only for indices below max.
  uint32_t item(uint32_t index) const { return index < prefix.size() ? prefix[index] : rest; }
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
  ObjectPlan plan_object(uint32_t shape) const;
  uint32_t callee(uint32_t target) const;

  ClauseTable& clauses_;
  ProductivitySolver& solver_;
  std::vector<std::unique_ptr<ArrayPlan>> arrays_;
  std::vector<std::unique_ptr<ObjectPlan>> objects_;
};

}  // namespace maskwright

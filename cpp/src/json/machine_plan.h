// Plans: array and object shapes after productivity is known, as the families run them.
//
// What can never be completed is taken out here (unproductive items cap the item count, members
// without a value are refused, counts that cannot matter are dropped), so that at run time every
// alternative that obeys its counts can be completed. Targets in plans are callee ids.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "json/clause.h"
#include "json/machine_solver.h"
#include "maskwright/automata/store.h"

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
  // Some member must satisfy its target here, which says more than its own; kNone: none does.
  struct Obligation {
    std::vector<uint32_t> classes, members;
    bool by_name;  // it does not say more: the name alone decides
  };
  uint32_t options = 0, min = 0, max = kNone;
  const NameClasses* names = nullptr;
  std::vector<uint32_t> others;  // by class; kNone: refused
  uint32_t room = 0;             // names of the classes that are not refused
  std::vector<Member> members;
  std::vector<std::pair<uint32_t, uint32_t>> dependencies;  // a member needs the other
  std::vector<Obligation> obligations;
};

// The plan of a shape by what is known to be productive so far; nothing if it can't be completed.
std::optional<ObjectPlan> plan_object(const ObjectShape& shape, ProductivitySolver& solver);

// A sum that saturates at kUnbounded.
inline uint32_t add_counts(uint32_t a, uint32_t b) {
  return a > kUnbounded - b ? kUnbounded : a + b;
}

// The callee id of a target; kNone where nothing satisfies it.
inline uint32_t callee(uint32_t target, const ProductivitySolver& solver) {
  return solver.target_productive(target) ? target | kTargetTag : kNone;
}

class PlanTable {
 public:
  PlanTable(ClauseTable& clauses, ProductivitySolver& solver)
      : clauses_(clauses), solver_(solver) {}

  // Of productive shapes. References stay valid.
  const ArrayPlan& array(uint32_t shape);
  const ObjectPlan& object(uint32_t shape);

 private:
  ArrayPlan plan_array(uint32_t shape) const;

  ClauseTable& clauses_;
  ProductivitySolver& solver_;
  std::vector<std::unique_ptr<ArrayPlan>> arrays_;
  std::vector<std::unique_ptr<ObjectPlan>> objects_;
};

}  // namespace maskwright

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
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

struct ArrayPlan {
  uint32_t options = 0;
  bool unique = false;
  // Longer arrays of unique items take a little more work per mask.
  static constexpr uint32_t kManyValues = 4096;
  uint32_t values = 0;  // if unique: each item has so many, or more; kManyValues at most
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
  std::size_t memory_bytes() const { return heap_bytes(rules, prefix, rest); }
};

struct ObjectPlan {
  struct Member {
    uint32_t key;
    uint32_t target;  // kNone: refused
    bool required, undeclared;
  };
  struct Witness {
    uint32_t meets;  // obligations (bits)
    std::vector<uint32_t> classes, members;
    std::size_t memory_bytes() const { return heap_bytes(classes, members); }
  };
  uint32_t options = 0, min = 0, max = kNone;
  const NameClasses* names = nullptr;
  std::vector<uint32_t> others;  // by class; kNone: refused
  uint32_t room = 0;             // names of the classes that are not refused
  std::vector<Member> members;
  std::vector<std::pair<uint32_t, uint32_t>> dependencies;  // a member needs the other
  uint32_t num_by_name = 0, num_obligations = 0;
  std::vector<Witness> witnesses;  // one for each obligation by name, then the others
  std::size_t memory_bytes() const { return heap_bytes(others, members, dependencies, witnesses); }
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
  std::size_t memory_bytes() const { return heap_bytes(arrays_, objects_); }

 private:
  ArrayPlan plan_array(uint32_t shape) const;
  void trim(ArrayPlan& plan) const;

  ClauseTable& clauses_;
  ProductivitySolver& solver_;
  std::vector<std::unique_ptr<ArrayPlan>> arrays_;
  std::vector<std::unique_ptr<ObjectPlan>> objects_;
};

}  // namespace maskwright

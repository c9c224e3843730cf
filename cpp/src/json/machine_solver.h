// Which targets have a value at all: a least fixpoint over everything reachable from a root.
//
// Idea: explore first (every target flattened, every clause resolved, so that each limit is met
// here and never later), then propagate: a target that turns out productive decrements counters in
// the array and object shapes that wait for it; a shape that waits for nothing more makes the
// targets of its clauses productive. What was never reached by propagation has no finite value.
// A shape also counts the bytes that it needs: brackets, separators, names.
// Arrays with conditions on counts of items are asked again when nothing else is left to propagate.
//
// Cost: linear in the places (items, members) of the reachable shapes. Repeated calls only look at
// what is new, since the old part is closed under reachability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json/clause.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class ProductivitySolver {
 public:
  ProductivitySolver(OptionsTable& options, TargetTable& targets, ClauseTable& clauses,
                     LangTable& langs);

  bool productive(uint32_t target);
  // As far as is known; false for targets that were not met yet, and for kNone.
  bool target_productive(uint32_t target) const {
    return target < targets_.size() && targets_[target].productive;
  }
  // Of explored shapes only.
  bool array_productive(uint32_t shape) const { return arrays_[shape].productive; }
  bool object_productive(uint32_t shape) const { return objects_[shape].productive; }
  bool joint_productive(uint32_t joint) const { return joint_[joint].productive; }
  // Targets with a list of arrays or objects, in the order in which they were met.
  std::span<const uint32_t> listed() const { return listed_; }
  std::span<const uint32_t> clauses(uint32_t target) const { return targets_[target].clauses; }

  bool key_spellable(uint32_t key);
  const std::string& key_text(uint32_t key) { return clauses_.keys().get(key); }
  bool quote_spellable() const { return options_.can_spell("\""); }
  // The counts and places of an array, as far as its items are known to have values.
  ItemRules item_rules(const ArrayShape& shape) const;
  // How many values each item of the array has at least, up to a limit.
  uint32_t least_values(const ArrayShape& shape, uint32_t limit) const;
  // Bounds on counts after what the separators allow.
  uint32_t max_items(const ArrayShape& shape) const;
  uint32_t max_members(const ObjectShape& shape) const;
  std::size_t memory_bytes() const {
    return heap_bytes(targets_, arrays_, objects_, joint_, to_visit_, marked_, counted_) +
           heap_bytes(spellable_, listed_);
  }

 private:
  enum class Role : uint8_t { kItem, kRequiredMember, kMember, kOther, kWitness, kJoint };
  struct Use {
    uint32_t shape;
    Role role;
  };
  struct TargetFacts {
    bool explored = false, productive = false;
    std::vector<uint32_t> clauses;
    std::vector<Use> uses;
    std::size_t memory_bytes() const { return heap_bytes(clauses, uses); }
  };
  struct JointFacts {
    bool known = false, productive = false;
    uint32_t waiting = 0;  // targets without a value so far
    std::vector<uint32_t> users;
    std::size_t memory_bytes() const { return heap_bytes(users); }
  };
  struct ArrayFacts {
    bool known = false, possible = false, productive = false;
    uint32_t waiting = 0;
    std::vector<uint32_t> users;
    std::size_t memory_bytes() const { return heap_bytes(users); }
  };
  struct ObjectFacts {
    bool known = false, possible = false, productive = false, open = false, simple = true;
    uint32_t waiting = 0;    // required members without a value so far
    uint32_t available = 0;  // members with a value
    uint32_t min = 0;
    std::vector<uint32_t> users;
    std::size_t memory_bytes() const { return heap_bytes(users); }
  };

  void explore(uint32_t target);
  void visit(uint32_t target);
  void know_array(uint32_t shape);
  void know_counted_array(uint32_t shape, const ArrayShape& array);
  void know_object(uint32_t shape);
  void know_joint(uint32_t joint);
  bool is_simple(const ObjectShape& object) const;
  void depend(uint32_t target, Use use);
  void apply(const Use& use);
  void settle_array(uint32_t shape);
  void settle_object(uint32_t shape);
  void settle_joint(uint32_t joint);
  void mark(uint32_t target);
  void propagate();
  void propagate_marked();
  bool settle_counted_arrays();

  OptionsTable& options_;
  TargetTable& table_;
  ClauseTable& clauses_;
  LangTable& langs_;
  std::vector<TargetFacts> targets_;
  std::vector<ArrayFacts> arrays_;
  std::vector<ObjectFacts> objects_;
  std::vector<JointFacts> joint_;
  std::vector<uint32_t> listed_;
  std::vector<uint32_t> to_visit_;
  std::vector<uint32_t> marked_;    // productive, not yet propagated
  std::vector<uint32_t> counted_;   // array shapes not settled by waiting: contains, uniqueItems
  std::vector<uint8_t> spellable_;  // per key: 0 unknown, 1 no, 2 yes
};

}  // namespace maskwright

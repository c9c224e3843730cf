// Frames inside an array: [group, phase], register = number of complete items, or more.
//
// A *group* is an interned set of alternatives (callee id to return, array plan) that all can still
// be completed; alternatives leave it when an item does not satisfy them or when the next item
// would be too many. The count is a register, saturated at the largest count that any alternative
// of the group still tells apart, and clipped for mask keys: within K bytes at most K items begin,
// so behind the prefixes only min(min - count, K) and min(max - count, K) matter.
//
// Where some alternative counts the items that satisfy a condition (`contains`), or asks for
// different items, the register is pooled: [count, set of the values so far, counts of each
// alternative's conditions...]. An item is then asked for with each combination of answers that
// leaves the array completable (item_rules.h); the set that it returns tells the answers. Items
// that must differ are recorded (record_family.h) with the values so far as suspects, and an equal
// one is refused when it is complete. A mask walk doesn't know the values so far; it is unsure
// (RegisterPool::Memory) where an item that the walk began is complete, or may have become one of
// the values so far.
//
// Cost: a step is linear in the group, behind an item in the alternatives that it satisfies; the
// group of one alternative is the common case.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json/by_target.h"
#include "json/json_value.h"
#include "json/machine_tables.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class ArrayFamily final : public Family {
 public:
  explicit ArrayFamily(JsonTables& tables) : tables_(tables) {}

  // The state after '['; `alternatives` sorted and unique, register 0.
  StateId start(std::span<const Alternative> alternatives);
  // The values of some unique items met so far may run out.
  bool has_few_values() const { return has_few_values_; }

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;
  // The same for what follows '[' of a value.
  bool append_start(const Alternative& alternative, RegisterPool& regs, SharedKey& key);
  Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) override;
  Target forget(StateId state, Reg reg, RegisterPool& regs) override;
  uint32_t remembered(StateId state, Reg reg, const RegisterPool& regs) override;
  bool suspect(StateId state, Reg reg, const RegisterPool& regs, std::bitset<256>& next) override;
  std::size_t memory_bytes() const { return heap_bytes(ids_, groups_); }

 private:
  // kSeparator + n: n + 1 bytes of the item separator are read.
  enum Phase : uint32_t { kOpen, kItem, kAfterItem, kSeparator };

  struct Part {
    uint32_t accept;
    uint32_t shape;
    const ArrayPlan* plan;
    std::size_t found;  // where its counts begin in Progress::found
  };
  struct Limits {
    uint32_t min, max;
    friend auto operator<=>(const Limits&, const Limits&) = default;
  };
  struct Group {
    uint32_t options = 0;
    uint32_t prefix = 0;           // the longest
    uint32_t cap = 0;              // counts from here on are the same
    bool bounded = false;          // some alternative has a largest count
    bool needs_more = false;       // some alternative asks for more than one item
    bool plain = true;             // the register is the number of items
    bool unique = false;           // some alternative asks for different items
    uint32_t values = kUnbounded;  // if unique: with fewer items there is always a different one
    std::vector<Part> parts;
    std::vector<Limits> limits;  // of the parts, each once
    std::size_t conditions = 0;  // of all parts
    // By the number of items before it, up to the prefix: what an item may be, and for which part.
    std::vector<ByTarget> by_item;
    std::size_t memory_bytes() const { return heap_bytes(parts, limits, by_item); }
  };
  struct Progress {
    uint32_t count = 0;
    Reg used = 0;  // a set of values; RegisterPool::kUnknown: some that are not known here
    std::vector<uint32_t> found;

    std::span<const uint32_t> of(const Part& part) const {
      return std::span(found).subspan(part.found, part.plan->rules.contains.size());
    }
  };

  uint32_t group(std::span<const Alternative> alternatives);
  const Group& group_of(StateId state) const { return *groups_[tables_.store.content(state)[0]]; }
  // The parts that pass, with their counts; `keep` may change those. Of all, or of those at places.
  template <typename Keep>
  uint32_t filter(uint32_t group, Progress& progress, Keep keep);
  template <typename Keep>
  uint32_t filter(uint32_t group, std::span<const uint32_t> places, Progress& progress, Keep keep);
  std::span<const uint32_t> concerned(Group& group, uint32_t count, std::span<const uint32_t> item);
  Progress decode(const Group& group, Reg reg, const RegisterPool& regs) const;
  Reg encode(const Group& group, const Progress& progress, RegisterPool& regs) const;
  StateId at(uint32_t group, uint32_t phase);
  StateId next_item(uint32_t group, uint32_t separator_bytes);
  StateId item_state(const Group& group, const Progress& progress, bool after_token) const;
  StateId close(const Group& group, const Progress& progress) const;
  void expand_after_item(uint32_t id, RowBuilder& row);
  bool take_item(const Part& part, std::span<const uint32_t> accepted, uint32_t count,
                 std::vector<uint32_t>& found) const;
  bool may_differ(const Group& group, ValueId value, Progress& progress, RegisterPool& regs) const;
  bool append_plain(const Group& group, uint32_t count, RegisterPool& regs, SharedKey& key);
  void append_conditions(const Part& part, const Progress& progress, KeyWords& key) const;

  bool has_few_values_ = false;
  JsonTables& tables_;
  WordInterner ids_;  // (accept, shape)...
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<uint32_t> places_;  // scratch
};

}  // namespace maskwright

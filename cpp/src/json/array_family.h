// Frames inside an array: [group, phase], register = number of complete items.
//
// A *group* is an interned set of alternatives (callee id to return, array plan) that all can still
// be completed; alternatives leave it when an item does not satisfy them or when the next item
// would be too many. The count is a register, saturated at the largest count that any alternative
// of the group still tells apart, and clipped for mask keys: within K bytes at most K items begin,
// so behind the prefixes only min(min - count, K) and min(max - count, K) matter.
//
// Cost: a step is linear in the group; the group of one alternative is the common case.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json/machine_tables.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class ArrayFamily final : public Family {
 public:
  explicit ArrayFamily(JsonTables& tables) : tables_(tables) {}

  // The state after '['; `alternatives` sorted and unique, register 0.
  StateId start(std::span<const Alternative> alternatives);

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;

 private:
  // kSeparator + n: n + 1 bytes of the item separator are read.
  enum Phase : uint32_t { kOpen, kItem, kAfterItem, kSeparator };

  struct Part {
    uint32_t accept;
    uint32_t shape;
    const ArrayPlan* plan;
  };
  struct Limits {
    uint32_t min, max;
    friend auto operator<=>(const Limits&, const Limits&) = default;
  };
  struct Group {
    uint32_t options = 0;
    uint32_t prefix = 0;      // the longest
    uint32_t cap = 0;         // counts from here on are the same
    bool bounded = false;     // some alternative has a largest count
    bool needs_more = false;  // some alternative asks for more than one item
    std::vector<Part> parts;
    std::vector<Limits> limits;  // of the parts, each once
  };

  uint32_t group(std::span<const Alternative> alternatives);
  template <typename Keep>
  uint32_t filter(uint32_t group, Keep keep);
  StateId at(uint32_t group, uint32_t phase);
  StateId next_item(uint32_t group, uint32_t separator_bytes);
  StateId item_state(const Group& group, uint32_t index, bool after_token) const;
  StateId close(const Group& group, uint32_t count) const;
  void expand_after_item(uint32_t id, RowBuilder& row);

  JsonTables& tables_;
  WordInterner ids_;  // (accept, shape)...
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace maskwright

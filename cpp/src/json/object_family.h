// Frames inside an object: [alive set, phase, name, bytes], register = seen members.
//
// Idea: all alternatives of a union are read together (object_family_union.h). Names are read by
// the key family, which returns the set of a name's labels and is told by its own register which
// may come; values by the value family, which returns the targets that the value satisfies. An
// alternative leaves the alive set as soon as it refuses a name or a value or could not be
// completed any more. Seen members live in the register (object_family_members.h), so the number of
// states does not depend on which members were seen. Names outside the union's list come from the
// key frame's register. A mask walk doesn't know those that the object had before, nor the one that
// a walk began in; where it would need them it is unsure (RegisterPool::Memory). Where the only
// thing that a token can find out is which alternatives may end (*free* sets), walks know only
// that, and masks are shared between objects with different members.
//
// Cost: a step is linear in the members of the alternatives that are alive, behind a value in the
// alternatives that it satisfies.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/by_target.h"
#include "json/machine_tables.h"
#include "json/object_family_members.h"
#include "json/object_family_union.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class ObjectFamily final : public Family {
 public:
  explicit ObjectFamily(JsonTables& tables) : tables_(tables), unions_(tables) {}

  // The state after '{'; `alternatives` sorted and unique, register 0.
  StateId start(std::span<const Alternative> alternatives);

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  void needed_callees(StateId state, Reg reg, bool any, RegisterPool& regs,
                      std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  void caller_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;
  // The same for what follows '{' of a value.
  bool append_start(const Alternative& alternative, RegisterPool& regs, SharedKey& key);
  Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) override;
  Target forget(StateId state, Reg reg, RegisterPool& regs) override;
  uint32_t remembered(StateId state, Reg reg, const RegisterPool& regs) override;
  // Other names of some object met so far may run out; `endless`: the tokens spell endlessly many.
  bool has_few_names(bool endless) const {
    return unions_.has_other_names() && (!endless || unions_.has_name_classes());
  }
  std::size_t memory_bytes() const {
    return heap_bytes(unions_, alike_, values_, first_of_, by_value_);
  }

 private:
  // kLabel: in the key separator, kSeparator: in the item separator, after so many bytes.
  enum Phase : uint32_t { kOpen, kName, kAfterName, kLabel, kValue, kAfterValue, kSeparator };

  struct Position {
    const AliveSet* alive;
    uint32_t phase;
    SetId name;  // its labels
    uint32_t bytes;
  };

  Position position(StateId state) const;
  const JsonOptions& options(const AliveSet& alive) const {
    return tables_.options.get(alive.all->options);
  }
  StateId at(const AliveSet& alive, uint32_t phase, SetId name = kEmptySet, uint32_t bytes = 0);
  StateId next_name(const AliveSet& alive, uint32_t bytes);
  StateId next_value(const AliveSet& alive, SetId name, uint32_t bytes);
  StateId close(const AliveSet& alive, const SeenMembers& seen) const;
  StateId value_state(const AliveSet& alive, SetId name) const;
  template <typename Visit>
  void each_witness(const ObjectAlternative& alternative, const AliveAlternative& entry,
                    std::span<const uint32_t> labels, Visit visit) const;
  template <typename Visit>
  void each_target(const ObjectAlternative& alternative, const AliveAlternative& entry,
                   std::span<const uint32_t> labels, Visit visit) const;
  static bool may_continue(const ObjectAlternative& alternative, const AliveAlternative& entry,
                           const SeenMembers& seen);
  Target after_name(const AliveSet& alive, Reg reg, SetId name, Reg spelled, RegisterPool& regs);
  Target after_value(const AliveSet& alive, Reg reg, SetId name, SetId accepted,
                     RegisterPool& regs);
  const ByTarget* by_value(const AliveSet& alive, SetId name);
  uint32_t key_of(const Position& here) const;
  bool is_far(const Position& here) const;
  StateId like(StateId state, const Position& here);
  Target key_frame(StateId state, Reg reg, RegisterPool& regs);
  Target step(StateId state, Reg reg, uint8_t byte, RegisterPool& regs);
  void append_end(StateId done, SharedKey& key) const;
  bool append_names(const Position& here, StateId state, Reg reg, RegisterPool& regs,
                    SharedKey& key);
  bool append_member(const Position& here, Reg reg, RegisterPool& regs, SharedKey& key);
  bool append_after_value(StateId state, Reg reg, RegisterPool& regs, SharedKey& key);
  Reg forget(const AliveSet& alive, Reg names, const RegisterPool& from, RegisterPool& to) const;

  JsonTables& tables_;
  ObjectUnions unions_;
  // like(): by state; [alive set, phase, bytes, value state], and the first state of each.
  std::unordered_map<StateId, StateId> alike_;
  WordInterner values_;
  std::vector<StateId> first_of_;
  // Of large alive sets: by the labels of a name, for which of them its value may be.
  std::unordered_map<uint64_t, ByTarget> by_value_;
  std::vector<uint32_t> places_;  // scratch
};

}  // namespace maskwright

// Frames inside JSON values that also remember the value: the items of arrays of unique items, and
// all that is inside them.
//
// State: [state of the frame that is recorded]; edges, calls, returns and mask keys are its own, so
// that values that are recorded share their masks with values that are not. The register (pooled)
// holds that frame's register, the value so far, and the *suspects*: the values that must not come,
// as far as the text still may become one of them. When a value is complete its id (json_value.h)
// is returned in the register; whether it may come is for the array to say (array_family.h).
//
// While there are suspects nothing says that the frame can be completed otherwise: that takes a
// search (automata/way_out.h). Without suspects it can, as the frame that is recorded can.
//
// Registers, after that frame's own:
//   value    [suspects]                                           a set of values
//   string   [spelling, its value, text, suspects]                ... a set of texts
//   name     the same
//   keyword  [value, is a suspect]
//   number   a mark in front, [suspects, reader...]               a chain of values
//   array    [items, suspects, number of items]                   a chain of arrays
//   object   [members so far, suspects, name]                     a chain of objects
//
// Cost: a step inside strings is constant; of numbers, arrays and objects linear in the suspects.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "json/json_value.h"
#include "json/machine_tables.h"
#include "json/number_reader.h"
#include "json/recorded_numbers.h"
#include "maskwright/support/heap_bytes.h"
#include "support/unescape.h"

namespace maskwright {

class RecordFamily final : public Family {
 public:
  explicit RecordFamily(JsonTables& tables) : store_(tables.store), numbers_(tables) {}

  // Records the value that begins in a state; `suspects` is a set of values, or
  // RegisterPool::kUnknown in a mask walk.
  Target start(StateId value_state, Reg suspects, RegisterPool& regs);
  // The value that a recorded frame has returned; kNoValue where that was not recorded.
  static ValueId value_of(Reg returned, RegisterPool& regs);

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  SetId accepted(StateId state, Reg reg, const RegisterPool& regs) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) override;
  Target forget(StateId state, Reg reg, RegisterPool& regs) override;
  uint32_t remembered(StateId state, Reg reg, const RegisterPool& regs) override;
  bool suspect(StateId state, Reg reg, const RegisterPool& regs, std::bitset<256>& next) override;
  bool completions(StateId state, Reg reg, RegisterPool& regs,
                   std::vector<Completion>& out) override;
  std::size_t memory_bytes() const { return heap_bytes(numbers_); }

 private:
  using Words = std::span<const uint32_t>;

  StateId inside(StateId state) const { return store_.content(state)[0]; }
  StateId recorded(StateId inside);
  FamilyId kind(StateId inside) const { return store_.state(inside).family; }
  // The register of the frame that is recorded.
  static Reg inner(Words reg);
  Target step(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs);
  // The state as it is where it can only return, with the value.
  bool returns(const Target& to, ValueId value, const RegisterPool& regs, Target& out);
  Target record(const Target& to, std::vector<uint32_t> words, RegisterPool& regs);

  Target begin(const Target& to, Reg suspects, uint8_t byte, RegisterPool& regs);
  Target begin_unknown(const Target& to, uint8_t byte, RegisterPool& regs);
  Target read_text(const Target& to, Words reg, bool is_name, uint8_t byte, RegisterPool& regs);
  Target read_number(const Target& to, Reg suspects, NumberReader reader, uint8_t byte,
                     RegisterPool& regs);
  Target read_array(const Target& to, Words reg, uint8_t byte, RegisterPool& regs);
  Target read_object(const Target& to, Words reg, uint8_t byte, RegisterPool& regs);
  Target call(const Target& callee, std::span<const ValueId> suspects, RegisterPool& regs);
  void call_name(Words reg, RegisterPool& regs, std::vector<Target>& out);
  std::vector<ValueId> suspects_below(FamilyId kind, Words reg, const RegisterPool& regs) const;
  Target take_item(const Target& to, Words reg, ValueId value, RegisterPool& regs);
  Target take_name(const Target& to, Words reg, Reg name, RegisterPool& regs);
  Target take_member(const Target& to, Words reg, ValueId value, RegisterPool& regs);
  bool suspect_value(Words reg, const RegisterPool& regs, std::bitset<256>& next) const;

  Store& store_;
  RecordedNumbers numbers_;
};

}  // namespace maskwright

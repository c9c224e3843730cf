// Frames before a JSON value: [options * 2 + leading whitespace, targets...].
//
// Idea: the first byte of a value tells its type, so the alternatives of all targets are sorted by
// type into one string, number, keyword, array and object frame each; those return the targets that
// the value satisfies. Leading whitespace belongs to the value, so that all places that expect the
// same targets share one state. Arrays or objects of lists and those of shapes are frames of
// different families; where both are possible the state calls one state for each (content: kLists
// or kShapes at the end). Cost: linear in the clauses of the targets, on the first visit.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "json/machine_tables.h"

namespace maskwright {

class ValueFamily final : public Family {
 public:
  explicit ValueFamily(JsonTables& tables) : tables_(tables) {}

  // `targets`: a sorted, non-empty set of callee ids of productive targets with these options.
  // `after_token`: whitespace may come first, if the options have any.
  StateId start(uint32_t options, bool after_token, std::span<const uint32_t> targets);

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;
  // The same for a value inside of another one, which has the same layout.
  bool append_inner(StateId state, RegisterPool& regs, SharedKey& key);

 private:
  struct Choices;  // the alternatives of a state by type
  // At the end of a state's targets: only lists, or none of them.
  static constexpr uint32_t kLists = kNone - 1, kShapes = kNone - 2;

  Choices collect(std::span<const uint32_t> targets) const;
  void add_list(uint32_t accept, uint32_t list, Choices& choices) const;
  void add_listed(uint32_t listed, Choices& choices) const;
  void add_lists(uint32_t options, Choices& choices) const;
  StateId start_list(uint32_t options, std::vector<std::pair<uint32_t, uint32_t>> values) const;
  bool is_mixed(std::span<const uint32_t> targets) const;
  void add_joint(uint32_t accept, uint32_t joint, Choices& choices) const;
  void join_lists(Choices& choices) const;
  void add_keywords(const Choices& choices, RowBuilder& row);
  void add_number(Choices& choices, RowBuilder& row);
  bool append_choices(std::span<const uint32_t> targets, RegisterPool& regs, SharedKey& key);

  JsonTables& tables_;
};

}  // namespace maskwright

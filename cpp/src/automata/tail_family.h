// What is left of a rule that calls another one at its very end: nothing but a new name for what
// that returns.
//
// State: (callee, set that is returned in its place)..., by callee; kNone alone: what is returned
// stays what it is.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "maskwright/automata/store.h"

namespace maskwright {

class TailFamily final : public Family {
 public:
  explicit TailFamily(Store& store) : store_(store) {}

  // Renames nothing.
  StateId same();

  // A callee may come several times.
  StateId make(std::vector<std::pair<uint32_t, SetId>> map);
  // `upper` pushed on `lower`: one map through both.
  StateId compose(StateId upper, StateId lower);

  void describe(std::span<const uint32_t> /*content*/, State& /*state*/) override {}
  void expand(StateId /*state*/, RowBuilder& /*row*/) override {}
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;

 private:
  // What it returns for what a callee did; kEmptySet if it can't go on.
  SetId renamed(StateId state, SetId accepted);

  Store& store_;
};

}  // namespace maskwright

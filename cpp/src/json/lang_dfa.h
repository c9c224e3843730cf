// Explicit automata: the results of eager constructions (product, complement, numbers).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "json/lang_lengths.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

// State 0 is the start; no states = the empty language. Arcs of a state are sorted, disjoint and
// joined; missing arcs reject.
struct Dfa {
  struct State {
    uint32_t first_arc;
    uint32_t num_arcs;
    bool accepts;
  };
  std::vector<State> states;
  std::vector<Lang::Arc> arcs;

  std::span<const Lang::Arc> arcs_of(uint32_t state) const {
    return std::span(arcs).subspan(states[state].first_arc, states[state].num_arcs);
  }
  // Appends to the last state's arcs, joining neighbours.
  void add_arc(uint32_t lo, uint32_t hi, uint32_t target);
  // Opens the next state.
  void add_state(bool accepts) {
    states.push_back({static_cast<uint32_t>(arcs.size()), 0, accepts});
  }
  std::size_t memory_bytes() const { return heap_bytes(states, arcs); }
};

// Only the states on a path from the start to acceptance.
Dfa trim(const Dfa& dfa);

// The reachable product: texts in every operand. Operands are distinct and not empty. Raises
// "lang-too-large" with `what` in the message.
Dfa product(std::span<TableLang* const> operands, EagerBudget& budget, const std::string& what);

// All texts over `alphabet` that are not in the language of `operand` (over the same alphabet).
Dfa complement(TableLang& operand, std::span<const CodeRange> alphabet, EagerBudget& budget);

class DfaLang final : public TableLang {
 public:
  DfaLang(Dfa dfa, const LangLimits& limits) : dfa_(std::move(dfa)), limits_(limits) {}

  uint32_t start() override { return dfa_.states.empty() ? kDeadLang : 0; }
  std::span<const Arc> arcs(uint32_t state) override { return dfa_.arcs_of(state); }
  bool accepts(uint32_t state) override { return dfa_.states[state].accepts; }
  bool can_finish(uint32_t state, uint32_t min, uint32_t max) override;
  uint32_t length_horizon() override;
  bool append_rest(uint32_t state, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(dfa_, lengths_);
  }

 private:
  Lengths& lengths();

  Dfa dfa_;
  LangLimits limits_;
  std::unique_ptr<Lengths> lengths_;
};

}  // namespace maskwright::langs

// Intersections of searches, held lazily.
//
// Idea: a *search* is a language in which every beginning can still be completed, and some
// completion can be followed by anything: what an unanchored pattern says. Any beginning of any
// number of searches can be completed: complete one after the other, and what was found stays
// found. So their product needs no table to tell live states from dead ones, and states are made on
// first use; eight patterns in one allOf have thousands, of which a text meets a few. Operands that
// have found what they look for are one *found* state.
//
// Any length is possible once everything is found, so lower bounds on the length never matter.
// Upper bounds do (the shortest text that has all of them in it is hard to tell), so that languages
// with one are intersected eagerly.
//
// Cost: found_states() is linear in the operand's states and arcs, up to kMaxSearchStates; a state
// is linear in its operands' arcs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright::langs {

// The states of a search in which it has found what it looks for, sorted; none if the language is
// no search over the alphabet, or has too many states.
std::optional<std::vector<uint32_t>> found_states(TableLang& lang,
                                                  std::span<const CodeRange> alphabet);

class SearchesLang final : public TableLang {
 public:
  struct Operand {
    TableLang* lang;
    std::vector<uint32_t> found;  // found_states()
    std::size_t memory_bytes() const { return heap_bytes(found); }
  };

  SearchesLang(std::vector<Operand> operands, std::vector<CodeRange> alphabet);

  uint32_t start() override { return 0; }
  std::span<const Arc> arcs(uint32_t state) override;
  uint32_t move(uint32_t state, uint32_t code_point) override;
  bool accepts(uint32_t state) override;
  bool continues(uint32_t) override { return true; }
  // Without an upper bound.
  bool can_finish(uint32_t, uint32_t, uint32_t) override { return true; }
  uint32_t length_horizon() override { return 0; }
  bool reads_everything() const override { return reads_everything_; }
  uint64_t work() const override { return states_.size(); }
  bool append_rest(uint32_t state, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(operands_, alphabet_, states_, arcs_);
  }

 private:
  static constexpr uint32_t kFound = kDeadLang;

  uint32_t settle(std::size_t operand, uint32_t state) const;

  std::vector<Operand> operands_;
  std::vector<CodeRange> alphabet_;
  bool reads_everything_;
  WordInterner states_;                                // per operand its state, or kFound
  std::vector<std::optional<std::vector<Arc>>> arcs_;  // by state
};

}  // namespace maskwright::langs

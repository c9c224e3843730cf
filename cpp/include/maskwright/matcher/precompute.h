// Computes masks before a matcher asks for them.
//
// Idea: breadth first over *places*, a place being the states that a text can get to (counts and
// seen members left out, so that there are as many places as the grammar has, and not as texts).
// At each place its mask is computed, and the tokens to go on with are chosen from it: the longest
// ones only, since a model's tokenizer prefers them (`"name` before `"na`), and of the text that a
// state reads freely one. Forced text comes first: it is what every output passes through.
//
// Cost: a place costs its mask, a pass over the vocabulary, and reading the chosen tokens. Each of
// these takes the grammar's mutex on its own, and lets others go first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "maskwright/matcher/matcher.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class Precompute {
 public:
  explicit Precompute(std::shared_ptr<CompiledGrammar> grammar);
  Precompute(const Precompute&) = delete;
  Precompute& operator=(const Precompute&) = delete;

  // Computes masks for up to `seconds` of this thread's processor time, or until the grammar takes
  // `max_bytes`. False if it stopped because nothing is left.
  bool run(double seconds, std::size_t max_bytes);
  // Of places, masks known before included.
  uint64_t num_places() const { return places_.size(); }

 private:
  // Tokens tried at one place, so that no place takes long.
  static constexpr std::size_t kMaxTokens = 1024;

  void visit(Matcher at);
  bool fill(Matcher& at);
  std::vector<uint32_t> next_tokens(const Matcher& at) const;

  std::shared_ptr<CompiledGrammar> grammar_;
  WordInterner places_;
  std::deque<Matcher> forced_, others_;  // to be visited
  std::vector<uint32_t> row_;
};

}  // namespace maskwright

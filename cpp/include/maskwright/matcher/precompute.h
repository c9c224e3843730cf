// Computes masks before a matcher asks for them.
//
// Idea: breadth first over *places*, a place being the states that a text can get to (counts and
// seen members left out, so that there are as many places as the grammar has, and not as texts).
// At each place its mask is computed, and the tokens to go on with are chosen from it: the longest
// ones only, since a model's tokenizer prefers them (`"name` before `"na`), and of the text that a
// state reads freely one. The names of a schema are followed where others may come, too. Forced
// text, which every output passes through, comes first, then those names.
//
// Cost: a place costs its mask, a pass over the vocabulary, and reading the chosen tokens. Each of
// these takes the grammar's mutex on its own, and lets others go first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/matcher/matcher.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class Precompute {
 public:
  explicit Precompute(std::shared_ptr<CompiledGrammar> grammar);
  Precompute(const Precompute&) = delete;
  Precompute& operator=(const Precompute&) = delete;

  // Computes masks for `seconds` of this thread's processor time, at one place at least, or until
  // the grammar takes `max_bytes`. False if it stopped because nothing is left.
  bool run(double seconds, std::size_t max_bytes);
  // Places found so far, also those whose masks were there already.
  uint64_t num_places() const { return places_.size(); }

 private:
  // Tokens and texts tried at one place, so that no place takes long.
  static constexpr std::size_t kMaxTokens = 256;
  static constexpr std::size_t kMaxTexts = 256;

  void visit(Matcher at);
  enum Rank : uint8_t { kForced, kLikely, kOther, kRanks };

  void add(Matcher at, Rank rank);
  void follow(Matcher at, std::string_view text);
  bool fill(Matcher& at);
  std::vector<uint32_t> next_tokens(const Matcher& at) const;

  std::shared_ptr<CompiledGrammar> grammar_;
  WordInterner places_;
  std::array<std::deque<Matcher>, kRanks> waiting_;  // to be visited
  std::vector<uint32_t> row_;
};

}  // namespace maskwright

// What a matcher and its forks know about completions (budget.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "maskwright/matcher/matcher.h"
#include "matcher/budget_texts.h"

namespace maskwright {

// Tokens that complete configurations, without a stop token.
struct Matcher::Known {
  uint32_t tokens = kUnbounded;
  std::optional<Plan> plan;  // none yet where names are made longer for it
  bool by_names = false;     // it depends on loosened configurations and the number of names alone
};

// How names are made longer until they are none that is there (budget_names.cpp).
struct Matcher::Padding {
  bool possible = false;
  std::vector<std::string> enters;  // per doubt: what leads to where any letters may follow
};

// Of loosened configurations.
struct Matcher::Loose {
  bool known = false;
  std::string text;
  Doubts doubts;
  std::optional<Plan> plan;    // spells the text
  std::optional<Plan> better;  // of fewer tokens
  bool searched = false;
  std::array<std::optional<Padding>, 2> padding;  // [1]: the first name needs none
};

class Matcher::Budget {
 public:
  explicit Budget(CompiledGrammar& grammar)
      : texts(grammar.store(), grammar.rules(), grammar.vocabulary().spellable(), Memory::kIgnored,
              kMaxPlaces),
        exact_texts(grammar.store(), grammar.rules(), grammar.vocabulary().spellable(),
                    Memory::kExact, kMaxExactPlaces) {}

  static constexpr uint32_t kMaxPlaces = 50000;
  static constexpr uint32_t kMaxExactPlaces = 500;  // values and names make endlessly many

  // What holds after any one token.
  struct Most {
    Reg from;  // for registers from here on
    uint32_t tokens;
  };

  ShortestTexts texts;  // Memory::kIgnored
  ShortestTexts exact_texts;
  // By interned configurations.
  std::unordered_map<uint32_t, Loose> loose;
  std::unordered_map<uint32_t, Known> exact;
  std::unordered_map<uint64_t, Most> most;
  // By stack node: itself without the names that it remembers, and how many these are at most in it
  // and those below.
  std::vector<uint32_t> forgotten;
  std::vector<uint32_t> names;
};

}  // namespace maskwright

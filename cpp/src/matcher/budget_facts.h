// What a matcher and its forks know about completions (budget.cpp).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "maskwright/matcher/matcher.h"
#include "matcher/budget_texts.h"

namespace maskwright {

struct Matcher::Length : ShortestTexts::Length {};

struct Matcher::Known {
  uint32_t tokens = kUnbounded;
  Plan plan;
};

class Matcher::Budget {
 public:
  explicit Budget(CompiledGrammar& grammar)
      : texts(grammar.store(), grammar.rules(), grammar.vocabulary().spellable(), kMaxPlaces),
        exact_texts(grammar.store(), grammar.rules(), grammar.vocabulary().spellable(),
                    kMaxExactPlaces) {}

  static constexpr uint32_t kMaxPlaces = 50000;
  static constexpr uint32_t kMaxExactPlaces = 300;  // names of members make endlessly many

  struct Most {
    Reg from;  // holds for registers from here on
    uint32_t tokens;
  };

  ShortestTexts texts;  // Memory::kIgnored
  ShortestTexts exact_texts;
  // By interned configurations.
  std::unordered_map<uint32_t, Known> loose;  // Memory::kIgnored
  std::unordered_map<uint32_t, Known> exact;
  std::unordered_map<uint32_t, uint32_t> bytes;  // of those whose text is unsure
  std::unordered_map<uint32_t, Most> most;       // after any one token
};

}  // namespace maskwright

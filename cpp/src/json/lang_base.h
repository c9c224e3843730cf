// What all languages of a LangTable share beyond the public interface.
#pragma once

#include <cstdint>
#include <string>

#include "maskwright/json/lang.h"
#include "maskwright/support/error.h"

namespace maskwright::langs {

// How append_rest() says it: the first word.
enum RestKind : uint32_t { kDfa, kRun, kList, kNodes, kSearches, kNumber };

// Labels ahead are told if they are few.
inline constexpr uint32_t kFewAhead = 64;

class TableLang : public Lang {
 public:
  // A measure of the time and memory spent so far on states made lazily: an eager construction
  // that drives this language stops when it grows too large.
  virtual uint64_t work() const { return 0; }
};

// Named limit of everything that is built eagerly. States are limited by `max_states` itself; the
// other figures are multiples of it, so that one argument moves them all.
struct LangLimits {
  uint32_t max_states;

  uint64_t nfa_nodes() const { return uint64_t{max_states} * 4; }
  uint64_t arcs() const { return uint64_t{max_states} * 100; }
  uint64_t work() const { return uint64_t{max_states} * 4096; }
  uint64_t length_bits() const { return uint64_t{max_states} * 4096; }

  [[noreturn]] void exceeded(const std::string& what) const {
    throw Error::limit("lang-too-large",
                       what + " exceeds max_lang_states = " + std::to_string(max_states) +
                           "; simplify the pattern or raise max_lang_states",
                       "max_lang_states", max_states);
  }
};

// What all eager constructions of one table may take together, so that many large ones are refused
// as one too large one is.
class EagerBudget {
 public:
  explicit EagerBudget(const LangLimits& limits)
      : limits_(limits),
        states_left_(uint64_t{limits.max_states} * 20),
        arcs_left_(limits.arcs() * 4) {}

  const LangLimits& limits() const { return limits_; }
  void charge(uint64_t states, uint64_t arcs) {
    if (states > states_left_ || arcs > arcs_left_) {
      limits_.exceeded("the sum of all intersections, complements and texts with stops");
    }
    states_left_ -= states;
    arcs_left_ -= arcs;
  }

 private:
  LangLimits limits_;
  uint64_t states_left_, arcs_left_;
};

}  // namespace maskwright::langs

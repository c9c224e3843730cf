// How many different values there are, as far as arrays of unique items need to know.
//
// An array of unique items can always go on if each position that must come has more values than
// there are positions before it. So the question is whether a target has at least so many values,
// and the answer is mostly "endlessly many" after a look at the first code point. What is few is
// counted: literals, words of languages, numbers, arrays and objects as products. Where several
// shapes of one type may overlap, only bounds are known.
//
// Cost: linear in the number asked for, per scalar language; answers are kept for one call.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/clause.h"
#include "json/machine_solver.h"

namespace maskwright {

enum class Enough : uint8_t { kYes, kNo, kUndecided };

class ValueCount {
 public:
  ValueCount(const ProductivitySolver& solver, OptionsTable& options, ClauseTable& clauses,
             LangTable& langs)
      : solver_(solver), options_(options), clauses_(clauses), langs_(langs) {}

  // Whether an array whose counts can be completed can be so with different items.
  Enough enough(const ArrayShape& array);
  // A number of values, at most `wanted`, that each place of the array has whatever the answers to
  // its conditions.
  uint32_t least(const ArrayShape& array, uint32_t wanted);

 private:
  // Bounds on a number of values, both at most the number asked for.
  struct Range {
    uint64_t lo, hi;
  };
  struct Word {  // a language with bounds on its length
    LangId lang;
    uint32_t min, max;
    friend auto operator<=>(const Word&, const Word&) = default;
  };

  Enough at_least(uint32_t target, uint64_t wanted);
  Enough enough_counted(const ArrayShape& array);
  Range count(uint32_t target, uint64_t wanted);
  Range count_clauses(uint32_t target, uint64_t wanted);
  Range count_array(uint32_t shape, uint64_t wanted);
  Range count_object(uint32_t shape, uint64_t wanted);
  Range count_joint(uint32_t joint, uint64_t wanted);
  uint64_t count_strings(std::span<const Word> words, uint64_t wanted);
  uint64_t count_numbers(std::span<const LangId> numbers, uint64_t wanted);

  const ProductivitySolver& solver_;
  OptionsTable& options_;
  ClauseTable& clauses_;
  LangTable& langs_;
  std::unordered_map<uint32_t, Range> known_;  // by target, for one number asked for
};

}  // namespace maskwright

// A set of numbers in normal form: what a NumberSpec means, whatever its spelling.
//
// Idea: bounds become intervals between *cuts*, places before or behind a number, so that inclusive
// and exclusive bounds, points and gaps are one kind of thing; several divisors become their least
// common multiple. What is left is a finite list of values, or: intervals, one divisor, divisors of
// which one must divide too, divisors whose multiples are out, and single numbers that are out.
// Emptiness between two cuts is decided in closed form: without a divisor a true interval has
// endlessly many decimals; with one, the next multiple is in or out.
//
// Cost: linear in the digits of the bounds, n log n for n values; a search among multiples visits
// one per excluded number, times 2^n for n excluded divisors at worst (windows without a survivor
// are that short).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "json/decimal.h"
#include "maskwright/json/number_spec.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

// Before or behind a value; or, without one, behind all numbers.
struct Cut {
  bool endless = false;
  bool behind = false;
  Decimal value;
  std::size_t memory_bytes() const { return heap_bytes(value); }
};
int compare(const Cut& a, const Cut& b);

// The numbers between two cuts. An endless `lo` stands before all numbers.
struct Interval {
  Cut lo, hi;
  std::size_t memory_bytes() const { return heap_bytes(lo, hi); }
};

class NumberSet {
 public:
  // Raises Unsupported for divisors beyond Divisor's range, alone or together.
  // `any_of`: divisors of which one must divide; none: there is no such condition.
  explicit NumberSet(const NumberSpec& spec, std::span<const std::string> any_of = {});

  // Every number, in every spelling.
  bool is_everything() const { return everything_; }
  // The empty set has a list of no values too.
  bool has_values() const { return has_values_; }
  const std::vector<Decimal>& values() const { return values_; }
  // The order of values().
  static bool comes_before(const Decimal& a, const Decimal& b);

  // Of one of the values.
  std::size_t index_of(const Decimal& value) const;

  bool contains(const Decimal& value) const;
  // All numbers are integers, as the divisor or the list of values says.
  bool only_integers() const;
  // How many residues numbers have, modulo all divisors together; some number above `limit` if
  // there are more.
  uint64_t num_residues(uint64_t limit) const;

  // The rest is of use without values only.

  // Is there a number of this sign whose magnitude lies between the cuts?
  bool meets(bool negative, const Cut& lo, const Cut& hi) const;
  // Intervals of magnitudes, ascending.
  const std::vector<Interval>& intervals(bool negative) const { return intervals_[negative]; }
  // Single magnitudes that are out; not 0.
  const std::vector<Decimal>& excluded(bool negative) const { return excluded_[negative]; }
  const std::optional<Divisor>& divisor() const { return divisor_; }
  const std::vector<Divisor>& excluded_divisors() const { return excluded_divisors_; }
  // Multiples of divisor(), of which one must divide; none divides another.
  const std::vector<Divisor>& alternatives() const { return alternatives_; }
  // All numbers are multiples of something.
  bool divided() const { return divisor_.has_value() || !alternatives_.empty(); }
  // The smallest multiple >= a value that is >= 0, or > with `above`, if divided().
  Decimal next_multiple(const Decimal& value, bool above) const;

  // The values in canonical form, or none if there are more than `limit`.
  std::optional<std::vector<std::string>> list(std::size_t limit) const;
  // Equal sets that were specified alike have equal keys.
  std::string key() const;
  std::size_t memory_bytes() const {
    return heap_bytes(values_, intervals_, excluded_, divisor_, excluded_divisors_, alternatives_);
  }

 private:
  void read_divisors(const NumberSpec& spec);
  void read_alternatives(std::span<const std::string> any_of);
  bool divides(const Decimal& magnitude) const;
  void read_values(const NumberSpec& spec);
  void split_by_sign(const std::vector<Interval>& intervals);
  bool is_out(bool negative, const Decimal& magnitude) const;
  bool any_between(bool negative, const Cut& lo, const Cut& hi) const;
  bool list_between(bool negative, const Interval& interval, std::size_t limit,
                    std::vector<std::string>& out) const;
  void set_empty();

  bool everything_ = false;
  bool has_values_ = false;
  bool has_zero_ = false;
  std::vector<Decimal> values_;
  std::array<std::vector<Interval>, 2> intervals_;
  std::array<std::vector<Decimal>, 2> excluded_;
  std::optional<Divisor> divisor_;
  std::vector<Divisor> excluded_divisors_, alternatives_;
};

}  // namespace maskwright::langs

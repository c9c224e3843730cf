#include "json/number_set.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "maskwright/support/error.h"

namespace maskwright::langs {

namespace {

constexpr std::size_t kMaxExcludedDivisors = 12;
const Cut kEndless{true, true, {}};

constexpr auto& less = NumberSet::comes_before;

void make_list(std::vector<Decimal>& values) {
  if (!std::is_sorted(values.begin(), values.end(), less)) {
    std::sort(values.begin(), values.end(), less);
  }
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

Cut before(const std::string& text) { return {false, false, parse_decimal(text)}; }
Cut behind(const std::string& text) { return {false, true, parse_decimal(text)}; }

// In these intervals `lo` may be endless, which compare() does not know.
const Cut& later_lo(const Cut& a, const Cut& b) {
  if (a.endless || b.endless) return a.endless ? b : a;
  return compare(a, b) < 0 ? b : a;
}
bool is_empty(const Interval& interval) {
  return !interval.lo.endless && compare(interval.lo, interval.hi) >= 0;
}

using Intervals = std::vector<Interval>;

void keep(const Interval& interval, const Intervals& among, Intervals& out) {
  for (const Interval& other : among) {
    const Interval common{later_lo(interval.lo, other.lo),
                          compare(interval.hi, other.hi) < 0 ? interval.hi : other.hi};
    if (!is_empty(common)) out.push_back(common);
  }
}

// Both sorted and disjoint, and so is the result.
Intervals meet(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (const Interval& interval : a) keep(interval, b, out);
  return out;
}

Interval interval_of(const NumberRange& range) {
  Interval out{kEndless, kEndless};
  if (range.has_lo) out.lo = range.lo_exclusive ? behind(range.lo) : before(range.lo);
  if (range.has_hi) out.hi = range.hi_exclusive ? before(range.hi) : behind(range.hi);
  return out;
}

Intervals outside(const NumberRange& range) {
  const Interval inside = interval_of(range);
  if (is_empty(inside)) return Intervals(1, Interval{kEndless, kEndless});
  Intervals out;
  if (!inside.lo.endless) out.push_back({kEndless, inside.lo});
  if (!inside.hi.endless) out.push_back({inside.hi, kEndless});
  return out;
}

Intervals read_intervals(const NumberSpec& spec) {
  Intervals intervals(1, Interval{kEndless, kEndless});
  for (const NumberRange& range : spec.within) {
    const Interval interval = interval_of(range);
    intervals = is_empty(interval) ? Intervals{} : meet(intervals, Intervals(1, interval));
  }
  for (const NumberRange& range : spec.outside) intervals = meet(intervals, outside(range));
  return intervals;
}

Cut mirrored(const Cut& cut) {
  if (cut.endless) return cut;
  Cut out = cut;
  out.behind = !cut.behind;
  out.value.negative = !cut.value.is_zero() && !cut.value.negative;
  return out;
}

[[noreturn]] void too_long() {
  throw Error::unsupported(
      "json-number-divisor",
      "the keyword \"multipleOf\" is not supported here: the divisors at one place have a "
      "least common multiple of more than 17 significant digits",
      "multipleOf");
}

Divisor divisor_of(const std::string& text) {
  const auto made = Divisor::make(parse_decimal(text));
  if (!made) too_long();
  return *made;
}

void describe(const Cut& cut, std::string& out) {
  out += cut.endless ? "~" : (cut.behind ? "+" : "-") + canonical_text(cut.value);
  out += ' ';
}

}  // namespace

int compare(const Cut& a, const Cut& b) {
  if (a.endless || b.endless) return static_cast<int>(a.endless) - static_cast<int>(b.endless);
  const int order = compare(a.value, b.value);
  return order != 0 ? order : static_cast<int>(a.behind) - static_cast<int>(b.behind);
}

NumberSet::NumberSet(const NumberSpec& spec, std::span<const std::string> any_of) {
  const Intervals intervals = read_intervals(spec);
  split_by_sign(intervals);
  for (const std::string& text : spec.excluded) {
    Decimal value = parse_decimal(text);
    if (value.is_zero()) has_zero_ = false;
    if (value.is_zero()) continue;
    const bool negative = value.negative;
    value.negative = false;
    excluded_[negative].push_back(std::move(value));
  }
  for (auto& values : excluded_) make_list(values);
  read_divisors(spec);
  read_alternatives(any_of);
  if (spec.has_values) read_values(spec);
  everything_ = intervals.size() == 1 && intervals[0].lo.endless && intervals[0].hi.endless &&
                !divided() && excluded_divisors_.empty() && spec.excluded.empty() && !has_values_;
  if (!has_values_ && !meets(false, {}, kEndless) && !meets(true, {}, kEndless)) set_empty();
}

// Magnitudes from 0 up; 0 is of both signs.
void NumberSet::split_by_sign(const Intervals& intervals) {
  Intervals half(1);
  half[0].hi = kEndless;
  Intervals negated;
  for (const Interval& interval : intervals) {
    negated.push_back({mirrored(interval.hi), mirrored(interval.lo)});
  }
  std::reverse(negated.begin(), negated.end());
  intervals_ = {meet(intervals, half), meet(negated, half)};
  has_zero_ = !intervals_[0].empty() && compare(intervals_[0].front().lo, Cut{}) == 0;
}

void NumberSet::read_divisors(const NumberSpec& spec) {
  if (spec.integer) divisor_ = Divisor();
  for (const std::string& text : spec.multiples_of) {
    const Divisor divisor = divisor_of(text);
    const auto common = divisor_ ? Divisor::common(*divisor_, divisor) : divisor;
    if (!common) too_long();
    divisor_ = common;
  }
  std::vector<Divisor> out;
  if (spec.fractional) out.emplace_back();
  for (const std::string& text : spec.not_multiples_of) out.push_back(divisor_of(text));
  if (!out.empty()) has_zero_ = false;
  for (const Divisor& divisor : out) {
    // No multiple of the divisor is left.
    if (divisor_ && divisor.divides(*divisor_)) set_empty();
    const bool implied = std::any_of(out.begin(), out.end(), [&](const Divisor& other) {
      return other != divisor && other.divides(divisor);
    });
    const auto& kept = excluded_divisors_;
    if (implied || std::find(kept.begin(), kept.end(), divisor) != kept.end()) continue;
    excluded_divisors_.push_back(divisor);
  }
  if (excluded_divisors_.size() > kMaxExcludedDivisors) {
    throw Error::unsupported("json-number-divisor",
                             "the keyword \"multipleOf\" is not supported here: more than " +
                                 std::to_string(kMaxExcludedDivisors) +
                                 " divisors under \"not\" at one place",
                             "multipleOf");
  }
}

void NumberSet::read_alternatives(std::span<const std::string> any_of) {
  std::vector<Divisor> all;
  for (const std::string& text : any_of) {
    const Divisor divisor = divisor_of(text);
    const auto common = divisor_ ? Divisor::common(*divisor_, divisor) : divisor;
    if (!common) too_long();
    all.push_back(*common);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool implied = false;
    for (std::size_t k = 0; k < all.size() && !implied; ++k) {
      implied = k != i && all[k].divides(all[i]) && (all[k] != all[i] || k < i);
    }
    if (!implied) alternatives_.push_back(all[i]);
  }
}

// Is a value a multiple of what must divide it?
bool NumberSet::divides(const Decimal& magnitude) const {
  if (divisor_ && !divisor_->divides(magnitude)) return false;
  return alternatives_.empty() || std::ranges::any_of(alternatives_, [&](const Divisor& divisor) {
           return divisor.divides(magnitude);
         });
}

Decimal NumberSet::next_multiple(const Decimal& value, bool above) const {
  if (alternatives_.empty()) return divisor_->next(value, above);
  std::optional<Decimal> next;
  for (const Divisor& divisor : alternatives_) {
    Decimal other = divisor.next(value, above);
    if (!next || compare(other, *next) < 0) next = std::move(other);
  }
  return *next;
}

void NumberSet::read_values(const NumberSpec& spec) {
  std::vector<Decimal> kept;
  if (!has_values_) {
    for (const std::string& text : spec.values) {
      Decimal value = parse_decimal(text);
      if (contains(value)) kept.push_back(std::move(value));
    }
  }
  set_empty();
  make_list(kept);
  values_ = std::move(kept);
}

void NumberSet::set_empty() {
  has_values_ = true;
  values_.clear();
}

// Is a magnitude above 0 out, although it is in an interval and a multiple of the divisor?
bool NumberSet::is_out(bool negative, const Decimal& magnitude) const {
  const auto& excluded = excluded_[negative];
  return std::any_of(excluded_divisors_.begin(), excluded_divisors_.end(),
                     [&](const Divisor& divisor) { return divisor.divides(magnitude); }) ||
         std::binary_search(excluded.begin(), excluded.end(), magnitude, less);
}

// A comparison of values would cost more.
bool NumberSet::comes_before(const Decimal& a, const Decimal& b) {
  return std::tie(a.negative, a.digits, a.exponent) < std::tie(b.negative, b.digits, b.exponent);
}

std::size_t NumberSet::index_of(const Decimal& value) const {
  const auto at = std::lower_bound(values_.begin(), values_.end(), value, less);
  return static_cast<std::size_t>(at - values_.begin());
}

bool NumberSet::contains(const Decimal& value) const {
  if (has_values_) return std::binary_search(values_.begin(), values_.end(), value, less);
  if (value.is_zero()) return has_zero_;
  Cut cut{false, false, value};
  cut.value.negative = false;
  const auto inside = [&](const Interval& interval) {
    cut.behind = false;
    if (compare(interval.lo, cut) > 0) return false;
    cut.behind = true;
    return compare(cut, interval.hi) <= 0;
  };
  const auto& intervals = intervals_[value.negative];
  return std::any_of(intervals.begin(), intervals.end(), inside) && divides(cut.value) &&
         !is_out(value.negative, cut.value);
}

bool NumberSet::only_integers() const {
  if (!has_values_) return divisor_ && Divisor().divides(*divisor_);
  return std::ranges::all_of(values_, [](const Decimal& value) { return value.exponent >= 0; });
}

uint64_t NumberSet::num_residues(uint64_t limit) const {
  if (has_values_) return 1;
  uint64_t common = divisor_ ? divisor_->units() : 1;
  for (const Divisor& divisor : alternatives_) {
    if (common > limit) break;
    common = std::lcm(common, divisor.units());
  }
  for (const Divisor& divisor : excluded_divisors_) {
    if (common > limit) break;
    common = std::lcm(common, divisor.units());
  }
  return common;
}

bool NumberSet::any_between(bool negative, const Cut& lo, const Cut& hi) const {
  // What is out is finite, or leaves every so many multiples.
  if (hi.endless) return true;
  if (!divided()) {
    if (compare(lo.value, hi.value) != 0) return true;
    return lo.value.is_zero() ? has_zero_ : !is_out(negative, lo.value);
  }
  Decimal value = next_multiple(lo.value, lo.behind);
  while (compare(Cut{false, true, value}, hi) <= 0) {
    if (value.is_zero() ? has_zero_ : !is_out(negative, value)) return true;
    value = next_multiple(value, true);
  }
  return false;
}

bool NumberSet::meets(bool negative, const Cut& lo, const Cut& hi) const {
  for (const Interval& interval : intervals_[negative]) {
    const Cut& from = compare(lo, interval.lo) < 0 ? interval.lo : lo;
    const Cut& to = compare(hi, interval.hi) < 0 ? hi : interval.hi;
    if (compare(from, to) < 0 && any_between(negative, from, to)) return true;
  }
  return false;
}

bool NumberSet::list_between(bool negative, const Interval& interval, std::size_t limit,
                             std::vector<std::string>& out) const {
  Cut lo = interval.lo;
  while (meets(negative, lo, interval.hi)) {
    Decimal value = divided() ? next_multiple(lo.value, lo.behind) : lo.value;
    lo = {false, true, value};
    if (!divided() && compare(lo, interval.hi) != 0) return false;
    value.negative = negative;
    if (!contains(value) || (negative && value.is_zero())) continue;
    if (out.size() == limit) return false;
    out.push_back(canonical_text(value));
  }
  return true;
}

std::optional<std::vector<std::string>> NumberSet::list(std::size_t limit) const {
  std::vector<std::string> out;
  if (has_values_) {
    if (values_.size() > limit) return std::nullopt;
    for (const Decimal& value : values_) out.push_back(canonical_text(value));
    return out;
  }
  for (const bool negative : {false, true}) {
    for (const Interval& interval : intervals_[negative]) {
      if (!list_between(negative, interval, limit, out)) return std::nullopt;
    }
  }
  return out;
}

std::string NumberSet::key() const {
  std::string out = everything_ ? "any" : (has_values_ ? "values " : "set ");
  for (const Decimal& value : values_) out += canonical_text(value) + " ";
  if (has_values_) return out;
  const auto add_divisor = [&](const Divisor& divisor) {
    out += std::to_string(divisor.units()) + "e" + std::to_string(divisor.exponent()) + " ";
  };
  if (divisor_) add_divisor(*divisor_);
  out += '/';
  for (const Divisor& divisor : excluded_divisors_) add_divisor(divisor);
  if (!alternatives_.empty()) out += '|';
  for (const Divisor& divisor : alternatives_) add_divisor(divisor);
  out += has_zero_ ? "0 " : "";
  for (const bool negative : {false, true}) {
    out += ';';
    for (const Interval& interval : intervals_[negative]) {
      describe(interval.lo, out);
      describe(interval.hi, out);
    }
    out += '/';
    for (const Decimal& value : excluded_[negative]) out += canonical_text(value) + " ";
  }
  return out;
}

}  // namespace maskwright::langs

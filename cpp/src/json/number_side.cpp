#include "json/number_side.h"

#include <algorithm>
#include <limits>

namespace maskwright::langs {

namespace {

constexpr int64_t kFar = int64_t{1} << 40;

std::vector<Decimal> bounds_of(const NumberSet& set, bool negative) {
  std::vector<Decimal> values;
  if (set.has_values()) return values;
  for (const Interval& interval : set.intervals(negative)) {
    if (!interval.lo.value.is_zero()) values.push_back(interval.lo.value);
    if (!interval.hi.endless && !interval.hi.value.is_zero()) values.push_back(interval.hi.value);
  }
  return values;
}

std::vector<Decimal> points_of(const NumberSet& set, bool negative) {
  if (!set.has_values()) return set.excluded(negative);
  std::vector<Decimal> values;
  for (const Decimal& value : set.values()) {
    if (!value.is_zero() && value.negative == negative) values.push_back(value);
  }
  return values;
}

// The least power of ten above 2^n, for n divisors that are out and leave some multiples. Of 2^n
// multiples in a row one at least is left: n progressions that cover so many integers in a row
// cover all (Crittenden and Vanden Eynden, 1970).
int64_t places_of_window(const std::vector<Divisor>& excluded) {
  if (excluded.empty()) return 0;
  return static_cast<int64_t>(std::to_string(uint64_t{1} << excluded.size()).size());
}

}  // namespace

NumberSide::NumberSide(const NumberSet& set, bool negative, int32_t min_exponent,
                       int32_t max_exponent)
    : set_(set),
      negative_(negative),
      min_exponent_(min_exponent),
      max_exponent_(max_exponent),
      bounds_(bounds_of(set, negative)),
      points_(points_of(set, negative)),
      roomy_exponent_(kFar) {
  for (const Significands* known : {&bounds_, &points_}) {
    if (known->is_empty()) continue;
    const bool first = known == &bounds_ || bounds_.is_empty();
    const int64_t least = known->min_magnitude() - max_exponent - 1;
    const int64_t most = known->max_magnitude() - min_exponent + 1;
    least_magnitude_ = first ? least : std::min(least, least_magnitude_);
    most_magnitude_ = first ? most : std::max(most, most_magnitude_);
    most_fraction_ = std::max(most_fraction_, -least_magnitude_);
  }
  if (set.has_values()) return;
  for (const Interval& interval : set.intervals(negative)) {
    intervals_.emplace_back(bound_of(interval.lo), bound_of(interval.hi));
  }
  if (set.divisor()) divisors_.push_back(*set.divisor());
  const auto& out = set.excluded_divisors();
  divisors_.insert(divisors_.end(), out.begin(), out.end());
  const auto& any_of = set.alternatives();
  divisors_.insert(divisors_.end(), any_of.begin(), any_of.end());
  for (const Divisor& divisor : divisors_) {
    const bool first = &divisor == divisors_.data();
    const int64_t least = divisor.exponent() - max_exponent - 1;
    const int64_t most = divisor.exponent() + divisor.valuation() - min_exponent;
    least_last_ = first ? least : std::min(least, least_last_);
    most_last_ = first ? most : std::max(most, most_last_);
    most_fraction_ = std::max(most_fraction_, -least_last_ - 1);
  }
  if (!points_.is_empty() || !set.divided()) return;
  if (intervals_.empty() || intervals_.back().second.kind != Bound::kAboveAll) return;
  roomy_exponent_ = std::max(set.next_multiple({}, true).magnitude() + places_of_window(out),
                             intervals_.back().first.magnitude);
}

NumberSide::Bound NumberSide::bound_of(const Cut& cut) const {
  if (cut.endless) return {Bound::kAboveAll, true, 0, 0};
  if (cut.value.is_zero()) return {Bound::kBelowAll, cut.behind, 0, 0};
  return {Bound::kCut, cut.behind, bounds_.find(cut.value.digits), cut.value.magnitude()};
}

Reading NumberSide::start() const {
  Reading reading;
  reading.bounds = bounds_.start();
  reading.points = points_.start();
  reading.residues.resize(divisors_.size());
  return reading;
}

void NumberSide::compare_digit(Reading& reading, char digit) const {
  reading.bounds = bounds_.step(reading.bounds, digit);
  reading.points = points_.step(reading.points, digit);
  // Without a known number that could be met it does not matter between which two it would be.
  if (reading.points.first == reading.points.last) reading.points = {};
}

void NumberSide::divide_digit(Reading& reading, char digit) const {
  const auto value = static_cast<uint64_t>(digit - '0');
  for (std::size_t i = 0; i < divisors_.size(); ++i) {
    Residue& residue = reading.residues[i];
    residue.prime = (residue.prime * 10 + value) % divisors_[i].prime_part();
    residue.power = (residue.power * 10 + value) % divisors_[i].power();
    if (value != 0) residue.factors = divisors_[i].factors(residue.power);
  }
}

Reading NumberSide::whole_digit(Reading reading, char digit) const {
  if (!reading.significant && digit == '0') return reading;
  reading.significant = true;
  compare_digit(reading, digit);
  divide_digit(reading, digit);
  const bool compared = !bounds_.is_empty() || reading.points != Significands::Place();
  reading.magnitude = compared ? std::min(reading.magnitude + 1, most_magnitude_) : 0;
  if (!divisors_.empty()) {
    reading.last = std::min(digit == '0' ? reading.last + 1 : 0, most_last_);
  }
  return reading;
}

// Behind the point the first digit stays where it is, and further digits have lower places.
void NumberSide::forget_whole(Reading& reading) const {
  if (!reading.significant) return;
  const bool compared = !bounds_.is_empty() || reading.points != Significands::Place();
  reading.magnitude = compared ? std::max(reading.magnitude, least_magnitude_) : 0;
  if (divisors_.empty()) {
    reading.fraction = 0;
    return;
  }
  reading.last = std::max(reading.last, least_last_);
  if (reading.last == least_last_) {
    // No multiple of any divisor any more.
    std::fill(reading.residues.begin(), reading.residues.end(), Residue());
  } else if (reading.fraction == most_fraction_) {
    // A further digit that is not zero would have too low a place; only "divides" counts.
    for (Residue& residue : reading.residues) {
      residue.prime = residue.prime != 0 ? 1 : 0;
      residue.power = 0;
    }
  }
}

Reading NumberSide::point(Reading reading) const {
  forget_whole(reading);
  return reading;
}

Reading NumberSide::fraction_digit(Reading reading, char digit) const {
  const int64_t before = reading.fraction;
  reading.fraction = std::min(before + 1, most_fraction_);
  if (!reading.significant && digit == '0') return reading;
  if (digit != '0') {
    const bool compared = !bounds_.is_empty() || !points_.is_empty();
    if (!reading.significant && compared) reading.magnitude = std::min(-before, most_magnitude_);
    if (!divisors_.empty()) reading.last = std::min(-before - 1, most_last_);
    reading.significant = true;
  }
  compare_digit(reading, digit);
  divide_digit(reading, digit);
  forget_whole(reading);
  return reading;
}

// The smallest exponent with which the number lies above a bound.
int64_t NumberSide::first_exponent_above(const Bound& bound, const Reading& reading) const {
  if (bound.kind != Bound::kCut) return bound.kind == Bound::kBelowAll ? -kFar : kFar;
  const Significands::Order order = bounds_.order(reading.bounds, bound.entry);
  const bool above =
      order == Significands::kEqual ? !bound.behind : order == Significands::kGreater;
  return bound.magnitude - reading.magnitude + (above ? 0 : 1);
}

// The smallest exponent with which the number is a multiple of a divisor.
int64_t NumberSide::first_multiple(std::size_t divisor, const Reading& reading) const {
  const Residue& residue = reading.residues[divisor];
  if (residue.prime != 0) return kFar;
  return divisors_[divisor].exponent() - reading.last + divisors_[divisor].valuation() -
         residue.factors;
}

Decimal NumberSide::value(const Reading& reading, int64_t exponent) const {
  if (!reading.significant) return {};
  const std::string& digits = points_.digits(points_.match(reading.points));
  const int64_t magnitude = reading.magnitude + exponent;
  return {negative_, digits, magnitude - static_cast<int64_t>(digits.size())};
}

std::vector<Decimal> NumberSide::values_of(const Reading& reading, uint32_t most) const {
  std::vector<Decimal> out;
  const auto [first, last, depth] = reading.points;
  if (last - first > most) return out;
  for (uint32_t entry = first; entry < last; ++entry) {
    const std::string& digits = points_.digits(entry);
    for (const int64_t magnitude : points_.magnitudes(entry)) {
      out.emplace_back(negative_, digits, magnitude - static_cast<int64_t>(digits.size()));
    }
  }
  return out;
}

ExponentSet NumberSide::exponents(const Reading& reading) const {
  if (!reading.significant) {
    return set_.contains({}) ? ExponentSet(min_exponent_, max_exponent_) : ExponentSet();
  }
  const uint32_t point = points_.match(reading.points);
  ExponentSet out;
  if (set_.has_values()) {
    if (point == Significands::kNoEntry) return out;
    for (const int64_t magnitude : points_.magnitudes(point)) {
      const int64_t exponent = magnitude - reading.magnitude;
      if (min_exponent_ <= exponent && exponent <= max_exponent_) out.append(exponent, exponent);
    }
    return out;
  }
  for (const auto& [lo, hi] : intervals_) {
    const int64_t first = std::max<int64_t>(first_exponent_above(lo, reading), min_exponent_);
    const int64_t last = std::min<int64_t>(first_exponent_above(hi, reading) - 1, max_exponent_);
    out.append(first, last);
  }
  const std::size_t required = set_.divisor() ? 1 : 0;
  const std::size_t any_of = divisors_.size() - set_.alternatives().size();
  int64_t first_of_any = kFar;
  for (std::size_t i = any_of; i < divisors_.size(); ++i) {
    first_of_any = std::min(first_of_any, first_multiple(i, reading));
  }
  if (any_of < divisors_.size()) out.clip(first_of_any, kFar);
  for (std::size_t i = 0; i < any_of; ++i) {
    const int64_t first = first_multiple(i, reading);
    if (i < required) {
      out.clip(first, kFar);
    } else {
      out.remove(first, kFar);
    }
  }
  if (point == Significands::kNoEntry) return out;
  for (const int64_t magnitude : points_.magnitudes(point)) {
    out.remove(magnitude - reading.magnitude, magnitude - reading.magnitude);
  }
  return out;
}

bool NumberSide::is_possible(bool besides_zero) const {
  if (set_.has_values()) return !points_.is_empty() || (!besides_zero && set_.contains({}));
  return set_.meets(negative_, {false, besides_zero, {}}, {true, true, {}});
}

bool NumberSide::can_go_on(const std::string& digits, int64_t fraction, bool more_whole,
                           bool to_others) const {
  const Decimal read(false, digits, 0);
  const int64_t least = min_exponent_ - fraction;
  const int64_t most = more_whole ? kFar : max_exponent_ - fraction;
  if (set_.has_values()) return values_go_on(read, least, most, to_others);
  if (read.is_zero()) {
    return set_.meets(negative_, {false, to_others, {}}, {false, false, {false, "1", most}});
  }
  return std::any_of(intervals_.begin(), intervals_.end(), [&](const auto& pair) {
    const auto index = static_cast<std::size_t>(&pair - intervals_.data());
    return interval_goes_on(set_.intervals(negative_)[index], read, least, most, to_others);
  });
}

bool NumberSide::goes_on_anyway(const Reading& reading, bool more_whole) const {
  if (!reading.significant || roomy_exponent_ == kFar) return false;
  const bool counted = reading.fraction < most_fraction_;
  return more_whole || (counted && max_exponent_ - reading.fraction >= roomy_exponent_);
}

bool NumberSide::values_go_on(const Decimal& read, int64_t least, int64_t most,
                              bool to_others) const {
  if (read.is_zero()) {
    const bool below = !points_.is_empty() && points_.min_magnitude() <= most;
    return below || (!to_others && set_.contains({}));
  }
  if (points_.is_empty()) return false;
  Significands::Place place = points_.start();
  for (const char digit : read.digits) place = points_.step(place, digit);
  for (int64_t i = 0; i < read.exponent; ++i) place = points_.step(place, '0');
  const uint32_t same = to_others ? points_.match(place) : Significands::kNoEntry;
  for (uint32_t entry = place.first; entry < place.last; ++entry) {
    if (entry == same) continue;
    for (const int64_t magnitude : points_.magnitudes(entry)) {
      const int64_t scale = magnitude - read.magnitude();
      if (least <= scale && scale <= most) return true;
    }
  }
  return false;
}

// Has the set a number in [read, read + 1) * 10^j, within the interval, for some j?
bool NumberSide::interval_goes_on(const Interval& interval, const Decimal& read, int64_t least,
                                  int64_t most, bool to_others) const {
  if (interval.hi.endless && most == kFar) return true;
  if (!interval.hi.endless && interval.hi.value.is_zero()) return false;
  const auto top_of = [&](const Decimal& value) { return value.magnitude() - read.magnitude(); };
  if (!interval.hi.endless) most = std::min(most, top_of(interval.hi.value));
  if (!interval.lo.value.is_zero()) least = std::max(least, top_of(interval.lo.value));
  if (set_.divided()) least = std::max(least, top_of(set_.next_multiple({}, true)));
  const bool simple = set_.excluded_divisors().empty() && set_.excluded(negative_).empty();
  std::string next = read.digits + std::string(static_cast<std::size_t>(read.exponent), '0');
  add(next, 1);
  for (int64_t scale = most; scale >= least; --scale) {
    const Cut lo{false, to_others, {false, read.digits, read.exponent + scale}};
    const Cut hi{false, false, {false, next, scale}};
    const bool inside = compare(interval.lo, lo) <= 0 && compare(hi, interval.hi) <= 0;
    const Cut& from = inside || compare(lo, interval.lo) >= 0 ? lo : interval.lo;
    const Cut& to = inside || compare(hi, interval.hi) <= 0 ? hi : interval.hi;
    if (set_.meets(negative_, from, to)) return true;
    // A smaller scale would give a tenth of a number that is in the set at this one.
    if (simple && inside) return false;
  }
  return false;
}

}  // namespace maskwright::langs

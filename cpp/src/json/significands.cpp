#include "json/significands.h"

#include <algorithm>

namespace maskwright::langs {

Significands::Significands(std::vector<Decimal> values) {
  const auto less = [](const Decimal& a, const Decimal& b) {
    const int order = a.digits.compare(b.digits);
    return order != 0 ? order < 0 : a.exponent < b.exponent;
  };
  if (!std::is_sorted(values.begin(), values.end(), less)) {
    std::sort(values.begin(), values.end(), less);
  }
  for (Decimal& value : values) {
    const int64_t magnitude = value.magnitude();
    min_ = entries_.empty() ? magnitude : std::min(min_, magnitude);
    max_ = entries_.empty() ? magnitude : std::max(max_, magnitude);
    if (entries_.empty() || entries_.back().first != value.digits) {
      entries_.emplace_back(std::move(value.digits), std::vector<int64_t>());
    }
    auto& magnitudes = entries_.back().second;
    if (magnitudes.empty() || magnitudes.back() != magnitude) magnitudes.push_back(magnitude);
  }
}

Significands::Place Significands::step(const Place& place, char digit) const {
  const auto next = [&](const auto& entry) {
    return place.depth < entry.first.size() ? entry.first[place.depth] : '0';
  };
  const auto begin = entries_.begin() + place.first;
  const auto end = entries_.begin() + place.last;
  const auto first =
      std::partition_point(begin, end, [&](const auto& entry) { return next(entry) < digit; });
  const auto last =
      std::partition_point(first, end, [&](const auto& entry) { return next(entry) == digit; });
  Place out{static_cast<uint32_t>(first - entries_.begin()),
            static_cast<uint32_t>(last - entries_.begin()), 0};
  if (first == last) return out;
  // Behind the digits of the last one that is left, only zeros follow.
  const auto longest = static_cast<uint32_t>(first->first.size());
  out.depth = last - first == 1 ? std::min(place.depth + 1, longest) : place.depth + 1;
  return out;
}

uint32_t Significands::match(const Place& place) const {
  // The shortest of the range comes first.
  if (place.first == place.last || entries_[place.first].first.size() > place.depth) {
    return kNoEntry;
  }
  return place.first;
}

Significands::Order Significands::order(const Place& place, uint32_t entry) const {
  if (entry < place.first) return kGreater;
  if (entry >= place.last) return kLess;
  return entries_[entry].first.size() <= place.depth ? kEqual : kLess;
}

uint32_t Significands::find(const std::string& digits) const {
  const auto found = std::partition_point(entries_.begin(), entries_.end(),
                                          [&](const auto& entry) { return entry.first < digits; });
  return static_cast<uint32_t>(found - entries_.begin());
}

}  // namespace maskwright::langs

// Where the digits read so far stand among known digits.
//
// Idea: digits in order form an implicit trie: those that begin with what was read are a range of
// the sorted list, and each digit narrows it by binary search. What is outside the range is smaller
// or greater for good. Zeros follow every known digits, as they may follow any number's last digit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/decimal.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

class Significands {
 public:
  // Entries from `first` up to `last` begin with the `depth` digits read.
  struct Place {
    uint32_t first = 0, last = 0, depth = 0;
    bool operator==(const Place& other) const = default;
  };
  enum Order { kLess = -1, kEqual = 0, kGreater = 1 };

  // Of the digits of these values, which are not 0. Magnitudes are kept by digits.
  explicit Significands(std::vector<Decimal> values);

  bool is_empty() const { return entries_.empty(); }
  Place start() const { return {0, static_cast<uint32_t>(entries_.size()), 0}; }
  Place step(const Place& place, char digit) const;
  // The entry whose digits are those read, zeros at the end aside; or kNoEntry.
  uint32_t match(const Place& place) const;
  const std::string& digits(uint32_t entry) const { return entries_[entry].first; }
  // The order of the number that ends here and an entry, as 0.d1d2...
  Order order(const Place& place, uint32_t entry) const;
  uint32_t find(const std::string& digits) const;
  // The magnitudes of the values with an entry's digits, sorted.
  const std::vector<int64_t>& magnitudes(uint32_t entry) const { return entries_[entry].second; }
  // Over all values; not if there are none.
  int64_t min_magnitude() const { return min_; }
  int64_t max_magnitude() const { return max_; }

  static constexpr uint32_t kNoEntry = 0xFFFFFFFF;
  std::size_t memory_bytes() const { return heap_bytes(entries_); }

 private:
  std::vector<std::pair<std::string, std::vector<int64_t>>> entries_;  // by digits
  int64_t min_ = 0, max_ = 0;
};

}  // namespace maskwright::langs

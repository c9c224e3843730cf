// Which of many alternatives a value may be for, by the targets that it satisfies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

class ByTarget {
 public:
  // Fewer alternatives are sooner gone through.
  static constexpr std::size_t kMany = 32;

  bool empty() const { return places_.empty(); }
  void add(uint32_t target, uint32_t place) { places_.emplace_back(target, place); }
  // After the last add().
  void finish() {
    std::ranges::sort(places_);
    places_.shrink_to_fit();
  }
  // The places of all these targets, sorted, each once.
  void find(std::span<const uint32_t> targets, std::vector<uint32_t>& out) const {
    out.clear();
    for (const uint32_t target : targets) {
      for (const auto& [_, place] :
           std::ranges::equal_range(places_, target, {}, &std::pair<uint32_t, uint32_t>::first)) {
        out.push_back(place);
      }
    }
    make_set(out);
  }
  std::size_t memory_bytes() const { return heap_bytes(places_); }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> places_;  // target, place
};

}  // namespace maskwright

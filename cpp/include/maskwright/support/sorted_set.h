// Sets as sorted vectors without duplicates: how sets of callee ids, positions and bounds are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace maskwright {

// Sorts and drops duplicates.
template <typename T>
void make_set(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

inline bool in_set(std::span<const uint32_t> set, uint32_t id) {
  return std::binary_search(set.begin(), set.end(), id);
}

}  // namespace maskwright

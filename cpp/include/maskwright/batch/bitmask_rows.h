// The rows of a bitmask that lie somewhere in memory.
#pragma once

#include <cstdint>
#include <span>

namespace maskwright {

struct BitmaskRows {
  uint32_t* data;
  int64_t count;
  int64_t words;   // of a row, side by side
  int64_t stride;  // words from one row to the next

  std::span<uint32_t> row(int64_t index) const {
    return {data + index * stride, static_cast<std::size_t>(words)};
  }
};

}  // namespace maskwright

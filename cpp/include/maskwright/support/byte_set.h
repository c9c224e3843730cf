// A set of byte values.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace maskwright {

class ByteSet {
 public:
  void add(uint8_t byte) { words_[byte / 64] |= uint64_t{1} << byte % 64; }
  // `lo` is at most `hi`.
  void add_range(uint8_t lo, uint8_t hi) {
    constexpr uint64_t kAll = ~uint64_t{0};
    for (std::size_t i = lo / 64U; i <= hi / 64U; ++i) {
      const uint64_t from = i == lo / 64U ? kAll << lo % 64 : kAll;
      words_[i] |= from & (i == hi / 64U ? kAll >> (63 - hi % 64) : kAll);
    }
  }
  void remove(uint8_t byte) { words_[byte / 64] &= ~(uint64_t{1} << byte % 64); }
  bool has(uint8_t byte) const { return (words_[byte / 64] >> byte % 64 & 1) != 0; }
  bool intersects(const ByteSet& other) const {
    uint64_t both = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) both |= words_[i] & other.words_[i];
    return both != 0;
  }
  ByteSet& operator|=(const ByteSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  bool operator==(const ByteSet&) const = default;

  // Calls visit(byte) in ascending order.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<uint8_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }

 private:
  std::array<uint64_t, 4> words_{};
};

}  // namespace maskwright

// A growing array whose elements never move: chunk k holds kFirst * 2^k elements, so an index maps
// to its chunk by one bit scan and the directory is a handful of pointers. The first chunk is
// small, since a grammar has dozens of these and a server thousands of grammars. Readers that hold
// an index published after the element was written need no lock; writers are serialised by the
// owner.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

template <typename T>
class StablePool {
 public:
  StablePool() = default;
  StablePool(const StablePool&) = delete;
  StablePool& operator=(const StablePool&) = delete;
  ~StablePool() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  uint32_t size() const { return size_; }

  T& operator[](uint32_t index) const {
    const uint32_t chunk = chunk_of(index);
    return chunks_[chunk].load(std::memory_order_acquire)[index + kFirst - (kFirst << chunk)];
  }

  // Appends a value-initialised element and returns its index.
  uint32_t grow() {
    const uint32_t index = size_;
    const uint32_t chunk = chunk_of(index);
    if (chunks_[chunk].load(std::memory_order_relaxed) == nullptr) {
      chunks_[chunk].store(new T[std::size_t{kFirst} << chunk](), std::memory_order_release);
    }
    ++size_;
    return index;
  }

  // Drops the elements from `size` on. One chunk more than needed is kept for the next ones.
  void truncate(uint32_t size) {
    while (size_ > size) (*this)[--size_] = T();
    for (uint32_t k = chunk_of(size_) + 2; k < chunks_.size(); ++k) {
      T* chunk = chunks_[k].exchange(nullptr, std::memory_order_relaxed);
      if (chunk == nullptr) break;
      delete[] chunk;
    }
  }

  // Of the chunks, and of what the elements own.
  std::size_t memory_bytes() const {
    std::size_t total = chunk_bytes();
    if constexpr (!PlainData<T>) {
      for (uint32_t i = 0; i < size_; ++i) total += heap_bytes((*this)[i]);
    }
    return total;
  }

  // Of the chunks alone.
  std::size_t chunk_bytes() const {
    std::size_t total = 0;
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      if (chunks_[k].load(std::memory_order_relaxed) == nullptr) break;
      total += heap_block((std::size_t{kFirst} << k) * sizeof(T));
    }
    return total;
  }

 private:
  static constexpr uint32_t kFirstBits = 2;
  static constexpr uint32_t kFirst = 1U << kFirstBits;

  static uint32_t chunk_of(uint32_t index) {
    return static_cast<uint32_t>(std::bit_width(index + kFirst)) - kFirstBits - 1;
  }

  std::array<std::atomic<T*>, 32 - kFirstBits> chunks_{};
  uint32_t size_ = 0;
};

}  // namespace maskwright

// Small sets of exponents, as sorted intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

class ExponentSet {
 public:
  struct Span {
    int32_t lo, hi;
    bool operator==(const Span& other) const = default;
  };

  ExponentSet() = default;
  ExponentSet(int64_t lo, int64_t hi) { append(lo, hi); }

  bool is_empty() const { return spans_.empty(); }
  std::span<const Span> spans() const { return spans_; }
  bool contains(int32_t exponent) const { return meets(exponent, exponent); }
  bool meets(int64_t lo, int64_t hi) const;

  // Adds an interval that lies behind all others; nothing if hi < lo.
  void append(int64_t lo, int64_t hi);
  void remove(int64_t lo, int64_t hi);
  // Keeps only those between the bounds.
  void clip(int64_t lo, int64_t hi);
  ExponentSet meet(const ExponentSet& other) const;
  ExponentSet negated() const;
  std::size_t memory_bytes() const { return heap_bytes(spans_); }

 private:
  std::vector<Span> spans_;
};

}  // namespace maskwright::langs

// What a call that applies a bitmask asks for, checked in full before anything is written: in one
// place for the CPU and for the devices, whose tensors are described by their facts.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.h"
#include "integers.h"

struct ApplyRequest {
  struct Rows {
    int64_t count, length;
    int64_t stride;  // elements from one row to the next
  };
  Rows logits, bitmask;
  int64_t vocab_size;
  std::vector<int64_t> rows;  // to be masked, each once
  bool all_rows;              // they are all of them, in order
};

// Raises Error(kBitmask) for whatever does not fit, TypeError for what is no integer.
ApplyRequest check_apply(const ArrayFacts& logits, const ArrayFacts& bitmask,
                         const std::optional<nanobind::object>& vocab_size,
                         const std::optional<Integers>& indices);

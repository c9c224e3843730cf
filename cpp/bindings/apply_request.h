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

// The numbers of a call. Reading them may run Python code, so it comes before looking at arrays.
struct ApplyNumbers {
  std::optional<int64_t> vocab_size;
  std::optional<std::vector<int64_t>> indices;
};
// Raises TypeError for what is no integer.
ApplyNumbers read_numbers(const std::optional<nanobind::object>& vocab_size,
                          const std::optional<Integers>& indices);

// Raises Error(kBitmask) for whatever does not fit.
ApplyRequest check_apply(const ArrayFacts& logits, const ArrayFacts& bitmask, ApplyNumbers numbers);

#include "apply_request.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>

#include "maskwright/support/error.h"

namespace nb = nanobind;
using maskwright::Error;
using maskwright::ErrorKind;

namespace {

using Rows = ApplyRequest::Rows;

Rows rows_of(const ArrayFacts& array, const std::string& what) {
  const std::size_t ndim = array.shape.size();
  if (ndim != 1 && ndim != 2) bad_array(what + "-shape", what, array, "1-D or 2-D");
  if (!has_unit_stride(array)) {
    bad_array(what + "-strides", what, array, "unit stride along each row");
  }
  return {ndim == 1 ? 1 : array.shape[0], array.shape.back(), ndim == 1 ? 0 : array.strides[0]};
}

bool overlap(const Rows& rows) { return rows.count > 1 && std::abs(rows.stride) < rows.length; }

int64_t checked_vocab_size(std::optional<int64_t> vocab_size, const Rows& logits) {
  const int64_t size = vocab_size.value_or(logits.length);
  if (size < 0 || size > logits.length) {
    throw Error(ErrorKind::kBitmask, "bitmask-vocab-size",
                "vocab_size is " + std::to_string(size) + ", and a row of the logits has " +
                    std::to_string(logits.length) + " elements; pass a number from 0 to that");
  }
  return size;
}

void check_rows(const std::vector<int64_t>& rows, const Rows& logits, const Rows& bitmask) {
  for (const int64_t row : rows) {
    if (row < 0 || row >= logits.count || row >= bitmask.count) {
      throw Error(ErrorKind::kBitmask, "bitmask-index",
                  "row " + std::to_string(row) + " does not exist: the logits have " +
                      std::to_string(logits.count) + " rows and the bitmask has " +
                      std::to_string(bitmask.count) + "; pass indices below both");
    }
  }
  // As many as are named, not as there are: rows without an element take no memory.
  std::vector<int64_t> sorted = rows;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw Error(ErrorKind::kBitmask, "bitmask-index",
                "row " + std::to_string(*twice) + " is named twice; name each row once in indices");
  }
}

}  // namespace

ApplyNumbers read_numbers(const std::optional<nb::object>& vocab_size,
                          const std::optional<Integers>& indices) {
  ApplyNumbers numbers;
  if (vocab_size.has_value()) numbers.vocab_size = integer(*vocab_size);
  if (indices.has_value()) numbers.indices = integers(*indices);
  return numbers;
}

ApplyRequest check_apply(const ArrayFacts& logits, const ArrayFacts& bitmask,
                         ApplyNumbers numbers) {
  if (logits.dtype != "float32" && logits.dtype != "float16" && logits.dtype != "bfloat16") {
    bad_array("logits-dtype", "logits", logits, "float32, float16 or bfloat16");
  }
  if (bitmask.dtype != "int32") bad_array("bitmask-dtype", "bitmask", bitmask, "int32");
  if (logits.device != bitmask.device) {
    bad_array("bitmask-device", "bitmask", bitmask,
              "the device of the logits, " + logits.device + "; copy the bitmask there");
  }
  ApplyRequest request{};
  const Rows out = request.logits = rows_of(logits, "logits");
  const Rows in = request.bitmask = rows_of(bitmask, "bitmask");
  if (overlap(out)) bad_array("logits-strides", "logits", logits, "rows that do not overlap");
  const int64_t size = request.vocab_size = checked_vocab_size(numbers.vocab_size, out);
  if (size > in.length * 32) {
    bad_array("bitmask-shape", "bitmask", bitmask,
              std::to_string((size + 31) / 32) + (size > 32 ? " words" : " word") +
                  " in each row, for " + std::to_string(size) +
                  " tokens; if the model has fewer tokens than the logits have columns, say so "
                  "with vocab_size");
  }
  request.all_rows = !numbers.indices.has_value();
  if (numbers.indices.has_value()) {
    request.rows = std::move(*numbers.indices);
    check_rows(request.rows, out, in);
  } else if (out.count != in.count) {
    bad_array("bitmask-shape", "bitmask", bitmask,
              "one row for each of the " + std::to_string(out.count) + " rows of logits");
  } else if (out.length != 0) {  // else there is nothing to do, in however many rows
    request.rows.resize(static_cast<std::size_t>(out.count));
    std::iota(request.rows.begin(), request.rows.end(), int64_t{0});
  }
  return request;
}

#include "maskwright/mask/apply.h"

#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "integers.h"
#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::Error;
using maskwright::ErrorKind;
using maskwright::LogitType;

namespace {

LogitType logit_type(const Array& logits) {
  const auto type = logits.dtype();
  if (type == nb::dtype<float>()) return LogitType::kFloat32;
  if (type.lanes == 1 && type.bits == 16) {
    if (type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float))
      return LogitType::kFloat16;
    if (type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat)) {
      return LogitType::kBFloat16;
    }
  }
  bad_array("logits-dtype", "logits", logits, "float32, float16 or bfloat16");
}

struct Rows {
  std::size_t count, length;
  int64_t stride;

  bool overlap() const {
    return count > 1 && length > 0 && std::abs(stride) < static_cast<int64_t>(length);
  }
};

Rows rows_of(const Array& array, const std::string& what) {
  if (array.ndim() != 1 && array.ndim() != 2) {
    bad_array(what + "-shape", what, array, "1-D or 2-D");
  }
  const std::size_t last = array.ndim() - 1;
  if (!has_unit_stride(array)) {
    bad_array(what + "-strides", what, array, "unit stride along each row");
  }
  return {last == 0 ? 1 : array.shape(0), array.shape(last), last == 0 ? 0 : array.stride(0)};
}

void check_rows(const std::vector<int64_t>& indices, const Rows& logits, const Rows& bitmask) {
  for (const int64_t index : indices) {
    if (index < 0 || index >= static_cast<int64_t>(logits.count) ||
        index >= static_cast<int64_t>(bitmask.count)) {
      throw Error(ErrorKind::kBitmask, "bitmask-index",
                  "row " + std::to_string(index) + " does not exist: the logits have " +
                      std::to_string(logits.count) + " rows and the bitmask has " +
                      std::to_string(bitmask.count) + "; pass indices below both");
    }
  }
}

void apply_bitmask(nb::handle logits_object, nb::handle bitmask_object,
                   std::optional<nb::object> vocab_size, std::optional<Integers> indices) {
  const Array logits = writable_cpu_array(logits_object, "logits");
  const Array bitmask = readable_cpu_array(bitmask_object, "bitmask");
  const LogitType type = logit_type(logits);
  if (bitmask.dtype() != nb::dtype<int32_t>()) {
    bad_array("bitmask-dtype", "bitmask", bitmask, "int32");
  }
  const Rows out = rows_of(logits, "logits");
  const Rows in = rows_of(bitmask, "bitmask");
  if (out.overlap()) bad_array("logits-strides", "logits", logits, "rows that do not overlap");
  const auto covered = static_cast<int64_t>(in.length) * 32;
  const auto width = static_cast<int64_t>(out.length);
  const int64_t size = vocab_size.has_value() ? integer(*vocab_size) : width;
  if (size < 0 || size > width) {
    throw Error(ErrorKind::kBitmask, "bitmask-vocab-size",
                "vocab_size is " + std::to_string(size) + ", and a row of the logits has " +
                    std::to_string(width) + " elements; pass a number from 0 to that");
  }
  if (size > covered) {
    bad_array("bitmask-shape", "bitmask", bitmask,
              std::to_string((size + 31) / 32) + (size > 32 ? " words" : " word") +
                  " in each row, for " + std::to_string(size) +
                  " tokens; if the model has fewer tokens than the logits have columns, say so "
                  "with vocab_size");
  }
  std::vector<int64_t> rows;
  if (indices.has_value()) {
    rows = integers(*indices);
  } else {
    if (out.count != in.count) {
      bad_array("bitmask-shape", "bitmask", bitmask,
                "one row for each of the " + std::to_string(out.count) + " rows of logits");
    }
    rows.resize(out.count);
    std::iota(rows.begin(), rows.end(), int64_t{0});
  }
  check_rows(rows, out, in);
  const int64_t item_size = type == LogitType::kFloat32 ? 4 : 2;
  for (const int64_t row : rows) {
    maskwright::apply_bitmask_row(static_cast<char*>(logits.data()) + row * out.stride * item_size,
                                  type, static_cast<uint32_t>(out.length),
                                  static_cast<const uint32_t*>(bitmask.data()) + row * in.stride,
                                  static_cast<uint32_t>(size));
  }
}

}  // namespace

void register_apply(nb::module_& m) {
  m.def("apply_bitmask", &apply_bitmask, nb::arg("logits").none(), nb::arg("bitmask").none(),
        nb::kw_only(), nb::arg("vocab_size") = nb::none(), nb::arg("indices") = nb::none(),
        "Set the logits of masked tokens to -inf, in place, on the CPU.");
}

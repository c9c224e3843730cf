#include "maskwright/mask/apply.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apply_request.h"
#include "arrays.h"
#include "integers.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::LogitType;

namespace {

LogitType logit_type(const std::string& dtype) {
  if (dtype == "float32") return LogitType::kFloat32;
  return dtype == "float16" ? LogitType::kFloat16 : LogitType::kBFloat16;
}

void apply_bitmask(nb::handle logits_object, nb::handle bitmask_object,
                   const std::optional<nb::object>& vocab_size,
                   const std::optional<Integers>& indices) {
  ApplyNumbers numbers = read_numbers(vocab_size, indices);
  const ArrayMemory logits = writable_memory(logits_object, "logits");
  const ArrayMemory bitmask = readable_memory(bitmask_object, "bitmask");
  const ApplyRequest request = check_apply(logits.facts, bitmask.facts, std::move(numbers));
  const LogitType type = logit_type(logits.facts.dtype);
  const auto row_bytes = request.logits.stride * static_cast<int64_t>(logits.item_bytes);
  auto* const out = static_cast<char*>(logits.data);
  const auto* const bits = static_cast<const uint32_t*>(bitmask.data);
  const nb::gil_scoped_release release;
  for (const int64_t row : request.rows) {
    maskwright::apply_bitmask_row(
        out + row * row_bytes, type, static_cast<std::size_t>(request.logits.length),
        bits + row * request.bitmask.stride, static_cast<std::size_t>(request.vocab_size));
  }
}

// A tensor of any device: dtype, shape, strides in elements, device.
using Facts = std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>, std::string>;

ArrayFacts unpack(Facts facts) {
  auto& [dtype, shape, strides, device] = facts;
  return {std::move(dtype), std::move(shape), std::move(strides), std::move(device)};
}

std::pair<int64_t, std::optional<std::vector<int64_t>>> check(
    Facts logits, Facts bitmask, const std::optional<nb::object>& vocab_size,
    const std::optional<Integers>& indices) {
  ApplyRequest request = check_apply(unpack(std::move(logits)), unpack(std::move(bitmask)),
                                     read_numbers(vocab_size, indices));
  if (request.all_rows) return {request.vocab_size, std::nullopt};
  return {request.vocab_size, std::move(request.rows)};
}

void allow_all(nb::handle bitmask) {
  const Array array = writable_cpu_array(bitmask, "bitmask");
  if (array.dtype() != nb::dtype<int32_t>()) {
    bad_array("bitmask-dtype", "bitmask", facts_of(array), "int32");
  }
  fill_array(array, 0xFFFFFFFF);
}

// The elements of a 1-D or 2-D array one after the other, whatever its strides are.
nb::tuple copy_rows(nb::handle object, const std::string& what, const std::string& dtype) {
  const Array array = readable_cpu_array(object, what);
  const ArrayFacts facts = facts_of(array);
  if (facts.dtype != dtype) bad_array("bitmask-dtype", what, facts, dtype);
  const std::size_t ndim = array.ndim();
  if (ndim != 1 && ndim != 2) bad_array("bitmask-shape", what, facts, "1-D or 2-D");
  const std::size_t rows = ndim == 1 ? 1 : array.shape(0);
  const std::size_t length = array.shape(ndim - 1);
  const auto size = static_cast<int64_t>(array.itemsize());
  const auto* const data = static_cast<const char*>(array.data());
  std::string bytes;
  bytes.reserve(rows * length * array.itemsize());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < length; ++i) {
      const int64_t at = (ndim == 1 ? 0 : static_cast<int64_t>(row) * array.stride(0)) +
                         static_cast<int64_t>(i) * array.stride(ndim - 1);
      bytes.append(data + at * size, array.itemsize());
    }
  }
  return nb::make_tuple(rows, length, nb::bytes(bytes.data(), bytes.size()));
}

}  // namespace

void register_apply(nb::module_& m) {
  m.def("apply_bitmask", &apply_bitmask, nb::arg("logits").none(), nb::arg("bitmask").none(),
        nb::kw_only(), nb::arg("vocab_size") = nb::none(), nb::arg("indices") = nb::none(),
        "Set the logits of masked tokens to -inf, in place, on the CPU. Releases the GIL.");
  m.def("check_apply", &check, nb::arg("logits"), nb::arg("bitmask"), nb::kw_only(),
        nb::arg("vocab_size") = nb::none(), nb::arg("indices") = nb::none(),
        "Check what apply_bitmask does, for arrays of any device that are given as (dtype, shape, "
        "strides, device). Returns the number of tokens and the rows, None if all.");
  m.def("allow_all", &allow_all, nb::arg("bitmask").none(),
        "Set all bits of an int32 array of any shape, in place, on the CPU.");
  m.def("copy_rows", &copy_rows, nb::arg("array").none(), nb::arg("what"), nb::arg("dtype"),
        nb::sig("def copy_rows(array: typing.Any, what: str, dtype: str) -> "
                "tuple[int, int, bytes]"),
        "The number of rows, their length and the elements of a 1-D or 2-D array on the CPU.");
}

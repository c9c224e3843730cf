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
  const Array logits = writable_cpu_array(logits_object, "logits");
  const Array bitmask = readable_cpu_array(bitmask_object, "bitmask");
  const ArrayFacts facts = facts_of(logits);
  const ApplyRequest request = check_apply(facts, facts_of(bitmask), vocab_size, indices);
  const LogitType type = logit_type(facts.dtype);
  const auto row_bytes = request.logits.stride * static_cast<int64_t>(logits.itemsize());
  auto* const out = static_cast<char*>(logits.data());
  const auto* const bits = static_cast<const uint32_t*>(bitmask.data());
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
  ApplyRequest request =
      check_apply(unpack(std::move(logits)), unpack(std::move(bitmask)), vocab_size, indices);
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
}

#include "maskwright/matcher/matcher.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "arrays.h"
#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::CompiledGrammar;
using maskwright::Matcher;

namespace {

// A token id as Python has it: any integer, however large; an id beyond int64 is refused like one
// beyond the vocabulary.
bool accept_token(Matcher& matcher, nb::handle token) {
  int overflow = 0;
  const nb::object index = nb::steal(PyNumber_Index(token.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  return overflow == 0 && matcher.accept_token(value);
}

bool fill_bitmask(Matcher& matcher, nb::handle bitmask, int64_t index) {
  const Array array = writable_cpu_array(bitmask, "bitmask");
  const uint32_t words = matcher.grammar().vocabulary().mask_words();
  const auto row = bitmask_row(array, index, words);
  const auto used = row.first(words);
  auto result = matcher.fill_bitmask(used, false);
  if (result == Matcher::Fill::kCold) {
    const nb::gil_scoped_release release;
    result = matcher.fill_bitmask(used, true);
  }
  std::ranges::fill(row.subspan(words), 0U);
  return result == Matcher::Fill::kSome;
}

void rollback(Matcher& matcher, int64_t steps) {
  if (steps < 0) {
    throw maskwright::Error(
        maskwright::ErrorKind::kMatcher, "matcher-rollback-negative",
        "cannot roll back " + std::to_string(steps) + " steps: the number must be 0 or more");
  }
  matcher.rollback(static_cast<uint64_t>(steps));
}

}  // namespace

void register_matcher(nb::module_& m) {
  nb::class_<Matcher>(m, "Matcher", "Follows tokens; see maskwright.GrammarMatcher.")
      .def(nb::init<std::shared_ptr<CompiledGrammar>, std::optional<std::vector<uint32_t>>, bool>(),
           nb::arg("compiled"), nb::kw_only(), nb::arg("stop_token_ids") = nb::none(),
           nb::arg("terminate_without_stop_token") = false)
      .def("accept_token", &accept_token, nb::arg("token"))
      .def(
          "accept_bytes",
          [](Matcher& matcher, const nb::bytes& text) {
            return matcher.accept_bytes(std::string_view(text.c_str(), text.size()));
          },
          nb::arg("text"))
      .def("fill_bitmask", &fill_bitmask, nb::arg("bitmask").none(), nb::arg("index") = 0)
      .def("rollback", &rollback, nb::arg("steps") = 1)
      .def("reset", &Matcher::reset)
      .def("fork", &Matcher::fork)
      .def("is_terminated", &Matcher::is_terminated)
      .def("is_completed", &Matcher::is_completed)
      .def_prop_ro("num_steps", &Matcher::num_steps)
      .def_prop_ro("stop_token_ids",
                   [](const Matcher& matcher) { return matcher.stop_token_ids(); });
}

// Integers of Python, of any type and size.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <vector>

// The value of anything with __index__; raises TypeError for all else. One beyond int64 becomes the
// nearest int64, which is as far out of every range.
inline int64_t integer(nanobind::handle object) {
  const nanobind::object index = nanobind::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nanobind::python_error();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow == 0) return value;
  return overflow > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

using Integers = nanobind::typed<nanobind::iterable, nanobind::int_>;

inline std::vector<int64_t> integers(const Integers& objects) {
  std::vector<int64_t> values;
  for (const nanobind::handle object : objects) values.push_back(integer(object));
  return values;
}

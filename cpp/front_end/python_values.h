// Reading lists, texts and words that Python passes, through the limited API.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

// The items of any iterable as they are now, kept alive.
class Items {
 public:
  explicit Items(nanobind::handle iterable)
      : items_(nanobind::steal(PySequence_Tuple(iterable.ptr()))) {
    if (!items_.is_valid()) throw nanobind::python_error();
  }
  Py_ssize_t size() const { return PyTuple_Size(items_.ptr()); }
  // Borrowed.
  PyObject* operator[](Py_ssize_t index) const { return PyTuple_GetItem(items_.ptr(), index); }

 private:
  nanobind::object items_;
};

// The value of a key of a dict; not valid: it is not there.
inline nanobind::object value_of(PyObject* dict, PyObject* key) {
  PyObject* value = PyDict_GetItemWithError(dict, key);
  if (value == nullptr && PyErr_Occurred() != nullptr) throw nanobind::python_error();
  return nanobind::borrow(value);
}

// The UTF-8 of a str, which must stay alive; false, with no error set, if it is none or has none.
inline bool utf8_of(PyObject* text, std::string_view& result) {
  if (!PyUnicode_Check(text)) return false;
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) {
    PyErr_Clear();
    return false;
  }
  result = {data, static_cast<std::size_t>(size)};
  return true;
}

// The same; raises what Python does for another object or a lone surrogate.
inline std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) throw nanobind::python_error();
  return {data, static_cast<std::size_t>(size)};
}

inline std::vector<std::string_view> utf8_items(const Items& items) {
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<std::size_t>(items.size()));
  for (Py_ssize_t i = 0; i < items.size(); ++i) texts.push_back(utf8(items[i]));
  return texts;
}

// A word of a record; ValueError for what is no unsigned 32-bit integer.
inline uint32_t word(PyObject* number) {
  int overflow = 0;
  const long long value =
      PyLong_Check(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : -1;
  if (overflow != 0 || value < 0 || value > std::numeric_limits<uint32_t>::max()) {
    throw std::invalid_argument("a number in the IR is not an unsigned 32-bit word");
  }
  return static_cast<uint32_t>(value);
}

inline std::vector<uint32_t> words(const Items& items) {
  std::vector<uint32_t> found;
  found.reserve(static_cast<std::size_t>(items.size()));
  for (Py_ssize_t i = 0; i < items.size(); ++i) found.push_back(word(items[i]));
  return found;
}

// An id; what no id can be becomes one that nothing has.
inline uint32_t id_of(PyObject* number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nanobind::python_error();
  constexpr uint32_t kNoId = std::numeric_limits<uint32_t>::max();
  return overflow != 0 || value < 0 || value >= kNoId ? kNoId : static_cast<uint32_t>(value);
}

inline std::vector<uint32_t> ids_of(const Items& items) {
  std::vector<uint32_t> found;
  found.reserve(static_cast<std::size_t>(items.size()));
  for (Py_ssize_t i = 0; i < items.size(); ++i) found.push_back(id_of(items[i]));
  return found;
}

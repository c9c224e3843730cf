#include "batch_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "integers.h"
#include "maskwright/batch/batch.h"
#include "maskwright/support/error.h"

namespace nb = nanobind;
using maskwright::Error;
using maskwright::ErrorKind;

namespace {

std::string type_of(nb::handle object) { return nb::type_name(object.type()).c_str(); }

// A new tuple: nobody else can change it. For tensors their elements at once.
nb::tuple elements(nb::handle objects) {
  const nb::object list = nb::getattr(objects, "tolist", nb::none());
  const nb::object all = list.is_none() ? nb::borrow(objects) : list();
  return nb::tuple(all);
}

}  // namespace

MatcherList::MatcherList(nb::handle matchers) : objects_(nb::borrow(matchers)) {
  bases_.reserve(objects_.size());
  matchers_.reserve(objects_.size());
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const nb::handle object = objects_[i];
    if (!nb::isinstance<MatcherBase>(object) || !nb::inst_ready(object)) {
      throw Error(ErrorKind::kBatch, "batch-not-a-matcher",
                  "matchers[" + std::to_string(i) + "] is a " + type_of(object) +
                      "; expected a GrammarMatcher");
    }
    bases_.push_back(nb::inst_ptr<MatcherBase>(object));
    matchers_.push_back(&bases_.back()->matcher);
  }
}

uint32_t MatcherList::max_words() const {
  uint32_t words = 0;
  for (const maskwright::Matcher* matcher : matchers_) {
    words = std::max(words, matcher->grammar().vocabulary().mask_words());
  }
  return words;
}

void MatcherList::check_length(std::size_t size, const char* what) const {
  if (size == matchers_.size()) return;
  throw Error(ErrorKind::kBatch, "batch-lengths",
              "the numbers of matchers (" + std::to_string(matchers_.size()) + ") and of " + what +
                  " (" + std::to_string(size) + ") differ; give one for each matcher");
}

TextList::TextList(nb::handle texts) {
  if (PyUnicode_Check(texts.ptr())) {
    throw nb::type_error("strings is a str; expected a text for each matcher, in a list");
  }
  objects_ = nb::tuple(nb::borrow(texts));
  texts_.reserve(objects_.size());
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const nb::handle object = objects_[i];
    Py_ssize_t size = 0;
    if (PyUnicode_Check(object.ptr())) {
      const char* data = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
      if (data == nullptr) PyErr_Clear();  // a lone surrogate
      texts_.emplace_back(data, data == nullptr ? 0 : static_cast<std::size_t>(size));
    } else if (PyBytes_Check(object.ptr())) {
      char* data = nullptr;
      if (PyBytes_AsStringAndSize(object.ptr(), &data, &size) != 0) throw nb::python_error();
      texts_.emplace_back(data, static_cast<std::size_t>(size));
    } else {
      const std::string message =
          "strings[" + std::to_string(i) + "] is a " + type_of(object) + "; expected str or bytes";
      throw nb::type_error(message.c_str());
    }
  }
}

std::vector<int64_t> integer_list(nb::handle objects) {
  std::vector<int64_t> values;
  for (const nb::handle object : elements(objects)) values.push_back(integer(object));
  return values;
}

std::vector<int64_t> number_list(nb::handle objects, const char* what) {
  std::vector<int64_t> values;
  for (const nb::handle object : elements(objects)) {
    if (PyBool_Check(object.ptr())) {
      const std::string message = std::string(what) + " holds bools; expected integers";
      throw nb::type_error(message.c_str());
    }
    values.push_back(integer(object));
  }
  return values;
}

std::vector<int64_t> row_list(nb::handle indices, const MatcherList& matchers, int64_t rows,
                              const char* what) {
  std::vector<int64_t> list;
  if (!indices.is_none()) {
    list = number_list(indices, "indices");
    matchers.check_length(list.size(), "indices");
  } else if (static_cast<int64_t>(matchers.size()) > rows) {
    throw Error(ErrorKind::kBatch, "batch-rows",
                std::string(what) + " " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                    " for " + std::to_string(matchers.size()) + " matchers; it needs one for each");
  } else {
    list.resize(matchers.size());
    std::iota(list.begin(), list.end(), int64_t{0});
    return list;
  }
  maskwright::check_rows(list, rows, what);
  return list;
}

// --- bitmask ------------------------------------------------------------------------------------

Bitmask::Bitmask(nb::handle object, uint32_t words) : array(writable_cpu_array(object, "bitmask")) {
  const auto refuse = [&](const char* code, const std::string& expected) {
    bad_array(code, "bitmask", facts_of(array), expected);
  };
  if (array.dtype() != nb::dtype<int32_t>()) refuse("bitmask-dtype", "int32");
  const std::size_t ndim = array.ndim();
  if ((ndim != 1 && ndim != 2) || array.shape(ndim - 1) < words) {
    refuse("bitmask-shape", "1-D or 2-D with at least " + std::to_string(words) +
                                (words == 1 ? " word" : " words") + " in each row");
  }
  const auto width = static_cast<int64_t>(array.shape(ndim - 1));
  const auto count = static_cast<int64_t>(ndim == 1 ? 1 : array.shape(0));
  const int64_t stride = ndim == 1 ? width : array.stride(0);
  if (!has_unit_stride(facts_of(array)) || (count > 1 && std::abs(stride) < width)) {
    refuse("bitmask-strides", "rows of words side by side that do not overlap");
  }
  rows = {static_cast<uint32_t*>(array.data()), count, width, stride};
}

void Bitmask::check_rows(int64_t needed, const std::string& why) const {
  if (rows.count >= needed) return;
  bad_array("bitmask-rows", "bitmask", facts_of(array),
            std::to_string(needed) + (needed == 1 ? " row" : " rows") + " or more: " + why);
}

// --- integers -----------------------------------------------------------------------------------

namespace {

template <typename T>
int64_t as_int64(T value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    constexpr auto kMax = std::numeric_limits<int64_t>::max();
    if (value > static_cast<uint64_t>(kMax)) return kMax;  // as far out of every range
  }
  return static_cast<int64_t>(value);
}

// Elements may lie at any address.
template <typename T>
bool read_as(const Array& array, std::vector<int64_t>& values) {
  if (array.dtype() != nb::dtype<T>()) return false;
  const auto* data = static_cast<const std::byte*>(array.data());
  for (int64_t& value : values) {
    T element;
    std::memcpy(&element, data, sizeof(T));
    value = as_int64(element);
    data += sizeof(T);
  }
  return true;
}

bool read(const Array& array, std::vector<int64_t>& values) {
  return read_as<int64_t>(array, values) || read_as<int32_t>(array, values) ||
         read_as<int16_t>(array, values) || read_as<int8_t>(array, values) ||
         read_as<uint64_t>(array, values) || read_as<uint32_t>(array, values) ||
         read_as<uint16_t>(array, values) || read_as<uint8_t>(array, values);
}

bool is_contiguous(const Array& array) {
  int64_t expected = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != expected) return array.size() == 0;
    expected *= static_cast<int64_t>(array.shape(i));
  }
  return true;
}

}  // namespace

IntegerArray::IntegerArray(nb::handle object, const char* what)
    : what_(what), array_(readable_cpu_array(object, what)) {
  if (ndim() != 1 && ndim() != 2) refuse("draft-tree-shape", "one or two dimensions");
  rows_ = ndim() == 1 ? 1 : static_cast<int64_t>(array_.shape(0));
  columns_ = array_.shape(ndim() - 1);
  if (!is_contiguous(array_)) refuse("draft-tree-strides", "a contiguous array");
  values_.resize(array_.size());  // which take memory, as the array does
  if (!read(array_, values_)) refuse("draft-tree-dtype", "integers of 8 to 64 bits");
}

void IntegerArray::check_ndim(bool one, bool two) const {
  if ((ndim() == 1 && one) || (ndim() == 2 && two)) return;
  refuse("draft-tree-shape", one ? "one dimension, the nodes" : "two dimensions, rows and nodes");
}

void IntegerArray::refuse(const char* code, const std::string& expected) const {
  throw Error(ErrorKind::kDraftTree, code,
              what_ + " is " + describe_array(facts_of(array_)) + "; expected " + expected);
}

// --- temperatures -------------------------------------------------------------------------------

TemperatureArray::TemperatureArray(nb::handle object, std::size_t needed)
    : array_(writable_cpu_array(object, "temperatures")) {
  if (array_.dtype() != nb::dtype<float>()) {
    bad_array("temperatures-dtype", "temperatures", facts_of(array_), "float32");
  }
  if (array_.ndim() != 1 || array_.shape(0) < needed) {
    bad_array(
        "temperatures-shape", "temperatures", facts_of(array_),
        "1-D with at least " + std::to_string(needed) + (needed == 1 ? " element" : " elements"));
  }
  if (array_.shape(0) > 1 && array_.stride(0) == 0) {
    bad_array("temperatures-strides", "temperatures", facts_of(array_),
              "elements that do not overlap");
  }
}

// --- mask ids -----------------------------------------------------------------------------------

MaskIdArray::MaskIdArray(nb::handle object) : array_(writable_cpu_array(object, "mask_ids")) {
  const auto refuse = [&](const char* code, const char* expected) {
    bad_array(code, "mask_ids", facts_of(array_), expected);
  };
  if (array_.dtype() != nb::dtype<int32_t>() && array_.dtype() != nb::dtype<int64_t>()) {
    refuse("mask-ids-dtype", "int32 or int64");
  }
  if (array_.ndim() != 1) refuse("mask-ids-shape", "1-D, an element for each row");
  if (array_.shape(0) > 1 && array_.stride(0) == 0) {
    refuse("mask-ids-strides", "elements that do not overlap");
  }
}

void MaskIdArray::set(int64_t index, maskwright::MaskId id) const {
  const int64_t at = index * array_.stride(0);
  if (array_.dtype() == nb::dtype<int32_t>()) {
    static_cast<int32_t*>(array_.data())[at] = id;
  } else {
    static_cast<int64_t*>(array_.data())[at] = id;
  }
}

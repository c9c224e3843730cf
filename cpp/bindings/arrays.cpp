#include "arrays.h"

#include "maskwright/support/error.h"

namespace nb = nanobind;
using maskwright::Error;
using maskwright::ErrorKind;

namespace {

std::string dtype_name(nb::dlpack::dtype type) {
  static constexpr const char* kNames[] = {"int",    "uint",    "float", "opaque",
                                           "bfloat", "complex", "bool"};
  const std::string name = type.code < 7 ? kNames[type.code] : "unknown";
  if (name == "bool" && type.bits == 8) return name;
  return name + std::to_string(type.bits) +
         (type.lanes > 1 ? "x" + std::to_string(type.lanes) : "");
}

bool starts_with_a_vowel(std::string_view name) {
  return name.starts_with("int") || name.starts_with("opaque") || name.starts_with("unknown");
}

std::string tuple_of(std::size_t count, const auto& value) {
  std::string text = "(";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i != 0 ? ", " : "") + std::to_string(value(i));
  }
  return text + (count == 1 ? ",)" : ")");
}

std::string text_of(nb::handle object, const char* attribute) {
  if (!nb::hasattr(object, attribute)) return "";
  // An object first: nb::str of the accessor itself would take its value for a string unchecked.
  const nb::object value = object.attr(attribute);
  return std::string(", ") + attribute + " " + nb::str(value).c_str();
}

// Why the object is no array of the CPU, in its own words.
[[noreturn]] void refuse(nb::handle object, const std::string& what, const char* need) {
  const std::string type = nb::str(object.type()).c_str();
  throw Error(ErrorKind::kBitmask, "bitmask-not-an-array",
              what + " is a " + type + text_of(object, "dtype") + text_of(object, "shape") +
                  text_of(object, "device") + "; expected " + need +
                  " on the CPU (numpy, torch or any DLPack or buffer object)");
}

}  // namespace

Array writable_cpu_array(nb::handle object, const std::string& what) {
  Array array;
  if (!nb::try_cast<Array>(object, array, false) || array.device_type() != nb::device::cpu::value) {
    refuse(object, what, "a writable array");
  }
  // Tensors that stand for others, or whose storage was taken away, have a shape but no memory.
  if (array.data() == nullptr && array.size() != 0) refuse(object, what, "an array with memory");
  return array;
}

Array readable_cpu_array(nb::handle object, const std::string& what) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast<nb::ndarray<nb::ro>>(object, array, false) ||
      array.device_type() != nb::device::cpu::value) {
    refuse(object, what, "an array");
  }
  if (array.data() == nullptr && array.size() != 0) refuse(object, what, "an array with memory");
  return Array(array.handle());
}

std::string describe_array(const Array& array) {
  const std::string name = dtype_name(array.dtype());
  return (starts_with_a_vowel(name) ? "an " : "a ") + name + " array of shape " +
         tuple_of(array.ndim(), [&](std::size_t i) { return array.shape(i); }) + ", strides " +
         tuple_of(array.ndim(), [&](std::size_t i) { return array.stride(i); }) + ", on cpu";
}

void bad_array(const std::string& code, const std::string& what, const Array& array,
               const std::string& expected) {
  throw Error(ErrorKind::kBitmask, code,
              what + " is " + describe_array(array) + "; expected " + expected);
}

bool has_unit_stride(const Array& array) {
  const std::size_t last = array.ndim() - 1;
  return array.stride(last) == 1 || array.shape(last) == 1 || array.size() == 0;
}

std::span<uint32_t> bitmask_row(const Array& array, int64_t index, uint32_t words) {
  const auto refuse_array = [&](const char* code) {
    bad_array(code, "bitmask", array,
              "int32, 1-D or 2-D with at least " + std::to_string(words) +
                  (words == 1 ? " word" : " words") + " in each row and unit stride along it");
  };
  const std::size_t ndim = array.ndim();
  if (array.dtype() != nb::dtype<int32_t>()) refuse_array("bitmask-dtype");
  if (ndim != 1 && ndim != 2) refuse_array("bitmask-shape");
  if (array.shape(ndim - 1) < words) refuse_array("bitmask-shape");
  if (!has_unit_stride(array)) refuse_array("bitmask-strides");
  const auto rows = static_cast<int64_t>(ndim == 1 ? 1 : array.shape(0));
  if (index < 0 || index >= rows) {
    throw Error(ErrorKind::kBitmask, "bitmask-index",
                "row " + std::to_string(index) + " does not exist: the bitmask is " +
                    describe_array(array) +
                    (rows == 0 ? "; give it a row"
                               : "; pass an index from 0 to " + std::to_string(rows - 1)));
  }
  auto* data = static_cast<uint32_t*>(array.data());
  if (ndim == 2) data += index * array.stride(0);
  return {data, array.shape(ndim - 1)};
}

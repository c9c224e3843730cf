#include "arrays.h"

#include <algorithm>
#include <utility>

#include "direct_array.h"
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

std::string tuple_of(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += (i != 0 ? ", " : "") + std::to_string(values[i]);
  }
  return text + (values.size() == 1 ? ",)" : ")");
}

// An attribute of an object that may be anything; None where it has none.
nb::object attribute(nb::handle object, const char* name) {
  try {
    return nb::getattr(object, name, nb::none());
  } catch (nb::python_error&) {
    return nb::none();
  }
}

// What an object that may be anything says of itself; nothing where it raises.
template <typename Ask>
auto quietly(const Ask& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (nb::python_error&) {
    return {};
  }
}

bool says_yes(nb::handle object, const char* method) {
  const nb::object call = attribute(object, method);
  if (PyCallable_Check(call.ptr()) == 0) return false;
  return quietly([&] { return nb::cast<bool>(nb::bool_(call())); });
}

std::string text_of(nb::handle value, const char* label) {
  if (value.is_none()) return "";
  return quietly([&] { return std::string(", ") + label + " " + nb::str(value).c_str(); });
}

std::string class_name(nb::handle object) {
  const auto text = [&](const char* name) {
    return quietly([&] { return std::string(nb::str(attribute(object.type(), name)).c_str()); });
  };
  const std::string module = text("__module__");
  const std::string name = text("__qualname__");
  return module == "builtins" ? name : module + "." + name;
}

// torch's strides are in elements and a method, numpy's in bytes.
std::string strides_text(nb::handle object) {
  const nb::object layout = attribute(object, "layout");
  if (const std::string text = text_of(layout, "layout");
      !text.empty() && text != ", layout torch.strided") {
    return text;
  }
  if (const nb::object method = attribute(object, "stride"); !method.is_none()) {
    return quietly([&] { return text_of(nb::tuple(method()), "strides"); });
  }
  const nb::object strides = attribute(object, "strides");
  return strides.is_none() ? "" : text_of(strides, "strides") + " in bytes";
}

std::string shape_text(nb::handle object) {
  const nb::object shape = attribute(object, "shape");
  if (shape.is_none()) return "";
  return quietly([&] { return text_of(nb::tuple(shape), "shape"); });
}

bool is_true(nb::handle object) { return object.is(nb::handle(Py_True)); }

// What to do about a torch tensor whose memory may not be used as it is.
const char* tensor_remedy(nb::handle object) {
  if (is_true(attribute(object, "requires_grad"))) {
    return "; it requires grad: pass what .detach() returns";
  }
  if (says_yes(object, "is_neg") || says_yes(object, "is_conj")) {
    return "; its memory holds other values than it shows: pass what .resolve_neg() or "
           ".resolve_conj() returns";
  }
  return "";
}

const char* remedy(nb::handle object) {
  const nb::object writeable = attribute(attribute(object, "flags"), "writeable");
  return writeable.is(nb::handle(Py_False)) ? "; it is read-only" : tensor_remedy(object);
}

// Why the object is no array of the CPU, in its own words.
[[noreturn]] void refuse(nb::handle object, const std::string& what, const char* need) {
  const nb::object device = attribute(object, "device");
  const std::string place = text_of(device, "device");
  const char* code = place.empty() || place.starts_with(", device cpu") ? "bitmask-not-an-array"
                                                                        : "bitmask-device";
  throw Error(ErrorKind::kBitmask, code,
              what + " is a " + class_name(object) + text_of(attribute(object, "dtype"), "dtype") +
                  shape_text(object) + strides_text(object) + place + "; expected " + need +
                  " on the CPU (numpy, torch or any DLPack or buffer object)" + remedy(object));
}

ArrayMemory memory_of(const DirectArray& array) {
  ArrayFacts facts{dtype_name(array.type), {array.length}, {1}, "cpu"};
  if (array.ndim == 2) {
    facts.shape.insert(facts.shape.begin(), array.rows);
    facts.strides.insert(facts.strides.begin(), array.stride);
  }
  return {array.data, array.type.bits / 8U, std::move(facts), {}};
}

ArrayMemory memory_of(Array array) {
  return {array.data(), array.itemsize(), facts_of(array), std::move(array)};
}

bool is_aligned(const Array& array) {
  const std::size_t size = array.itemsize();
  return size == 0 || reinterpret_cast<std::size_t>(array.data()) % size == 0;
}

// No memory is larger, so an object that asks for more is wrong about its own.
constexpr uint64_t kMostBytes = uint64_t{1} << 48;

// DLPack objects may say anything of their shape; sizes beyond this could overflow.
bool fits_in_memory(const Array& array) {
  uint64_t elements = 1;  // from the first to the last, both included
  bool empty = false;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    const auto extent = static_cast<int64_t>(array.shape(i));
    if (extent < 0) return false;
    empty = empty || extent == 0;
    const int64_t stride = array.stride(i);
    const auto step =
        stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
    if (extent < 2 || step == 0) continue;
    const auto steps = static_cast<uint64_t>(extent) - 1;
    if (steps > kMostBytes / step) return false;
    elements += steps * step;
    if (elements > kMostBytes) return false;
  }
  return empty || elements * std::max<std::size_t>(array.itemsize(), 1) <= kMostBytes;
}

void check_memory(nb::handle object, const Array& array, const std::string& what) {
  if (array.dtype().lanes != 1) refuse(object, what, "an array of single numbers");
  if (!fits_in_memory(array)) {
    bad_array("bitmask-not-an-array", what, facts_of(array),
              "a shape and strides that memory can have");
  }
  // Tensors that stand for others, or whose storage was taken away, have a shape but no memory.
  if (array.data() == nullptr && array.size() != 0) refuse(object, what, "an array with memory");
  if (!is_aligned(array)) refuse(object, what, "an aligned array");
  if (*tensor_remedy(object) != 0) refuse(object, what, "an array");
}

}  // namespace

Array writable_cpu_array(nb::handle object, const std::string& what) {
  Array array;
  if (!nb::try_cast<Array>(object, array, false) || array.device_type() != nb::device::cpu::value) {
    refuse(object, what, "a writable array");
  }
  check_memory(object, array, what);
  return array;
}

Array readable_cpu_array(nb::handle object, const std::string& what) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast<nb::ndarray<nb::ro>>(object, array, false) ||
      array.device_type() != nb::device::cpu::value) {
    refuse(object, what, "an array");
  }
  Array result(array.handle());
  check_memory(object, result, what);
  return result;
}

ArrayFacts facts_of(const Array& array) {
  ArrayFacts facts;
  facts.dtype = dtype_name(array.dtype());
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    facts.shape.push_back(static_cast<int64_t>(array.shape(i)));
    facts.strides.push_back(array.stride(i));
  }
  facts.device = "cpu";
  return facts;
}

ArrayMemory writable_memory(nb::handle object, const std::string& what) {
  DirectArray direct{};
  if (direct_array(object, direct) && direct.writable) return memory_of(direct);
  return memory_of(writable_cpu_array(object, what));
}

ArrayMemory readable_memory(nb::handle object, const std::string& what) {
  DirectArray direct{};
  if (direct_array(object, direct)) return memory_of(direct);
  return memory_of(readable_cpu_array(object, what));
}

std::string describe_array(const ArrayFacts& array) {
  return (starts_with_a_vowel(array.dtype) ? "an " : "a ") + array.dtype + " array of shape " +
         tuple_of(array.shape) + ", strides " + tuple_of(array.strides) + ", on " + array.device;
}

void bad_array(const std::string& code, const std::string& what, const ArrayFacts& array,
               const std::string& expected) {
  throw Error(ErrorKind::kBitmask, code,
              what + " is " + describe_array(array) + "; expected " + expected);
}

bool has_unit_stride(const ArrayFacts& array) {
  return array.strides.back() == 1 || array.shape.back() == 1 ||
         std::ranges::find(array.shape, 0) != array.shape.end();
}

std::span<uint32_t> bitmask_row(const Array& array, int64_t index, uint32_t words) {
  const ArrayFacts facts = facts_of(array);
  const auto refuse_array = [&](const char* code) {
    bad_array(code, "bitmask", facts,
              "int32, 1-D or 2-D with at least " + std::to_string(words) +
                  (words == 1 ? " word" : " words") + " in each row and unit stride along it");
  };
  const std::size_t ndim = array.ndim();
  if (array.dtype() != nb::dtype<int32_t>()) refuse_array("bitmask-dtype");
  if (ndim != 1 && ndim != 2) refuse_array("bitmask-shape");
  if (array.shape(ndim - 1) < words) refuse_array("bitmask-shape");
  if (!has_unit_stride(facts)) refuse_array("bitmask-strides");
  const auto rows = static_cast<int64_t>(ndim == 1 ? 1 : array.shape(0));
  if (index < 0 || index >= rows) {
    throw Error(ErrorKind::kBitmask, "bitmask-index",
                "row " + std::to_string(index) + " does not exist: the bitmask is " +
                    describe_array(facts) +
                    (rows == 0 ? "; give it a row"
                               : "; pass an index from 0 to " + std::to_string(rows - 1)));
  }
  auto* data = static_cast<uint32_t*>(array.data());
  if (ndim == 2) data += index * array.stride(0);
  return {data, array.shape(ndim - 1)};
}

void fill_array(const Array& array, uint32_t word) {
  if (array.size() == 0) return;
  std::vector<std::size_t> at(array.ndim(), 0);
  auto* data = static_cast<uint32_t*>(array.data());
  for (;;) {
    *data = word;
    std::size_t axis = at.size();
    for (;; --axis) {  // the next element, the last axis first
      if (axis == 0) return;
      data += array.stride(axis - 1);
      if (++at[axis - 1] < array.shape(axis - 1)) break;
      data -= array.stride(axis - 1) * static_cast<int64_t>(array.shape(axis - 1));
      at[axis - 1] = 0;
    }
  }
}

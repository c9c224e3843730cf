// numpy: the fields that arrays begin with, which every module compiled against numpy's C API reads
// in place; they are compared with what a small array says of itself before they are trusted.
// torch: the function behind DLPack's exchange capsule (DLPack 1.3, DLPackExchangeAPI). Its tensors
// have no read-only state, which the function wouldn't tell, and asking whether their memory holds
// negated values costs a tenth of a mask: only a private function of torch makes such int32
// tensors, so only others are asked.

#include "direct_array.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace nb = nanobind;

namespace {

// --- numpy --------------------------------------------------------------------------------------

struct NumpyArray {
  PyObject head;
  char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;  // bytes
  PyObject* base;
  PyObject* dtype;
  int flags;
};

constexpr int kAligned = 0x100;
constexpr int kWriteable = 0x400;

class Numpy {
 public:
  Numpy() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    type_ = numpy.attr("ndarray");
    // numpy has one object for each of these; int32 first, since masks are most of the calls.
    const std::pair<const char*, nb::dlpack::dtype> types[] = {
        {"int32", nb::dtype<int32_t>()},
        {"float32", nb::dtype<float>()},
        {"float16", {static_cast<uint8_t>(nb::dlpack::dtype_code::Float), 16, 1}}};
    for (std::size_t i = 0; i < dtypes_.size(); ++i) {
      dtypes_[i] = {numpy.attr("dtype")(types[i].first), types[i].second};
    }
    trusted_ = matches(numpy);
  }

  bool owns(nb::handle object) const { return trusted_ && object.type().is(type_); }

  bool read(nb::handle object, DirectArray& out) const {
    const NumpyArray& array = fields(object);
    const auto dtype = std::ranges::find_if(
        dtypes_, [&](const Dtype& known) { return known.object.ptr() == array.dtype; });
    if (dtype == dtypes_.end() || (array.flags & kAligned) == 0) return false;
    if (array.ndim != 1 && array.ndim != 2) return false;
    const int last = array.ndim - 1;
    const Py_ssize_t bytes = dtype->type.bits / 8;
    if (array.strides[last] != bytes || array.strides[0] % bytes != 0) return false;
    out = {array.data,
           dtype->type,
           last == 0 ? 1 : array.shape[0],
           array.shape[last],
           array.strides[0] / bytes,
           array.ndim,
           (array.flags & kWriteable) != 0};
    return true;
  }

 private:
  static const NumpyArray& fields(nb::handle object) {
    return *reinterpret_cast<const NumpyArray*>(object.ptr());
  }

  bool matches(const nb::module_& numpy) const {
    const nb::object array = numpy.attr("zeros")(nb::make_tuple(3, 5), dtypes_[0].object);
    const NumpyArray& seen = fields(array);
    const auto address = nb::cast<std::size_t>(array.attr("ctypes").attr("data"));
    if (reinterpret_cast<std::size_t>(seen.data) != address ||
        seen.dtype != dtypes_[0].object.ptr() || seen.ndim != 2 || seen.shape[0] != 3 ||
        seen.shape[1] != 5 || seen.strides[0] != 20 || seen.strides[1] != 4 ||
        (seen.flags & kAligned) == 0 || (seen.flags & kWriteable) == 0) {
      return false;
    }
    array.attr("setflags")(nb::arg("write") = false);
    return (seen.flags & kWriteable) == 0;
  }

  struct Dtype {
    nb::object object;
    nb::dlpack::dtype type;
  };
  nb::object type_;
  std::array<Dtype, 3> dtypes_;
  bool trusted_ = false;
};

// --- torch --------------------------------------------------------------------------------------

struct ExchangeApi {
  uint32_t major, minor;
  ExchangeApi* previous;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, nb::dlpack::dltensor* out);
  void* current_stream;
};

class Torch {
 public:
  explicit Torch(nb::handle type) : type_(nb::borrow(type)), is_neg_(type.attr("is_neg")) {
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    if (capsule.is_none()) return;
    const auto* api =
        static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api == nullptr) PyErr_Clear();
    if (api != nullptr && api->major == 1) tensor_from_object_ = api->tensor_from_object;
  }

  bool owns(nb::handle object) const { return object.type().is(type_); }

  bool read(nb::handle object, DirectArray& out) const {
    if (tensor_from_object_ == nullptr) return false;
    nb::dlpack::dltensor tensor;
    if (tensor_from_object_(object.ptr(), &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    const std::size_t bytes = tensor.dtype.bits / 8U;
    if (tensor.device.device_type != nb::device::cpu::value || bytes == 0 ||
        tensor.dtype.lanes != 1 || (tensor.ndim != 1 && tensor.ndim != 2) ||
        tensor.strides == nullptr || tensor.data == nullptr) {
      return false;
    }
    const int32_t last = tensor.ndim - 1;
    char* const data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    if (tensor.strides[last] != 1 || reinterpret_cast<std::size_t>(data) % bytes != 0) return false;
    if (tensor.dtype != nb::dtype<int32_t>() && (is_neg(object) || requires_grad(object))) {
      return false;
    }
    out = {data,
           tensor.dtype,
           last == 0 ? 1 : tensor.shape[0],
           tensor.shape[last],
           tensor.strides[0],
           tensor.ndim,
           true};
    return true;
  }

 private:
  bool is_neg(nb::handle object) const { return is_neg_(object).is(nb::handle(Py_True)); }
  static bool requires_grad(nb::handle object) {
    return nb::object(object.attr("requires_grad")).is(nb::handle(Py_True));
  }

  nb::object type_;
  nb::object is_neg_;
  int (*tensor_from_object_)(void*, nb::dlpack::dltensor*) = nullptr;
};

// torch is never imported here: it is looked for where the program has it already.
bool is_torch_tensor(nb::handle type) {
  const nb::object torch = nb::module_::import_("sys").attr("modules").attr("get")("torch");
  return !torch.is_none() && type.is(nb::getattr(torch, "Tensor", nb::none()));
}

}  // namespace

bool direct_array(nb::handle object, DirectArray& array) {
  // Set once, under Python's lock; making one may let other threads run, which then make another.
  // Never destroyed: the interpreter may be gone by then.
  static const Numpy* numpy = nullptr;
  if (numpy == nullptr) {
    const auto* made = new Numpy();
    numpy = made;
  }
  if (numpy->owns(object)) return numpy->read(object, array);
  static const Torch* torch = nullptr;
  if (torch == nullptr) {
    if (!is_torch_tensor(object.type())) return false;
    torch = new Torch(object.type());
  }
  return torch->owns(object) && torch->read(object, array);
}

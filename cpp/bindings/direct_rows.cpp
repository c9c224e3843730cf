// numpy: the fields that arrays begin with, which every module compiled against numpy's C API reads
// in place; they are compared with what a small array says of itself before they are trusted.
// torch: the function behind DLPack's exchange capsule (DLPack 1.3, DLPackExchangeAPI). Its tensors
// have no read-only state, which the function wouldn't tell.

#include "direct_rows.h"

#include <nanobind/ndarray.h>

#include <cstddef>

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
    dtype_ = numpy.attr("dtype")("int32");
    trusted_ = matches(numpy);
  }

  bool owns(nb::handle object) const { return trusted_ && object.type().is(type_); }

  bool rows(nb::handle object, DirectRows& out) const {
    const NumpyArray& array = fields(object);
    constexpr int kNeeded = kAligned | kWriteable;
    if (array.dtype != dtype_.ptr() || (array.flags & kNeeded) != kNeeded) return false;
    if (array.ndim != 1 && array.ndim != 2) return false;
    const int last = array.ndim - 1;
    constexpr Py_ssize_t kBytes = sizeof(uint32_t);
    if (array.strides[last] != kBytes || array.strides[0] % kBytes != 0) return false;
    out = {reinterpret_cast<uint32_t*>(array.data), last == 0 ? 1 : array.shape[0],
           array.shape[last], array.strides[0] / kBytes};
    return true;
  }

 private:
  static const NumpyArray& fields(nb::handle object) {
    return *reinterpret_cast<const NumpyArray*>(object.ptr());
  }

  bool matches(const nb::module_& numpy) const {
    const nb::object array = numpy.attr("zeros")(nb::make_tuple(3, 5), dtype_);
    const NumpyArray& seen = fields(array);
    const auto address = nb::cast<std::size_t>(array.attr("ctypes").attr("data"));
    if (reinterpret_cast<std::size_t>(seen.data) != address || seen.dtype != dtype_.ptr() ||
        seen.ndim != 2 || seen.shape[0] != 3 || seen.shape[1] != 5 || seen.strides[0] != 20 ||
        seen.strides[1] != 4 || (seen.flags & kAligned) == 0 || (seen.flags & kWriteable) == 0) {
      return false;
    }
    array.attr("setflags")(nb::arg("write") = false);
    return (seen.flags & kWriteable) == 0;
  }

  nb::object type_;
  nb::object dtype_;
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
  explicit Torch(nb::handle type) : type_(nb::borrow(type)) {
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    if (capsule.is_none()) return;
    const auto* api =
        static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api == nullptr) PyErr_Clear();
    if (api != nullptr && api->major == 1) tensor_from_object_ = api->tensor_from_object;
  }

  bool owns(nb::handle object) const { return object.type().is(type_); }

  bool rows(nb::handle object, DirectRows& out) const {
    if (tensor_from_object_ == nullptr) return false;
    nb::dlpack::dltensor tensor;
    if (tensor_from_object_(object.ptr(), &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    if (tensor.device.device_type != nb::device::cpu::value ||
        tensor.dtype != nb::dtype<int32_t>() || (tensor.ndim != 1 && tensor.ndim != 2) ||
        tensor.strides == nullptr || tensor.data == nullptr) {
      return false;
    }
    const int32_t last = tensor.ndim - 1;
    if (tensor.strides[last] != 1) return false;
    auto* data = reinterpret_cast<uint32_t*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
    out = {data, last == 0 ? 1 : tensor.shape[0], tensor.shape[last], tensor.strides[0]};
    return true;
  }

 private:
  nb::object type_;
  int (*tensor_from_object_)(void*, nb::dlpack::dltensor*) = nullptr;
};

// torch is never imported here: it is looked for where the program has it already.
bool is_torch_tensor(nb::handle type) {
  const nb::object torch = nb::module_::import_("sys").attr("modules").attr("get")("torch");
  return !torch.is_none() && type.is(nb::getattr(torch, "Tensor", nb::none()));
}

}  // namespace

bool direct_rows(nb::handle object, DirectRows& rows) {
  // Set once, under Python's lock; making one may let other threads run, which then make another.
  // Never destroyed: the interpreter may be gone by then.
  static const Numpy* numpy = nullptr;
  if (numpy == nullptr) {
    const auto* made = new Numpy();
    numpy = made;
  }
  if (numpy->owns(object)) return numpy->rows(object, rows);
  static const Torch* torch = nullptr;
  if (torch == nullptr) {
    if (!is_torch_tensor(object.type())) return false;
    torch = new Torch(object.type());
  }
  return torch->owns(object) && torch->rows(object, rows);
}

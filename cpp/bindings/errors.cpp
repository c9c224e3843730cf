// Engine errors as the Python error tree: one class per kind, looked up when an error is raised.
// What was stopped on request is no fault, and Python has a class for it.
#include <nanobind/stl/string.h>

#include <exception>
#include <string_view>

#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;

namespace {

using maskwright::Error;
using maskwright::ErrorKind;

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kMalformed: return "MalformedIRError";
    case ErrorKind::kUnsupported: return "UnsupportedFeatureError";
    case ErrorKind::kUnsatisfiable: return "UnsatisfiableGrammarError";
    case ErrorKind::kLimit: return "LimitExceededError";
    case ErrorKind::kMatcher: return "MatcherError";
    case ErrorKind::kBitmask: return "BitmaskError";
    case ErrorKind::kTokenizer: return "TokenizerError";
    case ErrorKind::kStoredFormat: return "DeserializeFormatError";
    case ErrorKind::kStoredVersion: return "DeserializeVersionError";
    case ErrorKind::kBatch: return "BatchError";
    case ErrorKind::kDraftTree: return "DraftTreeError";
    case ErrorKind::kStopped: break;
  }
  return "MaskwrightError";
}

// A message may quote bytes of a grammar or a token that are no UTF-8.
nb::object text(std::string_view bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), size, "backslashreplace"));
}

void raise(const Error& error) {
  if (error.kind() == ErrorKind::kStopped) {
    const nb::object type = nb::module_::import_("concurrent.futures").attr("CancelledError");
    PyErr_SetString(type.ptr(), error.what());
    return;
  }
  nb::dict arguments;
  arguments["code"] = error.code();
  if (error.kind() == ErrorKind::kMalformed) arguments["offset"] = error.value();
  if (error.kind() == ErrorKind::kUnsupported) arguments["feature"] = text(error.subject());
  if (error.node() != Error::kNoNode) arguments["node"] = error.node();
  if (error.kind() == ErrorKind::kLimit) {
    arguments["limit"] = error.subject();
    arguments["value"] = error.value();
  }
  const nb::object type = nb::module_::import_("maskwright.errors").attr(class_name(error.kind()));
  const nb::object value = type(text(error.what()), **arguments);
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void register_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

// Errors of the engine. The bindings translate each kind into one Python class of the error tree;
// the engine itself knows nothing of Python.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace maskwright {

enum class ErrorKind : uint8_t {
  kMalformed,      // an IR buffer or vocabulary that breaks its format
  kUnsupported,    // a construct that the engine refuses by name
  kUnsatisfiable,  // a grammar without any completion
  kLimit,          // a named limit was exceeded
  kMatcher,        // a call that the matcher's state does not allow
  kBitmask,        // a wrong array
  kTokenizer,      // a wrong vocabulary
  kStoredFormat,   // a stored form that breaks its format, or of another vocabulary
  kStoredVersion,  // a stored form of another format version
  kBatch,          // arguments of a call for many matchers that do not fit together
  kDraftTree,      // links that are no tree
  kStopped,        // a compilation that nobody waits for any longer (support/stop_flag.h)
};

class Error : public std::runtime_error {
 public:
  static constexpr uint32_t kNoNode = 0xFFFFFFFF;

  Error(ErrorKind kind, std::string code, const std::string& message)
      : std::runtime_error(message), kind_(kind), code_(std::move(code)) {}

  // A named limit: `limit` is the argument that raises it, `value` its current setting.
  static Error limit(std::string code, const std::string& message, std::string limit,
                     uint64_t value) {
    Error error(ErrorKind::kLimit, std::move(code), message);
    error.subject_ = std::move(limit);
    error.value_ = value;
    return error;
  }

  static Error unsupported(std::string code, const std::string& message, std::string feature,
                           uint32_t node = kNoNode) {
    Error error(ErrorKind::kUnsupported, std::move(code), message);
    error.subject_ = std::move(feature);
    error.node_ = node;
    return error;
  }

  // A schema without a value because of one node of it.
  static Error unsatisfiable(std::string code, const std::string& message, uint32_t node) {
    Error error(ErrorKind::kUnsatisfiable, std::move(code), message);
    error.node_ = node;
    return error;
  }

  static Error malformed(std::string code, const std::string& message, uint64_t byte_offset) {
    Error error(ErrorKind::kMalformed, std::move(code), message);
    error.value_ = byte_offset;
    return error;
  }

  // A stored grammar that can't be loaded; `what` says where and, if it isn't clear, what is
  // expected.
  static Error stored(const std::string& what, std::string code = "deserialize-format") {
    return {ErrorKind::kStoredFormat, std::move(code),
            "the bytes are no stored grammar that can be loaded: " + what +
                "; pass what CompiledGrammar.serialize() returned, or compile the grammar again"};
  }

  // The same about a node, unless it names one already.
  Error at(uint32_t node) const {
    Error error = *this;
    if (error.node_ == kNoNode) error.node_ = node;
    return error;
  }

  ErrorKind kind() const { return kind_; }
  const std::string& code() const { return code_; }
  // The limit's or the feature's name.
  const std::string& subject() const { return subject_; }
  // The limit's value, or the byte offset of a malformed buffer.
  uint64_t value() const { return value_; }
  // The schema node of the IR that the error is about; kNoNode: not known.
  uint32_t node() const { return node_; }

 private:
  ErrorKind kind_;
  std::string code_;
  std::string subject_;
  uint64_t value_ = 0;
  uint32_t node_ = kNoNode;
};

}  // namespace maskwright

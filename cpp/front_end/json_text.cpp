// Reading JSON text (RFC 8259) into Python objects: exact numbers, no duplicate keys, any depth.
//
// One pass over the UTF-8 with a stack of open containers. Whatever is not as it should be raises
// ValueError without a place: the caller reads such a text again with a scanner that knows places.
// Keys that were met before are the same object, as schemas repeat few of them.
#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python_values.h"
#include "register.h"

namespace nb = nanobind;

namespace {

constexpr std::size_t kMaxSmallDigits = 18;  // fit a machine integer
constexpr std::size_t kMaxIntDigits = 4000;  // more make a Decimal, as int() has a limit
constexpr std::size_t kMaxSharedKey = 32;    // bytes

[[noreturn]] void refuse() { throw nb::value_error("the text is no plain JSON"); }

nb::object checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  nb::object read() {
    while (true) {
      nb::object value = open();
      // A complete value ends the containers that it is the last part of.
      while (value.is_valid()) {
        if (stack_.empty()) {
          if (skip() != '\0' || at_ != end_) refuse();
          return value;
        }
        value = close(std::move(value));
      }
    }
  }

 private:
  struct Open {
    nb::object container;
    nb::object key;  // of the member that is read; not valid in an array
    Py_ssize_t size = 0;
  };

  // The next byte that is no whitespace; 0 at the end.
  char skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  void expect(char c) {
    if (skip() != c || at_ == end_) refuse();
    ++at_;
  }

  // Starts a value: returns it if it is complete, else its container is on the stack.
  nb::object open() {
    switch (skip()) {
      case '{': {
        ++at_;
        nb::object members = checked(PyDict_New());
        if (skip() == '}') return ++at_, members;
        stack_.push_back({std::move(members), key(), 0});
        return {};
      }
      case '[': {
        ++at_;
        nb::object items = checked(PyList_New(0));
        if (skip() == ']') return ++at_, items;
        stack_.push_back({std::move(items), {}, 0});
        return {};
      }
      case '"': ++at_; return text(string());
      case 't': return literal("true", Py_True);
      case 'f': return literal("false", Py_False);
      case 'n': return literal("null", Py_None);
      default: return number();
    }
  }

  // Puts a value into the innermost container; returns that one if it ends here.
  nb::object close(nb::object value) {
    Open& top = stack_.back();
    const bool is_object = top.key.is_valid();
    const int failed = is_object ? PyDict_SetItem(top.container.ptr(), top.key.ptr(), value.ptr())
                                 : PyList_Append(top.container.ptr(), value.ptr());
    if (failed != 0) throw nb::python_error();
    ++top.size;
    const char next = skip();
    if (next == ',' && at_ != end_) {
      ++at_;
      if (is_object) {
        nb::object following = key();
        stack_.back().key = std::move(following);
      }
      return {};
    }
    expect(is_object ? '}' : ']');
    if (is_object && PyDict_Size(top.container.ptr()) != top.size) refuse();  // a duplicate
    nb::object done = std::move(top.container);
    stack_.pop_back();
    return done;
  }

  nb::object key() {
    expect('"');
    const std::string_view name = string();
    nb::object found;
    if (is_escaped_ || name.empty() || name.size() > kMaxSharedKey) {
      found = text(name);
    } else {
      const auto last = static_cast<unsigned char>(name.back());
      const auto first = static_cast<unsigned char>(name.front());
      auto& [known, object] = keys_[(name.size() * 5 + first * 3u + last) % keys_.size()];
      if (known != name || !object.is_valid()) {
        object = text(name);
        known = name;
      }
      found = object;
    }
    expect(':');
    return found;
  }

  // The content of a string whose quotation mark was read, in UTF-8; valid until the next one.
  std::string_view string() {
    const char* begin = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) {
      ++at_;
    }
    if (at_ != end_ && *at_ == '"') {
      is_escaped_ = has_surrogate_ = false;
      return {begin, static_cast<std::size_t>(at_++ - begin)};
    }
    return escaped(begin);
  }
  std::string_view escaped(const char* begin);
  uint32_t hex4();
  void append_code_point(uint32_t code_point);

  nb::object text(std::string_view content) const {
    return checked(PyUnicode_DecodeUTF8(content.data(), static_cast<Py_ssize_t>(content.size()),
                                        has_surrogate_ ? "surrogatepass" : nullptr));
  }
  nb::object literal(std::string_view name, PyObject* value) {
    if (static_cast<std::size_t>(end_ - at_) < name.size() ||
        std::string_view(at_, name.size()) != name) {
      refuse();
    }
    at_ += name.size();
    return nb::borrow(value);
  }
  nb::object number();
  std::size_t digits() {
    const char* begin = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return static_cast<std::size_t>(at_ - begin);
  }

  const char* at_;
  const char* end_;
  std::vector<Open> stack_;
  std::array<std::pair<std::string_view, nb::object>, 64> keys_;  // by how they stand in the text
  std::string unescaped_;                                         // the last string with escapes
  bool is_escaped_ = false;
  bool has_surrogate_ = false;
};

uint32_t JsonReader::hex4() {
  if (end_ - at_ < 4) refuse();
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = *at_;
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      value = value * 16 + static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      refuse();
    }
  }
  return value;
}

void JsonReader::append_code_point(uint32_t code_point) {
  const auto put = [&](uint32_t byte) { unescaped_ += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    if (code_point >= 0xD800 && code_point < 0xE000) has_surrogate_ = true;
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::string_view JsonReader::escaped(const char* begin) {
  unescaped_.assign(begin, at_);
  is_escaped_ = true;
  has_surrogate_ = false;
  while (true) {
    if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x20) refuse();
    const char c = *at_++;
    if (c == '"') return unescaped_;
    if (c != '\\') {
      unescaped_ += c;
      continue;
    }
    if (at_ == end_) refuse();
    switch (const char escape = *at_++) {
      case '"':
      case '\\':
      case '/': unescaped_ += escape; break;
      case 'b': unescaped_ += '\b'; break;
      case 'f': unescaped_ += '\f'; break;
      case 'n': unescaped_ += '\n'; break;
      case 'r': unescaped_ += '\r'; break;
      case 't': unescaped_ += '\t'; break;
      case 'u': {
        uint32_t code_point = hex4();
        if (code_point >= 0xD800 && code_point < 0xDC00 && end_ - at_ >= 6 && at_[0] == '\\' &&
            at_[1] == 'u') {
          const char* second = at_;
          at_ += 2;
          const uint32_t low = hex4();
          if (low >= 0xDC00 && low < 0xE000) {
            code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
          } else {
            at_ = second;
          }
        }
        append_code_point(code_point);
        break;
      }
      default: refuse();
    }
  }
}

nb::object JsonReader::number() {
  const char* begin = at_;
  if (at_ != end_ && *at_ == '-') ++at_;
  const char* first = at_;
  const std::size_t size = digits();
  if (size == 0 || (size > 1 && *first == '0')) refuse();
  bool is_integer = true;
  if (at_ != end_ && *at_ == '.') {
    is_integer = false;
    ++at_;
    if (digits() == 0) refuse();
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    is_integer = false;
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (digits() == 0) refuse();
  }
  if (is_integer && size <= kMaxSmallDigits) {
    long long value = 0;
    for (const char* digit = first; digit != at_; ++digit) value = value * 10 + (*digit - '0');
    return checked(PyLong_FromLongLong(*begin == '-' ? -value : value));
  }
  const std::string written(begin, at_);
  if (is_integer && written.size() < kMaxIntDigits) {
    return checked(PyLong_FromString(written.c_str(), nullptr, 10));
  }
  return nb::module_::import_("decimal").attr("Decimal")(written.c_str());
}

nb::object read_json(nb::handle text) { return JsonReader(utf8(text.ptr())).read(); }

}  // namespace

void register_json_text(nb::module_& m) {
  m.def(
      "read_json", &read_json, nb::arg("text"), nb::sig("def read_json(text: str) -> typing.Any"),
      "Return the value of a JSON text; numbers with a fraction or exponent become ``Decimal``.\n\n"
      "Raises:\n"
      "    ValueError: The text is no JSON, or an object in it has a duplicate key.\n"
      "    ArithmeticError: A number has an exponent that ``Decimal`` can't hold.");
}

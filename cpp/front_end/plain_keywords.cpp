// The plain forms of keywords. Each does what the keyword's handler in frontends/json_schema would
// do with that value, and says so by true; with false nothing has happened, and the handler
// decides.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "python_values.h"
#include "schema_walk.h"

namespace nb = nanobind;
using maskwright::IrBuilder;
using maskwright::kNone;
using maskwright::NodeKind;

namespace {

constexpr std::array<std::pair<std::string_view, uint32_t>, 7> kTypes{{
    {"string", maskwright::kStringType},
    {"object", maskwright::kObjectType},
    {"array", maskwright::kArrayType},
    {"integer", maskwright::kInteger},
    {"number", maskwright::kNumberType},
    {"boolean", maskwright::kBoolean},
    {"null", maskwright::kNull},
}};

// 0: no type has that name.
uint32_t type_named(PyObject* name) {
  std::string_view text;
  if (!utf8_of(name, text)) return 0;
  const auto found = std::ranges::find(kTypes, text, [](const auto& entry) { return entry.first; });
  return found == kTypes.end() ? 0 : found->second;
}

bool is_array(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }
bool is_schema(PyObject* value) { return PyDict_Check(value) || PyBool_Check(value); }

bool texts_of(const Items& items, std::vector<std::string_view>& texts) {
  texts.resize(static_cast<std::size_t>(items.size()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    PyObject* item = items[static_cast<Py_ssize_t>(i)];
    if (!PyUnicode_CheckExact(item) || !utf8_of(item, texts[i])) return false;
  }
  return true;
}

// A count that the IR can hold, or `absent`; false: the value is none.
bool count_of(PyObject* value, uint32_t absent, uint32_t& count) {
  count = absent;
  if (value == nullptr) return true;
  int overflow = 0;
  const long long number =
      PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : -1;
  if (overflow != 0 || number < 0 || number >= kNone) return false;
  count = static_cast<uint32_t>(number);
  return true;
}

}  // namespace

const KeywordNames& keywords() {
  const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
  static const KeywordNames names{
      name("$ref"),
      name("properties"),
      name("patternProperties"),
      name("additionalProperties"),
      name("items"),
      name("prefixItems"),
      name("minLength"),
      name("maxLength"),
      name("minItems"),
      name("maxItems"),
      name("minProperties"),
      name("maxProperties"),
  };
  return names;
}

bool SchemaWalk::plain(PlainKeyword form, PyObject* keyword, PyObject* value) {
  const KeywordNames& names = keywords();
  switch (form) {
    case PlainKeyword::kNone: return false;
    case PlainKeyword::kSkip: return true;
    case PlainKeyword::kDefinitions: return PyDict_Check(value);
    case PlainKeyword::kRef: return plain_ref(value);
    case PlainKeyword::kType: return plain_type(value);
    case PlainKeyword::kProperties: return plain_properties(keyword);
    case PlainKeyword::kItems: return plain_items(keyword, value);
    case PlainKeyword::kRequired: return plain_required(value);
    case PlainKeyword::kEnum: return plain_constants(value);
    case PlainKeyword::kConst: return plain_constants(nb::make_tuple(nb::handle(value)).ptr());
    case PlainKeyword::kAllOf:
    case PlainKeyword::kAnyOf:
    case PlainKeyword::kOneOf: return plain_several(form, keyword, value);
    case PlainKeyword::kStringLength:
      return plain_count(keyword, NodeKind::kStringLength, names.min_length, names.max_length);
    case PlainKeyword::kItemCount:
      return plain_count(keyword, NodeKind::kItemCount, names.min_items, names.max_items);
    case PlainKeyword::kMemberCount:
      return plain_count(keyword, NodeKind::kMemberCount, names.min_properties,
                         names.max_properties);
  }
  return false;
}

// A name, or several.
bool SchemaWalk::plain_type(PyObject* value) {
  uint32_t mask = 0;
  if (is_array(value)) {
    const Items items{value};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
      const uint32_t bit = type_named(items[i]);
      if (bit == 0) return false;
      mask |= bit;
    }
  } else {
    mask = type_named(value);
  }
  if (mask == 0) return false;
  if ((mask & (maskwright::kInteger | maskwright::kNumberType)) == maskwright::kInteger) {
    facts_ |= kExactNumbers;
  }
  parts_.push_back(builder_.types(mask));
  return true;
}

// Schemas by name without key patterns; `properties`, or else `additionalProperties`, makes the
// node of both.
bool SchemaWalk::plain_properties(PyObject* keyword) {
  const KeywordNames& names = keywords();
  PyObject* schema = frame_.schema;
  const nb::object members = value_of(schema, names.properties);
  const nb::object others = value_of(schema, names.additional_properties);
  if (value_of(schema, names.pattern_properties).is_valid()) return false;
  if (members.is_valid() && PyUnicode_Compare(keyword, names.properties) != 0) return true;
  if (members.is_valid() && !PyDict_CheckExact(members.ptr())) return false;
  if (others.is_valid() && !is_schema(others.ptr())) return false;
  const std::size_t begin = pairs_.size();
  std::string_view text;
  Py_ssize_t at = 0;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  while (members.is_valid() && PyDict_Next(members.ptr(), &at, &name, &value) != 0) {
    if (!utf8_of(name, text)) {
      pairs_.resize(begin);
      return false;
    }
    pairs_.push_back({nb::borrow(name), nb::borrow(value)});
  }
  const std::size_t end = pairs_.size();
  if (any_order_) {
    std::ranges::sort(std::span(pairs_).subspan(begin), [](const Pair& one, const Pair& other) {
      return PyUnicode_Compare(one.keyword.ptr(), other.keyword.ptr()) < 0;
    });
  }
  std::vector<IrBuilder::Member> named(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    named[i - begin].node =
        node_below(pairs_[i].value.ptr(), names.properties, {pairs_[i].keyword.ptr()});
  }
  uint32_t rest = kNone;
  if (!named.empty()) facts_ |= kNamedMembers;
  if (others.is_valid()) {
    if (others.ptr() == Py_True && named.empty() && !strict_) return true;
    rest = node_below(others.ptr(), names.additional_properties, {});
  } else if (!named.empty()) {
    facts_ |= kOpenMembers;
  } else {
    return true;
  }
  for (std::size_t i = begin; i < end; ++i) {
    named[i - begin].key = builder_.bytes_ref(utf8(pairs_[i].keyword.ptr()));
  }
  pairs_.resize(begin);
  parts_.push_back(builder_.object(named, {}, rest));
  return true;
}

// One schema for all items.
bool SchemaWalk::plain_items(PyObject* keyword, PyObject* value) {
  if (!is_schema(value) || value_of(frame_.schema, keywords().prefix_items).is_valid()) {
    return false;
  }
  if (value == Py_True && !strict_) return true;
  parts_.push_back(builder_.array({}, node_below(value, keyword, {})));
  return true;
}

// Strings.
bool SchemaWalk::plain_required(PyObject* value) {
  if (!is_array(value)) return false;
  const Items items{value};
  std::vector<std::string_view> texts;
  if (!texts_of(items, texts)) return false;
  if (!texts.empty()) parts_.push_back(builder_.required(texts));
  return true;
}

// Strings, no more than a constant may hold.
bool SchemaWalk::plain_constants(PyObject* values) {
  if (!is_array(values)) return false;
  const Items items{values};
  std::vector<std::string_view> texts;
  if (static_cast<std::size_t>(items.size()) > max_constant_values_ || !texts_of(items, texts)) {
    return false;
  }
  parts_.push_back(builder_.enumeration(0, {}, texts, {}));
  return true;
}

// Schemas in an array.
bool SchemaWalk::plain_several(PlainKeyword form, PyObject* keyword, PyObject* value) {
  if (!is_array(value)) return false;
  const Items items{value};
  if (items.size() == 0) return false;
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    if (!is_schema(items[i])) return false;
  }
  note_in_place(value, nb::none());
  std::vector<uint32_t> nodes;
  nodes.reserve(static_cast<std::size_t>(items.size()));
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    nodes.push_back(node_below(items[i], keyword, {nullptr, static_cast<uint32_t>(i), true}));
  }
  if (form == PlainKeyword::kAllOf) {
    parts_.insert(parts_.end(), nodes.begin(), nodes.end());
  } else {
    parts_.push_back(form == PlainKeyword::kAnyOf ? builder_.any_of(nodes)
                                                  : builder_.one_of(nodes));
  }
  return true;
}

// Integers in order; the first keyword of the two makes the node.
bool SchemaWalk::plain_count(PyObject* keyword, NodeKind kind, PyObject* low_key,
                             PyObject* high_key) {
  const nb::object low_value = value_of(frame_.schema, low_key);
  const nb::object high_value = value_of(frame_.schema, high_key);
  if (low_value.is_valid() && PyUnicode_Compare(keyword, high_key) == 0) return true;
  uint32_t low = 0;
  uint32_t high = 0;
  if (!count_of(low_value.ptr(), 0, low) || !count_of(high_value.ptr(), kNone, high) ||
      low > high) {
    return false;
  }
  if (high_value.is_valid() || low > 0) parts_.push_back(builder_.bounds(kind, low, high));
  return true;
}

// A pointer into the resource at hand, by plain names through objects without identifiers.
bool SchemaWalk::plain_ref(PyObject* value) {
  if (!PyUnicode_CheckExact(value)) return false;
  const nb::dict targets = resources_[frame_.resource].targets;
  std::size_t number = targets_.size();
  if (PyObject* found = PyDict_GetItemWithError(targets.ptr(), value)) {
    number = PyLong_AsSize_t(found);
  } else {
    Target target{};
    if (!follow(value, target)) return false;
    targets_.push_back(target);
    targets[nb::handle(value)] = number;
  }
  const Target target_found = targets_[number];
  if (PyBool_Check(target_found.schema.ptr())) {
    parts_.push_back(boolean(target_found.schema.ptr()));
    return true;
  }
  in_place_.push_back(
      {frame_.schema, frame_.place, frame_.resource, frame_.resource, target_found.schema});
  parts_.push_back(target(target_found.schema.ptr(), target_found.place, frame_.resource));
  return true;
}

bool SchemaWalk::follow(PyObject* reference, Target& target) {
  std::string_view text;
  if (!utf8_of(reference, text) || text.empty() || text[0] != '#') return false;
  if (text.find_first_of("%~") != std::string_view::npos) return false;
  if (text.size() > 1 && text[1] != '/') return false;
  const ResourceEntry& entry = resources_[frame_.resource];
  nb::object schema = entry.resource.attr("schema");
  std::vector<nb::object> tokens;
  text.remove_prefix(1);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view token = text.substr(0, text.find('/'));
    text.remove_prefix(token.size());
    tokens.push_back(nb::steal(
        PyUnicode_FromStringAndSize(token.data(), static_cast<Py_ssize_t>(token.size()))));
    if (!PyDict_Check(schema.ptr())) return false;
    schema = value_of(schema.ptr(), tokens.back().ptr());
    if (!schema.is_valid()) return false;
    if (PyDict_Check(schema.ptr())) {
      const nb::object identifier = value_of(schema.ptr(), entry.table->id_keyword());
      if (identifier.is_valid() && PyUnicode_Check(identifier.ptr())) return false;
    }
  }
  if (!is_schema(schema.ptr())) return false;
  target = {schema, places_.enter(entry.resource.attr("location"))};
  for (const nb::object& token : tokens) target.place = places_.below(target.place, token);
  return true;
}

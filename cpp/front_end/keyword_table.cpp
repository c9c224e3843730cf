#include "keyword_table.h"

#include <array>
#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "python_values.h"

namespace nb = nanobind;

namespace {

constexpr std::array<std::pair<std::string_view, PlainKeyword>, 15> kPlainNames{{
    {"skip", PlainKeyword::kSkip},
    {"definitions", PlainKeyword::kDefinitions},
    {"ref", PlainKeyword::kRef},
    {"type", PlainKeyword::kType},
    {"properties", PlainKeyword::kProperties},
    {"items", PlainKeyword::kItems},
    {"required", PlainKeyword::kRequired},
    {"enum", PlainKeyword::kEnum},
    {"const", PlainKeyword::kConst},
    {"all_of", PlainKeyword::kAllOf},
    {"any_of", PlainKeyword::kAnyOf},
    {"one_of", PlainKeyword::kOneOf},
    {"string_length", PlainKeyword::kStringLength},
    {"item_count", PlainKeyword::kItemCount},
    {"member_count", PlainKeyword::kMemberCount},
}};

PlainKeyword plain_named(PyObject* name) {
  const std::string_view wanted = utf8(name);
  for (const auto& [known, plain] : kPlainNames) {
    if (known == wanted) return plain;
  }
  throw std::invalid_argument("no plain form is called " + std::string(wanted));
}

bool same_text(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

}  // namespace

KeywordTable::KeywordTable(const nb::dict& handlers, const nb::dict& plain,
                           const nb::frozenset& declaring, nb::str id_keyword, bool ref_alone)
    : id_keyword_(std::move(id_keyword)), ref_alone_(ref_alone) {
  slots_.assign(std::bit_ceil(4 * nb::len(handlers) + 1), 0);
  for (const auto& [keyword, handler] : handlers) {
    if (!PyUnicode_CheckExact(keyword.ptr())) throw nb::type_error("a keyword is no str");
    Entry entry{nb::borrow(keyword), nb::borrow(handler), PyObject_Hash(keyword.ptr())};
    if (PyObject* name = PyDict_GetItemWithError(plain.ptr(), handler.ptr())) {
      entry.plain = plain_named(name);
    }
    entry.rank = static_cast<uint32_t>(entries_.size());
    entry.declares = declaring.contains(handler);
    std::size_t at = static_cast<std::size_t>(entry.hash) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    entries_.push_back(std::move(entry));
    slots_[at] = static_cast<uint16_t>(entries_.size());
  }
}

const KeywordTable::Entry* KeywordTable::find(PyObject* keyword) const {
  const Py_hash_t hash = PyObject_Hash(keyword);
  std::size_t at = static_cast<std::size_t>(hash) & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const Entry& entry = entries_[slots_[at] - 1u];
    if (entry.hash == hash && same_text(entry.keyword.ptr(), keyword)) return &entry;
  }
  return nullptr;
}

int KeywordTable::visit(visitproc visit, void* arg) const {
  for (const Entry& entry : entries_) {
    Py_VISIT(entry.keyword.ptr());
    Py_VISIT(entry.handler.ptr());
  }
  return 0;
}

void KeywordTable::clear() {
  slots_.assign(slots_.size(), 0);
  entries_.clear();
}

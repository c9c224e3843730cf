// The values that enums list, interned: equal values have equal ids.
//
// An array or object in an ENUM is a schema of its own: constant items and the exact length, or
// constant, required, sole members. Such schemas are read back here as the values that they are, so
// that a list of them can be read as a list (listed_family.h) and not as a union of schemas.
// Numbers are told by value and not by spelling; members have no order, unless keys are written in
// declared order, when values that differ in theirs are two.
//
// Cost: linear in the listed values, once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/options.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class ListedValues {
 public:
  // What a value is; for arrays and objects content() are the items, or the names (strings) and
  // values by turns.
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

  ListedValues(const Ir& ir, const OptionsTable& options, const std::array<bool, 256>& spellable);

  // The id of the list of all arrays and objects of an ENUM that have one of the types (TypeBit),
  // written with these options; kNone where they can't be read as a list.
  uint32_t list(uint32_t options, uint32_t node, uint32_t types);
  std::span<const uint32_t> values(uint32_t list) const { return lists_.get(list); }
  uint32_t types(uint32_t list) const { return types_[list]; }  // TypeBit
  bool has_lists() const { return lists_.size() != 0; }

  Kind kind(uint32_t value) const { return kinds_[value]; }
  std::span<const uint32_t> content(uint32_t value) const { return interned_.get(value); }
  // Of a string, or of a number as canonical_number() gives it.
  std::string_view text(uint32_t value) const;
  bool is_integer(uint32_t number) const { return text(number).find("e-") == text(number).npos; }
  std::size_t memory_bytes() const {
    return heap_bytes(interned_, kinds_, lists_, types_, made_, readers_);
  }

 private:
  // Reads schemas back for one order of keys.
  struct Reader {
    bool any_order;
    std::vector<uint32_t> values;   // by node; kNone: it is none, kNotAsked, kOpen: being made
    std::vector<uint32_t> missing;  // nodes inside the one at hand that were not asked for
    std::size_t memory_bytes() const { return heap_bytes(values, missing); }
  };
  static constexpr uint32_t kNotAsked = kNone - 1, kOpen = kNone - 2;

  bool can_list(const JsonOptions& options);
  uint32_t of(uint32_t node, Reader& reader);
  uint32_t make(uint32_t node, Reader& reader);
  uint32_t make_scalar(uint32_t node);
  uint32_t make_array(uint32_t node, uint32_t count, Reader& reader);
  uint32_t make_object(uint32_t node, uint32_t required, Reader& reader);
  static uint32_t inside(uint32_t node, Reader& reader);
  uint32_t intern(Kind kind, std::span<const uint32_t> content);
  uint32_t intern_text(Kind kind, std::string_view text);

  const Ir& ir_;
  const OptionsTable& options_;
  bool spells_ascii_;
  bool listable_ = false, asked_ = false;  // whether the schema lets lists be read as such
  WordInterner interned_;                  // by kind and content
  std::vector<Kind> kinds_;
  WordInterner lists_;
  std::vector<uint32_t> types_;                  // by list
  std::unordered_map<uint64_t, uint32_t> made_;  // by order, node and types: a list
  std::array<Reader, 2> readers_{Reader{false, {}, {}}, Reader{true, {}, {}}};
  std::vector<uint32_t> words_;  // scratch
};

}  // namespace maskwright

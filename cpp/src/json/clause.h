// Clauses: what one conjunction of assertion nodes asks of values of each type, resolved.
//
// Idea: a clause splits into independent parts, one per type, since each assertion constrains only
// values of its own type: literals, one string language with length bounds, one number language,
// one array shape, one object shape. Shapes refer to the targets of items and members and are
// interned on their own, so that clauses that differ elsewhere share them.
//
// Cost: linear in the assertions, plus the languages (LangTable).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/item_rules.h"
#include "json/options.h"
#include "json/target.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/interner.h"

namespace maskwright {

// The arrays of a clause: item i is judged by place i of the prefix, or by the rest behind it. A
// place has a target for each combination of answers to the conditions of `contains`
// (item_rules.h); kNone = no such items there.
struct ArrayShape {
  uint32_t options, min, max;
  bool unique;  // no two items are equal
  std::vector<ItemCount> contains;
  std::span<const uint32_t> rest;    // targets
  std::span<const uint32_t> prefix;  // targets of all places
  std::size_t cells() const { return rest.size(); }
  std::size_t length() const { return prefix.size() / rest.size(); }
  std::span<const uint32_t> place(std::size_t index) const {
    return index < length() ? prefix.subspan(index * cells(), cells()) : rest;
  }
};

// The objects of a clause.
struct ObjectShape {
  enum Flag : uint32_t { kIsRequired = 1, kIsUndeclared = 2 };
  struct Member {
    uint32_t key, target, flags;
  };
  uint32_t options, min, max;
  uint32_t other;                   // the target of all other members; kNone = refused
  std::span<const uint32_t> words;  // 3 per member
  std::size_t size() const { return words.size() / 3; }
  Member member(std::size_t i) const { return {words[3 * i], words[3 * i + 1], words[3 * i + 2]}; }
};

struct Clause {
  uint32_t literals = 0;  // EnumLiteral bits
  bool has_string = false, has_number = false;
  LangId string = 0, number = 0;
  uint32_t min_length = 0, max_length = kNone;
  uint32_t array = kNone, object = kNone;  // shapes
};

class ClauseTable {
 public:
  ClauseTable(const Ir& ir, OptionsTable& options, TargetTable& targets, LangTable& langs)
      : ir_(ir), options_(options), targets_(targets), langs_(langs) {}

  uint32_t intern(uint32_t options, std::span<const uint32_t> leaves);
  const Clause& get(uint32_t id) const { return resolved_[id]; }
  ArrayShape array(uint32_t shape) const;
  ObjectShape object(uint32_t shape) const;
  KeyTable& keys() { return targets_.keys(); }

 private:
  struct Leaves;  // the nodes of a clause by kind

  Leaves sort_out(std::span<const uint32_t> words) const;
  void sort_out_negated(uint32_t node, Leaves& out) const;
  void sort_out_derived(uint32_t word, Leaves& out) const;
  void resolve_string(const Leaves& leaves, Clause& clause);
  void resolve_number(const Leaves& leaves, Clause& clause);
  uint32_t resolve_array(uint32_t options, const Leaves& leaves);
  uint32_t resolve_object(uint32_t options, const Leaves& leaves);
  std::vector<std::string_view> enum_texts(std::span<const uint32_t> nodes, bool strings) const;
  std::vector<std::string> excluded_texts(std::span<const uint32_t> nodes, bool strings) const;
  uint32_t target_of(uint32_t options, std::span<const uint32_t> nodes) {
    return targets_.intern(options, nodes);
  }

  const Ir& ir_;
  OptionsTable& options_;
  TargetTable& targets_;
  LangTable& langs_;
  WordInterner clauses_;  // [options, leaves...]
  std::deque<Clause> resolved_;
  WordInterner arrays_;   // [options, min, max, unique, n, n counts, rest, prefix...]
  WordInterner objects_;  // [options, min, max, other, (key, target, flags)...]

  friend class ArrayMerger;
  friend class ObjectMerger;
};

}  // namespace maskwright

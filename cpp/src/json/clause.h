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
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/item_rules.h"
#include "json/listed_values.h"
#include "json/name_classes.h"
#include "json/options.h"
#include "json/target.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"
#include "maskwright/support/stable_pool.h"

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

// The objects of a clause. Members that are not listed are judged by the class of their name.
class ObjectShape {
 public:
  enum Flag : uint32_t { kIsRequired = 1, kIsUndeclared = 2 };
  struct Member {
    uint32_t key, target, flags;  // target kNone: refused
  };
  // If the one member is there, so must be the other: indices of members.
  struct Dependency {
    uint32_t trigger, needed;
  };
  // An obligation (a bit) asks for some member that satisfies more than its place asks, in name or
  // value. A member that satisfies its target here meets these; kNone: it can't.
  struct Witness {
    uint32_t meets;
    std::span<const uint32_t> classes, members;
  };

  ObjectShape(uint32_t options_, uint32_t min_, uint32_t max_, const NameClasses* names_,
              std::span<const uint32_t> words)
      : options(options_), min(min_), max(max_), names(names_), words_(words) {}

  uint32_t options, min, max;
  const NameClasses* names;

  // The targets of the classes; kNone = refused.
  std::span<const uint32_t> others() const { return words_.subspan(kHeader, words_[0]); }
  std::size_t size() const { return words_[1]; }
  Member member(std::size_t i) const {
    const std::size_t at = members_at() + 3 * i;
    return {words_[at], words_[at + 1], words_[at + 2]};
  }
  std::size_t num_dependencies() const { return words_[2]; }
  Dependency dependency(std::size_t i) const {
    const std::size_t at = dependencies_at() + 2 * i;
    return {words_[at], words_[at + 1]};
  }
  // Those that the name alone meets come first.
  uint32_t num_by_name() const { return words_[3]; }
  uint32_t num_obligations() const { return words_[3] + words_[4]; }
  // One for each obligation by name, then one for each set of others.
  std::size_t num_witnesses() const { return words_[3] + (std::size_t{1} << words_[4]) - 1; }
  Witness witness(std::size_t i) const {
    const auto at = words_.subspan(witnesses_at() + i * (words_[0] + size()));
    const auto index = static_cast<uint32_t>(i);
    const uint32_t meets =
        index < num_by_name() ? 1U << index : (index - num_by_name() + 1) << num_by_name();
    return {meets, at.first(words_[0]), at.subspan(words_[0], size())};
  }

 private:
  static constexpr std::size_t kHeader = 5;

  std::size_t members_at() const { return kHeader + words_[0]; }
  std::size_t dependencies_at() const { return members_at() + 3 * size(); }
  std::size_t witnesses_at() const { return dependencies_at() + 2 * num_dependencies(); }

  // Numbers of classes, members, dependencies, obligations by name and others; then those.
  std::span<const uint32_t> words_;
};

struct Clause {
  uint32_t literals = 0;  // EnumLiteral bits
  bool has_string = false, has_number = false;
  LangId string = 0, number = 0;
  uint32_t min_length = 0, max_length = kNone;
  uint32_t array = kNone, object = kNone;  // shapes
  uint32_t joint = kNone;                  // joint targets (target.h), instead of all else
  uint32_t listed = kNone;                 // list (listed_values.h), instead of all else
};

class ClauseTable {
 public:
  ClauseTable(const Ir& ir, OptionsTable& options, TargetTable& targets, ListedValues& listed,
              LangTable& langs, NameClassTable& name_classes)
      : ir_(ir),
        options_(options),
        targets_(targets),
        listed_(listed),
        langs_(langs),
        name_classes_(name_classes) {}

  uint32_t intern(uint32_t options, std::span<const uint32_t> leaves);
  const Clause& get(uint32_t id) const { return resolved_[id]; }
  ArrayShape array(uint32_t shape) const;
  // The node that asks for different items, of a shape of which one does.
  uint32_t unique_node(uint32_t shape) const { return unique_nodes_.at(shape); }
  ObjectShape object(uint32_t shape) const;
  JointTargets joint(uint32_t id) const { return targets_.joint(id); }
  KeyTable& keys() { return targets_.keys(); }
  std::size_t memory_bytes() const {
    return heap_bytes(clauses_, resolved_, unique_nodes_, arrays_, objects_);
  }

 private:
  struct Leaves;  // the nodes of a clause by kind

  Leaves sort_out(std::span<const uint32_t> words) const;
  void sort_out_negated(uint32_t node, Leaves& out) const;
  void sort_out_derived(uint32_t word, Leaves& out) const;
  void resolve(uint32_t options, const Leaves& sorted, Clause& clause);
  void resolve_string(const Leaves& leaves, Clause& clause);
  void resolve_number(uint32_t options, const Leaves& leaves, Clause& clause);
  uint32_t resolve_array(uint32_t options, const Leaves& leaves);
  uint32_t resolve_object(uint32_t options, const Leaves& leaves);
  std::vector<LangId> name_languages(uint32_t options, std::span<const uint32_t> words);
  std::vector<std::string_view> enum_texts(std::span<const uint32_t> nodes, bool strings) const;
  std::vector<std::string> excluded_texts(std::span<const uint32_t> nodes, bool strings) const;
  uint32_t target_of(uint32_t options, std::span<const uint32_t> nodes) {
    return targets_.intern(options, nodes);
  }

  const Ir& ir_;
  OptionsTable& options_;
  TargetTable& targets_;
  ListedValues& listed_;
  LangTable& langs_;
  NameClassTable& name_classes_;
  WordInterner clauses_;  // [options, leaves...]
  StablePool<Clause> resolved_;
  std::unordered_map<uint32_t, uint32_t> unique_nodes_;  // by shape
  WordInterner arrays_;   // [options, min, max, unique, n, n counts, rest, prefix...]
  WordInterner objects_;  // [options, min, max, name classes, words of the ObjectShape...]

  friend class ArrayMerger;
  friend class ObjectMerger;
};

}  // namespace maskwright

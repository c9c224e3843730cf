// Targets: conjunctions of schema nodes, interned, and their flattening into clauses.
//
// Idea: a target is a set of nodes; all_of adds to the set, any_of multiplies it. Flattening works
// on *partial clauses*, lists of nodes whose first any_of is replaced by each of its branches, and
// drops repeated lists and lists without a possible type. Sets are sorted lists, except that
// nodes that can name members keep the order of their first mention where the options say
// "declared order", since that order decides the order of keys.
//
// A cycle of all_of and any_of nodes that no array or object guards adds nothing the second time:
// the node is already in the set. Schemas may be 10,000 deep: everything here uses work lists.
//
// Cost: a target is linear in the nodes it mentions; flattening is linear in the partial clauses,
// of which there are at most 4 * max_clauses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "json/options.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/machine.h"
#include "maskwright/support/interner.h"

namespace maskwright {

// Marks the scalar alternatives of an ENUM node that has structured ones too.
inline constexpr uint32_t kScalarPart = 1U << 31;

class TargetTable {
 public:
  TargetTable(const Ir& ir, const OptionsTable& options, const JsonLimits& limits);

  // The conjunction of `nodes`, in order of mention. Ids are dense.
  uint32_t intern(uint32_t options, std::span<const uint32_t> nodes);
  uint32_t options(uint32_t target) const { return targets_.get(target)[0]; }

  // The clauses of a target: lists of leaf nodes (no ALL_OF, ANY_OF, ANY, NEVER; an ENUM with
  // kScalarPart stands for its scalars only), each list once. Empty: nothing satisfies it.
  std::vector<std::vector<uint32_t>> flatten(uint32_t target);

 private:
  struct Partial {
    uint32_t parent;  // index of the partial clause it was made from
    uint32_t choice;  // the node that was replaced there
  };

  bool add(std::span<const uint32_t> nodes, std::vector<uint32_t>& list);
  void canonicalise(uint32_t options, std::vector<uint32_t>& list) const;
  bool is_choice(uint32_t word) const;
  bool keeps_order(uint32_t word) const;
  void branches(uint32_t choice, std::vector<uint32_t>& out) const;
  bool absorbed(std::span<const uint32_t> list, uint32_t choice);
  uint32_t possible_types(std::span<const uint32_t> list) const;
  void expand(uint32_t options, uint32_t partial, std::size_t at);
  [[noreturn]] void too_many_clauses() const;
  void remember(uint32_t options, std::vector<uint32_t>& list, Partial origin);

  const Ir& ir_;
  const OptionsTable& options_;
  JsonLimits limits_;
  WordInterner targets_;  // [options, nodes...]

  // Scratch: mark_[node] == epoch_ says that the node was met (by its role).
  std::vector<uint32_t> mark_;
  std::vector<uint32_t> scalar_mark_;
  uint32_t epoch_ = 0;

  // Scratch of one flatten().
  std::unique_ptr<WordInterner> lists_;
  std::vector<Partial> partials_;
};

// What a TYPES mask allows: `number` includes the integers.
uint32_t widen_types(uint32_t mask);
// The types that an ENUM's scalars have (TypeBit).
uint32_t enum_scalar_types(const Ir& ir, uint32_t node);
bool enum_has_nodes(const Ir& ir, uint32_t node);

}  // namespace maskwright

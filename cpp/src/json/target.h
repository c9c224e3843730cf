// Targets: conjunctions of schema nodes, interned, and their flattening into clauses.
//
// Idea: a target is a set of signed words (schema_word.h); all_of adds to the set, any_of
// multiplies it, and negation is pushed inwards until it meets a leaf: not all_of is a choice, not
// any_of a conjunction. Flattening works on *partial clauses*, lists of words whose first choice is
// replaced by each of its branches, and drops repeated lists and lists without a possible type.
// Sets are sorted lists, except that nodes that can name members keep the order of their first
// mention where the options say "declared order", since that order decides the order of keys.
//
// Choices about different members of an object need not multiply: they are *joint* targets, which
// the object satisfies side by side (target_joint.cpp).
//
// A cycle of all_of and any_of nodes that no array or object guards adds nothing the second time:
// the word is already in the set. Since values are finite, a negation that comes back to itself
// through members or items is just another target. Schemas may be 10,000 deep: everything here uses
// work lists.
//
// Cost: a target is linear in the nodes it mentions; flattening is linear in the words of the
// partial clauses and in the outlines that are compared. Both are counted: at most 4 * max_clauses
// partial clauses, and kWorkPerClause * max_clauses words, with kWorkPerNode for each node of the
// schema. The values that an enum lists are alternatives that the schema spells out, so they are
// counted on top of the limits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/listed_values.h"
#include "json/options.h"
#include "json/outline.h"
#include "json/outline_overlap.h"
#include "json/schema_branches.h"
#include "json/schema_word.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/machine.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

// A set of words that is emptied at once.
class WordMarks {
 public:
  explicit WordMarks(uint32_t num_nodes) : num_nodes_(num_nodes) {}
  void clear() { ++epoch_; }
  // False if it was in the set already.
  bool insert(uint32_t word);
  bool contains(uint32_t word) const;
  std::size_t memory_bytes() const { return heap_bytes(marks_); }

 private:
  static constexpr uint32_t kFlagShift = 28;

  uint32_t num_nodes_;
  uint32_t epoch_ = 1;
  // By flags and index: the epoch in which the word was inserted last.
  std::array<std::vector<uint32_t>, 16> marks_;
};

// Targets that an object must satisfy together, each of which decides alone about the members that
// it owns: whether these satisfy it does not depend on other members. The first one owns all
// members that no other one does.
class JointTargets {
 public:
  explicit JointTargets(std::span<const uint32_t> words) : words_(words) {}
  std::size_t size() const { return words_[0]; }
  uint32_t target(std::size_t i) const { return words_[1 + i]; }
  // [number of keys, keys] of each target but the first.
  template <typename Visit>
  void each_owned(Visit visit) const {  // visit(index of the target, its keys)
    auto rest = words_.subspan(1 + size());
    for (std::size_t i = 1; i < size(); ++i) {
      visit(i, rest.subspan(1, rest[0]));
      rest = rest.subspan(1 + rest[0]);
    }
  }

 private:
  std::span<const uint32_t> words_;
};

class TargetTable {
 public:
  TargetTable(const Ir& ir, const OptionsTable& options, ListedValues& listed,
              const JsonLimits& limits);

  // The conjunction of `words`, in order of mention. Ids are dense.
  uint32_t intern(uint32_t options, std::span<const uint32_t> words);
  uint32_t options(uint32_t target) const { return targets_.get(target)[0]; }
  uint32_t size() const { return static_cast<uint32_t>(targets_.size()); }

  // The clauses of a target: lists of leaves, each list once. A leaf is a word of an assertion
  // node (an ENUM with kScalarPart stands for its scalars only) or a derived leaf; kNegated only
  // on those that schema_word.h names, and on UNIQUE_ITEMS. A kJoint leaf stands alone. Empty:
  // nothing satisfies the target.
  std::vector<std::vector<uint32_t>> flatten(uint32_t target);

  // Of a kJoint leaf.
  JointTargets joint(uint32_t id) const { return JointTargets(joint_.get(id)); }

  DerivedTable& derived() { return branches_.derived(); }
  KeyTable& keys() { return branches_.keys(); }

  // Drops what only flatten() uses; it comes back should that be called again.
  void forget_outlines();
  std::size_t memory_bytes() const;

 private:
  using Clauses = std::vector<std::vector<uint32_t>>;
  static constexpr std::size_t kDeadEnd = static_cast<std::size_t>(-1);
  static constexpr std::size_t kWorkPerClause = 300, kWorkPerNode = 200;

  struct Partial {
    uint32_t parent;   // index of the partial clause it was made from
    uint32_t choice;   // the word that was replaced there
    uint32_t covered;  // in covered_: branches whose values other partial clauses take
    uint32_t length = 0;
    OutlineRef outline = nullptr;  // of its words that are no choices; null: not known yet

    std::size_t memory_bytes() const { return 0; }  // outlines are counted by their table
  };

  // The names that a choice says something about.
  struct Concern {
    bool all = false;  // it may concern any name, or the number of members
    std::vector<uint32_t> keys;
    std::size_t memory_bytes() const { return heap_bytes(keys); }
  };
  // Choices that concern common names, in one part.
  struct Part {
    std::vector<uint32_t> choices, keys;
  };

  bool names_matter(uint32_t options) const;
  uint32_t canonical(uint32_t word) const;
  bool add(uint32_t options, std::span<const uint32_t> words, std::vector<uint32_t>& list);
  bool contradicted(uint32_t word) const;
  bool add_node(uint32_t word, std::vector<uint32_t>& list);
  void canonicalise(uint32_t options, std::vector<uint32_t>& list) const;
  bool keeps_order(uint32_t word) const;
  bool absorbed(std::span<const uint32_t> list, uint32_t choice);
  bool is_any(std::span<const uint32_t> branch) const;
  bool implied(uint32_t choice);
  bool holds(uint32_t word);
  uint32_t types_of(uint32_t word);
  bool has_types(std::span<const uint32_t> list);
  bool may_exclude(std::span<const uint32_t> list) const;
  bool take_listed(uint32_t options, std::span<const uint32_t> words, Clauses& clauses);
  OutlineRef outline_of(uint32_t partial);
  void narrow(uint32_t options, uint32_t partial, Clauses& clauses);
  const Concern& concern_of(uint32_t choice);
  bool concerns_names(uint32_t word, Concern& concern, std::vector<uint32_t>& inside);
  uint32_t any_object(uint32_t mark);
  bool may_part(uint32_t options, std::span<const uint32_t> list);
  std::vector<Part> parts_of(std::span<const uint32_t> list);
  bool multiplies(std::span<const Part> parts, const OutlineRef& outline, uint32_t partial);
  bool separate(uint32_t options, uint32_t partial, const OutlineRef& outline,
                std::span<const uint32_t> list, Clauses& clauses);
  uint32_t join(uint32_t options, std::span<const uint32_t> list, std::span<const Part> parts);
  std::size_t branches_left(uint32_t partial, const OutlineRef& outline, uint32_t choice,
                            std::size_t enough);
  bool says_nothing(uint32_t word, uint32_t types, uint32_t& budget);
  void drop_implied(uint32_t options, const OutlineRef& outline, std::vector<uint32_t>& list);
  std::size_t narrowest_choice(uint32_t partial, const OutlineRef& outline,
                               std::span<const uint32_t> list);
  std::vector<std::size_t> by_use(std::span<const uint32_t> list, std::size_t at);
  void expand(uint32_t options, uint32_t partial, std::span<const uint32_t> list, std::size_t at,
              const OutlineRef& outline);
  std::span<const uint32_t> only(uint32_t choice, std::size_t i, const OutlineRef& outline);
  const OutlineOverlap& overlap_of(uint32_t choice);
  [[noreturn]] void too_many_clauses() const;
  std::size_t allowed_clauses() const { return std::size_t{limits_.max_clauses} + listed_; }
  void check_work() const;
  void remember(uint32_t options, std::vector<uint32_t>& list, Partial origin);
  std::span<const uint32_t> words_of(uint32_t partial) const {
    return lists_->get(partial).first(partials_[partial].length);
  }
  bool may_cover(uint32_t options, uint32_t choice) const;
  bool is_covered(uint32_t partial, std::span<const uint32_t> branch);
  uint32_t cover(uint32_t covered, uint32_t word);

  const Ir& ir_;
  const OptionsTable& options_;
  ListedValues& lists_of_values_;
  JsonLimits limits_;
  BranchTable branches_;
  std::unique_ptr<OutlineTable> outlines_;  // made by flatten()
  WordInterner targets_;                    // [options, words...]
  WordInterner joint_;                      // [n, n targets, (number of keys, keys)...]

  // By choice of exclusive branches: their outlines, and which may overlap.
  struct Overlaps {
    std::vector<OutlineRef> outlines;
    std::unique_ptr<const OutlineOverlap> overlap;

    std::size_t memory_bytes() const {
      return heap_block(outlines.capacity() * sizeof(OutlineRef)) + heap_bytes(overlap);
    }
  };
  std::unordered_map<uint32_t, Overlaps> overlaps_;
  std::unordered_map<uint32_t, Concern> concerns_;  // by choice

  // Scratch.
  WordMarks marks_;
  std::vector<uint32_t> stack_, exclusive_;

  // Scratch of one flatten().
  std::unique_ptr<WordInterner> lists_;    // [words..., and behind kNone what is covered]
  std::unique_ptr<WordInterner> covered_;  // sorted identities of words; 0: none
  std::vector<Partial> partials_;
  std::size_t listed_ = 0;  // structured values of enums met
  uint64_t work_ = 0;       // words of partial clauses
};

// What a TYPES mask allows: `number` includes the integers. In a widened mask kNumberType stands
// for the numbers that are no integers.
uint32_t widen_types(uint32_t mask);

}  // namespace maskwright

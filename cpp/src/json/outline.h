// Outlines: what is cheap to know about the values of a conjunction, to see that two exclude each
// other.
//
// Idea: an outline is a superset of the values of a word: possible types, scalars that are listed
// (enum, const) or excluded, members that must or can't be there, and so on for the values of
// members and leading items, a few levels deep. Conjunctions meet, choices join, and two outlines
// that have nothing in common prove that no value satisfies both. That is how a oneOf or an if/then
// over a discriminator stays as small as it looks: branches are dropped before they multiply. What
// an outline doesn't see costs clauses and never an answer, since the solver decides exactly.
//
// Cost: linear in the nodes, once per level; a comparison is linear in the smaller outline. Nothing
// is computed for conjunctions with at most one anyOf.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/node_classes.h"
#include "json/schema_branches.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

struct Outline;
using OutlineRef = std::shared_ptr<const Outline>;  // null: any value

struct Outline {
  struct Member {
    uint32_t key;
    bool required, absent;
    OutlineRef value;
  };

  uint32_t types = kAllTypes;   // 0: no value
  bool listed = false;          // scalars are those in `atoms`, or else all but them
  std::vector<uint32_t> atoms;  // sorted
  std::vector<Member> members;  // sorted by key
  bool closed = false;          // no members but those
  uint32_t min_items = 0, max_items = kNone;
  std::vector<OutlineRef> prefix;
  // Words over node classes that hold, sorted: what is not seen above at least contradicts its
  // own negation.
  std::vector<uint32_t> holds;

  bool empty() const { return types == 0; }
  // Without the outlines inside, which others share.
  std::size_t memory_bytes() const {
    return heap_bytes(atoms, holds) + heap_block(members.capacity() * sizeof(Member)) +
           heap_block(prefix.capacity() * sizeof(OutlineRef));
  }
};

class OutlineTable {
 public:
  OutlineTable(const Ir& ir, BranchTable& branches);

  OutlineRef of(uint32_t word) { return of(word, kDepth); }
  // Equal for words that say the same in the same words, with kDerived and kNegated as the word
  // has.
  uint32_t identity(uint32_t word);
  OutlineRef meet(const OutlineRef& a, const OutlineRef& b) const;
  // True if no value is in both.
  bool disjoint(const OutlineRef& a, const OutlineRef& b) const;
  // True if no value is in `a` and satisfies all words.
  bool excludes(const OutlineRef& a, std::span<const uint32_t> words);
  // How many words were combined and compared so far.
  uint64_t work() const { return work_; }
  std::size_t memory_bytes() const;

 private:
  static constexpr uint32_t kDepth = 3;        // levels of members and items
  static constexpr uint32_t kNesting = 40;     // of choices and conjunctions in each other
  static constexpr std::size_t kPrefix = 8;    // leading items
  static constexpr std::size_t kAtoms = 2048;  // longer enums are not listed

  uint32_t derived_identity(uint32_t word);
  OutlineRef of(uint32_t word, uint32_t depth);
  OutlineRef make(uint32_t word, uint32_t depth);
  OutlineRef make_negated(uint32_t node, uint32_t depth);
  OutlineRef make_derived(uint32_t word, uint32_t depth);
  OutlineRef make_enum(uint32_t node, bool negated);
  OutlineRef make_array(uint32_t node, uint32_t depth);
  OutlineRef make_object(uint32_t node, uint32_t depth);
  OutlineRef make_required(uint32_t node);
  OutlineRef meet_children(uint32_t node, bool negated, uint32_t depth);
  OutlineRef join_branches(uint32_t choice, uint32_t depth);
  OutlineRef join(const OutlineRef& a, const OutlineRef& b) const;
  void meet_scalars(const Outline& a, const Outline& b, Outline& out) const;
  void join_scalars(const Outline& a, const Outline& b, Outline& out) const;
  void meet_members(const Outline& a, const Outline& b, Outline& out) const;
  void join_members(const Outline& a, const Outline& b, Outline& out) const;
  bool scalars_disjoint(const Outline& a, const Outline& b, uint32_t types) const;
  bool objects_disjoint(const Outline& a, const Outline& b) const;
  bool arrays_disjoint(const Outline& a, const Outline& b) const;
  void settle(Outline& out) const;
  OutlineRef with_itself(uint32_t word, OutlineRef made);
  uint32_t atom(uint32_t type, std::string_view text);

  enum Literal : uint32_t { kNullAtom, kFalseAtom, kTrueAtom };

  const Ir& ir_;
  BranchTable& branches_;
  NodeClasses classes_;
  DerivedTable identities_;                         // derived leaves over identities
  std::vector<uint32_t> derived_identities_;        // by derived leaf; kNone: not asked
  std::unordered_map<uint64_t, OutlineRef> known_;  // by word and depth
  std::unordered_map<std::string, uint32_t> atoms_;
  std::vector<uint32_t> atom_types_;
  uint32_t nesting_ = 0;
  mutable uint64_t work_ = 0;
};

}  // namespace maskwright

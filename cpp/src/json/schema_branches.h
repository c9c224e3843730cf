// Choices: words that are a disjunction, and their branches.
//
// ANY_OF, ONE_OF and an ENUM with structured values are choices; so are the negations of ALL_OF and
// of the assertions about shapes, whose branches are derived leaves. "Lacks a" or "has an a that is
// no number" is one branch, "an a is no number": this keeps the negation of a typical object schema
// as small as its number of members.
//
// Cost: linear in the node, on first use; kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/derived.h"
#include "json/key_table.h"
#include "json/schema_word.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

// Conjunctions of words, one of which must hold.
class Branches {
 public:
  std::size_t size() const { return ends_.size(); }
  std::span<const uint32_t> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(words_).subspan(begin, ends_[i] - begin);
  }
  void add(std::span<const uint32_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
    ends_.push_back(words_.size());
  }
  void add(uint32_t word) { add(std::span(&word, 1)); }

  // The branches of ONE_OF, of one word each: the others must not hold.
  bool exclusive = false;
  std::size_t memory_bytes() const { return heap_bytes(words_, ends_); }

 private:
  std::vector<uint32_t> words_;
  std::vector<std::size_t> ends_;
};

class BranchTable {
 public:
  explicit BranchTable(const Ir& ir) : ir_(ir) {}

  bool is_choice(uint32_t word) const;
  // Of a choice. Stays valid until forget(). A choice may turn out to have one branch, or none.
  const Branches& of(uint32_t choice);

  DerivedTable& derived() { return derived_; }
  KeyTable& keys() { return keys_; }
  // Drops the branches, which can be made again.
  void forget() { made_ = decltype(made_)(); }
  std::size_t memory_bytes() const { return heap_bytes(derived_, keys_, made_); }

 private:
  Branches make(uint32_t choice);
  void negate_all_of(uint32_t node, Branches& out);
  void negate_one_of(uint32_t node, Branches& out);
  void negate_array(uint32_t node, Branches& out);
  void negate_object(uint32_t node, Branches& out);
  void negate_dependency(uint32_t node, Branches& out);
  void negate_leaf(uint32_t node, Branches& out);
  void add_outside(DerivedKind kind, uint32_t min, uint32_t max, Branches& out);
  void add_derived(const DerivedLeaf& leaf, Branches& out) { out.add(derived_.intern(leaf)); }
  Branches merge_members(const Branches& from);
  bool negate_child(uint32_t child, uint32_t& word) const;

  const Ir& ir_;
  DerivedTable derived_;
  KeyTable keys_;
  std::unordered_map<uint32_t, std::unique_ptr<const Branches>> made_;
};

// The structured values of an ENUM node.
std::span<const uint32_t> enum_nodes(const Ir& ir, uint32_t node);
// The types that an ENUM's scalars have (TypeBit).
uint32_t enum_scalar_types(const Ir& ir, uint32_t node);

}  // namespace maskwright

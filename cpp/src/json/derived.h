// Derived leaves: what the negation of a shape asks of an array or object, interned.
//
// "Not every member 'a' is a number" means: there is a member 'a', and its value is no number.
// Such an assertion is no node of the schema; it is made while a target is flattened. Each one
// demands its type.
#pragma once

#include <cstdint>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

enum class DerivedKind : uint32_t {
  kHasMember,    // key, word: the member is there and its value satisfies the word
  kIfMember,     // key, word: an object; if the member is there, its value satisfies the word
  kLacksMember,  // key: the member is not there
  kItemIs,       // index, word: the item is there and satisfies the word
  kSomeItem,     // from, word: some item at an index >= from satisfies the word
  kSomeMember,   // node, pattern, word: some member whose key matches that pattern of the OBJECT
                 // node (kNone: no name and no pattern of it) satisfies the word
  kSomeName,     // word: some key, as a string, satisfies the word
  kContains,   // word, min, max: an array of which so many items satisfy the word (kNone = no upper
               // bound)
  kLength,     // 0, min, max: a string of so many code points
  kItemCount,  // 0, min, max: an array of so many items
  kMemberCount,  // 0, min, max: an object of so many members (1: of a part of joint targets)
  kNoObject,     // any value but an object
  kJoint,        // joint: an object that satisfies all targets of it (target.h)
  kListed,       // node: an array or object that the ENUM lists (listed_values.h)
};

struct DerivedLeaf {
  DerivedKind kind;
  uint32_t a = 0, b = 0, c = 0;  // in the order of the comments above
};

class DerivedTable {
 public:
  // The word (with kDerived).
  uint32_t intern(const DerivedLeaf& leaf);
  DerivedLeaf get(uint32_t word) const;
  // The type that the leaf demands (TypeBit).
  static uint32_t type_of(DerivedKind kind);
  std::size_t memory_bytes() const { return heap_bytes(leaves_); }

 private:
  WordInterner leaves_;  // [kind, a, b, c]
};

}  // namespace maskwright

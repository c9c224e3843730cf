// Signed words: what conjunctions and clauses are lists of.
//
// A word is a schema node with flags, or a *derived leaf* (derived.h). Negation is pushed inwards
// while a target is flattened, so `kNegated` stands in a clause only on nodes without children:
// TYPES, NUMBER, MULTIPLE_OF, STRING_LANGUAGE and the scalars of an ENUM. An assertion accepts
// every value of another type, so the negation of one about numbers or strings demands that type.
#pragma once

#include <cstdint>

namespace maskwright {

// Marks the scalar alternatives of an ENUM node that has structured ones too.
inline constexpr uint32_t kScalarPart = 1U << 31;
// The values that the node does not accept.
inline constexpr uint32_t kNegated = 1U << 30;
// The rest of the word is the index of a derived leaf.
inline constexpr uint32_t kDerived = 1U << 29;
// The node stands under an even number of negations, and not under none. Where the options say that
// naming a member or an item closes the value, or orders its keys, this node does not. Only on
// OBJECT, ARRAY and nodes that hold other nodes, which inherit it, and never with kNegated.
inline constexpr uint32_t kSilent = 1U << 28;

inline constexpr uint32_t kWordFlags = kScalarPart | kNegated | kDerived | kSilent;
// Stands for a condition that holds always, where a word is expected.
inline constexpr uint32_t kAnyWord = 0xFFFFFFFF;

inline uint32_t node_of(uint32_t word) { return word & ~kWordFlags; }
inline bool is_derived(uint32_t word) { return (word & kDerived) != 0; }
inline bool is_negated(uint32_t word) { return (word & kNegated) != 0; }

// The word for a child of a positive word's node.
inline uint32_t inherit(uint32_t word, uint32_t child) { return child | (word & kSilent); }
// The word for the opposite of a word that is no derived leaf.
inline uint32_t negate(uint32_t word) { return (word ^ kNegated) | kSilent; }

}  // namespace maskwright

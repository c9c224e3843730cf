// Which members an object has and which may follow: the arithmetic of the object register.
//
// Register content: [count, others, names, bit words of seen names, bit words of taken names];
// trailing zeros are cut off, so that id 0 is an object without members. The count is kept (and
// saturated) only where counts matter. Bit k says that name k of the union can't be used any more
// by any alternative that is alive: it was seen, it is refused, or its place in the declared order
// is past. So in declared order one alternative has as many registers as it has members, whichever
// of them were left out. Where that matters because others are needed by or need it, the taken
// bits say which names are really there. `others` counts the names outside the union's list that
// were used, where they can run out; else 1 says that there was one, where that is not plain from
// the bits. `names` is the set of these names (name_set.h), kept while another one may follow; in
// mask walks an unknown set (forget_names()). Of a free set a walk knows less: [kClosing, 0, names,
// words of SeenMembers::closing].
//
// Declared order: declared members in order, then others in any order; a declared member that is
// required can't be passed over. Counts: if as many members are required as may still come, only
// those may; a declared member may not be passed over if the least count is out of reach then.
// Dependencies and obligations are in object_family_debts.h.
//
// Cost: every function is linear in the members of the alternatives that are alive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json/object_family_union.h"

namespace maskwright {

struct SeenMembers {
  static constexpr std::size_t kBitWords = 3;  // of the register: where the bits begin

  uint32_t count = 0;
  uint32_t others = 0;
  Reg names = 0;
  uint32_t total = 0;  // bits set
  std::vector<uint32_t> bits;
  std::vector<uint32_t> taken;  // empty: as the bits
  // In a mask walk through a free set (object_family_union.h) all that is known: the alternatives
  // (bits) that may end, once the member under way is there.
  std::vector<uint32_t> closing;

  static bool has(const std::vector<uint32_t>& words, uint32_t key) {
    return (words[key / 32] >> (key % 32) & 1) != 0;
  }
  bool test(uint32_t key) const { return has(bits, key); }
  bool took(uint32_t key) const { return has(taken.empty() ? bits : taken, key); }
  // Adds a member.
  void add(uint32_t key, uint32_t num_keys);
};

SeenMembers decode_seen(std::span<const uint32_t> content, const AliveSet& alive);
// The register of the members, in the canonical form for this alive set.
Reg encode_seen(const SeenMembers& seen, const AliveSet& alive, RegisterPool& regs);

// The alternatives (bits) of a free set that may end, once the name's member is there too; `key`:
// num_keys if it is not listed.
std::vector<uint32_t> closing_bits(const AliveSet& alive, std::span<const uint32_t> content,
                                   uint32_t key);
// The register that a walk through a free set starts with.
Reg encode_closing(std::span<const uint32_t> closing, Reg names, RegisterPool& regs);

// Of a plain set, while a token has yet to read a comma before it gets to a name: what it can see
// of the members is whether the object may end or go on, and the names that tokens reach. `key`: of
// the member under way, num_keys for none.
void append_far_members(const AliveSet& alive, std::span<const uint32_t> content, uint32_t key,
                        KeyWords& out);
// One content for all that agree in that.
std::vector<uint32_t> far_members(const AliveSet& alive, std::span<const uint32_t> content,
                                  uint32_t key);

// The register of a content with other `names`.
Reg with_names(std::span<const uint32_t> content, Reg names, RegisterPool& regs);
// An unknown set of names: how many they are at most is kept, with what a walk may add, unless
// other names never run out (`endless`).
Reg forget_names(Reg names, bool endless, uint32_t max_advance, const RegisterPool& from,
                 RegisterPool& to);
bool is_unknown(Reg names, const RegisterPool& regs);
// How many names there are at most, rounded up, with those that a walk may add.
uint32_t bound_of(Reg names, uint32_t max_advance, const RegisterPool& regs);

// Where one alternative stands.
struct ObjectProgress {
  uint32_t next = 0;     // ordered members from here on are still possible
  uint32_t barrier = 0;  // the first ordered member that may not be passed over, or their number
  uint32_t missing = 0;  // members to come that are required, or that others need
  uint32_t unseen = 0;   // ordered members that may still come
  uint32_t unseen_extras = 0;
  uint32_t others_left = 0;  // kUnbounded: endlessly many
  uint32_t slots = 0;        // members that may still come
  uint32_t need = 0;         // members that must still come
  uint32_t unmet = 0;        // obligations (bits)
  bool stuck = false;        // a member that must come can't
  // Only with dependencies, else empty.
  std::vector<uint32_t> owed;  // bit words: names that others need
  // In declared order, by key: the first place of a member that is not there and that the name
  // needs; kNone if there is none.
  std::vector<uint32_t> first_needed;

  bool can_close() const { return missing == 0 && need == 0 && unmet == 0; }
  bool owes(uint32_t key) const { return !owed.empty() && SeenMembers::has(owed, key); }
  // A name can't come if it needs one whose place is past, or would be then.
  bool blocks(uint32_t key, uint32_t place) const {
    return key < first_needed.size() && first_needed[key] < place;
  }
  bool blocks(uint32_t key) const { return blocks(key, next); }
  // Members that may still come, not counting `slots`.
  uint32_t available() const;
};

ObjectProgress progress_of(const ObjectAlternative& alternative, uint32_t met,
                           const SeenMembers& seen);

// How a name may come next.
struct NameChoice {
  bool possible = false;
  uint32_t met = 0;  // obligations that the name meets
  // If not 0: the witnesses by value (bits) of which it must be one, or the rest can't be
  // completed.
  uint32_t must = 0;
};
NameChoice allows(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen, uint32_t key,
                  ObjectAlternative::Place place);
// One more member is possible (for an alternative that can be completed).
bool can_continue(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen);

// Content of the KeyFamily register: [0, bits of the labels that may come next].
std::vector<uint32_t> allowed_labels(const AliveSet& alive, const SeenMembers& seen);
// Of those the names that the alternatives owe, each a first one, or `any` that may come next: with
// one of them all can be completed in as few bytes as with others. Empty if that can't be said.
std::vector<uint32_t> needed_labels(const AliveSet& alive, const SeenMembers& seen, bool any);
// What decides masks, beyond the state: the register with clipped counts.
void append_member_key(const AliveSet& alive, const SeenMembers& seen,
                       std::span<const uint32_t> content, uint32_t max_advance,
                       const RegisterPool& regs, KeyWords& key);

}  // namespace maskwright

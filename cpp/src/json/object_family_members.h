// Which members an object has and which may follow: the arithmetic of the object register.
//
// Register content: [count, flags, names, bit words of seen names]; trailing zeros are cut off, so
// that id 0 is an object without members. The count is kept (and saturated) only where counts
// matter. Bit k says that name k of the union can't be used any more by any alternative that is
// alive: it was seen, it is refused, or its place in the declared order is past. So in declared
// order one alternative has as many registers as it has members, whichever of them were left out.
// Flag 1 says that a name outside the union's list was used, where that is not plain from the bits.
// `names` is the set of the names outside the list that were used (name_set.h), kept while another
// one may follow; in mask walks RegisterPool::kUnknown for any set that is not empty.
//
// Declared order: declared members in order, then others in any order; a declared member that is
// required can't be passed over. Counts: if as many members are required as may still come, only
// those may; a declared member may not be passed over if the least count is out of reach then.
//
// Cost: every function is linear in the members of the alternatives that are alive.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json/object_family_union.h"

namespace maskwright {

struct SeenMembers {
  uint32_t count = 0;
  bool other = false;
  Reg names = 0;
  uint32_t total = 0;  // bits set
  std::vector<uint32_t> bits;

  bool test(uint32_t key) const { return (bits[key / 32] >> (key % 32) & 1) != 0; }
  void set(uint32_t key) {
    if (!test(key)) ++total;
    bits[key / 32] |= 1U << (key % 32);
  }
};

SeenMembers decode_seen(std::span<const uint32_t> content, const ObjectUnion& all);
// The register of the members, in the canonical form for this alive set.
Reg encode_seen(SeenMembers seen, const AliveSet& alive, RegisterPool& regs);

// The register of a content with other `names`.
Reg with_names(std::span<const uint32_t> content, Reg names, RegisterPool& regs);

// Where one alternative stands.
struct ObjectProgress {
  uint32_t next = 0;     // ordered members from here on are still possible
  uint32_t barrier = 0;  // the first ordered member that may not be passed over, or their number
  uint32_t missing = 0;  // required members to come
  uint32_t unseen = 0;   // ordered members that may still come
  uint32_t unseen_extras = 0;
  uint32_t slots = 0;  // members that may still come
  uint32_t need = 0;   // members that must still come

  bool can_close() const { return missing == 0 && need == 0; }
};

ObjectProgress progress_of(const ObjectAlternative& alternative, const SeenMembers& seen);
// One more member is possible (for an alternative that can be completed).
bool can_continue(const ObjectAlternative& alternative, const ObjectProgress& progress);
// The name may come next and leaves the alternative completable.
bool allows(const ObjectAlternative& alternative, const ObjectProgress& progress,
            const SeenMembers& seen, uint32_t key, uint32_t num_keys);
// Content of the KeyFamily register: [open, bits of the names that may come next].
std::vector<uint32_t> allowed_names(const AliveSet& alive, const SeenMembers& seen);
// What decides masks, beyond the state: the register with clipped counts.
void append_member_key(const AliveSet& alive, const SeenMembers& seen,
                       std::span<const uint32_t> content, uint32_t max_advance, KeyWords& key);

}  // namespace maskwright

// What an object owes because of the members that it has: dependentRequired, and members that must
// satisfy more than their place asks (obligations, from negations).
//
// Dependencies: a *trigger* that is there needs other names, which may be triggers themselves.
// Names that are needed and not there are owed. In declared order a name can't come any more once
// its place is past, and then neither can what needs it.
//
// Obligations: "some member satisfies its witness target" is met by a name (by_name) or by a value.
// The value frame runs the targets of witnesses beside the plain one; where the rest could not be
// completed with a value that meets too little, it runs those only that leave enough. Whether what
// is left can meet all of them is decided in member_cover.h.
//
// Where these or the counts interact, a name is tried out: it may come if the object with it can be
// completed. Cost: linear in the members for each such name.
#pragma once

#include <cstdint>

#include "json/object_family_members.h"

namespace maskwright {

// Sets owed and first_needed.
void add_debts(const ObjectAlternative& alternative, const SeenMembers& seen,
               ObjectProgress& progress);
// Members that the alternative needs and what they need can all come.
bool completable(const ObjectAlternative& alternative, const ObjectProgress& progress,
                 const SeenMembers& seen);
// Whether what is owed decides if the name may come, and not its turn and the counts alone.
bool concerns_debts(const ObjectAlternative& alternative, const ObjectProgress& progress,
                    uint32_t key);
NameChoice try_name(const ObjectAlternative& alternative, const AliveAlternative& alive,
                    const ObjectProgress& progress, const SeenMembers& seen, uint32_t key,
                    ObjectAlternative::Place place);
// The taken bits that decide anything.
std::vector<uint32_t> taken_that_matter(const AliveSet& alive, const SeenMembers& seen,
                                        std::span<const uint32_t> bits);

}  // namespace maskwright

// Sets of member names as register contents, for names that no schema lists.
//
// A set is a trie over code points: content [2 * number of names + (1 if one ends here), (code
// point, set behind it)...], by code point; id 0 is the empty set. It is content-addressed, so
// equal sets have equal ids whatever the order of insertion, what may follow a prefix is itself a
// set, and adding a name copies only the nodes on its path.
//
// A name is a chain [name without its last code point, code point].
#pragma once

#include <bitset>
#include <cstdint>
#include <span>

#include "maskwright/automata/store.h"

namespace maskwright {

Reg empty_name(RegisterPool& regs);
Reg append_to_name(Reg name, uint32_t code_point, RegisterPool& regs);

Reg add_name(Reg set, Reg name, RegisterPool& regs);
// The empty name is in the set.
bool holds_empty_name(Reg set, const RegisterPool& regs);
uint32_t count_names(Reg set, const RegisterPool& regs);
// What the names of the set that begin with the code point go on with.
Reg names_behind(Reg set, uint32_t code_point, const RegisterPool& regs);
// The same for every code point with which one begins: (code point, set) after (code point, set).
std::span<const uint32_t> name_entries(Reg set, const RegisterPool& regs);
// The bytes with which a name of the set can begin, or end if it is empty.
std::bitset<256> first_bytes(Reg set, const RegisterPool& regs);

}  // namespace maskwright

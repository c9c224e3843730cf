// JSON values as register contents, equal iff their ids are: what arrays of unique items remember.
//
// A value is content-addressed: literals, strings as the chain of their code points (name_set.h),
// numbers by significant digits and exponent (1, 1.0 and 10e-1 are equal), arrays as the chain of
// their items, objects as their members sorted by name, so that order does not matter. Id 0 is no
// value: one that was not read here.
//
// A set of values is [trie of the strings, chain of the other values]; id 0 is the empty set. Sets
// that are built in the same order share all but what is new, so that an array of n items costs n
// chain links and not n copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maskwright/automata/store.h"

namespace maskwright {

using ValueId = Reg;
inline constexpr ValueId kNoValue = 0;

// A chain of ids, in order; id 0 is the empty one.
Reg append_to_chain(Reg chain, uint32_t link, RegisterPool& regs);
std::vector<uint32_t> chain_links(Reg chain, const RegisterPool& regs);

struct MemberValue {
  Reg name;  // a chain of code points (name_set.h)
  ValueId value;
  friend auto operator<=>(const MemberValue&, const MemberValue&) = default;
};

// `word`: any number that tells the literals apart.
ValueId literal_value(uint32_t word, RegisterPool& regs);
ValueId string_value(Reg text, RegisterPool& regs);
// `digits`: a chain of decimal digits without zeros at either end; empty for zero. The value is
// 0.digits times ten to the power `exponent`, a decimal integer of any length.
ValueId number_value(bool negative, Reg digits, std::string_view exponent, RegisterPool& regs);
ValueId array_value(Reg items, RegisterPool& regs);
ValueId object_value(std::vector<MemberValue> members, RegisterPool& regs);

bool is_string(ValueId value, const RegisterPool& regs);
bool is_number(ValueId value, const RegisterPool& regs);
bool is_array(ValueId value, const RegisterPool& regs);
bool is_object(ValueId value, const RegisterPool& regs);

Reg text_of(ValueId string, const RegisterPool& regs);
Reg digits_of(ValueId number, const RegisterPool& regs);
bool is_negative(ValueId number, const RegisterPool& regs);
// A spelling of the number; none where its exponent is beyond all schemas.
std::optional<std::string> number_text(ValueId number, const RegisterPool& regs);
std::vector<ValueId> items_of(ValueId array, const RegisterPool& regs);
std::vector<MemberValue> members_of(ValueId object, const RegisterPool& regs);
// kNoValue if there is no such member.
ValueId member_of(ValueId object, Reg name, const RegisterPool& regs);

Reg add_value(Reg set, ValueId value, RegisterPool& regs);
bool holds_value(Reg set, ValueId value, RegisterPool& regs);
// The strings of the set as a set of names, and its other values, in order.
Reg strings_in(Reg set, const RegisterPool& regs);
std::vector<ValueId> others_in(Reg set, const RegisterPool& regs);
// ... as the chain that they are.
Reg others_of(Reg set, const RegisterPool& regs);

}  // namespace maskwright

// The rule tables as bytes: words in the order of automata/rule_tables.h, with every count before
// what it counts.
#pragma once

#include <array>

#include "maskwright/automata/rule_tables.h"
#include "maskwright/ir/ir.h"
#include "serialize/bytes.h"

namespace maskwright {

void write_tables(const RuleTables& tables, ByteWriter& writer);

// Reads tables and checks all that can be said about each number: the ids are those of the IR, the
// rules are in order and have sizes that add up, ends are sorted, unique and in their rule, edges
// are sorted, unique, in their rule and of bytes that can be spelled. Raises kStoredFormat.
RuleTables read_tables(ByteReader& reader, const Ir& ir, const std::array<bool, 256>& spellable,
                       uint32_t max_states);

}  // namespace maskwright

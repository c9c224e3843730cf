// The numbers of a clause: what all its leaves ask of them, as one language.
#include "json/clause.h"
#include "json/clause_leaves.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

NumberRange range_of(const Ir& ir, uint32_t node) {
  const auto payload = ir.node(node);
  const uint32_t flags = payload[0];
  NumberRange range;
  range.has_lo = (flags & kHasLo) != 0;
  range.has_hi = (flags & kHasHi) != 0;
  range.lo_exclusive = (flags & kLoExclusive) != 0;
  range.hi_exclusive = (flags & kHiExclusive) != 0;
  if (range.has_lo) range.lo = ir.bytes(payload[1], payload[2]);
  if (range.has_hi) range.hi = ir.bytes(payload[3], payload[4]);
  return range;
}

std::string divisor_of(const Ir& ir, uint32_t node) {
  const auto payload = ir.node(node);
  return std::string(ir.bytes(payload[0], payload[1]));
}

}  // namespace

void ClauseTable::resolve_number(uint32_t options, const Leaves& leaves, Clause& clause) {
  NumberSpec spec;
  spec.spelling = options_.get(options).numbers;
  spec.integer = (leaves.types & kNumberType) == 0;
  spec.fractional = (leaves.types & kInteger) == 0;
  for (const uint32_t node : leaves.numbers) spec.within.push_back(range_of(ir_, node));
  for (const uint32_t node : leaves.not_numbers) spec.outside.push_back(range_of(ir_, node));
  for (const uint32_t node : leaves.divisors) spec.multiples_of.push_back(divisor_of(ir_, node));
  for (const uint32_t node : leaves.not_divisors) {
    spec.not_multiples_of.push_back(divisor_of(ir_, node));
  }
  if (!leaves.enums.empty()) {
    spec.has_values = true;
    for (const auto text : enum_texts(leaves.enums, false)) spec.values.emplace_back(text);
  }
  spec.excluded = excluded_texts(leaves.not_enums, false);
  try {
    clause.number = langs_.number(spec);
  } catch (const Error& error) {
    const auto& divisors = leaves.divisors.empty() ? leaves.not_divisors : leaves.divisors;
    throw divisors.empty() ? error : error.at(divisors.back());
  }
  clause.has_number = langs_.get(clause.number).start() != kDeadLang;
}

}  // namespace maskwright

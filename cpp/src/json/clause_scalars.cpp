// Strings and numbers of a clause: one language each.
#include <algorithm>

#include "json/clause.h"
#include "json/clause_leaves.h"
#include "json/number_lang.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

using langs::compare_decimals;
using langs::satisfies;

namespace {

void raise_lo(NumberSpec& spec, std::string_view value, bool exclusive) {
  const int order = spec.has_lo ? compare_decimals(value, spec.lo) : 1;
  if (order > 0) {
    spec.lo = value;
    spec.lo_exclusive = exclusive;
  } else if (order == 0) {
    spec.lo_exclusive = spec.lo_exclusive || exclusive;
  }
  spec.has_lo = true;
}

void lower_hi(NumberSpec& spec, std::string_view value, bool exclusive) {
  const int order = spec.has_hi ? compare_decimals(value, spec.hi) : -1;
  if (order < 0) {
    spec.hi = value;
    spec.hi_exclusive = exclusive;
  } else if (order == 0) {
    spec.hi_exclusive = spec.hi_exclusive || exclusive;
  }
  spec.has_hi = true;
}

bool empty_range(const NumberSpec& spec) {
  if (!spec.has_lo || !spec.has_hi) return false;
  const int order = compare_decimals(spec.lo, spec.hi);
  return order > 0 || (order == 0 && (spec.lo_exclusive || spec.hi_exclusive));
}

// A negated NUMBER with one bound is a NUMBER with the other one.
void add_outside(const Ir& ir, uint32_t node, NumberSpec& spec) {
  const auto payload = ir.node(node);
  const uint32_t flags = payload[0];
  if ((flags & (kHasLo | kHasHi)) == (kHasLo | kHasHi)) unsupported("not minimum and maximum");
  if ((flags & kHasLo) != 0) {
    lower_hi(spec, ir.bytes(payload[1], payload[2]), (flags & kLoExclusive) == 0);
  } else {
    raise_lo(spec, ir.bytes(payload[3], payload[4]), (flags & kHiExclusive) == 0);
  }
}

}  // namespace

// The strings (or numbers) that all the ENUM nodes list, sorted.
std::vector<std::string_view> ClauseTable::enum_texts(std::span<const uint32_t> nodes,
                                                      bool strings) const {
  std::vector<std::string_view> common;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    WordReader reader(ir_.node(nodes[i]));
    reader.next();
    uint32_t count = reader.next();
    if (strings) {
      reader.take(std::size_t{count} * 2);
      count = reader.next();
    }
    std::vector<std::string_view> texts;
    texts.reserve(count);
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t offset = reader.next();
      texts.push_back(ir_.bytes(offset, reader.next()));
    }
    make_set(texts);
    if (i == 0) {
      common = std::move(texts);
    } else {
      std::erase_if(common, [&](std::string_view text) {
        return !std::binary_search(texts.begin(), texts.end(), text);
      });
    }
  }
  return common;
}

// The strings (or numbers) that some negated ENUM lists.
std::vector<std::string> ClauseTable::excluded_texts(std::span<const uint32_t> nodes,
                                                     bool strings) const {
  std::vector<std::string> all;
  for (const uint32_t& node : nodes) {
    for (const std::string_view text : enum_texts({&node, 1}, strings)) all.emplace_back(text);
  }
  return all;
}

void ClauseTable::resolve_string(const Leaves& leaves, Clause& clause) {
  if (leaves.length.min > leaves.length.max) return;
  std::vector<LangId> parts;
  for (const uint32_t expr : leaves.languages) parts.push_back(langs_.pattern(expr));
  if (!leaves.enums.empty()) {
    const auto texts = enum_texts(leaves.enums, true);
    if (texts.empty()) return;
    const std::vector<std::string> copies(texts.begin(), texts.end());
    parts.push_back(langs_.literals(copies));
  }
  for (const uint32_t expr : leaves.not_languages) {
    parts.push_back(langs_.complement(langs_.pattern(expr)));
  }
  const auto excluded = excluded_texts(leaves.not_enums, true);
  if (!excluded.empty()) parts.push_back(langs_.complement(langs_.literals(excluded)));
  make_set(parts);
  if (parts.empty()) {
    clause.string = langs_.any_text();
  } else {
    clause.string = parts.size() == 1 ? parts[0] : langs_.intersection(parts);
  }
  clause.min_length = leaves.length.min;
  clause.max_length = leaves.length.max;
  Lang& lang = langs_.get(clause.string);
  const uint32_t start = lang.start();
  clause.has_string = options_.can_spell("\"") && start != kDeadLang &&
                      lang.can_finish(start, clause.min_length, clause.max_length);
}

void ClauseTable::resolve_number(const Leaves& leaves, Clause& clause) {
  NumberSpec spec;
  spec.integer = (leaves.types & kNumberType) == 0;
  if ((leaves.types & kInteger) == 0) unsupported("not integer");
  for (const uint32_t node : leaves.not_numbers) add_outside(ir_, node, spec);
  if (!excluded_texts(leaves.not_enums, false).empty()) unsupported("not enum with numbers");
  for (const uint32_t node : leaves.numbers) {
    const auto payload = ir_.node(node);
    const uint32_t flags = payload[0];
    if ((flags & kHasLo) != 0) {
      raise_lo(spec, ir_.bytes(payload[1], payload[2]), (flags & kLoExclusive) != 0);
    }
    if ((flags & kHasHi) != 0) {
      lower_hi(spec, ir_.bytes(payload[3], payload[4]), (flags & kHiExclusive) != 0);
    }
  }
  if (empty_range(spec)) return;
  if (!leaves.enums.empty()) {
    NumberSpec listed;
    listed.has_values = true;
    for (const std::string_view text : enum_texts(leaves.enums, false)) {
      if (satisfies(spec, text)) listed.values.emplace_back(text);
    }
    if (listed.values.empty()) return;
    spec = std::move(listed);
  }
  clause.number = langs_.number(spec);
  clause.has_number = langs_.get(clause.number).start() != kDeadLang;
}

}  // namespace maskwright

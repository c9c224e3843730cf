// The strings of a clause as one language, and what its ENUM nodes list.
#include <algorithm>

#include "json/clause.h"
#include "json/clause_leaves.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

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
    clause.string = leaves.length.max == kNone ? langs_.endless_intersection(parts)
                                               : langs_.intersection(parts);
  }
  clause.min_length = leaves.length.min;
  clause.max_length = leaves.length.max;
  Lang& lang = langs_.get(clause.string);
  const uint32_t start = lang.start();
  clause.has_string = options_.can_spell("\"") && start != kDeadLang &&
                      lang.can_finish(start, clause.min_length, clause.max_length);
}

}  // namespace maskwright

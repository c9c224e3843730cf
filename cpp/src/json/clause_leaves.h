// The assertion nodes of a clause, by kind, with the bounds already merged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/clause.h"

namespace maskwright {

// `reason`: what is too much, and what to do. `node`: where it stands; kNone: that is not known.
[[noreturn]] void unsupported(const std::string& keyword, const std::string& reason, uint32_t node);

struct Bounds {
  uint32_t min = 0;
  uint32_t max = kNone;
  void meet(uint32_t lo, uint32_t hi) {
    min = lo > min ? lo : min;
    max = hi < max ? hi : max;
  }
};

struct ClauseTable::Leaves {
  // What a derived leaf asks of one member. At most one of the flags.
  struct MemberRule {
    uint32_t key, word;
    bool required, absent;
  };
  struct ItemRule {
    uint32_t index, word;
  };
  // Some member that the pattern of the OBJECT node concerns (kNone: its additional one).
  struct SomeMember {
    uint32_t node, pattern, word;
  };
  // How many items satisfy a word.
  struct ContainsRule {
    uint32_t word;
    ItemCount count;
  };

  uint32_t types = kAllTypes;
  uint32_t literals = kEnumNull | kEnumFalse | kEnumTrue;
  Bounds length, items, members;
  std::vector<uint32_t> numbers, languages, enums, required;  // nodes (languages: expressions)
  std::vector<uint32_t> arrays, objects;                      // words: kSilent matters
  std::vector<uint32_t> not_numbers, not_languages, not_enums;
  std::vector<uint32_t> divisors, not_divisors;  // nodes
  std::vector<MemberRule> member_rules;
  std::vector<ItemRule> item_rules;
  std::vector<SomeMember> some_members;
  std::vector<uint32_t> dependencies;       // nodes
  std::vector<uint32_t> names, some_names;  // words that all names, or one, must satisfy
  std::vector<ContainsRule> contains;
  uint32_t unique = kNone;  // a node that asks for different items
  uint32_t joint = kNone;
  uint32_t listed = kNone;  // an ENUM of which it is an array or object, and nothing else is asked

  void add_contains(uint32_t word, ItemCount count) {
    if (count.min == 0 && count.max == kNone) return;
    for (ContainsRule& rule : contains) {
      if (rule.word != word || rule.count.from != count.from) continue;
      rule.count.min = count.min > rule.count.min ? count.min : rule.count.min;
      rule.count.max = count.max < rule.count.max ? count.max : rule.count.max;
      return;
    }
    contains.push_back({word, count});
  }
};

}  // namespace maskwright

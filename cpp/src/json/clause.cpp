#include "json/clause.h"

#include <algorithm>

#include "json/clause_leaves.h"
#include "maskwright/support/error.h"

namespace maskwright {

void unsupported(const std::string& keyword, const std::string& reason, uint32_t node) {
  throw Error::unsupported("json-unsupported-keyword",
                           "the keyword \"" + keyword + "\" is not supported here: " + reason,
                           keyword, node);
}

ObjectShape ClauseTable::object(uint32_t shape) const {
  const auto words = objects_.get(shape);
  return {words[0], words[1], words[2], &name_classes_.get(words[3]), words.subspan(4)};
}

ClauseTable::Leaves ClauseTable::sort_out(std::span<const uint32_t> words) const {
  Leaves out;
  for (const uint32_t word : words) {
    if (is_derived(word)) {
      sort_out_derived(word, out);
      continue;
    }
    const uint32_t node = node_of(word);
    if (is_negated(word)) {
      sort_out_negated(node, out);
      continue;
    }
    const auto payload = ir_.node(node);
    switch (ir_.node_kind(node)) {
      case NodeKind::kTypes: out.types &= widen_types(payload[0]); break;
      case NodeKind::kNumber: out.numbers.push_back(node); break;
      case NodeKind::kStringLength: out.length.meet(payload[0], payload[1]); break;
      case NodeKind::kStringLanguage: out.languages.push_back(payload[0]); break;
      case NodeKind::kEnum:
        out.types &= enum_scalar_types(ir_, node);
        out.literals &= payload[0];
        out.enums.push_back(node);
        break;
      case NodeKind::kArray: out.arrays.push_back(word); break;
      case NodeKind::kItemCount: out.items.meet(payload[0], payload[1]); break;
      case NodeKind::kObject: out.objects.push_back(word); break;
      case NodeKind::kRequired: out.required.push_back(node); break;
      case NodeKind::kMemberCount: out.members.meet(payload[0], payload[1]); break;
      case NodeKind::kMultipleOf: out.divisors.push_back(node); break;
      case NodeKind::kContains:
        out.add_contains(inherit(word, payload[0]), {0, payload[1], payload[2]});
        break;
      case NodeKind::kUniqueItems: out.unique = std::min(out.unique, node); break;
      case NodeKind::kMemberNames: out.names.push_back(inherit(word, payload[0])); break;
      case NodeKind::kDependentRequired: out.dependencies.push_back(node); break;
      default: break;  // the others are no leaves
    }
  }
  return out;
}

void ClauseTable::sort_out_negated(uint32_t node, Leaves& out) const {
  const auto payload = ir_.node(node);
  switch (ir_.node_kind(node)) {
    case NodeKind::kTypes: out.types &= ~widen_types(payload[0]); break;
    case NodeKind::kNumber:
      out.types &= kInteger | kNumberType;
      out.not_numbers.push_back(node);
      break;
    case NodeKind::kStringLanguage:
      out.types &= kStringType;
      out.not_languages.push_back(payload[0]);
      break;
    case NodeKind::kEnum:
      out.literals &= ~payload[0];
      out.not_enums.push_back(node);
      break;
    case NodeKind::kMultipleOf:
      out.types &= kInteger | kNumberType;
      out.not_divisors.push_back(node);
      break;
    case NodeKind::kUniqueItems:
      unsupported("uniqueItems",
                  "nothing finds two equal items, as under \"not\" or in all but one branch of "
                  "\"oneOf\"; drop it there",
                  node);
    default: break;  // the others are no leaves
  }
}

void ClauseTable::sort_out_derived(uint32_t word, Leaves& out) const {
  const DerivedLeaf leaf = targets_.derived().get(word);
  out.types &= DerivedTable::type_of(leaf.kind);
  switch (leaf.kind) {
    case DerivedKind::kHasMember: out.member_rules.push_back({leaf.a, leaf.b, true, false}); break;
    case DerivedKind::kIfMember: out.member_rules.push_back({leaf.a, leaf.b, false, false}); break;
    case DerivedKind::kLacksMember:
      out.member_rules.push_back({leaf.a, kAnyWord, false, true});
      break;
    case DerivedKind::kItemIs:
      out.item_rules.push_back({leaf.a, leaf.b});
      out.items.meet(leaf.a + 1, kNone);
      break;
    case DerivedKind::kSomeItem: out.add_contains(leaf.b, {leaf.a, 1, kNone}); break;
    case DerivedKind::kSomeMember: out.some_members.push_back({leaf.a, leaf.b, leaf.c}); break;
    case DerivedKind::kSomeName: out.some_names.push_back(leaf.a); break;
    case DerivedKind::kContains: out.add_contains(leaf.a, {0, leaf.b, leaf.c}); break;
    case DerivedKind::kLength: out.length.meet(leaf.b, leaf.c); break;
    case DerivedKind::kItemCount: out.items.meet(leaf.b, leaf.c); break;
    case DerivedKind::kMemberCount: out.members.meet(leaf.b, leaf.c); break;
    case DerivedKind::kNoObject: break;
    case DerivedKind::kJoint: out.joint = leaf.a; break;
    case DerivedKind::kListed: out.listed = leaf.a; break;
  }
}

uint32_t ClauseTable::intern(uint32_t options, std::span<const uint32_t> leaves) {
  std::vector<uint32_t> words{options};
  words.insert(words.end(), leaves.begin(), leaves.end());
  const auto [id, inserted] = clauses_.intern(words);
  if (!inserted) return id;
  const Leaves sorted = sort_out(leaves);
  Clause clause{.joint = sorted.joint};
  if (sorted.listed != kNone) {
    clause.listed = listed_.list(options, sorted.listed, sorted.types);
  } else if (clause.joint == kNone) {
    resolve(options, sorted, clause);
  }
  resolved_[resolved_.grow()] = clause;
  return id;
}

void ClauseTable::resolve(uint32_t options, const Leaves& sorted, Clause& clause) {
  if ((sorted.types & kNull) != 0) clause.literals |= sorted.literals & kEnumNull;
  if ((sorted.types & kBoolean) != 0) {
    clause.literals |= sorted.literals & (kEnumFalse | kEnumTrue);
  }
  if ((sorted.types & kStringType) != 0) resolve_string(sorted, clause);
  if ((sorted.types & (kInteger | kNumberType)) != 0) resolve_number(options, sorted, clause);
  if ((sorted.types & kArrayType) != 0) clause.array = resolve_array(options, sorted);
  if ((sorted.types & kObjectType) != 0) clause.object = resolve_object(options, sorted);
}

}  // namespace maskwright

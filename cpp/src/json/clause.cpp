#include "json/clause.h"

#include <algorithm>

#include "json/clause_leaves.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

[[noreturn]] void unsupported(const std::string& keyword) {
  throw Error::unsupported("json-unsupported-keyword",
                           "the keyword '" + keyword + "' is not supported here", keyword);
}

}  // namespace

uint32_t KeyTable::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const uint32_t id = size();
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

ArrayShape ClauseTable::array(uint32_t shape) const {
  const auto words = arrays_.get(shape);
  return {words[0], words[1], words[2], words[3], words.subspan(4)};
}

ObjectShape ClauseTable::object(uint32_t shape) const {
  const auto words = objects_.get(shape);
  return {words[0], words[1], words[2], words[3], words.subspan(4)};
}

ClauseTable::Leaves ClauseTable::sort_out(std::span<const uint32_t> leaves) const {
  Leaves out;
  for (const uint32_t word : leaves) {
    const uint32_t node = word & ~kScalarPart;
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
      case NodeKind::kArray: out.arrays.push_back(node); break;
      case NodeKind::kItemCount: out.items.meet(payload[0], payload[1]); break;
      case NodeKind::kObject: out.objects.push_back(node); break;
      case NodeKind::kRequired: out.required.push_back(node); break;
      case NodeKind::kMemberCount: out.members.meet(payload[0], payload[1]); break;
      case NodeKind::kOneOf: unsupported("oneOf");
      case NodeKind::kNot: unsupported("not");
      case NodeKind::kMultipleOf: unsupported("multipleOf");
      case NodeKind::kContains: unsupported("contains");
      case NodeKind::kUniqueItems: unsupported("uniqueItems");
      case NodeKind::kMemberNames: unsupported("propertyNames");
      case NodeKind::kDependentRequired: unsupported("dependentRequired");
      default: break;  // ANY, NEVER, ALL_OF and ANY_OF are no leaves
    }
  }
  return out;
}

uint32_t ClauseTable::intern(uint32_t options, std::span<const uint32_t> leaves) {
  std::vector<uint32_t> words{options};
  words.insert(words.end(), leaves.begin(), leaves.end());
  const auto [id, inserted] = clauses_.intern(words);
  if (!inserted) return id;
  const Leaves sorted = sort_out(leaves);
  Clause clause;
  if ((sorted.types & kNull) != 0) clause.literals |= sorted.literals & kEnumNull;
  if ((sorted.types & kBoolean) != 0) {
    clause.literals |= sorted.literals & (kEnumFalse | kEnumTrue);
  }
  if ((sorted.types & kStringType) != 0) resolve_string(sorted, clause);
  if ((sorted.types & kInteger) != 0) {
    resolve_number(sorted, (sorted.types & kNumberType) == 0, clause);
  }
  if ((sorted.types & kArrayType) != 0) clause.array = resolve_array(options, sorted);
  if ((sorted.types & kObjectType) != 0) clause.object = resolve_object(options, sorted);
  resolved_.push_back(clause);
  return id;
}

}  // namespace maskwright

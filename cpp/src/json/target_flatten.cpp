// Flattening: partial clauses until no choice is left.
//
// Where choices multiply, or exclude each other (oneOf, if/then/else, not), the partial clause's
// outline decides first: negations that hold anyway are dropped, a choice without a branch that
// could hold drops the partial clause, and the choice with the fewest branches left is taken.
#include <algorithm>
#include <string>

#include "json/target.h"
#include "maskwright/support/error.h"

namespace maskwright {

// The types of the values that can satisfy a word.
uint32_t TargetTable::types_of(uint32_t word) {
  if (is_derived(word)) return DerivedTable::type_of(derived().get(word).kind);
  const uint32_t node = node_of(word);
  const bool negated = is_negated(word);
  switch (ir_.node_kind(node)) {
    case NodeKind::kTypes: {
      const uint32_t types = widen_types(ir_.node(node)[0]);
      return negated ? kAllTypes & ~types : types;
    }
    case NodeKind::kEnum:
      return negated || branches_.is_choice(word) ? kAllTypes : enum_scalar_types(ir_, node);
    case NodeKind::kNumber:
    case NodeKind::kMultipleOf: return negated ? kInteger | kNumberType : kAllTypes;
    case NodeKind::kStringLength:
    case NodeKind::kStringLanguage: return negated ? kStringType : kAllTypes;
    case NodeKind::kArray:
    case NodeKind::kItemCount:
    case NodeKind::kContains:
    case NodeKind::kUniqueItems: return negated ? kArrayType : kAllTypes;
    case NodeKind::kObject:
    case NodeKind::kRequired:
    case NodeKind::kMemberCount:
    case NodeKind::kMemberNames:
    case NodeKind::kDependentRequired: return negated ? kObjectType : kAllTypes;
    default: return kAllTypes;
  }
}

bool TargetTable::has_types(std::span<const uint32_t> list) {
  uint32_t types = kAllTypes;
  for (const uint32_t word : list) types &= types_of(word);
  return types != 0;
}

// A choice adds nothing if one of its branches is in the list anyway. (In strict mode it does: the
// members that another branch names are open only under that branch.)
bool TargetTable::absorbed(std::span<const uint32_t> list, uint32_t choice) {
  const Branches& branches = branches_.of(choice);
  if (branches.exclusive) return false;
  marks_.clear();
  for (const uint32_t word : list) {
    if (word != choice) marks_.insert(word);
  }
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const auto branch = branches[i];
    const bool holds = std::all_of(branch.begin(), branch.end(), [&](uint32_t word) {
      return marks_.contains(is_derived(word) ? word : canonical(word & ~kSilent));
    });
    const bool any = branch.size() == 1 && (branch[0] & kWordFlags & ~kSilent) == 0 &&
                     ir_.node_kind(node_of(branch[0])) == NodeKind::kAny;
    if (holds || any) return true;
  }
  return false;
}

void TargetTable::too_many_clauses() const {
  throw Error::limit("json-too-many-clauses",
                     "anyOf and enum at one place of the schema multiply to more than " +
                         std::to_string(limits_.max_clauses) +
                         " alternatives; factor them, or raise max_clauses",
                     "max_clauses", limits_.max_clauses);
}

void TargetTable::remember(uint32_t options, std::vector<uint32_t>& list, Partial origin) {
  canonicalise(options, list);
  if (!has_types(list)) return;
  if (!lists_->intern(list).inserted) return;
  partials_.push_back(origin);
  const std::size_t limit = std::size_t{limits_.max_clauses} * 4;
  if (partials_.size() > limit) too_many_clauses();
}

// Replaces the choice at `at` of a partial clause, which is `list`, by each branch that `keep` lets
// pass, in place.
void TargetTable::expand(uint32_t options, uint32_t partial, std::span<const uint32_t> list,
                         std::size_t at, const OutlineRef& outline) {
  const uint32_t choice = list[at];
  const Branches& branches = branches_.of(choice);
  std::vector<uint32_t> next;
  const auto make = [&](std::span<const uint32_t> middle) {
    marks_.clear();
    // Choices made on the way here are in the set already.
    for (uint32_t p = partial; p != kNone; p = partials_[p].parent) {
      if (partials_[p].choice != kNone) marks_.insert(partials_[p].choice);
    }
    next.clear();
    if (!add(options, list.first(at), next) || !add(options, middle, next)) return;
    // A branch that comes back to its own choice has no values that the others do not give.
    if (marks_.contains(choice)) return;
    if (add(options, list.subspan(at + 1), next)) remember(options, next, {partial, choice});
  };
  if (!options_.get(options).strict && absorbed(list, choice)) {
    make({});
    return;
  }
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (outline != nullptr && outlines_.excludes(outline, branches[i])) continue;
    make(branches.exclusive ? only(branches, i, outline) : branches[i]);
  }
}

// Branch i of a oneOf, and none of the others. Those that the branch excludes need no mention.
std::span<const uint32_t> TargetTable::only(const Branches& branches, std::size_t i,
                                            const OutlineRef& outline) {
  const OutlineRef with = outlines_.meet(outline, outlines_.of(branches[i][0]));
  exclusive_.assign(1, branches[i][0]);
  for (std::size_t j = 0; j < branches.size(); ++j) {
    if (j == i || outlines_.disjoint(with, outlines_.of(branches[j][0]))) continue;
    exclusive_.push_back(negate(branches[j][0] & ~kSilent));
  }
  return exclusive_;
}

// What decides nothing any more: negated choices that hold anyway, and (see absorbed()) choices
// that are made already.
void TargetTable::drop_implied(uint32_t options, const OutlineRef& outline,
                               std::vector<uint32_t>& list) {
  const bool strict = options_.get(options).strict;
  for (std::size_t i = list.size(); i-- > 0;) {
    const uint32_t word = list[i];
    if (!branches_.is_choice(word)) continue;
    const bool holds =
        is_negated(word) && outlines_.disjoint(outline, outlines_.of(word & ~kNegated));
    if (holds || (!strict && absorbed(list, word))) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// The choice with the fewest branches that the outline leaves. kDeadEnd: one has none.
std::size_t TargetTable::narrowest_choice(const OutlineRef& outline,
                                          std::span<const uint32_t> list) {
  std::size_t best = kDeadEnd;
  std::size_t fewest = kDeadEnd;
  for (std::size_t at = 0; at < list.size() && fewest > 1; ++at) {
    if (!branches_.is_choice(list[at])) continue;
    const Branches& branches = branches_.of(list[at]);
    std::size_t left = 0;
    for (std::size_t i = 0; i < branches.size() && left < fewest; ++i) {
      left += outlines_.excludes(outline, branches[i]) ? 0 : 1;
    }
    if (left == 0) return kDeadEnd;
    if (left < fewest) {
      fewest = left;
      best = at;
    }
  }
  return best;
}

// One partial clause whose choices may exclude each other.
void TargetTable::narrow(uint32_t options, uint32_t partial, Clauses& clauses) {
  const auto words = lists_->get(partial);
  OutlineRef outline;
  std::size_t num_choices = 0;
  for (const uint32_t word : words) {
    if (branches_.is_choice(word)) {
      ++num_choices;
    } else {
      outline = outlines_.meet(outline, outlines_.of(word));
    }
  }
  if (outline != nullptr && outline->empty()) return;
  if (num_choices == 0) {
    clauses.emplace_back(words.begin(), words.end());
    return;
  }
  std::vector<uint32_t> list(words.begin(), words.end());
  drop_implied(options, outline, list);
  if (list.size() != words.size()) {
    remember(options, list, {partial, kNone});
    return;
  }
  const std::size_t at = narrowest_choice(outline, list);
  if (at != kDeadEnd) expand(options, partial, list, at, outline);
}

// Whether choices of the list may exclude each other or other words.
bool TargetTable::may_exclude(std::span<const uint32_t> list) const {
  std::size_t num_choices = 0;
  for (const uint32_t word : list) {
    if (!branches_.is_choice(word)) continue;
    const NodeKind kind = ir_.node_kind(node_of(word));
    if (is_negated(word) || kind == NodeKind::kOneOf || ++num_choices > 1) return true;
  }
  return false;
}

std::vector<std::vector<uint32_t>> TargetTable::flatten(uint32_t target) {
  const auto content = targets_.get(target);
  const uint32_t options = content[0];
  lists_ = std::make_unique<WordInterner>();
  partials_.clear();
  marks_.clear();
  std::vector<uint32_t> list;
  if (add(options, content.subspan(1), list)) remember(options, list, {kNone, kNone});
  Clauses clauses;
  bool narrows = false;
  for (uint32_t partial = 0; partial < partials_.size(); ++partial) {
    const auto words = lists_->get(partial);
    narrows = narrows || may_exclude(words);
    if (narrows) {
      narrow(options, partial, clauses);
      continue;
    }
    const auto choice = std::find_if(words.begin(), words.end(),
                                     [&](uint32_t word) { return branches_.is_choice(word); });
    if (choice == words.end()) {
      clauses.emplace_back(words.begin(), words.end());
    } else {
      const auto at = static_cast<std::size_t>(choice - words.begin());
      expand(options, partial, words, at, nullptr);
    }
  }
  lists_.reset();
  if (clauses.size() > limits_.max_clauses) too_many_clauses();
  return clauses;
}

}  // namespace maskwright

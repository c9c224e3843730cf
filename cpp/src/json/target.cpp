#include "json/target.h"

#include <algorithm>
#include <string>

#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

bool WordMarks::insert(uint32_t word) {
  std::vector<uint32_t>& marks = marks_[word >> kFlagShift];
  const uint32_t index = node_of(word);
  if (marks.size() <= index) marks.resize(std::max(num_nodes_, index + 1), 0);
  if (marks[index] == epoch_) return false;
  marks[index] = epoch_;
  return true;
}

bool WordMarks::contains(uint32_t word) const {
  const std::vector<uint32_t>& marks = marks_[word >> kFlagShift];
  const uint32_t index = node_of(word);
  return index < marks.size() && marks[index] == epoch_;
}

uint32_t widen_types(uint32_t mask) { return (mask & kNumberType) != 0 ? mask | kInteger : mask; }

TargetTable::TargetTable(const Ir& ir, const OptionsTable& options, const JsonLimits& limits)
    : ir_(ir), options_(options), limits_(limits), branches_(ir), marks_(ir.num_nodes()) {
  if (ir.num_nodes() > ~kWordFlags) {
    throw Error::limit("json-too-many-nodes",
                       "the schema has " + std::to_string(ir.num_nodes()) +
                           " nodes, and at most " + std::to_string(~kWordFlags) +
                           " can be numbered; split the schema",
                       "nodes", ~kWordFlags);
  }
}

bool TargetTable::names_matter(uint32_t options) const {
  const JsonOptions& layout = options_.get(options);
  return layout.strict || !layout.any_order;
}

// Drops kSilent where it says nothing.
uint32_t TargetTable::canonical(uint32_t word) const {
  if ((word & kSilent) == 0 || is_derived(word)) return word;
  if (is_negated(word)) return word & ~kSilent;
  switch (ir_.node_kind(node_of(word))) {
    case NodeKind::kArray:
    case NodeKind::kObject:
    case NodeKind::kContains:
    case NodeKind::kAllOf:
    case NodeKind::kAnyOf:
    case NodeKind::kOneOf: return word;
    default: return word & ~kSilent;
  }
}

bool TargetTable::keeps_order(uint32_t word) const {
  if ((word & (kScalarPart | kNegated | kDerived | kSilent)) != 0) return false;
  return ir_.node_kind(word) == NodeKind::kObject || branches_.is_choice(word);
}

// Appends the leaves and choices of `words`, depth first; false if they contradict each other. The
// caller has cleared the marks and set those of what `list` holds.
bool TargetTable::add(uint32_t options, std::span<const uint32_t> words,
                      std::vector<uint32_t>& list) {
  const uint32_t kept = names_matter(options) ? ~0U : ~kSilent;
  stack_.assign(words.rbegin(), words.rend());
  while (!stack_.empty()) {
    uint32_t word = stack_.back();
    stack_.pop_back();
    if (word == kAnyWord) continue;
    word = canonical(word & kept);
    if (!marks_.insert(word)) continue;
    if (contradicted(word)) return false;
    if ((word & (kDerived | kScalarPart)) != 0) {
      list.push_back(word);
    } else if (!add_node(word, list)) {
      return false;
    }
  }
  return true;
}

// Is the opposite in the set?
bool TargetTable::contradicted(uint32_t word) const {
  if (is_derived(word)) return false;
  const uint32_t opposite = (word ^ kNegated) & ~kSilent;
  return marks_.contains(opposite) || (is_negated(word) && marks_.contains(opposite | kSilent));
}

// One word of add(): a leaf or choice goes to the list, what stands for other words to the stack.
bool TargetTable::add_node(uint32_t word, std::vector<uint32_t>& list) {
  const uint32_t node = node_of(word);
  const auto payload = ir_.node(node);
  const bool negated = is_negated(word);
  const auto add_children = [&] {
    for (std::size_t i = payload[0]; i > 0; --i) {
      stack_.push_back(negated ? negate(payload[i]) : inherit(word, payload[i]));
    }
  };
  switch (ir_.node_kind(node)) {
    case NodeKind::kAny: return !negated;
    case NodeKind::kNever: return negated;
    case NodeKind::kNot:
      stack_.push_back(negated ? payload[0] | kSilent : negate(payload[0]));
      return true;
    case NodeKind::kAllOf:
      if (negated && payload[0] != 1) break;
      add_children();
      return true;
    case NodeKind::kAnyOf:
      if (!negated && payload[0] != 1) break;
      add_children();
      return true;
    case NodeKind::kOneOf:
      if (payload[0] != 1) break;
      add_children();
      return true;
    case NodeKind::kEnum:
      if (!negated) break;
      for (const uint32_t value : enum_nodes(ir_, node)) stack_.push_back(negate(value));
      if (enum_scalar_types(ir_, node) != 0) list.push_back(word | kScalarPart);
      return true;
    default: break;
  }
  if (negated && branches_.is_choice(word)) {
    const Branches& choice = branches_.of(word);
    if (choice.size() == 0) return false;
    if (choice.size() == 1) {
      stack_.insert(stack_.end(), choice[0].rbegin(), choice[0].rend());
      return true;
    }
  }
  list.push_back(word);
  return true;
}

void TargetTable::canonicalise(uint32_t options, std::vector<uint32_t>& list) const {
  if (options_.get(options).any_order) {
    std::sort(list.begin(), list.end());
    return;
  }
  const auto middle = std::stable_partition(list.begin(), list.end(),
                                            [&](uint32_t word) { return !keeps_order(word); });
  std::sort(list.begin(), middle);
}

uint32_t TargetTable::intern(uint32_t options, std::span<const uint32_t> words) {
  marks_.clear();
  std::vector<uint32_t> list;
  if (add(options, words, list)) {
    canonicalise(options, list);
  } else {
    // Some contradiction stands for all of them; which one does not matter much.
    list.assign(words.begin(), words.end());
    make_set(list);
  }
  list.insert(list.begin(), options);
  const auto [id, inserted] = targets_.intern(list);
  if (inserted && targets_.size() > limits_.max_targets) {
    throw Error::limit("json-too-many-targets",
                       "the schema combines into more than " + std::to_string(limits_.max_targets) +
                           " different conjunctions; simplify its allOf and $ref, or raise "
                           "max_targets",
                       "max_targets", limits_.max_targets);
  }
  return id;
}

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

// Replaces the choice at `at` by each of its branches, in place.
void TargetTable::expand(uint32_t options, uint32_t partial, std::size_t at) {
  const auto list = lists_->get(partial);
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
  std::vector<uint32_t> exclusive;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (!branches.exclusive) {
      make(branches[i]);
      continue;
    }
    exclusive.assign(1, branches[i][0]);
    for (std::size_t j = 0; j < branches.size(); ++j) {
      if (j != i) exclusive.push_back(negate(branches[j][0] & ~kSilent));
    }
    make(exclusive);
  }
}

std::vector<std::vector<uint32_t>> TargetTable::flatten(uint32_t target) {
  const auto content = targets_.get(target);
  const uint32_t options = content[0];
  lists_ = std::make_unique<WordInterner>();
  partials_.clear();
  marks_.clear();
  std::vector<uint32_t> list;
  if (add(options, content.subspan(1), list)) remember(options, list, {kNone, kNone});
  std::vector<std::vector<uint32_t>> clauses;
  for (uint32_t partial = 0; partial < partials_.size(); ++partial) {
    const auto words = lists_->get(partial);
    const auto choice = std::find_if(words.begin(), words.end(),
                                     [&](uint32_t word) { return branches_.is_choice(word); });
    if (choice != words.end()) {
      expand(options, partial, static_cast<std::size_t>(choice - words.begin()));
    } else {
      clauses.emplace_back(words.begin(), words.end());
    }
  }
  lists_.reset();
  if (clauses.size() > limits_.max_clauses) too_many_clauses();
  return clauses;
}

}  // namespace maskwright

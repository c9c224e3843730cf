// Flattening: partial clauses until no choice is left.
//
// Where choices multiply, or exclude each other (oneOf, if/then/else, not), the partial clause's
// outline decides first: negations that hold anyway are dropped, a choice without a branch that
// could hold drops the partial clause, and the choice with the fewest branches left is taken.
//
// Negations of similar schemas share branches: of "no a1, or a wrong b" and "no a2, or a wrong b"
// there are two ways to fail, not three. So a branch is *covered* in its later siblings: what
// satisfies it is found under it, and they need not take it again. With branches that many choices
// share taken first, the clauses are about as many as the branches.
//
// Choices about different members of an object are no clauses but joint targets (target_joint.cpp).
#include <algorithm>
#include <string>
#include <unordered_map>

#include "json/target.h"
#include "maskwright/support/error.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

// So many branches of a oneOf are compared with each other, each with each.
constexpr std::size_t kFewBranches = 16;
// So many words are looked at to see that a choice says nothing about values of some types.
constexpr uint32_t kFewWords = 200;

}  // namespace

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

// Whether a branch is just ANY.
bool TargetTable::is_any(std::span<const uint32_t> branch) const {
  return branch.size() == 1 && (branch[0] & kWordFlags & ~kSilent) == 0 &&
         ir_.node_kind(node_of(branch[0])) == NodeKind::kAny;
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
    const bool in_list = std::all_of(branch.begin(), branch.end(), [&](uint32_t word) {
      return marks_.contains(is_derived(word) ? word : canonical(word & ~kSilent));
    });
    if (in_list || is_any(branch)) return true;
  }
  return false;
}

// The same by what words say: `marks_` holds the identities of the list.
bool TargetTable::implied(uint32_t choice) {
  const Branches& branches = branches_.of(choice);
  if (branches.exclusive) return false;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const auto branch = branches[i];
    if (is_any(branch)) return true;
    if (std::all_of(branch.begin(), branch.end(), [&](uint32_t word) { return holds(word); })) {
      return true;
    }
  }
  return false;
}

// Whether a word holds because of those that are marked.
bool TargetTable::holds(uint32_t word) {
  if (marks_.contains(outlines_->identity(word))) return true;
  if (!is_derived(word)) return false;
  const DerivedLeaf leaf = derived().get(word);
  if (leaf.kind != DerivedKind::kIfMember) return false;
  const uint32_t has = derived().intern({DerivedKind::kHasMember, leaf.a, leaf.b});
  const uint32_t lacks = derived().intern({DerivedKind::kLacksMember, leaf.a});
  return marks_.contains(outlines_->identity(has)) || marks_.contains(outlines_->identity(lacks));
}

void TargetTable::too_many_clauses() const {
  throw Error::limit("json-too-many-clauses",
                     "anyOf and enum at one place of the schema multiply to more than " +
                         std::to_string(limits_.max_clauses) +
                         " alternatives; factor them, or raise max_clauses",
                     "max_clauses", limits_.max_clauses);
}

// Few partial clauses can take long too, if they are long or their outlines are large.
void TargetTable::check_work() const {
  check_stop();
  const std::size_t allowed =
      kWorkPerClause * allowed_clauses() + kWorkPerNode * std::size_t{ir_.num_nodes()};
  if (work_ + outlines_->work() <= allowed) return;
  throw Error::limit("json-too-many-clauses",
                     "it takes too long to tell which of the alternatives of anyOf, oneOf, not and "
                     "if at one place of the schema exclude each other (max_clauses = " +
                         std::to_string(limits_.max_clauses) +
                         "); let a const or a type tell them apart, or raise max_clauses",
                     "max_clauses", limits_.max_clauses);
}

void TargetTable::remember(uint32_t options, std::vector<uint32_t>& list, Partial origin) {
  canonicalise(options, list);
  if (!has_types(list)) return;
  origin.length = static_cast<uint32_t>(list.size());
  // Two partial clauses are the same if the same is left to do.
  const bool open = std::any_of(list.begin(), list.end(),
                                [&](uint32_t word) { return branches_.is_choice(word); });
  if (!open) origin.covered = 0;
  if (origin.covered != 0) {
    list.push_back(kNone);
    list.push_back(origin.covered);
  }
  work_ += list.size();
  check_work();
  if (!lists_->intern(list).inserted) return;
  partials_.push_back(origin);
  if (partials_.size() > allowed_clauses() * 4) too_many_clauses();
}

// Whether a branch of the choice can stand for all values that satisfy it: not where it would also
// matter which members it names.
bool TargetTable::may_cover(uint32_t options, uint32_t choice) const {
  return is_negated(choice) || !names_matter(options);
}

bool TargetTable::is_covered(uint32_t partial, std::span<const uint32_t> branch) {
  const auto covered = covered_->get(partials_[partial].covered);
  return !covered.empty() && std::any_of(branch.begin(), branch.end(), [&](uint32_t word) {
    return std::binary_search(covered.begin(), covered.end(), outlines_->identity(word));
  });
}

uint32_t TargetTable::cover(uint32_t covered, uint32_t word) {
  const auto content = covered_->get(covered);
  std::vector<uint32_t> words(content.begin(), content.end());
  const uint32_t identity = outlines_->identity(word);
  const auto at = std::lower_bound(words.begin(), words.end(), identity);
  if (at == words.end() || *at != identity) words.insert(at, identity);
  return covered_->intern(words).id;
}

// The branches of the choice at `at`, those that most other choices of the list have first.
std::vector<std::size_t> TargetTable::by_use(std::span<const uint32_t> list, std::size_t at) {
  std::unordered_map<uint32_t, uint32_t> uses;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == at || !branches_.is_choice(list[i])) continue;
    const Branches& others = branches_.of(list[i]);
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (others[k].size() == 1) ++uses[outlines_->identity(others[k][0])];
    }
  }
  const Branches& branches = branches_.of(list[at]);
  std::vector<std::size_t> order(branches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (uses.empty()) return order;
  const auto count = [&](std::size_t i) {
    const auto found =
        branches[i].size() == 1 ? uses.find(outlines_->identity(branches[i][0])) : uses.end();
    return found == uses.end() ? 0 : found->second;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return count(a) > count(b); });
  return order;
}

// Replaces the choice at `at` of a partial clause, which is `list`, by each branch that `keep` lets
// pass, in place.
void TargetTable::expand(uint32_t options, uint32_t partial, std::span<const uint32_t> list,
                         std::size_t at, const OutlineRef& outline) {
  const uint32_t choice = list[at];
  const Branches& branches = branches_.of(choice);
  if (ir_.node_kind(node_of(choice)) == NodeKind::kEnum) listed_ += branches.size();
  uint32_t covered = partials_[partial].covered;
  std::vector<uint32_t> next;
  // The outline of a branch and all that was there before it.
  const auto outline_with = [&](std::span<const uint32_t> words) {
    OutlineRef with = outline;
    for (const uint32_t word : words) {
      if (!branches_.is_choice(word)) with = outlines_->meet(with, outlines_->of(word));
    }
    return with;
  };
  // Says whether the new partial clause has all values of the branch.
  const auto make = [&](std::span<const uint32_t> middle) {
    marks_.clear();
    // Choices made on the way here are in the set already.
    for (uint32_t p = partial; p != kNone; p = partials_[p].parent) {
      if (partials_[p].choice != kNone) marks_.insert(partials_[p].choice);
    }
    next.clear();
    if (!add(options, list.first(at), next)) return true;
    const std::size_t before = next.size();
    if (!add(options, middle, next)) return true;
    const OutlineRef with =
        outline == nullptr ? nullptr : outline_with(std::span(next).subspan(before));
    // A branch that comes back to its own choice has no values that the others do not give.
    if (marks_.contains(choice)) return false;
    if (add(options, list.subspan(at + 1), next)) {
      remember(options, next, {partial, choice, covered, 0, with});
    }
    return true;
  };
  if (outline == nullptr) {
    if (!options_.get(options).strict && absorbed(list, choice)) {
      make({});
      return;
    }
    for (std::size_t i = 0; i < branches.size(); ++i) make(branches[i]);
    return;
  }
  // What satisfies a branch of a oneOf satisfies no other anyway.
  const bool covers = !branches.exclusive && may_cover(options, choice);
  for (const std::size_t i : by_use(list, at)) {
    const auto branch = branches[i];
    if (outlines_->excludes(outline, branch) || is_covered(partial, branch)) continue;
    const bool complete = make(branches.exclusive ? only(choice, i, outline) : branch);
    if (complete && covers && branch.size() == 1) covered = cover(covered, branch[0]);
  }
}

// Branch i of a oneOf, and none of the others. Those that the branch excludes need no mention.
std::span<const uint32_t> TargetTable::only(uint32_t choice, std::size_t i,
                                            const OutlineRef& outline) {
  const Branches& branches = branches_.of(choice);
  const OutlineRef with = outlines_->meet(outline, outlines_->of(branches[i][0]));
  exclusive_.assign(1, branches[i][0]);
  check_work();
  const auto consider = [&](std::size_t j) {
    if (j == i || outlines_->disjoint(with, outlines_->of(branches[j][0]))) return;
    exclusive_.push_back(negate(branches[j][0] & ~kSilent));
  };
  if (branches.size() <= kFewBranches) {
    for (std::size_t j = 0; j < branches.size(); ++j) consider(j);
  } else {
    for (const uint32_t j : overlap_of(choice).candidates(static_cast<uint32_t>(i))) consider(j);
  }
  return exclusive_;
}

const OutlineOverlap& TargetTable::overlap_of(uint32_t choice) {
  Overlaps& made = overlaps_[choice];
  if (made.overlap == nullptr) {
    const Branches& branches = branches_.of(choice);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      made.outlines.push_back(outlines_->of(branches[i][0]));
    }
    made.overlap = std::make_unique<const OutlineOverlap>(made.outlines);
  }
  return *made.overlap;
}

// What decides nothing any more: negated choices that hold anyway, and choices that are made
// already.
void TargetTable::drop_implied(uint32_t options, const OutlineRef& outline,
                               std::vector<uint32_t>& list) {
  const bool strict = options_.get(options).strict;
  const auto vacuous = [&](uint32_t word, uint32_t types) {
    uint32_t budget = kFewWords;
    return says_nothing(word, types, budget);
  };
  const auto mark = [&] {
    marks_.clear();
    for (const uint32_t word : list) marks_.insert(outlines_->identity(word));
  };
  mark();
  for (std::size_t i = list.size(); i-- > 0;) {
    const uint32_t word = list[i];
    if (!branches_.is_choice(word)) continue;
    const bool excluded =
        is_negated(word) && outlines_->disjoint(outline, outlines_->of(word & ~kNegated));
    if (excluded || (!strict && (implied(word) || vacuous(word, outline->types)))) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      mark();  // what is dropped can't stand for others
    }
  }
}

// How many branches of the choice the outline leaves; `enough` says that it does not matter any
// more.
std::size_t TargetTable::branches_left(uint32_t partial, const OutlineRef& outline, uint32_t choice,
                                       std::size_t enough) {
  const Branches& branches = branches_.of(choice);
  std::size_t left = 0;
  for (std::size_t i = 0; i < branches.size() && left < enough; ++i) {
    const bool out = outlines_->excludes(outline, branches[i]) || is_covered(partial, branches[i]);
    left += out ? 0 : 1;
  }
  return left;
}

// The choice with the fewest branches that the outline leaves. kDeadEnd: one has none.
std::size_t TargetTable::narrowest_choice(uint32_t partial, const OutlineRef& outline,
                                          std::span<const uint32_t> list) {
  std::size_t best = kDeadEnd;
  std::size_t fewest = kDeadEnd;
  for (std::size_t at = 0; at < list.size() && fewest > 1; ++at) {
    if (!branches_.is_choice(list[at])) continue;
    const std::size_t left = branches_left(partial, outline, list[at], fewest);
    if (left == 0) return kDeadEnd;
    if (left < fewest) {
      fewest = left;
      best = at;
    }
  }
  return best;
}

OutlineRef TargetTable::outline_of(uint32_t partial) {
  if (partials_[partial].outline != nullptr) return partials_[partial].outline;
  auto outline = std::make_shared<const Outline>();
  for (const uint32_t word : words_of(partial)) {
    if (!branches_.is_choice(word)) outline = outlines_->meet(outline, outlines_->of(word));
  }
  return outline;
}

// One partial clause whose choices may exclude each other.
void TargetTable::narrow(uint32_t options, uint32_t partial, Clauses& clauses) {
  const auto words = words_of(partial);
  check_work();
  const OutlineRef outline = outline_of(partial);
  if (outline->empty()) return;
  if (std::ranges::none_of(words, [&](uint32_t word) { return branches_.is_choice(word); })) {
    clauses.emplace_back(words.begin(), words.end());
    return;
  }
  std::vector<uint32_t> list(words.begin(), words.end());
  drop_implied(options, outline, list);
  if (list.size() != words.size()) {
    remember(options, list, {partial, kNone, partials_[partial].covered, 0, outline});
    return;
  }
  if (separate(options, partial, outline, list, clauses)) return;
  const std::size_t at = narrowest_choice(partial, outline, list);
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

// Makes the clauses of a list that says nothing but that the value is one of an ENUM, and of some
// types; false if it is none, or if the values can't be read as a list.
bool TargetTable::take_listed(uint32_t options, std::span<const uint32_t> words, Clauses& clauses) {
  uint32_t choice = kNone;
  uint32_t types = kAllTypes;
  std::vector<uint32_t> clause;
  for (const uint32_t word : words) {
    if (is_derived(word) || (word & kScalarPart) != 0) return false;
    const NodeKind kind = ir_.node_kind(node_of(word));
    if (kind == NodeKind::kTypes) {
      types &= types_of(word);
      clause.push_back(word);
    } else if (kind == NodeKind::kEnum && branches_.is_choice(word) && choice == kNone) {
      choice = word;
    } else {
      return false;
    }
  }
  if (choice == kNone) return false;
  const uint32_t node = node_of(choice);
  const uint32_t listed = lists_of_values_.list(options, node, types);
  if (listed == kNone) return false;
  if (!lists_of_values_.values(listed).empty()) {
    clause.push_back(derived().intern({DerivedKind::kListed, node}));
    clauses.push_back(clause);
    clause.pop_back();
  }
  if ((enum_scalar_types(ir_, node) & types) != 0) {
    clause.push_back(node | kScalarPart);
    clauses.push_back(clause);
  }
  return true;
}

std::vector<std::vector<uint32_t>> TargetTable::flatten(uint32_t target) {
  const auto content = targets_.get(target);
  const uint32_t options = content[0];
  if (outlines_ == nullptr) outlines_ = std::make_unique<OutlineTable>(ir_, branches_);
  lists_ = std::make_unique<WordInterner>();
  covered_ = std::make_unique<WordInterner>();
  covered_->intern({});
  partials_.clear();
  marks_.clear();
  std::vector<uint32_t> list;
  if (add(options, content.subspan(1), list)) remember(options, list, {kNone, kNone, 0});
  Clauses clauses;
  bool narrows = false;
  for (uint32_t partial = 0; partial < partials_.size(); ++partial) {
    const auto words = words_of(partial);
    if (take_listed(options, words, clauses)) continue;
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
  covered_.reset();
  if (clauses.size() > allowed_clauses()) too_many_clauses();
  return clauses;
}

}  // namespace maskwright

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

TargetTable::TargetTable(const Ir& ir, const OptionsTable& options, ListedValues& listed,
                         const JsonLimits& limits)
    : ir_(ir),
      options_(options),
      lists_of_values_(listed),
      limits_(limits),
      branches_(ir),
      marks_(ir.num_nodes()) {
  if (ir.num_nodes() > ~kWordFlags) {
    throw Error::limit("json-too-many-nodes",
                       "the schema has " + std::to_string(ir.num_nodes()) + " nodes, and at most " +
                           std::to_string(~kWordFlags) + " can be numbered; split the schema",
                       "nodes", ~kWordFlags);
  }
}

void TargetTable::forget_outlines() {
  overlaps_ = decltype(overlaps_)();  // refer to outlines
  concerns_ = decltype(concerns_)();
  outlines_ = nullptr;
  branches_.forget();
  marks_ = WordMarks(ir_.num_nodes());
  stack_ = std::vector<uint32_t>();
  exclusive_ = std::vector<uint32_t>();
  lists_ = nullptr;
  covered_ = nullptr;
  partials_ = std::vector<Partial>();
}

std::size_t TargetTable::memory_bytes() const {
  return heap_bytes(branches_, outlines_, targets_, joint_, overlaps_, concerns_, marks_, stack_) +
         heap_bytes(exclusive_, lists_, covered_, partials_);
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

// Whether all values of the types satisfy the word, as far as that is easily told.
bool TargetTable::says_nothing(uint32_t word, uint32_t types, uint32_t& budget) {
  if (word == kAnyWord) return true;
  if (is_derived(word) || (word & kScalarPart) != 0 || budget == 0) return false;
  --budget;
  const bool negated = is_negated(word);
  WordReader reader(ir_.node(node_of(word)));
  const NodeKind kind = ir_.node_kind(node_of(word));
  const auto child_says_nothing = [&](uint32_t child) {
    return says_nothing(negated ? negate(child) : child, types, budget);
  };
  switch (kind) {
    case NodeKind::kAny: return !negated;
    case NodeKind::kNever: return negated;
    case NodeKind::kNot:
      return says_nothing(negate(reader.next()) ^ (word & kNegated), types, budget);
    case NodeKind::kTypes: {
      const uint32_t own = widen_types(reader.next());
      return (types & (negated ? own : ~own)) == 0;
    }
    case NodeKind::kAllOf:
    case NodeKind::kAnyOf: {
      const auto children = reader.take(reader.next());
      const bool all = (kind == NodeKind::kAllOf) != negated;
      return all ? std::ranges::all_of(children, child_says_nothing)
                 : std::ranges::any_of(children, child_says_nothing);
    }
    case NodeKind::kOneOf:
    case NodeKind::kEnum: return false;
    default: return !negated && (types & types_of(node_of(word) | kNegated)) == 0;
  }
}

}  // namespace maskwright

#include "json/target.h"

#include <algorithm>
#include <array>
#include <string>

#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

std::span<const uint32_t> enum_nodes(const Ir& ir, uint32_t node) {
  WordReader reader(ir.node(node));
  reader.next();
  reader.take(std::size_t{reader.next()} * 2);
  reader.take(std::size_t{reader.next()} * 2);
  const uint32_t count = reader.next();
  return reader.take(count);
}

}  // namespace

bool enum_has_nodes(const Ir& ir, uint32_t node) { return !enum_nodes(ir, node).empty(); }

uint32_t widen_types(uint32_t mask) { return (mask & kNumberType) != 0 ? mask | kInteger : mask; }

uint32_t enum_scalar_types(const Ir& ir, uint32_t node) {
  WordReader reader(ir.node(node));
  const uint32_t literals = reader.next();
  const uint32_t numbers = reader.next();
  reader.take(std::size_t{numbers} * 2);
  const uint32_t strings = reader.next();
  uint32_t types = 0;
  if ((literals & kEnumNull) != 0) types |= kNull;
  if ((literals & (kEnumFalse | kEnumTrue)) != 0) types |= kBoolean;
  if (numbers != 0) types |= kInteger | kNumberType;
  if (strings != 0) types |= kStringType;
  return types;
}

TargetTable::TargetTable(const Ir& ir, const OptionsTable& options, const JsonLimits& limits)
    : ir_(ir),
      options_(options),
      limits_(limits),
      mark_(ir.num_nodes(), 0),
      scalar_mark_(ir.num_nodes(), 0) {}

bool TargetTable::is_choice(uint32_t word) const {
  if ((word & kScalarPart) != 0) return false;
  const NodeKind kind = ir_.node_kind(word);
  return kind == NodeKind::kAnyOf || (kind == NodeKind::kEnum && enum_has_nodes(ir_, word));
}

bool TargetTable::keeps_order(uint32_t word) const {
  return (word & kScalarPart) == 0 && (ir_.node_kind(word) == NodeKind::kObject || is_choice(word));
}

// Appends the leaves and choices of `nodes`, depth first; false if one of them is NEVER. The caller
// has opened the epoch and marked what `list` holds.
bool TargetTable::add(std::span<const uint32_t> nodes, std::vector<uint32_t>& list) {
  std::vector<uint32_t> stack(nodes.rbegin(), nodes.rend());
  while (!stack.empty()) {
    const uint32_t word = stack.back();
    stack.pop_back();
    const bool scalar = (word & kScalarPart) != 0;
    const uint32_t node = word & ~kScalarPart;
    uint32_t& mark = scalar ? scalar_mark_[node] : mark_[node];
    if (mark == epoch_) continue;
    mark = epoch_;
    const NodeKind kind = ir_.node_kind(node);
    if (kind == NodeKind::kNever) return false;
    if (kind == NodeKind::kAny) continue;
    const auto payload = ir_.node(node);
    if (kind == NodeKind::kAllOf || (kind == NodeKind::kAnyOf && payload[0] == 1)) {
      const auto children = payload.subspan(1, payload[0]);
      stack.insert(stack.end(), children.rbegin(), children.rend());
    } else {
      list.push_back(word);
    }
  }
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

uint32_t TargetTable::intern(uint32_t options, std::span<const uint32_t> nodes) {
  ++epoch_;
  std::vector<uint32_t> list;
  if (add(nodes, list)) {
    canonicalise(options, list);
  } else {
    // One NEVER node stands for all of them; which one does not matter much.
    list.assign(nodes.begin(), nodes.end());
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

// The types that the restrictions in the list leave.
uint32_t TargetTable::possible_types(std::span<const uint32_t> list) const {
  uint32_t types = kAllTypes;
  for (const uint32_t word : list) {
    const uint32_t node = word & ~kScalarPart;
    const NodeKind kind = ir_.node_kind(node);
    if (kind == NodeKind::kTypes) {
      types &= widen_types(ir_.node(node)[0]);
    } else if (kind == NodeKind::kEnum && !is_choice(word)) {
      types &= enum_scalar_types(ir_, node);
    }
  }
  return types;
}

void TargetTable::branches(uint32_t choice, std::vector<uint32_t>& out) const {
  if (ir_.node_kind(choice) == NodeKind::kAnyOf) {
    const auto payload = ir_.node(choice);
    const auto children = payload.subspan(1, payload[0]);
    out.assign(children.begin(), children.end());
    return;
  }
  out.clear();
  if (enum_scalar_types(ir_, choice) != 0) out.push_back(choice | kScalarPart);
  const auto nodes = enum_nodes(ir_, choice);
  out.insert(out.end(), nodes.begin(), nodes.end());
}

// A choice adds nothing if one of its branches is in the list anyway. (In strict mode it does: the
// members that another branch names are open only under that branch.)
bool TargetTable::absorbed(std::span<const uint32_t> list, uint32_t choice) {
  if (ir_.node_kind(choice) != NodeKind::kAnyOf) return false;
  ++epoch_;
  for (const uint32_t word : list) {
    if ((word & kScalarPart) == 0 && word != choice) mark_[word] = epoch_;
  }
  const auto payload = ir_.node(choice);
  const auto children = payload.subspan(1, payload[0]);
  return std::any_of(children.begin(), children.end(), [&](uint32_t child) {
    return mark_[child] == epoch_ || ir_.node_kind(child) == NodeKind::kAny;
  });
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
  if (possible_types(list) == 0) return;
  if (!lists_->intern(list).inserted) return;
  partials_.push_back(origin);
  const std::size_t limit = std::size_t{limits_.max_clauses} * 4;
  if (partials_.size() > limit) too_many_clauses();
}

// Replaces the choice at `at` by each of its branches, in place.
void TargetTable::expand(uint32_t options, uint32_t partial, std::size_t at) {
  const auto list = lists_->get(partial);
  const uint32_t choice = list[at];
  const bool drop = !options_.get(options).strict && absorbed(list, choice);
  std::vector<uint32_t> branch_nodes;
  if (!drop) branches(choice, branch_nodes);
  std::vector<uint32_t> next;
  const auto make = [&](std::span<const uint32_t> middle) {
    ++epoch_;
    // Choices made on the way here are in the set already.
    for (uint32_t p = partial; p != kNone; p = partials_[p].parent) {
      if (partials_[p].choice != kNone) mark_[partials_[p].choice] = epoch_;
    }
    next.clear();
    if (!add(list.first(at), next) || !add(middle, next)) return;
    // A branch that comes back to its own choice has no values that the others do not give.
    if (mark_[choice] == epoch_) return;
    if (add(list.subspan(at + 1), next)) remember(options, next, {partial, choice});
  };
  if (drop) make({});
  for (const uint32_t& branch : branch_nodes) make({&branch, 1});
}

std::vector<std::vector<uint32_t>> TargetTable::flatten(uint32_t target) {
  const auto content = targets_.get(target);
  const uint32_t options = content[0];
  lists_ = std::make_unique<WordInterner>();
  partials_.clear();
  ++epoch_;
  std::vector<uint32_t> list;
  if (add(content.subspan(1), list)) remember(options, list, {kNone, kNone});
  std::vector<std::vector<uint32_t>> clauses;
  for (uint32_t partial = 0; partial < partials_.size(); ++partial) {
    const auto nodes = lists_->get(partial);
    const auto choice =
        std::find_if(nodes.begin(), nodes.end(), [&](uint32_t word) { return is_choice(word); });
    if (choice != nodes.end()) {
      expand(options, partial, static_cast<std::size_t>(choice - nodes.begin()));
    } else {
      clauses.emplace_back(nodes.begin(), nodes.end());
    }
  }
  lists_.reset();
  if (clauses.size() > limits_.max_clauses) too_many_clauses();
  return clauses;
}

}  // namespace maskwright

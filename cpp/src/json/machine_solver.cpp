#include "json/machine_solver.h"

#include <algorithm>
#include <array>
#include <string>

#include "json/machine_plan.h"
#include "json/value_count.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

constexpr uint32_t kMaxCounts = 1U << 20;

// Grows a vector so that it has the index.
template <typename T>
T& at(std::vector<T>& facts, uint32_t index) {
  if (facts.size() <= index) facts.resize(std::max<std::size_t>(index + 1, facts.size() * 2));
  return facts[index];
}

}  // namespace

ProductivitySolver::ProductivitySolver(OptionsTable& options, TargetTable& targets,
                                       ClauseTable& clauses, LangTable& langs)
    : options_(options), table_(targets), clauses_(clauses), langs_(langs) {}

bool ProductivitySolver::productive(uint32_t target) {
  explore(target);
  propagate();
  return targets_[target].productive;
}

bool ProductivitySolver::key_spellable(uint32_t key) {
  uint8_t& known = at(spellable_, key);
  if (known == 0) {
    const std::string& text = clauses_.keys().get(key);
    const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    });
    bool can = plain && options_.can_spell(text);
    if (!can) {
      const std::array<std::string, 1> texts{text};
      can = langs_.get(langs_.literals(texts)).start() != kDeadLang;
    }
    known = can && options_.can_spell("\"") ? 2 : 1;
  }
  return known == 2;
}

ItemRules ProductivitySolver::item_rules(const ArrayShape& shape) const {
  ItemRules rules;
  rules.min = shape.min;
  rules.max = max_items(shape);
  rules.contains = shape.contains;
  const auto cells = [&](std::span<const uint32_t> place) {
    uint64_t bits = 0;
    for (std::size_t cell = 0; cell < place.size(); ++cell) {
      if (target_productive(place[cell])) bits |= uint64_t{1} << cell;
    }
    return bits;
  };
  for (std::size_t i = 0; i < shape.length(); ++i) rules.prefix.push_back(cells(shape.place(i)));
  rules.rest = cells(shape.rest);
  return rules;
}

uint32_t ProductivitySolver::least_values(const ArrayShape& shape, uint32_t limit) const {
  return ValueCount(*this, options_, clauses_, langs_).least(shape, limit);
}

uint32_t ProductivitySolver::max_items(const ArrayShape& shape) const {
  return options_.get(shape.options).can_separate ? shape.max : std::min(shape.max, 1U);
}

uint32_t ProductivitySolver::max_members(const ObjectShape& shape) const {
  const JsonOptions& options = options_.get(shape.options);
  if (!options.can_label) return 0;
  return options.can_separate ? shape.max : std::min(shape.max, 1U);
}

void ProductivitySolver::explore(uint32_t target) {
  to_visit_.push_back(target);
  while (!to_visit_.empty()) {
    const uint32_t next = to_visit_.back();
    to_visit_.pop_back();
    visit(next);
  }
}

void ProductivitySolver::visit(uint32_t target) {
  check_stop();
  if (at(targets_, target).explored) return;
  targets_[target].explored = true;
  const uint32_t options = table_.options(target);
  std::vector<uint32_t> ids;
  for (const auto& leaves : table_.flatten(target)) ids.push_back(clauses_.intern(options, leaves));
  make_set(ids);
  for (const uint32_t id : ids) {
    const Clause& clause = clauses_.get(id);
    const bool literal = ((clause.literals & kEnumNull) != 0 && options_.can_spell("null")) ||
                         ((clause.literals & kEnumFalse) != 0 && options_.can_spell("false")) ||
                         ((clause.literals & kEnumTrue) != 0 && options_.can_spell("true"));
    const bool listed = clause.listed != kNone;  // all of it can be spelled
    if (listed) listed_.push_back(target);
    if (literal || clause.has_string || clause.has_number || listed) mark(target);
    if (clause.array != kNone) {
      if (!at(arrays_, clause.array).known) know_array(clause.array);
      arrays_[clause.array].users.push_back(target);
      if (arrays_[clause.array].productive) mark(target);
    }
    if (clause.object != kNone) {
      if (!at(objects_, clause.object).known) know_object(clause.object);
      objects_[clause.object].users.push_back(target);
      if (objects_[clause.object].productive) mark(target);
    }
    if (clause.joint != kNone) {
      if (!at(joint_, clause.joint).known) know_joint(clause.joint);
      joint_[clause.joint].users.push_back(target);
      if (joint_[clause.joint].productive) mark(target);
    }
  }
  targets_[target].clauses = std::move(ids);
}

// Lets a shape wait for a target, or counts it at once if it is known to be productive.
void ProductivitySolver::depend(uint32_t target, Use use) {
  if (target == kNone) return;
  TargetFacts& facts = at(targets_, target);
  if (facts.productive) {
    apply(use);
  } else {
    facts.uses.push_back(use);
  }
  if (!facts.explored) to_visit_.push_back(target);
}

void ProductivitySolver::know_array(uint32_t shape) {
  const ArrayShape array = clauses_.array(shape);
  arrays_[shape].known = true;
  if (array.unique || !array.contains.empty()) {
    know_counted_array(shape, array);
    return;
  }
  ArrayFacts& facts = arrays_[shape];
  const uint32_t max = max_items(array);
  const auto prefix = static_cast<uint32_t>(array.length());
  const uint32_t rest = array.rest[0];
  const uint32_t needed = std::min(array.min, prefix);
  const bool needs_rest = array.min > prefix;
  facts.possible = options_.can_spell("[]") && array.min <= max && !(needs_rest && rest == kNone);
  facts.waiting = needed + (needs_rest ? 1 : 0);
  // Places that are not needed still have to be explored.
  for (uint32_t i = 0; i < prefix; ++i) {
    if (i < needed) {
      depend(array.prefix[i], {shape, Role::kItem});
    } else {
      to_visit_.push_back(array.prefix[i]);
    }
  }
  if (needs_rest) {
    depend(rest, {shape, Role::kItem});
  } else if (rest != kNone) {
    to_visit_.push_back(rest);
  }
  settle_array(shape);
}

void ProductivitySolver::know_counted_array(uint32_t shape, const ArrayShape& array) {
  if (const uint64_t size = item_rules(array).search_size(); size > kMaxCounts) {
    throw Error::limit("json-contains-too-large",
                       "the bounds of several 'contains' on one array multiply to more than " +
                           std::to_string(kMaxCounts) + "; lower minContains and maxContains",
                       "max_counts", kMaxCounts);
  }
  for (const auto& places : {array.prefix, array.rest}) {
    for (const uint32_t target : places) {
      if (target != kNone) to_visit_.push_back(target);
    }
  }
  if (options_.can_spell("[]")) counted_.push_back(shape);
}

void ProductivitySolver::know_object(uint32_t shape) {
  const ObjectShape object = clauses_.object(shape);
  ObjectFacts facts;
  facts.known = true;
  facts.min = object.min;
  facts.simple = is_simple(object);
  facts.possible = options_.can_spell("{}") && object.min <= max_members(object);
  uint32_t required = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const auto [key, target, flags] = object.member(i);
    if ((flags & ObjectShape::kIsRequired) == 0) continue;
    ++required;
    facts.possible = facts.possible && target != kNone && key_spellable(key);
  }
  facts.possible = facts.possible && required <= max_members(object);
  facts.waiting = required;
  objects_[shape] = std::move(facts);
  for (std::size_t i = 0; i < object.size(); ++i) {
    const auto [key, target, flags] = object.member(i);
    const bool is_required = (flags & ObjectShape::kIsRequired) != 0;
    if (target != kNone && key_spellable(key)) {
      depend(target, {shape, is_required ? Role::kRequiredMember : Role::kMember});
    } else if (target != kNone) {
      to_visit_.push_back(target);
    }
  }
  for (const uint32_t target : object.others()) depend(target, {shape, Role::kOther});
  for (std::size_t i = 0; i < object.num_witnesses(); ++i) {
    const auto [meets, classes, members] = object.witness(i);
    for (const uint32_t target : classes) depend(target, {shape, Role::kWitness});
    for (const uint32_t target : members) depend(target, {shape, Role::kWitness});
  }
  settle_object(shape);
}

void ProductivitySolver::know_joint(uint32_t joint) {
  const JointTargets targets = clauses_.joint(joint);
  joint_[joint].known = true;
  joint_[joint].waiting = static_cast<uint32_t>(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) depend(targets.target(i), {joint, Role::kJoint});
}

// Whether the shape has a value is a matter of counting.
bool ProductivitySolver::is_simple(const ObjectShape& object) const {
  if (object.num_dependencies() != 0 || object.num_obligations() != 0) return false;
  if (!quote_spellable()) return false;
  for (uint32_t c = 0; c < object.others().size(); ++c) {
    const bool endless = object.names->count(object.names->start(), c) == kUnbounded;
    if (object.others()[c] != kNone && !endless) return false;
  }
  return true;
}

void ProductivitySolver::apply(const Use& use) {
  switch (use.role) {
    case Role::kItem:
      --arrays_[use.shape].waiting;
      settle_array(use.shape);
      return;
    case Role::kJoint:
      --joint_[use.shape].waiting;
      settle_joint(use.shape);
      return;
    case Role::kRequiredMember:
      --objects_[use.shape].waiting;
      ++objects_[use.shape].available;
      break;
    case Role::kMember: ++objects_[use.shape].available; break;
    case Role::kOther: objects_[use.shape].open = true; break;
    case Role::kWitness: break;
  }
  settle_object(use.shape);
}

void ProductivitySolver::settle_array(uint32_t shape) {
  ArrayFacts& facts = arrays_[shape];
  if (facts.productive || !facts.possible || facts.waiting != 0) return;
  facts.productive = true;
  for (const uint32_t user : facts.users) mark(user);
}

void ProductivitySolver::settle_object(uint32_t shape) {
  ObjectFacts& facts = objects_[shape];
  if (facts.productive || !facts.possible || facts.waiting != 0) return;
  if (!facts.open && facts.available < facts.min) return;
  if (!facts.simple && !plan_object(clauses_.object(shape), *this)) return;
  facts.productive = true;
  for (const uint32_t user : facts.users) mark(user);
}

void ProductivitySolver::settle_joint(uint32_t joint) {
  JointFacts& facts = joint_[joint];
  if (facts.productive || facts.waiting != 0) return;
  facts.productive = true;
  for (const uint32_t user : facts.users) mark(user);
}

void ProductivitySolver::mark(uint32_t target) {
  if (targets_[target].productive) return;
  targets_[target].productive = true;
  marked_.push_back(target);
}

void ProductivitySolver::propagate() {
  do {
    propagate_marked();
  } while (settle_counted_arrays());
}

void ProductivitySolver::propagate_marked() {
  while (!marked_.empty()) {
    const uint32_t target = marked_.back();
    marked_.pop_back();
    const std::vector<Use> uses = std::move(targets_[target].uses);
    targets_[target].uses.clear();
    for (const Use& use : uses) apply(use);
  }
}

// True if an array turned out to have values.
bool ProductivitySolver::settle_counted_arrays() {
  bool settled = false;
  uint32_t undecided = kNone;
  const auto has_values = [&](uint32_t shape) {
    const ArrayShape array = clauses_.array(shape);
    const ItemRules rules = item_rules(array);
    const std::vector<uint32_t> none(rules.contains.size(), 0);
    if (!rules.can_complete(0, none)) return false;
    const Enough enough =
        array.unique ? ValueCount(*this, options_, clauses_, langs_).enough(array) : Enough::kYes;
    if (enough == Enough::kUndecided) undecided = std::min(undecided, clauses_.unique_node(shape));
    if (enough != Enough::kYes) return false;
    arrays_[shape].productive = true;
    for (const uint32_t user : arrays_[shape].users) mark(user);
    settled = true;
    return true;
  };
  std::erase_if(counted_, has_values);
  if (!settled && undecided != kNone) {
    throw Error::unsupported(
        "json-unique-items-undecided",
        "the keyword \"uniqueItems\" is not supported here: \"minItems\" or \"contains\" need more "
        "different items than can be counted; let each position that is needed have more values, "
        "or drop \"uniqueItems\"",
        "uniqueItems", undecided);
  }
  return settled;
}

}  // namespace maskwright

#include "json/array_family.h"

#include <bit>
#include <memory>
#include <numeric>

#include "json/json_value.h"
#include "json/name_set.h"
#include "json/record_family.h"
#include "json/value_family.h"

namespace maskwright {

uint32_t ArrayFamily::group(std::span<const Alternative> alternatives) {
  std::vector<uint32_t> words;
  words.reserve(alternatives.size() * 2);
  for (const Alternative& alternative : alternatives) {
    words.push_back(alternative.accept);
    words.push_back(alternative.shape);
  }
  const auto [id, inserted] = ids_.intern(words);
  if (!inserted) return id;
  auto group = std::make_unique<Group>();
  for (const Alternative& alternative : alternatives) {
    const ArrayPlan& plan = tables_.plans.array(alternative.shape);
    const ItemRules& rules = plan.rules;
    group->options = plan.options;
    group->parts.push_back({alternative.accept, alternative.shape, &plan, group->conditions});
    group->conditions += rules.contains.size();
    group->limits.push_back({rules.min, rules.max});
    const bool bounded = rules.max != kUnbounded;
    group->prefix = std::max(group->prefix, plan.length());
    group->bounded = group->bounded || bounded;
    group->needs_more = group->needs_more || rules.min > 1;
    group->plain = group->plain && plan.plain();
    group->unique = group->unique || plan.unique;
    if (plan.unique) group->values = std::min(group->values, plan.values);
    group->cap = std::max({group->cap, plan.length(), rules.min, bounded ? rules.max : 0});
  }
  if (group->unique) group->cap = std::max(group->cap, group->values);
  has_few_values_ = has_few_values_ || (group->unique && group->values < ArrayPlan::kManyValues);
  // After an item the count is at least 1, so min = 1 is no reason to count.
  if (group->plain && !group->needs_more && !group->bounded) group->cap = group->prefix;
  make_set(group->limits);
  groups_.push_back(std::move(group));
  return id;
}

template <typename Keep>
uint32_t ArrayFamily::filter(uint32_t group_id, Progress& progress, Keep keep) {
  places_.resize(groups_[group_id]->parts.size());
  std::iota(places_.begin(), places_.end(), 0U);
  return filter(group_id, places_, progress, keep);
}

template <typename Keep>
uint32_t ArrayFamily::filter(uint32_t group_id, std::span<const uint32_t> places,
                             Progress& progress, Keep keep) {
  const Group& from = *groups_[group_id];
  std::vector<Alternative> kept;
  std::vector<uint32_t> found;
  for (const uint32_t place : places) {
    const Part& part = from.parts[place];
    const auto own = progress.of(part);
    std::vector<uint32_t> counts(own.begin(), own.end());
    if (!keep(part, counts)) continue;
    kept.push_back({part.accept, part.shape});
    found.insert(found.end(), counts.begin(), counts.end());
  }
  progress.found = std::move(found);
  return kept.size() == from.parts.size() ? group_id : group(kept);
}

// The places of the parts that an item of these targets may be for.
std::span<const uint32_t> ArrayFamily::concerned(Group& group, uint32_t count,
                                                 std::span<const uint32_t> item) {
  if (group.parts.size() < ByTarget::kMany) {
    places_.resize(group.parts.size());
    std::iota(places_.begin(), places_.end(), 0U);
    return places_;
  }
  group.by_item.resize(std::size_t{group.prefix} + 1);
  ByTarget& parts = group.by_item[std::min(count, group.prefix)];
  if (parts.empty()) {
    for (uint32_t place = 0; place < group.parts.size(); ++place) {
      const ArrayPlan& plan = *group.parts[place].plan;
      for (uint32_t cell = 0; cell < plan.cells; ++cell) parts.add(plan.item(count, cell), place);
    }
    parts.finish();
  }
  parts.find(item, places_);
  return places_;
}

ArrayFamily::Progress ArrayFamily::decode(const Group& group, Reg reg,
                                          const RegisterPool& regs) const {
  Progress progress;
  if (group.plain) {
    progress.count = reg;
    return progress;
  }
  progress.found.assign(group.conditions, 0);
  const auto words = regs.get(reg);
  if (words.empty()) return progress;
  progress.count = words[0];
  progress.used = words[1];
  std::copy(words.begin() + 2, words.end(), progress.found.begin());
  return progress;
}

Reg ArrayFamily::encode(const Group& group, const Progress& progress, RegisterPool& regs) const {
  const uint32_t count = std::min(progress.count, group.cap);
  if (group.plain) return count;
  std::vector<uint32_t> words{count, group.unique ? progress.used : 0};
  words.insert(words.end(), progress.found.begin(), progress.found.end());
  return regs.intern(words);
}

StateId ArrayFamily::at(uint32_t group_id, uint32_t phase) {
  const std::array<uint32_t, 2> content{group_id, phase};
  return tables_.store.intern(FamilyId::kArray, content);
}

StateId ArrayFamily::start(std::span<const Alternative> alternatives) {
  return at(group(alternatives), kOpen);
}

// The state before the next item for the alternatives that have one.
StateId ArrayFamily::item_state(const Group& group, const Progress& progress,
                                bool after_token) const {
  std::vector<uint32_t> targets;
  for (const Part& part : group.parts) {
    const ArrayPlan& plan = *part.plan;
    for (uint32_t cell = 0; cell < plan.cells; ++cell) {
      if (plan.rules.can_take(progress.count, progress.of(part), cell)) {
        targets.push_back(plan.item(progress.count, cell));
      }
    }
  }
  if (targets.empty()) return kDead;
  make_set(targets);
  return tables_.values->start(group.options, after_token, targets);
}

// The state after ']' for the alternatives that may end; kDead if none may.
StateId ArrayFamily::close(const Group& group, const Progress& progress) const {
  std::vector<uint32_t> accepts;
  for (const Part& part : group.parts) {
    if (part.plan->rules.can_end(progress.count, progress.of(part))) {
      accepts.push_back(part.accept);
    }
  }
  if (accepts.empty()) return kDead;
  make_set(accepts);
  return tables_.store.done(tables_.store.intern_set(accepts));
}

// The state after so many bytes of the item separator.
StateId ArrayFamily::next_item(uint32_t group_id, uint32_t separator_bytes) {
  const auto& separator = tables_.options.get(groups_[group_id]->options).item_separator;
  if (separator_bytes == separator.size()) return at(group_id, kItem);
  return at(group_id, kSeparator + separator_bytes - 1);
}

// --- states -------------------------------------------------------------------------------------

void ArrayFamily::describe(std::span<const uint32_t> content, State& state) {
  const Group& group = *groups_[content[0]];
  const JsonOptions& options = tables_.options.get(group.options);
  const uint32_t phase = content[1];
  uint16_t flags = 0;
  if (!group.plain && phase != kOpen) flags |= kHasRegister | kPooledRegister;
  if (group.cap != 0 && phase != kOpen) flags |= kHasRegister;
  if (options.whitespace && (phase == kOpen || phase == kAfterItem)) {
    flags |= kWhitespace;
    state.whitespace_limit = options.max_whitespace;
  }
  if (group.unique && (phase == kItem || phase >= kSeparator)) flags |= kSuspects;
  // In kOpen the whitespace is read here, since ']' may follow it.
  if (phase == kOpen) {
    Progress none;
    none.found.assign(group.conditions, 0);
    const StateId item = item_state(group, none, false);
    if (item != kDead) flags |= kCalls;
    if (!group.unique) state.callee = item;
  } else if (phase == kItem) {
    flags |= kCalls;
    if (group.plain && group.prefix == 0) {
      state.callee = item_state(group, {0, 0, {}}, true);
    }
  }
  state.flags = flags;
}

void ArrayFamily::expand(StateId state, RowBuilder& row) {
  const auto content = tables_.store.content(state);
  const uint32_t id = content[0];
  const uint32_t phase = content[1];
  if (phase == kOpen) {
    Progress none;
    none.found.assign(groups_[id]->conditions, 0);
    const StateId done = close(*groups_[id], none);
    if (done != kDead) row.add(']', ']', done);
  } else if (phase == kAfterItem) {
    expand_after_item(id, row);
  } else if (phase >= kSeparator) {
    const uint32_t read = phase - kSeparator + 1;
    const auto& separator = tables_.options.get(groups_[id]->options).item_separator;
    const auto byte = static_cast<uint8_t>(separator[read]);
    row.add(byte, byte, next_item(id, read + 1));
  }
}

void ArrayFamily::expand_after_item(uint32_t id, RowBuilder& row) {
  const Group& group = *groups_[id];
  const JsonOptions& options = tables_.options.get(group.options);
  if (group.needs_more || !group.plain) {
    row.add(']', ']', kDead, Op::kDynamic);
  } else {
    row.add(']', ']', close(group, {1, 0, {}}));
  }
  const auto byte = static_cast<uint8_t>(options.item_separator[0]);
  if (group.bounded || !group.plain) {
    row.add(byte, byte, kDead, Op::kDynamic);
  } else {
    row.add(byte, byte, next_item(id, 1));
  }
}

bool ArrayFamily::suspect(StateId state, Reg reg, const RegisterPool& regs,
                          std::bitset<256>& next) {
  if (decode(group_of(state), reg, regs).used == 0) return false;
  next.set();
  return true;
}

// --- steps --------------------------------------------------------------------------------------

Target ArrayFamily::scan(StateId state, Reg reg, uint8_t byte, StateId /*edge_target*/,
                         RegisterPool& regs) {
  const uint32_t id = tables_.store.content(state)[0];
  Progress progress = decode(*groups_[id], reg, regs);
  if (byte == ']') return {close(*groups_[id], progress), 0};
  // Whether a value is left for the next item is for those to say who know the others.
  if (groups_[id]->unique && progress.used != 0 && progress.count >= groups_[id]->values &&
      regs.memory() == RegisterPool::Memory::kUnsure) {
    regs.note_unsure();
    return {};
  }
  const uint32_t next = filter(id, progress, [&](const Part& part, const auto& found) {
    const ArrayPlan& plan = *part.plan;
    for (uint32_t cell = 0; cell < plan.cells; ++cell) {
      if (plan.rules.can_take(progress.count, found, cell)) return true;
    }
    return false;
  });
  const Group& group = *groups_[next];
  if (group.parts.empty()) return {};
  return {next_item(next, 1), encode(group, progress, regs)};
}

void ArrayFamily::callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) {
  const Group& group = group_of(state);
  const Progress progress = decode(group, reg, regs);
  const bool after_token = tables_.store.content(state)[1] != kOpen;
  const StateId item = item_state(group, progress, after_token);
  if (item == kDead) return;
  const RegisterPool::Memory memory = regs.memory();
  if (!group.unique || memory == RegisterPool::Memory::kIgnored) {
    out.push_back({item, 0});
  } else if (memory == RegisterPool::Memory::kExact) {
    out.push_back(tables_.records->start(item, progress.used, regs));
  } else {
    // The first item of an array that the walk began differs from all.
    out.push_back(progress.used == 0 ? Target{item, 0}
                                     : tables_.records->start(item, RegisterPool::kUnknown, regs));
  }
}

// The item as the alternative counts it; false if it is none of those that may come. Of several
// answers that hold the one with most conditions says all: those that may hold any number of times
// ask nothing for "no".
bool ArrayFamily::take_item(const Part& part, std::span<const uint32_t> accepted, uint32_t count,
                            std::vector<uint32_t>& found) const {
  const ArrayPlan& plan = *part.plan;
  uint32_t best = kNone;
  for (uint32_t cell = 0; cell < plan.cells; ++cell) {
    if (!plan.rules.can_take(count, found, cell)) continue;
    if (!in_set(accepted, plan.item(count, cell))) continue;
    if (best == kNone || std::popcount(cell) > std::popcount(best)) best = cell;
  }
  if (best == kNone) return false;
  found = plan.rules.after(found, best);
  return true;
}

// Notes an item's value; false if it was there before.
bool ArrayFamily::may_differ(const Group& group, ValueId value, Progress& progress,
                             RegisterPool& regs) const {
  if (!group.unique || regs.memory() == RegisterPool::Memory::kIgnored) return true;
  if (value == kNoValue && regs.memory() == RegisterPool::Memory::kUnsure && progress.used != 0) {
    regs.note_unsure();
    return false;
  }
  if (value == kNoValue || progress.used == RegisterPool::kUnknown) {
    progress.used = RegisterPool::kUnknown;
    return true;
  }
  if (holds_value(progress.used, value, regs)) {
    regs.note_repeated();
    return false;
  }
  progress.used = add_value(progress.used, value, regs);
  return true;
}

Target ArrayFamily::resume(StateId state, Reg reg, SetId accepted, Reg returned,
                           RegisterPool& regs) {
  const uint32_t id = tables_.store.content(state)[0];
  const auto set = tables_.store.set(accepted);
  Progress progress = decode(*groups_[id], reg, regs);
  const ValueId value =
      groups_[id]->unique ? RecordFamily::value_of(returned, regs) : ValueId{kNoValue};
  const bool differs = may_differ(*groups_[id], value, progress, regs);
  const auto places = concerned(*groups_[id], progress.count, set);
  const uint32_t next = filter(id, places, progress, [&](const Part& part, auto& found) {
    return (differs || !part.plan->unique) && take_item(part, set, progress.count, found);
  });
  const Group& group = *groups_[next];
  if (group.parts.empty()) return {};
  if (progress.count != kUnbounded) ++progress.count;
  return {at(next, kAfterItem), encode(group, progress, regs)};
}

// --- masks --------------------------------------------------------------------------------------

Target ArrayFamily::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  const Group& group = group_of(state);
  Progress progress = decode(group, reg, from);
  if (progress.used != 0) progress.used = RegisterPool::kUnknown;
  return {state, encode(group, progress, to)};
}

Target ArrayFamily::forget(StateId state, Reg reg, RegisterPool& regs) {
  const Group& group = group_of(state);
  Progress progress = decode(group, reg, regs);
  if (progress.used == 0) return {state, reg};
  progress.used = 0;
  return {state, encode(group, progress, regs)};
}

uint32_t ArrayFamily::remembered(StateId state, Reg reg, const RegisterPool& regs) {
  const Reg used = decode(group_of(state), reg, regs).used;
  if (used == 0 || used == RegisterPool::kUnknown) return 0;
  uint32_t count = count_names(strings_in(used, regs), regs);
  for (Reg others = others_of(used, regs); others != 0; others = regs.get(others)[0]) ++count;
  return count;
}

void ArrayFamily::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  const Group& group = group_of(state);
  const Progress progress = decode(group, reg, regs);
  const uint32_t count = progress.count;
  key.push_back(state);
  if (!group.plain) {
    key.push_back(progress.used != 0 ? 1 : 0);
    if (group.unique) {
      const uint32_t left = group.values > count ? group.values - count : 0;
      key.push_back(std::min(left, tables_.store.max_advance()));
    }
    for (const Part& part : group.parts) append_conditions(part, progress, key);
  }
  if (count < group.prefix) {
    key.push_back(count);
    return;
  }
  const uint32_t advance = tables_.store.max_advance();
  key.push_back(group.prefix);
  for (const Limits& limits : group.limits) {
    key.push_back(limits.min > count ? std::min(limits.min - count, advance) : 0);
    key.push_back(limits.max == kUnbounded ? advance : std::min(limits.max - count, advance));
  }
}

// What an alternative's conditions need and allow. Their bounds and those of the array depend on
// each other; where that could be seen within a token, the counts themselves decide.
void ArrayFamily::append_conditions(const Part& part, const Progress& progress,
                                    KeyWords& key) const {
  const ItemRules& rules = part.plan->rules;
  if (rules.contains.empty()) return;
  const auto found = progress.of(part);
  const uint64_t advance = tables_.store.max_advance();
  uint64_t needed = 0;
  bool limited = false;
  for (std::size_t k = 0; k < rules.contains.size(); ++k) {
    const ItemCount& count = rules.contains[k];
    if (count.min > found[k]) needed += count.min - found[k];
    limited = limited || count.max != kUnbounded;
  }
  const bool tight = rules.max != kUnbounded && rules.max - progress.count < needed + advance;
  const bool exact = (needed != 0 && (tight || limited)) || rules.min > progress.count;
  key.push_back(exact ? 1 : 0);
  if (exact) {
    key.push_back(progress.count);
    key.insert(key.end(), found.begin(), found.end());
    return;
  }
  for (std::size_t k = 0; k < rules.contains.size(); ++k) {
    const ItemCount& count = rules.contains[k];
    const uint64_t missing = count.min > found[k] ? count.min - found[k] : 0;
    key.push_back(static_cast<uint32_t>(std::min(missing, advance)));
    if (count.max != kUnbounded) key.push_back(found[k]);
  }
}

bool ArrayFamily::append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) {
  const Group& group = group_of(state);
  const uint32_t phase = tables_.store.content(state)[1];
  key.add(phase);
  tables_.options.append_layout(group.options, key);
  // What is not counted is 1 or more once there was an item.
  return append_plain(group, phase == kOpen ? 0 : std::max(reg, 1U), regs, key);
}

bool ArrayFamily::append_start(const Alternative& alternative, RegisterPool& regs, SharedKey& key) {
  return append_plain(*groups_[group({&alternative, 1})], 0, regs, key);
}

// One alternative, all items of which are judged alike and one by one.
bool ArrayFamily::append_plain(const Group& group, uint32_t count, RegisterPool& regs,
                               SharedKey& key) {
  if (group.parts.size() != 1 || !group.plain || group.prefix != 0) return false;
  const Part& part = group.parts[0];
  const ItemRules& rules = part.plan->rules;
  if (!rules.contains.empty()) return false;
  const uint32_t advance = tables_.store.max_advance();
  key.add_callee(part.accept);
  key.add(rules.min > count ? std::min(rules.min - count, advance) : 0);
  key.add(rules.max == kUnbounded ? advance : std::min(rules.max - count, advance));
  const uint32_t target = part.plan->item(0);
  key.add(target == kNone ? 0 : 1);
  if (target == kNone) return true;
  const StateId item = tables_.values->start(group.options, true, {&target, 1});
  return tables_.values->append_inner(item, regs, key);
}

}  // namespace maskwright

#include "json/array_family.h"

#include <memory>

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
    group->options = plan.options;
    group->parts.push_back({alternative.accept, alternative.shape, &plan});
    group->limits.push_back({plan.min, plan.max});
    const auto prefix = static_cast<uint32_t>(plan.prefix.size());
    const bool bounded = plan.max != kUnbounded;
    group->prefix = std::max(group->prefix, prefix);
    group->bounded = group->bounded || bounded;
    group->needs_more = group->needs_more || plan.min > 1;
    // After an item the count is at least 1, so min = 1 is no reason to count.
    group->cap =
        std::max({group->cap, prefix, plan.min > 1 ? plan.min : 0, bounded ? plan.max : 0});
  }
  make_set(group->limits);
  groups_.push_back(std::move(group));
  return id;
}

template <typename Keep>
uint32_t ArrayFamily::filter(uint32_t group_id, Keep keep) {
  const Group& from = *groups_[group_id];
  std::vector<Alternative> kept;
  for (const Part& part : from.parts) {
    if (keep(part)) kept.push_back({part.accept, part.shape});
  }
  return kept.size() == from.parts.size() ? group_id : group(kept);
}

StateId ArrayFamily::at(uint32_t group_id, uint32_t phase) {
  const std::array<uint32_t, 2> content{group_id, phase};
  return tables_.store.intern(FamilyId::kArray, content);
}

StateId ArrayFamily::start(std::span<const Alternative> alternatives) {
  return at(group(alternatives), kOpen);
}

// The state before item `index` for the alternatives that have one.
StateId ArrayFamily::item_state(const Group& group, uint32_t index, bool after_token) const {
  std::vector<uint32_t> targets;
  for (const Part& part : group.parts) {
    if (index < part.plan->max) targets.push_back(part.plan->item(index));
  }
  if (targets.empty()) return kDead;
  make_set(targets);
  return tables_.values->start(group.options, after_token, targets);
}

// The state after ']' for the alternatives that may end; kDead if none may.
StateId ArrayFamily::close(const Group& group, uint32_t count) const {
  std::vector<uint32_t> accepts;
  for (const Part& part : group.parts) {
    if (count >= part.plan->min) accepts.push_back(part.accept);
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

void ArrayFamily::describe(std::span<const uint32_t> content, State& state) {
  const Group& group = *groups_[content[0]];
  const JsonOptions& options = tables_.options.get(group.options);
  const uint32_t phase = content[1];
  uint16_t flags = 0;
  if (group.cap != 0 && phase != kOpen) flags |= kHasRegister;
  if (options.whitespace && (phase == kOpen || phase == kAfterItem)) {
    flags |= kWhitespace;
    state.whitespace_limit = options.max_whitespace;
  }
  // In kOpen the whitespace is read here, since ']' may follow it.
  if (phase == kOpen) {
    state.callee = item_state(group, 0, false);
    if (state.callee != kDead) flags |= kCalls;
  } else if (phase == kItem) {
    flags |= kCalls;
    if (group.prefix == 0) state.callee = item_state(group, 0, true);
  }
  state.flags = flags;
}

void ArrayFamily::expand(StateId state, RowBuilder& row) {
  const auto content = tables_.store.content(state);
  const uint32_t id = content[0];
  const uint32_t phase = content[1];
  if (phase == kOpen) {
    const StateId done = close(*groups_[id], 0);
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
  if (group.needs_more) {
    row.add(']', ']', kDead, Op::kDynamic);
  } else {
    row.add(']', ']', close(group, 1));
  }
  const auto byte = static_cast<uint8_t>(options.item_separator[0]);
  if (group.bounded) {
    row.add(byte, byte, kDead, Op::kDynamic);
  } else {
    row.add(byte, byte, next_item(id, 1));
  }
}

Target ArrayFamily::scan(StateId state, Reg reg, uint8_t byte, StateId /*edge_target*/,
                         RegisterPool& /*regs*/) {
  const uint32_t id = tables_.store.content(state)[0];
  if (byte == ']') return {close(*groups_[id], reg), 0};
  const uint32_t next = filter(id, [&](const Part& part) { return reg < part.plan->max; });
  const Group& group = *groups_[next];
  if (group.parts.empty()) return {};
  return {next_item(next, 1), std::min(reg, group.cap)};
}

void ArrayFamily::callees(StateId state, Reg reg, RegisterPool& /*regs*/,
                          std::vector<Target>& out) {
  const auto content = tables_.store.content(state);
  out.push_back({item_state(*groups_[content[0]], reg, content[1] != kOpen), 0});
}

Target ArrayFamily::resume(StateId state, Reg reg, SetId accepted, Reg /*returned*/,
                           RegisterPool& /*regs*/) {
  const uint32_t id = tables_.store.content(state)[0];
  const auto set = tables_.store.set(accepted);
  const uint32_t next = filter(id, [&](const Part& part) {
    return reg < part.plan->max && in_set(set, part.plan->item(reg));
  });
  const Group& group = *groups_[next];
  if (group.parts.empty()) return {};
  const uint32_t count = reg == kUnbounded ? reg : reg + 1;
  return {at(next, kAfterItem), std::min(count, group.cap)};
}

void ArrayFamily::mask_key(StateId state, Reg reg, const RegisterPool& /*regs*/, KeyWords& key) {
  const Group& group = *groups_[tables_.store.content(state)[0]];
  key.push_back(state);
  if (reg < group.prefix) {
    key.push_back(reg);
    return;
  }
  const uint32_t advance = tables_.store.max_advance();
  key.push_back(group.prefix);
  for (const Limits& limits : group.limits) {
    key.push_back(limits.min > reg ? std::min(limits.min - reg, advance) : 0);
    key.push_back(limits.max == kUnbounded ? advance : std::min(limits.max - reg, advance));
  }
}

}  // namespace maskwright

#include "json/machine_plan.h"

#include <algorithm>

#include "maskwright/automata/store.h"

namespace maskwright {

uint32_t PlanTable::callee(uint32_t target) const {
  return solver_.target_productive(target) ? target | kTargetTag : kNone;
}

const ArrayPlan& PlanTable::array(uint32_t shape) {
  if (arrays_.size() <= shape) arrays_.resize(shape + 1);
  if (!arrays_[shape]) arrays_[shape] = std::make_unique<ArrayPlan>(plan_array(shape));
  return *arrays_[shape];
}

const ObjectPlan& PlanTable::object(uint32_t shape) {
  if (objects_.size() <= shape) objects_.resize(shape + 1);
  if (!objects_[shape]) objects_[shape] = std::make_unique<ObjectPlan>(plan_object(shape));
  return *objects_[shape];
}

ArrayPlan PlanTable::plan_array(uint32_t shape) const {
  const ArrayShape from = clauses_.array(shape);
  ArrayPlan plan;
  plan.options = from.options;
  plan.min = from.min;
  plan.max = solver_.max_items(from);
  plan.rest = callee(from.rest);
  for (const uint32_t target : from.prefix) {
    if (plan.prefix.size() == plan.max) break;
    const uint32_t item = callee(target);
    if (item == kNone) {
      plan.max = static_cast<uint32_t>(plan.prefix.size());
      break;
    }
    plan.prefix.push_back(item);
  }
  const auto length = static_cast<uint32_t>(plan.prefix.size());
  if (plan.rest == kNone) plan.max = std::min(plan.max, length);
  // One form for equal shapes: the prefix holds only what differs from the rest.
  if (plan.max <= length) plan.rest = plan.prefix.empty() ? kNone : plan.prefix.back();
  while (!plan.prefix.empty() && plan.prefix.back() == plan.rest) plan.prefix.pop_back();
  return plan;
}

ObjectPlan PlanTable::plan_object(uint32_t shape) const {
  const ObjectShape from = clauses_.object(shape);
  ObjectPlan plan;
  plan.options = from.options;
  plan.min = from.min;
  plan.max = solver_.max_members(from);
  plan.other = solver_.names_spellable() ? callee(from.other) : kNone;
  uint32_t required = 0;
  uint32_t usable = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto [key, target, flags] = from.member(i);
    const uint32_t value = solver_.key_spellable(key) ? callee(target) : kNone;
    // Where no other names may come, a refused member is like any other name.
    if (value == kNone && plan.other == kNone) continue;
    const bool is_required = (flags & ObjectShape::kIsRequired) != 0;
    plan.members.push_back({key, value, is_required, (flags & ObjectShape::kIsUndeclared) != 0});
    required += is_required ? 1 : 0;
    usable += value != kNone ? 1 : 0;
  }
  if (plan.min <= required) plan.min = 0;
  if (plan.other == kNone && plan.max >= usable) plan.max = kNone;
  return plan;
}

}  // namespace maskwright

#include "json/machine_plan.h"

#include <algorithm>

namespace maskwright {

const ArrayPlan& PlanTable::array(uint32_t shape) {
  if (arrays_.size() <= shape) arrays_.resize(shape + 1);
  if (!arrays_[shape]) arrays_[shape] = std::make_unique<ArrayPlan>(plan_array(shape));
  return *arrays_[shape];
}

const ObjectPlan& PlanTable::object(uint32_t shape) {
  if (objects_.size() <= shape) objects_.resize(shape + 1);
  if (!objects_[shape])
    objects_[shape] = std::make_unique<ObjectPlan>(*plan_object(clauses_.object(shape), solver_));
  return *objects_[shape];
}

ArrayPlan PlanTable::plan_array(uint32_t shape) const {
  const ArrayShape from = clauses_.array(shape);
  ArrayPlan plan;
  plan.options = from.options;
  plan.min = from.min;
  plan.max = solver_.max_items(from);
  plan.rest = callee(from.rest, solver_);
  for (const uint32_t target : from.prefix) {
    if (plan.prefix.size() == plan.max) break;
    const uint32_t item = callee(target, solver_);
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

}  // namespace maskwright

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
  plan.unique = from.unique;
  if (plan.unique) plan.values = solver_.least_values(from, ArrayPlan::kManyValues);
  plan.rules = solver_.item_rules(from);
  plan.cells = static_cast<uint32_t>(from.cells());
  for (const uint32_t target : from.rest) plan.rest.push_back(callee(target, solver_));
  for (const uint32_t target : from.prefix) plan.prefix.push_back(callee(target, solver_));
  if (plan.cells == 1) trim(plan);
  return plan;
}

// Gives equal shapes one form: the largest count says where places without values end the array,
// and the prefix holds only what differs from the rest.
void PlanTable::trim(ArrayPlan& plan) const {
  std::vector<uint32_t>& prefix = plan.prefix;
  uint32_t& max = plan.rules.max;
  const auto end = std::find(prefix.begin(), prefix.end(), kNone);
  if (end != prefix.end()) max = std::min(max, static_cast<uint32_t>(end - prefix.begin()));
  if (prefix.size() > max) prefix.resize(max);
  const auto length = static_cast<uint32_t>(prefix.size());
  if (plan.rest[0] == kNone) max = std::min(max, length);
  if (max <= length) plan.rest[0] = prefix.empty() ? kNone : prefix.back();
  while (!prefix.empty() && prefix.back() == plan.rest[0]) prefix.pop_back();
  plan.rules.prefix.assign(prefix.size(), 1);
  plan.rules.rest = plan.rest[0] == kNone ? 0 : 1;
}

}  // namespace maskwright

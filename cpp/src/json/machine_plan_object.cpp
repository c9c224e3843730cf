// Plans of objects: what can never be completed is taken out.
#include <algorithm>

#include "json/machine_plan.h"
#include "json/member_cover.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

// Makes one plan.
class ObjectPlanner {
 public:
  ObjectPlanner(const ObjectShape& shape, ProductivitySolver& solver)
      : shape_(shape), solver_(solver) {}

  std::optional<ObjectPlan> make() {
    plan_.options = shape_.options;
    plan_.min = shape_.min;
    plan_.max = solver_.max_members(shape_);
    plan_.names = shape_.names;
    add_others();
    add_members();
    refuse_dependents();
    if (!require_needed()) return std::nullopt;
    const uint32_t usable = count([](const auto& member) { return member.target != kNone; });
    const uint32_t required = count([](const auto& member) { return member.required; });
    const uint32_t capacity = add_counts(usable, plan_.room);
    if (required > plan_.max || plan_.min > std::min(plan_.max, capacity)) return std::nullopt;
    if (!add_obligations(required)) return std::nullopt;
    if (plan_.min <= required) plan_.min = 0;
    if (plan_.max >= capacity) plan_.max = kNone;
    return std::move(plan_);
  }

 private:
  template <typename Is>
  uint32_t count(Is is) const {
    return static_cast<uint32_t>(std::ranges::count_if(plan_.members, is));
  }

  // How many names of the class no member lists.
  uint32_t unlisted(uint32_t name_class) const {
    const NameClasses& names = *shape_.names;
    uint32_t left = names.count(names.start(), name_class);
    for (std::size_t i = 0; left != kUnbounded && i < shape_.size(); ++i) {
      if (names.class_of(solver_.key_text(shape_.member(i).key)) == name_class) --left;
    }
    return left;
  }

  void add_others() {
    const auto targets = shape_.others();
    for (uint32_t c = 0; c < targets.size(); ++c) {
      const uint32_t names = targets[c] == kNone || !solver_.quote_spellable() ? 0 : unlisted(c);
      plan_.others.push_back(names == 0 ? kNone : callee(targets[c], solver_));
      if (plan_.others[c] != kNone) plan_.room = add_counts(plan_.room, names);
    }
  }

  void add_members() {
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      const auto [key, target, flags] = shape_.member(i);
      const uint32_t value = solver_.key_spellable(key) ? callee(target, solver_) : kNone;
      plan_.members.push_back({key, value, (flags & ObjectShape::kIsRequired) != 0,
                               (flags & ObjectShape::kIsUndeclared) != 0});
    }
  }

  // What needs a member that is refused is refused too.
  void refuse_dependents() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < shape_.num_dependencies(); ++i) {
        const auto [trigger, needed] = shape_.dependency(i);
        if (plan_.members[needed].target != kNone) continue;
        if (plan_.members[trigger].target == kNone) continue;
        plan_.members[trigger].target = kNone;
        changed = true;
      }
    }
    for (std::size_t i = 0; i < shape_.num_dependencies(); ++i) {
      const auto [trigger, needed] = shape_.dependency(i);
      if (plan_.members[trigger].target != kNone) plan_.dependencies.emplace_back(trigger, needed);
    }
  }

  // What a required member needs is required. False if something required is refused.
  bool require_needed() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [trigger, needed] : plan_.dependencies) {
        if (!plan_.members[trigger].required || plan_.members[needed].required) continue;
        plan_.members[needed].required = true;
        changed = true;
      }
    }
    return std::ranges::none_of(plan_.members, [](const auto& member) {
      return member.required && member.target == kNone;
    });
  }

  // The members that are required beyond those that are anyway if this one is there.
  uint32_t cost(uint32_t member) const {
    std::vector<bool> met(plan_.members.size(), false);
    std::vector<uint32_t> stack{member};
    uint32_t cost = 0;
    while (!stack.empty()) {
      const uint32_t next = stack.back();
      stack.pop_back();
      if (met[next] || plan_.members[next].required) continue;
      met[next] = true;
      ++cost;
      for (const auto& [trigger, needed] : plan_.dependencies) {
        if (trigger == next) stack.push_back(needed);
      }
    }
    return cost;
  }

  bool add_obligations(uint32_t required) {
    plan_.num_by_name = shape_.num_by_name();
    plan_.num_obligations = shape_.num_obligations();
    for (std::size_t i = 0; i < shape_.num_witnesses(); ++i) {
      const auto [meets, classes, members] = shape_.witness(i);
      ObjectPlan::Witness to{meets, {}, {}};
      for (uint32_t c = 0; c < plan_.others.size(); ++c) {
        to.classes.push_back(plan_.others[c] == kNone ? kNone : callee(classes[c], solver_));
      }
      for (uint32_t m = 0; m < plan_.members.size(); ++m) {
        const bool refused = plan_.members[m].target == kNone;
        to.members.push_back(refused ? kNone : callee(members[m], solver_));
      }
      plan_.witnesses.push_back(std::move(to));
    }
    return plan_.num_obligations == 0 || can_meet_all(required);
  }

  bool can_meet_all(uint32_t required) const {
    const uint32_t all = (1U << plan_.num_obligations) - 1;
    const uint32_t by_name = (1U << plan_.num_by_name) - 1;
    const bool limited = plan_.max != kNone;
    MemberCover cover(all, by_name, limited ? plan_.max - required : kUnbounded);
    const auto offers_by = [&](const auto& target) {
      return offers(plan_.witnesses, all, plan_.num_by_name, target);
    };
    for (uint32_t c = 0; c < plan_.others.size() && !cover.done(); ++c) {
      if (plan_.others[c] == kNone) continue;
      cover.add(offers_by([&](const auto& witness) { return witness.classes[c]; }), 1, true);
    }
    for (uint32_t m = 0; m < plan_.members.size() && !cover.done(); ++m) {
      if (plan_.members[m].target == kNone) continue;
      cover.add(offers_by([&](const auto& witness) { return witness.members[m]; }),
                limited ? cost(m) : 0, false);
    }
    return cover.done();
  }

  const ObjectShape& shape_;
  ProductivitySolver& solver_;
  ObjectPlan plan_;
};

}  // namespace

std::optional<ObjectPlan> plan_object(const ObjectShape& shape, ProductivitySolver& solver) {
  return ObjectPlanner(shape, solver).make();
}

}  // namespace maskwright

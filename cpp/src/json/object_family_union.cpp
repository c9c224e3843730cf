#include "json/object_family_union.h"

#include <unordered_map>

namespace maskwright {

ObjectAlternative::Place ObjectAlternative::find(uint32_t key) const {
  const auto at = std::lower_bound(named.begin(), named.end(), key,
                                   [](const Named& n, uint32_t k) { return n.key < k; });
  if (at != named.end() && at->key == key) return at->place;
  return {Role::kOther, 0};
}

uint32_t ObjectAlternative::target(uint32_t key) const {
  const Place place = find(key);
  switch (place.role) {
    case Role::kOrdered: return ordered[place.index].target;
    case Role::kExtra: return extras[place.index].target;
    case Role::kRefused: return kNone;
    case Role::kOther: break;
  }
  return other;
}

namespace {

using KeyIndex = std::unordered_map<uint32_t, uint32_t>;  // KeyTable id -> index in the union

ObjectAlternative make_alternative(const Alternative& identity, const ObjectPlan& plan,
                                   bool any_order, const KeyIndex& index) {
  using Role = ObjectAlternative::Role;
  ObjectAlternative out;
  out.identity = identity;
  out.min = plan.min;
  out.max = plan.max;
  out.other = plan.other;
  out.any_order = any_order;
  for (const ObjectPlan::Member& member : plan.members) {
    const uint32_t key = index.at(member.key);
    out.has_required = out.has_required || member.required;
    if (member.target == kNone) {
      out.named.push_back({key, {Role::kRefused, 0}});
      out.refused.push_back(key);
      continue;
    }
    const bool extra = member.undeclared && !any_order;
    auto& list = extra ? out.extras : out.ordered;
    out.named.push_back(
        {key, {extra ? Role::kExtra : Role::kOrdered, static_cast<uint32_t>(list.size())}});
    list.push_back({key, member.target, member.required});
  }
  std::sort(out.named.begin(), out.named.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return out;
}

}  // namespace

std::unique_ptr<ObjectUnion> ObjectUnions::build(std::span<const Alternative> alternatives) {
  auto all = std::make_unique<ObjectUnion>();
  std::vector<uint32_t> keys;
  for (const Alternative& alternative : alternatives) {
    const ObjectPlan& plan = tables_.plans.object(alternative.shape);
    all->options = plan.options;
    for (const auto& member : plan.members) keys.push_back(member.key);
  }
  make_set(keys);
  const KeyTable& texts = tables_.clauses.keys();
  // The order of UTF-8 bytes is the order of code points.
  std::sort(keys.begin(), keys.end(),
            [&](uint32_t a, uint32_t b) { return texts.get(a) < texts.get(b); });
  KeyIndex index;
  std::vector<std::string> names;
  for (const uint32_t key : keys) {
    index.emplace(key, static_cast<uint32_t>(names.size()));
    names.push_back(texts.get(key));
  }
  all->num_keys = static_cast<uint32_t>(keys.size());
  all->key_state = tables_.names->start(tables_.names->key_list(names));
  const bool any_order = tables_.options.get(all->options).any_order;
  for (const Alternative& alternative : alternatives) {
    all->alternatives.push_back(
        make_alternative(alternative, tables_.plans.object(alternative.shape), any_order, index));
  }
  return all;
}

const AliveSet& ObjectUnions::start(std::span<const Alternative> alternatives) {
  std::vector<uint32_t> words;
  for (const Alternative& alternative : alternatives) {
    words.push_back(alternative.accept);
    words.push_back(alternative.shape);
  }
  const auto [id, inserted] = union_ids_.intern(words);
  if (inserted) unions_.push_back(build(alternatives));
  std::vector<uint32_t> everything{id};
  for (uint32_t i = 0; i < alternatives.size(); ++i) everything.push_back(i);
  return intern(everything);
}

const AliveSet& ObjectUnions::intern(std::span<const uint32_t> words) {
  const auto [id, inserted] = alive_ids_.intern(words);
  if (!inserted) return *alive_[id];
  auto alive = std::make_unique<AliveSet>();
  alive->id = id;
  alive->union_id = words[0];
  alive->all = unions_[words[0]].get();
  alive->alternatives.assign(words.begin() + 1, words.end());
  for (const uint32_t i : alive->alternatives) {
    const ObjectAlternative& alternative = alive->all->alternatives[i];
    const bool bounded = alternative.max != kUnbounded;
    alive->open = alive->open || alternative.open();
    alive->counted = alive->counted || alternative.counted();
    alive->cap = std::max({alive->cap, alternative.min, bounded ? alternative.max : 0});
    if (alternative.has_required || alternative.min > 1) alive->always_closes = false;
    if (!alternative.open() || bounded) alive->always_continues = false;
  }
  alive_.push_back(std::move(alive));
  return *alive_.back();
}

}  // namespace maskwright

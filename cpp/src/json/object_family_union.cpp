#include "json/object_family_union.h"

#include <unordered_map>

namespace maskwright {

using Role = ObjectAlternative::Role;

ObjectAlternative::Place ObjectAlternative::find(uint32_t key) const {
  const auto at = std::lower_bound(named.begin(), named.end(), key,
                                   [](const Named& n, uint32_t k) { return n.key < k; });
  if (at != named.end() && at->key == key) return at->place;
  return {open() ? Role::kOther : Role::kRefused, 0};
}

ObjectAlternative::Place ObjectAlternative::find(std::span<const uint32_t> labels) const {
  if (labels[0] < num_keys) return find(labels[0]);
  const auto label = std::ranges::lower_bound(labels, label_base);
  if (label == labels.end() || *label - label_base >= others.size()) return {Role::kRefused, 0};
  const uint32_t name_class = *label - label_base;
  return {others[name_class] == kNone ? Role::kRefused : Role::kOther, name_class};
}

uint32_t ObjectAlternative::target(Place place) const {
  switch (place.role) {
    case Role::kOrdered: return ordered[place.index].target;
    case Role::kExtra: return extras[place.index].target;
    case Role::kOther: return others[place.index];
    case Role::kRefused: break;
  }
  return kNone;
}

uint32_t ObjectAlternative::target(const Witness& witness, uint32_t key, Place place) {
  if (place.role == Role::kRefused) return kNone;
  if (place.role == Role::kOther) return witness.classes[place.index];
  const auto at = std::ranges::lower_bound(witness.members, std::pair{key, 0U});
  return at != witness.members.end() && at->first == key ? at->second : kNone;
}

namespace {

// The keys of a union's list, and how its alternatives read the names outside.
struct UnionKeys {
  std::vector<std::string> names;
  std::unordered_map<uint32_t, uint32_t> index;  // KeyTable id -> index in names
  std::vector<const NameClasses*> classes;
  std::vector<uint32_t> bases;  // of the labels, and the end

  uint32_t base_of(const NameClasses* wanted) const {
    const auto at = std::ranges::find(classes, wanted) - classes.begin();
    return bases[static_cast<std::size_t>(at)];
  }
};

// A refused member need not be known where no other names may come.
bool matters(const ObjectPlan& plan, const ObjectPlan::Member& member) {
  return member.target != kNone || plan.room != 0;
}

void add_obligations(const ObjectPlan& plan, const UnionKeys& keys, ObjectAlternative& out) {
  out.obligations = (1U << plan.num_obligations) - 1;
  out.by_name = (1U << plan.num_by_name) - 1;
  for (const auto& from : plan.witnesses) {
    ObjectAlternative::Witness to{from.meets, from.classes, {}};
    const bool open =
        std::ranges::any_of(from.classes, [](uint32_t target) { return target != kNone; });
    if (open && std::has_single_bit(from.meets)) out.easy |= from.meets;
    for (std::size_t m = 0; m < plan.members.size(); ++m) {
      if (from.members[m] == kNone) continue;
      to.members.emplace_back(keys.index.at(plan.members[m].key), from.members[m]);
    }
    std::ranges::sort(to.members);
    out.witnesses.push_back(std::move(to));
  }
}

// Gives the keys that the alternative does not mention the role that their class has.
void add_other_keys(const ObjectPlan& plan, const UnionKeys& keys, ObjectAlternative& out) {
  if (plan.names->plain() || !out.open()) return;
  std::vector<bool> met(keys.names.size(), false);
  for (const auto& named : out.named) met[named.key] = true;
  for (uint32_t key = 0; key < keys.names.size(); ++key) {
    if (met[key]) continue;
    const uint32_t name_class = plan.names->class_of(keys.names[key]);
    const bool refused = name_class == kNone || plan.others[name_class] == kNone;
    out.named.push_back({key, {refused ? Role::kRefused : Role::kOther, name_class}});
    if (refused) out.refused.push_back(key);
  }
}

void add_bits(ObjectAlternative& out) {
  const std::size_t words = (std::size_t{out.num_keys} + 31) / 32;
  out.required.assign(words, 0);
  out.usable.assign(words, 0);
  for (const ObjectMember& member : out.ordered) {
    const uint32_t bit = 1U << member.key % 32;
    out.usable[member.key / 32] |= bit;
    if (member.required) out.required[member.key / 32] |= bit;
  }
}

// The names that a part of joint targets owns. It knows no others.
void own(const JointTargets& joint, const UnionKeys& keys, ObjectAlternative& out) {
  out.num_parts = static_cast<uint32_t>(joint.size());
  out.owns_others = out.identity.part == 0;
  out.owned.assign((keys.names.size() + 31) / 32, out.owns_others ? ~0U : 0U);
  joint.each_owned([&](std::size_t part, std::span<const uint32_t> owned) {
    if (part != out.identity.part && !out.owns_others) return;
    for (const uint32_t id : owned) {
      const auto key = keys.index.find(id);
      if (key != keys.index.end()) out.owned[key->second / 32] ^= 1U << key->second % 32;
    }
  });
}

ObjectAlternative make_alternative(JsonTables& tables, const Alternative& identity,
                                   const UnionKeys& keys) {
  const ObjectPlan& plan = tables.plans.object(identity.shape);
  const bool any_order = tables.options.get(plan.options).any_order;
  ObjectAlternative out;
  out.identity = identity;
  out.min = plan.min;
  out.max = plan.max;
  out.num_keys = static_cast<uint32_t>(keys.names.size());
  out.label_base = keys.base_of(plan.names);
  out.others = plan.others;
  out.room = plan.room;
  out.any_order = any_order;
  if (identity.joint != kNone) own(tables.targets.joint(identity.joint), keys, out);
  for (const ObjectPlan::Member& member : plan.members) {
    if (!matters(plan, member) || !out.owns(keys.index.at(member.key))) continue;
    const uint32_t key = keys.index.at(member.key);
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
  add_other_keys(plan, keys, out);
  std::sort(out.named.begin(), out.named.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  for (const auto& [member, needed] : plan.dependencies) {
    const uint32_t key = keys.index.at(plan.members[member].key);
    if (out.owns(key)) out.dependencies.emplace_back(key, keys.index.at(plan.members[needed].key));
  }
  std::ranges::sort(out.dependencies);
  for (const auto& [trigger, needed] : out.dependencies)
    out.needed_by.emplace_back(needed, trigger);
  std::ranges::sort(out.needed_by);
  add_obligations(plan, keys, out);
  out.plain = any_order && !out.limited() && !out.counted() && out.dependencies.empty() &&
              out.obligations == 0;
  out.free = out.plain && plan.names->plain() && out.open();
  if (out.plain) add_bits(out);
  return out;
}

UnionKeys collect_keys(JsonTables& tables, std::span<const Alternative> alternatives) {
  UnionKeys out;
  std::vector<uint32_t> keys;
  for (const Alternative& alternative : alternatives) {
    const ObjectPlan& plan = tables.plans.object(alternative.shape);
    for (const auto& member : plan.members) {
      if (matters(plan, member)) keys.push_back(member.key);
    }
    if (std::ranges::find(out.classes, plan.names) == out.classes.end()) {
      out.classes.push_back(plan.names);
    }
  }
  make_set(keys);
  const KeyTable& texts = tables.clauses.keys();
  // The order of UTF-8 bytes is the order of code points.
  std::sort(keys.begin(), keys.end(),
            [&](uint32_t a, uint32_t b) { return texts.get(a) < texts.get(b); });
  for (const uint32_t key : keys) {
    out.index.emplace(key, static_cast<uint32_t>(out.names.size()));
    out.names.push_back(texts.get(key));
  }
  out.bases.push_back(static_cast<uint32_t>(keys.size()));
  for (const NameClasses* names : out.classes)
    out.bases.push_back(out.bases.back() + names->size());
  return out;
}

}  // namespace

std::unique_ptr<ObjectUnion> ObjectUnions::build(std::span<const Alternative> alternatives) {
  auto all = std::make_unique<ObjectUnion>();
  const UnionKeys keys = collect_keys(tables_, alternatives);
  all->options = tables_.plans.object(alternatives[0].shape).options;
  all->num_keys = static_cast<uint32_t>(keys.names.size());
  all->num_labels = keys.bases.back();
  all->endless = std::ranges::all_of(keys.classes, [](const NameClasses* names) {
    return names->start() == kDeadLang || names->endless(names->start());
  });
  all->key_state = tables_.names->start(tables_.names->key_list(keys.names, keys.classes));
  all->quoted = std::ranges::any_of(
      keys.names, [&](const std::string& name) { return tables_.store.tokens_quote(name); });
  all->reached.assign(all->num_words(), 0);
  for (uint32_t key = 0; key < all->num_keys; ++key) {
    const std::string& name = keys.names[key];
    const bool reached = tables_.store.tokens_reach_name(name);
    if (reached) all->reached[key / 32] |= 1U << key % 32;
    all->next_seen = all->next_seen || reached || name.empty();
    all->first_seen = all->first_seen || name.empty() || tables_.store.tokens_begin_name(name);
  }
  for (const Alternative& alternative : alternatives) {
    all->alternatives.push_back(make_alternative(tables_, alternative, keys));
    all->joint = all->joint || alternative.joint != kNone;
    if (!all->alternatives.back().open()) continue;
    has_other_names_ = true;
    has_name_classes_ =
        has_name_classes_ || !tables_.plans.object(alternative.shape).names->plain();
  }
  return all;
}

const AliveSet& ObjectUnions::start(std::span<const Alternative> alternatives) {
  std::vector<uint32_t> words;
  for (const Alternative& alternative : alternatives) {
    words.insert(words.end(),
                 {alternative.accept, alternative.shape, alternative.joint, alternative.part});
  }
  const auto [id, inserted] = union_ids_.intern(words);
  if (inserted) unions_.push_back(build(alternatives));
  std::vector<AliveAlternative> everything;
  for (uint32_t i = 0; i < alternatives.size(); ++i) everything.push_back({i, 0, 0});
  return intern(id, everything);
}

const AliveSet* ObjectUnions::part(const AliveSet& from, std::vector<AliveAlternative> kept) {
  if (from.all->joint) drop_incomplete(from, kept);
  if (kept.empty()) return nullptr;
  return kept == from.alternatives ? &from : &intern(from.union_id, kept);
}

// Takes out alternatives that stand for one with others of which some part has none left.
void ObjectUnions::drop_incomplete(const AliveSet& from, std::vector<AliveAlternative>& kept) {
  std::vector<AliveAlternative> whole;
  from.each_whole(kept, [&](std::span<const AliveAlternative> entries) {
    if (!from.whole(entries, [](const AliveAlternative&) { return true; })) return;
    whole.insert(whole.end(), entries.begin(), entries.end());
  });
  kept = std::move(whole);
}

const AliveSet& ObjectUnions::intern(uint32_t union_id,
                                     std::span<const AliveAlternative> alternatives) {
  std::vector<uint32_t> words{union_id};
  for (const auto& [index, met, must] : alternatives) words.insert(words.end(), {index, met, must});
  const auto [id, inserted] = alive_ids_.intern(words);
  if (!inserted) return *alive_[id];
  auto alive = std::make_unique<AliveSet>();
  alive->id = id;
  alive->union_id = union_id;
  alive->all = unions_[union_id].get();
  alive->alternatives.assign(alternatives.begin(), alternatives.end());
  alive->free = !alive->all->quoted;
  if (alternatives.size() == 1) {
    const ObjectAlternative& only = alive->get(alternatives[0]);
    alive->plain = only.plain && (alive->all->endless || !only.open());
  }
  for (const AliveAlternative& entry : alternatives) {
    const ObjectAlternative& alternative = alive->get(entry);
    const bool bounded = alternative.max != kUnbounded;
    const bool owes = !alternative.dependencies.empty() || alternative.obligations != 0;
    alive->open = alive->open || alternative.open();
    alive->free = alive->free && alternative.free;
    alive->counted = alive->counted || alternative.counted();
    alive->cap = std::max({alive->cap, alternative.min, bounded ? alternative.max : 0});
    if (alternative.limited()) alive->others_cap = std::max(alive->others_cap, alternative.room);
    if (!alternative.any_order && !alternative.dependencies.empty()) alive->keeps_taken = true;
    if (alternative.has_required || alternative.min > 1 || owes) alive->always_closes = false;
    if (alternative.room != kUnbounded || bounded) alive->always_continues = false;
  }
  const bool sharing = tables_.store.shortcuts().sharing;
  alive->free = alive->free && sharing;
  alive->plain = alive->plain && sharing;
  alive_.push_back(std::move(alive));
  return *alive_.back();
}

}  // namespace maskwright

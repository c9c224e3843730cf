#include "json/object_family.h"

#include "json/key_register.h"
#include "json/name_set.h"
#include "json/value_family.h"

namespace maskwright {

StateId ObjectFamily::start(std::span<const Alternative> alternatives) {
  return at(unions_.start(alternatives), kOpen);
}

bool ObjectFamily::may_continue(const ObjectAlternative& alternative, const AliveAlternative& entry,
                                const SeenMembers& seen) {
  const ObjectProgress progress = progress_of(alternative, entry.met, seen);
  return can_continue(alternative, entry, progress, seen);
}

StateId ObjectFamily::at(const AliveSet& alive, uint32_t phase, SetId name, uint32_t bytes) {
  const std::array<uint32_t, 4> content{alive.id, phase, name, bytes};
  return tables_.store.intern(FamilyId::kObject, content);
}

ObjectFamily::Position ObjectFamily::position(StateId state) const {
  const auto content = tables_.store.content(state);
  return {&unions_.get(content[0]), content[1], content[2], content[3]};
}

// The state after so many bytes of the item separator.
StateId ObjectFamily::next_name(const AliveSet& alive, uint32_t bytes) {
  if (bytes == options(alive).item_separator.size()) return at(alive, kName);
  return at(alive, kSeparator, 0, bytes);
}

// The state after so many bytes of the key separator.
StateId ObjectFamily::next_value(const AliveSet& alive, SetId name, uint32_t bytes) {
  if (bytes == options(alive).key_separator.size()) return at(alive, kValue, name);
  return at(alive, kLabel, name, bytes);
}

// The state after '}' for the alternatives that may end; kDead if none may.
StateId ObjectFamily::close(const AliveSet& alive, const SeenMembers& seen) const {
  std::vector<uint32_t> accepts;
  const auto can_close = [&](const AliveAlternative& entry) {
    return seen.closing.empty() ? progress_of(alive.get(entry), entry.met, seen).can_close()
                                : SeenMembers::has(seen.closing, entry.index);
  };
  alive.each_whole([&](std::span<const AliveAlternative> entries) {
    if (alive.whole(entries, can_close)) accepts.push_back(alive.get(entries[0]).identity.accept);
  });
  if (accepts.empty()) return kDead;
  make_set(accepts);
  return tables_.store.done(tables_.store.intern_set(accepts));
}

// Calls visit(obligations that it meets, target) for the witnesses that tell what the value meets:
// if it must be a witness all of those, else one for each obligation that is not met.
template <typename Visit>
void ObjectFamily::each_witness(const ObjectAlternative& alternative, const AliveAlternative& entry,
                                std::span<const uint32_t> labels, Visit visit) const {
  const uint32_t key = std::min(labels[0], alternative.num_keys);
  const uint32_t first = alternative.num_by_name();
  for (uint32_t i = first; i < alternative.witnesses.size(); ++i) {
    const auto& witness = alternative.witnesses[i];
    const bool single = (witness.meets & entry.met) == 0 && std::has_single_bit(witness.meets);
    if (entry.must == 0 ? !single : (entry.must >> (i - first) & 1) == 0) continue;
    const uint32_t target = ObjectAlternative::target(witness, key, alternative.find(labels));
    if (target != kNone) visit(witness.meets, target);
  }
}

// Calls visit(target) for what the value is judged by: witness targets are run beside the plain
// one, or alone where the value must be a witness.
template <typename Visit>
void ObjectFamily::each_target(const ObjectAlternative& alternative, const AliveAlternative& entry,
                               std::span<const uint32_t> labels, Visit visit) const {
  if (!alternative.owns(labels[0])) return;
  if (entry.must == 0) visit(alternative.target(alternative.find(labels)));
  each_witness(alternative, entry, labels, [&](uint32_t, uint32_t witness) { visit(witness); });
}

StateId ObjectFamily::value_state(const AliveSet& alive, SetId name) const {
  const auto labels = tables_.store.set(name);
  std::vector<uint32_t> targets;
  for (const AliveAlternative& entry : alive.alternatives) {
    each_target(alive.get(entry), entry, labels,
                [&](uint32_t target) { targets.push_back(target); });
  }
  make_set(targets);
  return tables_.values->start(alive.all->options, true, targets);
}

void ObjectFamily::describe(std::span<const uint32_t> content, State& state) {
  const AliveSet& alive = unions_.get(content[0]);
  const JsonOptions& layout = options(alive);
  const uint32_t phase = content[1];
  uint16_t flags = 0;
  if (phase != kOpen && alive.has_register()) flags |= kHasRegister | kPooledRegister;
  // Before a value the whitespace is read by the value.
  if (layout.whitespace && phase != kValue && phase != kLabel && phase != kSeparator) {
    flags |= kWhitespace;
    state.whitespace_limit = layout.max_whitespace;
  }
  if (phase == kName) {
    flags |= kCalls;
  } else if (phase == kOpen) {
    const SeenMembers none = decode_seen({}, alive);
    const bool any = std::ranges::any_of(alive.alternatives, [&](const AliveAlternative& entry) {
      return may_continue(alive.get(entry), entry, none);
    });
    if (any) flags |= kCalls;
  } else if (phase == kValue) {
    flags |= kCalls;
    state.callee = value_state(alive, content[2]);
  }
  state.flags = flags;
}

void ObjectFamily::expand(StateId state, RowBuilder& row) {
  const Position here = position(state);
  const AliveSet& alive = *here.alive;
  const JsonOptions& layout = options(alive);
  if (here.phase == kOpen) {
    const StateId done = close(alive, decode_seen({}, alive));
    if (done != kDead) row.add('}', '}', done);
  } else if (here.phase == kAfterName || here.phase == kLabel) {
    const auto byte = static_cast<uint8_t>(layout.key_separator[here.bytes]);
    row.add(byte, byte, next_value(alive, here.name, here.bytes + 1));
  } else if (here.phase == kSeparator) {
    const auto byte = static_cast<uint8_t>(layout.item_separator[here.bytes]);
    row.add(byte, byte, next_name(alive, here.bytes + 1));
  } else if (here.phase == kAfterValue) {
    const auto byte = static_cast<uint8_t>(layout.item_separator[0]);
    if (alive.always_continues) {
      row.add(byte, byte, next_name(alive, 1));
    } else {
      row.add(byte, byte, kDead, Op::kDynamic);
    }
    if (alive.always_closes) {
      SeenMembers one = decode_seen({}, alive);
      one.count = 1;
      row.add('}', '}', close(alive, one));
    } else {
      row.add('}', '}', kDead, Op::kDynamic);
    }
  }
}

Target ObjectFamily::scan(StateId state, Reg reg, uint8_t byte, StateId /*edge_target*/,
                          RegisterPool& regs) {
  const AliveSet& alive = *position(state).alive;
  const SeenMembers seen = decode_seen(regs.get(reg), alive);
  if (byte == '}') return {close(alive, seen), 0};
  std::vector<bool> continues(alive.all->alternatives.size(), false);
  alive.each_whole([&](std::span<const AliveAlternative> entries) {
    const bool any = std::ranges::any_of(entries, [&](const AliveAlternative& entry) {
      return may_continue(alive.get(entry), entry, seen);
    });
    for (const AliveAlternative& entry : entries) continues[entry.index] = any;
  });
  const AliveSet* next =
      unions_.filter(alive, [&](const ObjectAlternative&, const AliveAlternative& entry) {
        return continues[entry.index];
      });
  if (next == nullptr) return {};
  return {next_name(*next, 1), next == &alive ? reg : encode_seen(seen, *next, regs)};
}

void ObjectFamily::callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) {
  const AliveSet& alive = *position(state).alive;
  const ObjectUnion& all = *alive.all;
  const SeenMembers seen = decode_seen(regs.get(reg), alive);
  std::vector<uint32_t> labels = allowed_labels(alive, seen);
  if (!seen.closing.empty()) {
    labels = key_register::with_unknown(labels, all.num_keys, all.num_labels, {});
  }
  const RegisterPool::Memory memory = regs.memory();
  if (memory == RegisterPool::Memory::kUnsure && seen.names != 0) {
    labels[0] |= 1;
    if (!all.endless) {
      labels[0] |= bound_of(seen.names, tables_.store.max_advance(), regs) * 2;
    }
  }
  const Reg allowed = regs.intern(labels);
  out.push_back(alive.open && memory == RegisterPool::Memory::kExact
                    ? tables_.names->start_refusing(all.key_state, allowed, seen.names, regs)
                    : Target{all.key_state, allowed});
}

// A member that is owed comes next: others only make the text longer.
void ObjectFamily::needed_callees(StateId state, Reg reg, bool any, RegisterPool& regs,
                                  std::vector<Target>& out) {
  const AliveSet& alive = *position(state).alive;
  const SeenMembers seen = decode_seen(regs.get(reg), alive);
  const std::vector<uint32_t> labels = needed_labels(alive, seen, any);
  if (labels.empty() || regs.memory() == RegisterPool::Memory::kUnsure) {
    callees(state, reg, regs, out);
  } else {
    out.push_back({alive.all->key_state, regs.intern(labels)});
  }
}

Target ObjectFamily::resume(StateId state, Reg reg, SetId accepted, Reg returned,
                            RegisterPool& regs) {
  const Position here = position(state);
  if (here.phase == kValue) return after_value(*here.alive, reg, here.name, accepted, regs);
  if (accepted == kEmptySet) return {};
  return after_name(*here.alive, reg, accepted, returned, regs);
}

Target ObjectFamily::after_name(const AliveSet& alive, Reg reg, SetId name, Reg spelled,
                                RegisterPool& regs) {
  const auto labels = tables_.store.set(name);
  SeenMembers seen = decode_seen(regs.get(reg), alive);
  const uint32_t key = std::min(labels[0], alive.all->num_keys);
  const AliveSet* next =
      unions_.filter(alive, [&](const ObjectAlternative& alternative, AliveAlternative& entry) {
        if (!alternative.owns(key)) return true;
        const ObjectProgress progress = progress_of(alternative, entry.met, seen);
        const NameChoice choice =
            allows(alternative, entry, progress, seen, key, alternative.find(labels));
        entry.met |= choice.met;
        entry.must = choice.must;
        return choice.possible;
      });
  if (next == nullptr) return {};
  if (key == alive.all->num_keys && regs.memory() != RegisterPool::Memory::kIgnored) {
    const bool known = spelled != 0 && !is_unknown(seen.names, regs);
    seen.names =
        known ? add_name(seen.names, spelled, regs) : forget(alive, seen.names, regs, regs);
    if (next == &alive) reg = with_names(regs.get(reg), seen.names, regs);
  }
  return {at(*next, kAfterName, name), next == &alive ? reg : encode_seen(seen, *next, regs)};
}

// Null where all alternatives are to be asked: there are few, or some that don't own the name.
const ByTarget* ObjectFamily::by_value(const AliveSet& alive, SetId name) {
  if (alive.alternatives.size() < ByTarget::kMany || alive.all->joint) return nullptr;
  const auto [entry, added] = by_value_.try_emplace(uint64_t{alive.id} << 32 | name);
  if (added) {
    const auto labels = tables_.store.set(name);
    uint32_t place = 0;
    for (const AliveAlternative& of : alive.alternatives) {
      each_target(alive.get(of), of, labels,
                  [&](uint32_t target) { entry->second.add(target, place); });
      ++place;
    }
    entry->second.finish();
  }
  return &entry->second;
}

Target ObjectFamily::after_value(const AliveSet& alive, Reg reg, SetId name, SetId accepted,
                                 RegisterPool& regs) {
  const auto labels = tables_.store.set(name);
  const auto set = tables_.store.set(accepted);
  const auto keep = [&](const ObjectAlternative& alternative, AliveAlternative& entry) {
    if (!alternative.owns(labels[0])) return true;
    const bool plain = entry.must == 0 && in_set(set, alternative.target(alternative.find(labels)));
    uint32_t met = 0;
    each_witness(alternative, entry, labels, [&](uint32_t meets, uint32_t witness) {
      if (in_set(set, witness)) met |= meets;
    });
    const bool enough = entry.must == 0 ? plain : met != 0;
    entry.met |= met;
    entry.must = 0;
    return enough;
  };
  const AliveSet* next = nullptr;
  if (const ByTarget* entries = by_value(alive, name)) {
    entries->find(set, places_);
    next = unions_.filter(alive, places_, keep);
  } else {
    next = unions_.filter(alive, keep);
  }
  if (next == nullptr) return {};
  SeenMembers seen = decode_seen(regs.get(reg), alive);
  seen.add(std::min(labels[0], alive.all->num_keys), alive.all->num_keys);
  return {at(*next, kAfterValue), encode_seen(seen, *next, regs)};
}

// The listed member under way; num_keys for none.
uint32_t ObjectFamily::key_of(const Position& here) const {
  const uint32_t none = here.alive->all->num_keys;
  const bool named = here.phase == kAfterName || here.phase == kLabel || here.phase == kValue;
  return named ? std::min(tables_.store.set(here.name)[0], none) : none;
}

// Of the states of a plain set that differ in the name of the member under way, and not in what its
// value may be, the first one met.
StateId ObjectFamily::like(StateId state, const Position& here) {
  if (here.phase == kAfterValue) return state;
  const auto [known, added] = alike_.try_emplace(state, state);
  if (added) {
    const std::array<uint32_t, 4> words{here.alive->id, here.phase, here.bytes,
                                        value_state(*here.alive, here.name)};
    const uint32_t value = values_.intern(words).id;
    if (value == first_of_.size()) first_of_.push_back(state);
    known->second = first_of_[value];
  }
  return known->second;
}

// A token must read a comma before it gets to a name of a plain set.
bool ObjectFamily::is_far(const Position& here) const {
  return here.alive->plain && here.phase != kName && here.phase != kSeparator &&
         here.phase != kOpen && options(*here.alive).item_separator[0] == ',';
}

Reg ObjectFamily::forget(const AliveSet& alive, Reg names, const RegisterPool& from,
                         RegisterPool& to) const {
  return forget_names(names, alive.all->endless, tables_.store.max_advance(), from, to);
}

Target ObjectFamily::forget(StateId state, Reg reg, RegisterPool& regs) {
  if (remembered(state, reg, regs) == 0) return {state, reg};
  return {state, with_names(regs.get(reg), 0, regs)};
}

uint32_t ObjectFamily::remembered(StateId state, Reg reg, const RegisterPool& regs) {
  if (reg == 0) return 0;
  const Reg names = decode_seen(regs.get(reg), *position(state).alive).names;
  return names == 0 || is_unknown(names, regs) ? 0 : count_names(names, regs);
}

Target ObjectFamily::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  const Position here = position(state);
  const AliveSet& alive = *here.alive;
  const auto content = from.get(reg);
  const Reg names = decode_seen(content, alive).names;
  const Reg forgotten = names == 0 ? 0 : forget(alive, names, from, to);
  if (alive.free) {
    return {state, encode_closing(closing_bits(alive, content, key_of(here)), forgotten, to)};
  }
  if (is_far(here)) {
    return {state, with_names(far_members(alive, content, key_of(here)), forgotten, to)};
  }
  if (names == 0) return Family::localise(state, reg, from, to);
  return {state, with_names(content, forgotten, to)};
}

void ObjectFamily::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  const Position here = position(state);
  const AliveSet& alive = *here.alive;
  const auto content = regs.get(reg);
  key.push_back(is_far(here) ? like(state, here) : state);
  if (alive.free) {
    key.push_back(decode_seen(content, alive).names != 0 ? 1 : 0);
    for (const uint32_t word : closing_bits(alive, content, key_of(here))) key.push_back(word);
    return;
  }
  if (is_far(here)) {
    append_far_members(alive, content, key_of(here), key);
    return;
  }
  append_member_key(alive, decode_seen(content, alive), content, tables_.store.max_advance(), regs,
                    key);
}

// No token holds a whole name of a free set, but one may hold the end of a name: which it is then
// decides whether the object may end.
void ObjectFamily::caller_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  const Position here = position(state);
  mask_key(state, reg, regs, key);
  if (!here.alive->free || (here.phase != kName && here.phase != kOpen)) return;
  const auto content = regs.get(reg);
  const std::size_t begin = std::min(content.size(), SeenMembers::kBitWords);
  key.insert(key.end(), content.begin() + static_cast<std::ptrdiff_t>(begin), content.end());
}

}  // namespace maskwright

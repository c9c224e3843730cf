#include "json/object_family.h"

#include "json/name_set.h"
#include "json/value_family.h"

namespace maskwright {

StateId ObjectFamily::start(std::span<const Alternative> alternatives) {
  return at(unions_.start(alternatives), kOpen);
}

StateId ObjectFamily::at(const AliveSet& alive, uint32_t phase, uint32_t name, uint32_t bytes) {
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
StateId ObjectFamily::next_value(const AliveSet& alive, uint32_t name, uint32_t bytes) {
  if (bytes == options(alive).key_separator.size()) return at(alive, kValue, name);
  return at(alive, kLabel, name, bytes);
}

// The state after '}' for the alternatives that may end; kDead if none may.
StateId ObjectFamily::close(const AliveSet& alive, const SeenMembers& seen) const {
  std::vector<uint32_t> accepts;
  for (const uint32_t i : alive.alternatives) {
    const ObjectAlternative& alternative = alive.all->alternatives[i];
    if (progress_of(alternative, seen).can_close()) accepts.push_back(alternative.identity.accept);
  }
  if (accepts.empty()) return kDead;
  make_set(accepts);
  return tables_.store.done(tables_.store.intern_set(accepts));
}

StateId ObjectFamily::value_state(const AliveSet& alive, uint32_t name) const {
  std::vector<uint32_t> targets;
  for (const uint32_t i : alive.alternatives) {
    targets.push_back(alive.all->alternatives[i].target(name));
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
    const SeenMembers none = decode_seen({}, *alive.all);
    const bool any =
        std::any_of(alive.alternatives.begin(), alive.alternatives.end(), [&](uint32_t i) {
          const ObjectAlternative& alternative = alive.all->alternatives[i];
          return can_continue(alternative, progress_of(alternative, none));
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
    const StateId done = close(alive, decode_seen({}, *alive.all));
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
      SeenMembers one = decode_seen({}, *alive.all);
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
  const SeenMembers seen = decode_seen(regs.get(reg), *alive.all);
  if (byte == '}') return {close(alive, seen), 0};
  const AliveSet* next = unions_.filter(alive, [&](const ObjectAlternative& alternative) {
    return can_continue(alternative, progress_of(alternative, seen));
  });
  if (next == nullptr) return {};
  return {next_name(*next, 1), next == &alive ? reg : encode_seen(seen, *next, regs)};
}

void ObjectFamily::callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) {
  const AliveSet& alive = *position(state).alive;
  const SeenMembers seen = decode_seen(regs.get(reg), *alive.all);
  std::vector<uint32_t> names = allowed_names(alive, seen);
  const bool open = names[0] != 0;
  const RegisterPool::Memory memory = regs.memory();
  if (open && memory == RegisterPool::Memory::kUnsure && seen.names != 0) names[0] = 3;
  const Reg allowed = regs.intern(names);
  out.push_back(open && memory == RegisterPool::Memory::kExact
                    ? tables_.names->start_refusing(alive.all->key_state, allowed, seen.names, regs)
                    : Target{alive.all->key_state, allowed});
}

Target ObjectFamily::resume(StateId state, Reg reg, SetId accepted, Reg returned,
                            RegisterPool& regs) {
  const Position here = position(state);
  if (here.phase == kValue) return after_value(*here.alive, reg, here.name, accepted, regs);
  const auto set = tables_.store.set(accepted);
  if (set.empty()) return {};
  return after_name(*here.alive, reg, set[0], returned, regs);
}

Target ObjectFamily::after_name(const AliveSet& alive, Reg reg, uint32_t name, Reg spelled,
                                RegisterPool& regs) {
  SeenMembers seen = decode_seen(regs.get(reg), *alive.all);
  const AliveSet* next = unions_.filter(alive, [&](const ObjectAlternative& alternative) {
    return allows(alternative, progress_of(alternative, seen), seen, name, alive.all->num_keys);
  });
  if (next == nullptr) return {};
  if (name == alive.all->num_keys && regs.memory() != RegisterPool::Memory::kIgnored) {
    const bool known = spelled != 0 && seen.names != RegisterPool::kUnknown;
    seen.names = known ? add_name(seen.names, spelled, regs) : RegisterPool::kUnknown;
    if (next == &alive) reg = with_names(regs.get(reg), seen.names, regs);
  }
  return {at(*next, kAfterName, name),
          next == &alive ? reg : encode_seen(std::move(seen), *next, regs)};
}

Target ObjectFamily::after_value(const AliveSet& alive, Reg reg, uint32_t name, SetId accepted,
                                 RegisterPool& regs) {
  const auto set = tables_.store.set(accepted);
  const AliveSet* next = unions_.filter(alive, [&](const ObjectAlternative& alternative) {
    return in_set(set, alternative.target(name));
  });
  if (next == nullptr) return {};
  SeenMembers seen = decode_seen(regs.get(reg), *alive.all);
  if (seen.count < kUnbounded) ++seen.count;
  if (name < alive.all->num_keys) {
    seen.set(name);
  } else {
    seen.other = true;
  }
  return {at(*next, kAfterValue), encode_seen(std::move(seen), *next, regs)};
}

Target ObjectFamily::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  const AliveSet& alive = *position(state).alive;
  const auto content = from.get(reg);
  if (decode_seen(content, *alive.all).names == 0) return Family::localise(state, reg, from, to);
  return {state, with_names(content, RegisterPool::kUnknown, to)};
}

void ObjectFamily::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  const AliveSet& alive = *position(state).alive;
  const auto content = regs.get(reg);
  key.push_back(state);
  append_member_key(alive, decode_seen(content, *alive.all), content, tables_.store.max_advance(),
                    key);
}

}  // namespace maskwright

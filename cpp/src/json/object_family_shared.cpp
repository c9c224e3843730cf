// ObjectFamily in words of no grammar: as far as a token sees.
//
// A token that has read a comma or a brace of the object reads hardly anything of the name behind
// it, and none reads a name, its colon and more (TokenTexts). So from a value on, what matters of
// an object is the value, whether it may end or go on, and whether names that aren't listed may
// come; from a name on, the names that may come. Where a vocabulary has tokens that see more than
// that, nothing is shared.

#include "json/object_family.h"
#include "json/value_family.h"

namespace maskwright {

bool ObjectFamily::append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) {
  if (tables_.store.tokens_pass_names()) return false;
  const Position here = position(state);
  key.add(here.phase);
  key.add(here.bytes);
  tables_.options.append_layout(here.alive->all->options, key);
  switch (here.phase) {
    case kAfterValue: return append_after_value(state, reg, regs, key);
    case kAfterName:
    case kLabel:
    case kValue: return append_member(here, reg, regs, key);
    default: return append_names(here, state, reg, regs, key);
  }
}

// Of a state before a name.
Target ObjectFamily::key_frame(StateId state, Reg reg, RegisterPool& regs) {
  std::vector<Target> frames;
  callees(state, reg, regs, frames);
  return frames[0];
}

Target ObjectFamily::step(StateId state, Reg reg, uint8_t byte, RegisterPool& regs) {
  const Edge* edge = tables_.store.row(state).find(byte);
  if (edge == nullptr) return {};
  return edge->op == Op::kPlain ? Target{edge->target, reg}
                                : scan(state, reg, byte, edge->target, regs);
}

// What the object returns at a '}'.
void ObjectFamily::append_end(StateId done, SharedKey& key) const {
  if (done == kDead) {
    key.add(0);
  } else {
    key.add_callees(tables_.store.set(tables_.store.state(done).accepts));
  }
}

// Before a name, or '}' of an object without members.
bool ObjectFamily::append_names(const Position& here, StateId state, Reg reg, RegisterPool& regs,
                                SharedKey& key) {
  const AliveSet& alive = *here.alive;
  if (here.phase == kOpen) {
    append_end(close(alive, decode_seen({}, alive)), key);
    const bool some = (tables_.store.state(state).flags & kCalls) != 0;
    key.add(some ? 1 : 0);
    if (!some) return true;
  }
  const Target frame = key_frame(at(alive, kName), reg, regs);
  return tables_.names->append_shared_key(frame.state, frame.reg, regs, key);
}

// Between a name and its value, of one alternative that judges values one by one.
bool ObjectFamily::append_member(const Position& here, Reg reg, RegisterPool& regs,
                                 SharedKey& key) {
  const AliveSet& alive = *here.alive;
  if (alive.alternatives.size() != 1) return false;
  const AliveAlternative& entry = alive.alternatives[0];
  const ObjectAlternative& alternative = alive.get(entry);
  if (alternative.num_parts != 1 || alternative.obligations != 0 || entry.must != 0) return false;
  const uint32_t target = alternative.target(alternative.find(tables_.store.set(here.name)));
  if (!tables_.values->append_inner(value_state(alive, here.name), regs, key)) return false;
  const SetId accepted = tables_.store.intern_set({&target, 1});
  const Target after = after_value(alive, reg, here.name, accepted, regs);
  key.add(after.state == kDead ? 0 : 1);
  return after.state == kDead || append_after_value(after.state, after.reg, regs, key);
}

bool ObjectFamily::append_after_value(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) {
  const AliveSet& alive = *position(state).alive;
  if (options(alive).item_separator[0] != ',' || alive.all->next_seen) return false;
  append_end(step(state, reg, '}', regs).state, key);
  const Target comma = step(state, reg, ',', regs);
  key.add(comma.state == kDead ? 0 : 1);
  if (comma.state == kDead) return true;
  const Target frame = key_frame(at(*position(comma.state).alive, kName), comma.reg, regs);
  return tables_.names->append_other_names(frame.state, frame.reg, regs, key);
}

bool ObjectFamily::append_start(const Alternative& alternative, RegisterPool& regs,
                                SharedKey& key) {
  if (alternative.joint != kNone || tables_.store.tokens_pass_names()) return false;
  const StateId state = start({&alternative, 1});
  const AliveSet& alive = *position(state).alive;
  if (alive.all->first_seen) return false;
  key.add_callee(alternative.accept);
  append_end(close(alive, decode_seen({}, alive)), key);
  const bool some = (tables_.store.state(state).flags & kCalls) != 0;
  key.add(some ? 1 : 0);
  if (!some) return true;
  const Target frame = key_frame(state, 0, regs);
  return tables_.names->append_other_names(frame.state, frame.reg, regs, key);
}

}  // namespace maskwright

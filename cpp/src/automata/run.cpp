#include "maskwright/automata/run.h"

#include <algorithm>

#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

bool same_key(const Config& a, const Config& b) {
  return a.state == b.state && a.reg == b.reg && a.run == b.run;
}

}  // namespace

StackRef Arena::join(StackRef a, StackRef b) {
  if (a == b) return a;
  const auto left = nodes(a);
  const auto right = nodes(b);
  std::vector<uint32_t> joined;
  joined.reserve(left.size() + right.size());
  std::ranges::set_union(left, right, std::back_inserter(joined));
  return reference(joined);
}

StackRef Arena::without(StackRef a, StackRef b) {
  std::vector<uint32_t> left;
  std::ranges::set_difference(nodes(a), nodes(b), std::back_inserter(left));
  return reference(left);
}

uint64_t ConfigSet::key_hash(const Config& config) {
  const uint32_t words[3] = {config.state, config.reg, config.run};
  return hash_words(words, 1);
}

ConfigSet::Added ConfigSet::add(const Config& config, Arena& arena) {
  uint32_t found = kNone;
  std::size_t slot = 0;
  if (configs_.size() <= kLinear) {
    for (uint32_t i = 0; i < configs_.size(); ++i) {
      if (same_key(configs_[i], config)) {
        found = i;
        break;
      }
    }
  } else {
    if (index_.size() < configs_.size() * 2) rehash();
    for (slot = key_hash(config) & (index_.size() - 1); index_[slot] != 0;
         slot = (slot + 1) & (index_.size() - 1)) {
      if (same_key(configs_[index_[slot] - 1], config)) {
        found = index_[slot] - 1;
        break;
      }
    }
  }
  if (found != kNone) {
    const StackRef before = configs_[found].stack;
    configs_[found].stack = arena.join(before, config.stack);
    return {found, configs_[found].stack == before ? Change::kNone : Change::kGrown, before};
  }
  configs_.push_back(config);
  if (configs_.size() > kLinear + 1) index_[slot] = static_cast<uint32_t>(configs_.size());
  return {static_cast<uint32_t>(configs_.size() - 1), Change::kAdded, kBottom};
}

void ConfigSet::rehash() {
  std::size_t size = 64;
  while (size < configs_.size() * 4) size *= 2;
  index_.assign(size, 0);
  for (uint32_t i = 0; i < configs_.size(); ++i) {
    std::size_t slot = key_hash(configs_[i]) & (size - 1);
    while (index_[slot] != 0) slot = (slot + 1) & (size - 1);
    index_[slot] = i + 1;
  }
}

SetId Runner::accepted(const Config& config, Arena& arena) {
  const State& state = store_.state(config.state);
  if ((state.flags & kAccepts) == 0) return kEmptySet;
  if ((state.flags & kDynamicAccepts) == 0) return state.accepts;
  return store_.family(state.family).accepted(config.state, config.reg, arena.regs());
}

Config Runner::resume(const Arena::Node& node, SetId accepted, Reg returned, Arena& arena) {
  Family& family = store_.family(store_.state(node.state).family);
  const Target target = family.resume(node.state, node.reg, accepted, returned, arena.regs());
  return {target.state, target.reg, 0, node.below};
}

void Runner::add(Config config, Arena& arena, ConfigSet& out) {
  if ((store_.state(config.state).flags & kReturnOnly) == 0) {
    if (config.state != kDead) out.add(config, arena);
    return;
  }
  pending_.clear();
  pending_.push_back(config);
  while (!pending_.empty()) {
    const Config top = pending_.back();
    pending_.pop_back();
    if (top.state == kDead) continue;
    if ((store_.state(top.state).flags & kReturnOnly) == 0) {
      out.add(top, arena);
      continue;
    }
    const SetId set = accepted(top, arena);
    if (set == kEmptySet) continue;
    for (const uint32_t id : arena.nodes(top.stack)) {
      if (id == kBottom) {
        out.add({store_.done(set), 0, 0, kBottom}, arena);
      } else {
        pending_.push_back(resume(arena.node(id), set, top.reg, arena));
      }
    }
  }
}

// Returns first, each stack node once, then calls: so a caller is pushed on all that is below it,
// once, and the nodes that a text makes are at most its bytes times the states.
void Runner::close(ConfigSet& set, Arena& arena, std::vector<SetId>* returned) {
  pops_.clear();
  calls_.clear();
  called_.clear();
  for (uint32_t i = 0; i < set.size(); ++i) note_moves(set, i, set[i].stack);
  std::size_t next_call = 0;
  while (true) {
    if (!pops_.empty()) {
      const Fresh fresh = pops_.back();
      pops_.pop_back();
      pop(fresh, arena, set, returned);
    } else if (next_call < calls_.size()) {
      const uint32_t index = calls_[next_call++];
      called_[index] = false;
      add_callees(set[index], arena, set);
    } else {
      return;
    }
  }
}

// What a configuration with new stacks does without reading.
void Runner::note_moves(const ConfigSet& set, uint32_t index, StackRef fresh) {
  const uint16_t flags = store_.state(set[index].state).flags;
  if ((flags & kAccepts) != 0) pops_.push_back({index, fresh});
  if ((flags & kCalls) == 0) return;
  if (called_.size() <= index) called_.resize(index + 1);
  if (!called_[index]) calls_.push_back(index);
  called_[index] = true;
}

// Adds a configuration, and notes what it does that is new.
void Runner::reach(const Config& config, Arena& arena, ConfigSet& set) {
  const auto [index, change, before] = set.add(config, arena);
  if (change == ConfigSet::Change::kNone) return;
  const bool grown = change == ConfigSet::Change::kGrown;
  note_moves(set, index, grown ? arena.without(config.stack, before) : config.stack);
}

void Runner::pop(const Fresh& fresh, Arena& arena, ConfigSet& set, std::vector<SetId>* returned) {
  const Config config = set[fresh.index];
  const SetId accepts = accepted(config, arena);
  if (accepts == kEmptySet) return;
  for (const uint32_t id : arena.nodes(fresh.stack)) {
    if (id == kBottom) {
      if (returned != nullptr) returned->push_back(accepts);
      continue;
    }
    const Config after = resume(arena.node(id), accepts, config.reg, arena);
    if (after.state != kDead) reach(after, arena, set);
  }
}

void Runner::add_callees(const Config& config, Arena& arena, ConfigSet& set) {
  const State& state = store_.state(config.state);
  callees_.clear();
  if (state.callee != kDead) {
    callees_.push_back({state.callee, 0});
  } else {
    store_.family(state.family).callees(config.state, config.reg, arena.regs(), callees_);
  }
  if (callees_.empty()) return;
  const StackRef stack = push(config, arena);
  for (const Target& callee : callees_) {
    if (callee.state != kDead) reach({callee.state, callee.reg, 0, stack}, arena, set);
  }
}

StackRef Runner::push(const Config& config, Arena& arena) {
  const State& state = store_.state(config.state);
  if ((state.flags & kTailCalls) != 0) return push_tail(config, arena);
  if (state.family != FamilyId::kRules) {
    return arena.push(config.state, config.reg, config.stack);
  }
  const RulesMachine::Caller caller = rules_.caller(config.state);
  if (!caller.loops) return arena.push(caller.state, 0, config.stack);
  return push_merged(caller.state, config.stack, arena, [&](uint32_t below) {
    return arena.node(below).state == caller.state ? below : kBottom;
  });
}

// Neighbouring renamings merge, so that tail recursion does not grow the stack.
StackRef Runner::push_tail(const Config& config, Arena& arena) {
  const StateId tail = store_.family(store_.state(config.state).family).tail_state(config.state);
  if (tail == kDead) return config.stack;
  return push_merged(tail, config.stack, arena, [&](uint32_t below) {
    const Arena::Node node = arena.node(below);
    if (store_.state(node.state).family != FamilyId::kTail) return kBottom;
    return arena.push(rules_.compose_tails(tail, node.state), 0, node.below);
  });
}

// Pushes a caller without a register. `merge(node)`: the node that is the caller on top of one, or
// kBottom if they don't merge.
template <typename Merge>
StackRef Runner::push_merged(StateId caller, StackRef stack, Arena& arena, const Merge& merge) {
  std::vector<uint32_t> tops;
  std::vector<uint32_t> plain;
  for (const uint32_t id : arena.nodes(stack)) {
    const uint32_t merged = id == kBottom ? kBottom : merge(id);
    (merged == kBottom ? plain : tops).push_back(merged == kBottom ? id : merged);
  }
  if (!plain.empty()) tops.push_back(arena.push(caller, 0, arena.reference(plain)));
  make_set(tops);
  return arena.reference(tops);
}

// Drops nodes whose continuations another node of the set has too: of a counted repeat, more
// finished iterations on the same (or fewer) stacks below. It keeps ambiguous counts such as
// (\S+\s+){0,49} from filling the stack with every possible count.
StackRef Runner::prune(StackRef stack, Arena& arena) const {
  if ((stack & kStackSet) == 0) return stack;
  const auto nodes = arena.nodes(stack);
  const auto ordered = [&](uint32_t id) {
    return id != kBottom && (store_.state(arena.node(id).state).flags & kOrderedRegister) != 0;
  };
  const auto superfluous = [&](uint32_t id) {
    if (!ordered(id)) return false;
    const Arena::Node node = arena.node(id);
    const auto below = arena.nodes(node.below);
    return std::ranges::any_of(nodes, [&](uint32_t other_id) {
      if (other_id == id || other_id == kBottom) return false;
      const Arena::Node other = arena.node(other_id);
      if (other.state != node.state || (other.reg == node.reg && other.below == node.below)) {
        return false;
      }
      Family& family = store_.family(store_.state(node.state).family);
      if (!family.dominates(node.state, other.reg, node.reg)) return false;
      const auto wider = arena.nodes(other.below);
      if (!std::ranges::includes(wider, below)) return false;
      // Of two equally good ones the first stays.
      return other.reg != node.reg || wider.size() > below.size() || other_id < id;
    });
  };
  std::vector<uint32_t> kept;
  for (const uint32_t id : nodes) {
    if (!superfluous(id)) kept.push_back(id);
  }
  return kept.size() == nodes.size() ? stack : arena.reference(kept);
}

void Runner::scan(std::span<const Config> closed, uint8_t byte, Arena& arena, ConfigSet& out) {
  for (const Config& config : closed) scan_one(config, byte, arena, out);
  for (std::size_t i = 0; i < out.size(); ++i) out.set_stack(i, prune(out[i].stack, arena));
  if (out.size() > 1) drop_dominated(out, arena);
}

// The same for configurations: of a repeat, more finished iterations on the same stacks. Unless
// only they may end it: callers have an iteration to come, configurations may have none.
void Runner::drop_dominated(ConfigSet& set, Arena& arena) {
  const auto dominated = [&](const Config& config) {
    const State& state = store_.state(config.state);
    if ((state.flags & kOrderedRegister) == 0) return false;
    const SetId accepts = accepted(config, arena);
    return std::ranges::any_of(set.configs(), [&](const Config& other) {
      return other.state == config.state && other.reg != config.reg && other.run == config.run &&
             (accepts == kEmptySet || accepts == accepted(other, arena)) &&
             store_.family(state.family).dominates(config.state, other.reg, config.reg) &&
             std::ranges::includes(arena.nodes(other.stack), arena.nodes(config.stack));
    });
  };
  if (std::ranges::none_of(set.configs(), dominated)) return;
  std::vector<Config> kept;
  std::ranges::remove_copy_if(set.configs(), std::back_inserter(kept), dominated);
  set.assign(kept);
}

// Nearly every token is read by one configuration, and most of its bytes by rows alone.
bool Runner::read(std::span<const Config> closed, std::string_view text, Arena& arena,
                  ConfigSet& out) {
  out.clear();
  for (std::size_t at = 0; at < text.size();) {
    if (at != 0) {
      close(out, arena, nullptr);
      std::swap(before_, out);
      closed = before_.configs();
      out.clear();
    }
    if (closed.size() == 1) {
      Config config = closed[0];
      if (skim(config, text, at, arena)) add(config, arena, out);
    } else {
      scan(closed, static_cast<uint8_t>(text[at++]), arena, out);
    }
    if (out.empty()) return false;
  }
  return true;
}

// Reads from `at` on, for as long as the configuration stays the only one without being closed, but
// at least one byte; false if a byte can't be read.
bool Runner::skim(Config& config, std::string_view text, std::size_t& at, Arena& arena) {
  const State* state = &store_.state(config.state);
  do {
    const auto byte = static_cast<uint8_t>(text[at++]);
    if ((state->flags & kWhitespace) != 0 && is_space(byte)) {
      if (config.run++ >= state->whitespace_limit) return false;
      continue;
    }
    const Target target = step(config, *state, byte, arena);
    if (target.state == kDead) return false;
    config.state = target.state;
    config.reg = target.reg;
    config.run = 0;
    state = &store_.state(config.state);
  } while (at < text.size() && (state->flags & (kAccepts | kCalls | kReturnOnly)) == 0);
  config.stack = prune(config.stack, arena);
  return true;
}

void Runner::scan_one(const Config& config, uint8_t byte, Arena& arena, ConfigSet& out) {
  const State& state = store_.state(config.state);
  if ((state.flags & kWhitespace) != 0 && is_space(byte)) {
    if (config.run < state.whitespace_limit) {
      out.add({config.state, config.reg, config.run + 1, config.stack}, arena);
    }
    return;
  }
  const Target target = step(config, state, byte, arena);
  if (target.state == kDead) return;
  add({target.state, target.reg, 0, config.stack}, arena, out);
}

// Where a byte that is no whitespace loop leads, {kDead, 0} if nowhere.
Target Runner::step(const Config& config, const State& state, uint8_t byte, Arena& arena) {
  StateId target = kDead;
  if ((state.flags & kScans) == 0) {
    const Edge* edge = store_.row(config.state).find(byte);
    if (edge == nullptr) return {};
    if (edge->op != Op::kDynamic) return {edge->target, config.reg};
    target = edge->target;
  }
  return store_.family(state.family).scan(config.state, config.reg, byte, target, arena.regs());
}

}  // namespace maskwright

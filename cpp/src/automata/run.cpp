#include "maskwright/automata/run.h"

#include <algorithm>

#include <utility>

#include "maskwright/support/sorted_set.h"

namespace maskwright {

void Runner::add(Config config, Arena& arena, ConfigSet& out) {
  // Nearly every stack is a single node.
  while ((store_.state(config.state).flags & kReturnOnly) != 0) {
    if ((config.stack & kStackSet) != 0) break;
    const SetId set = accepted(config, arena);
    if (set == kEmptySet) return;
    if (config.stack == kBottom) {
      out.add({store_.done(set), 0, 0, kBottom}, arena);
      return;
    }
    config = resume(arena.node(config.stack), set, config.reg, arena);
  }
  if ((store_.state(config.state).flags & kReturnOnly) == 0) {
    if (config.state != kDead) out.add(config, arena);
    return;
  }
  returns_.begin();
  returns_.start(config, arena);
  returns_.run(kReturnOnly, arena);
  for (const SetId set : returns_.bottoms()) out.add({store_.done(set), 0, 0, kBottom}, arena);
  for (const Returns::Reached& reached : returns_.reached()) {
    if ((store_.state(reached.config.state).flags & kReturnOnly) != 0) continue;
    Config after = reached.config;
    after.stack = arena.join(reached.stacks);
    out.add(after, arena);
  }
}

// Returns first, each stack node once, then calls: so a caller is pushed on all that is below it,
// once, and the nodes that a text makes are at most its bytes times the states.
void Runner::close(ConfigSet& set, Arena& arena, std::vector<SetId>* returned) {
  pops_.clear();
  own_.clear();
  calls_.clear();
  called_.clear();
  is_start_.clear();
  for (uint32_t i = 0; i < set.size(); ++i) note_moves(set, i, set[i].stack);
  std::size_t next_call = 0;
  while (true) {
    if (!pops_.empty()) {
      if (arena.nodes(pops_.back().stack).size() > kFewNodes) {
        pop_many(arena, set, returned);
        continue;
      }
      const Fresh fresh = pops_.back();
      pops_.pop_back();
      pop(fresh, arena, set, returned);
    } else if (next_call < calls_.size()) {
      if (next_call == 0) find_own_stacks(set, arena);
      const uint32_t index = calls_[next_call++];
      called_[index] = false;
      call(index, arena, set);
    } else {
      break;
    }
  }
  for (uint32_t i = 0; i < is_start_.size(); ++i) gather(i, arena, set);
}

// What a configuration with new stacks does without reading.
void Runner::note_moves(const ConfigSet& set, uint32_t index, StackRef fresh) {
  const uint16_t flags = store_.state(set[index].state).flags;
  if ((flags & kAccepts) != 0) pops_.push_back({index, fresh});
  if ((flags & kCalls) != 0) note_call(set, index);
}

void Runner::note_call(const ConfigSet& set, uint32_t index) {
  if ((store_.state(set[index].state).flags & kCalls) == 0) return;
  if (called_.size() <= index) called_.resize(index + 1);
  if (!called_[index]) calls_.push_back(index);
  called_[index] = true;
}

// Adds a configuration, and notes what it does that is new.
uint32_t Runner::reach(const Config& config, Arena& arena, ConfigSet& set) {
  const auto [index, change, before] = set.add(config, arena);
  if (change == ConfigSet::Change::kNone) return index;
  const bool grown = change == ConfigSet::Change::kGrown;
  note_moves(set, index, grown ? arena.without(config.stack, before) : config.stack);
  return index;
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

// All that is left to return, and what comes of it.
void Runner::pop_many(Arena& arena, ConfigSet& set, std::vector<SetId>* returned) {
  returns_.begin();
  for (const Fresh& fresh : pops_) {
    Config config = set[fresh.index];
    config.stack = fresh.stack;
    returns_.start(config, arena);
  }
  pops_.clear();
  returns_.run(kAccepts, arena);
  if (returned != nullptr) {
    const auto bottoms = returns_.bottoms();
    returned->insert(returned->end(), bottoms.begin(), bottoms.end());
  }
  const auto reached = returns_.reached();
  const auto add = [&](uint32_t i, std::optional<StackRef> stack) {
    if (!stack) return;
    Config config = reached[i].config;
    config.stack = *stack;
    const auto [index, change, before] = set.add(config, arena);
    if (change != ConfigSet::Change::kNone) note_call(set, index);
  };
  claims_.clear();
  for (uint32_t i = 0; i < reached.size(); ++i) {
    const Config& config = reached[i].config;
    if (is_ordered(config) && (store_.state(config.state).flags & kCalls) != 0) {
      claims_.push_back({config.state, config.reg, i});
    } else {
      add(i, arena.join(reached[i].stacks));
    }
  }
  share_out(arena, [&](uint32_t i) { return std::span(reached[i].stacks); }, add);
}

// Gives each stack to the callers among claims_ that can do the most on it: take(index, stack).
// Callers are in order where one dominates the next.
template <typename Stacks, typename Take>
void Runner::share_out(Arena& arena, const Stacks& stacks, const Take& take) {
  std::ranges::sort(claims_, [](const Claim& a, const Claim& b) {
    return std::pair{a.state, a.reg} < std::pair{b.state, b.reg};
  });
  for (std::size_t i = 0; i < claims_.size();) {
    std::size_t end = i + 1;
    while (end < claims_.size() && claims_[end].state == claims_[i].state) ++end;
    const auto same = std::span(claims_).subspan(i, end - i);
    i = end;
    Family& family = store_.family(store_.state(same[0].state).family);
    if (family.dominates(same[0].state, same.back().reg, same[0].reg)) std::ranges::reverse(same);
    for (std::size_t k = 0; k < same.size(); ++k) {
      if (k == 0 || !family.dominates(same[k].state, same[k - 1].reg, same[k].reg)) {
        arena.clear_marks();
      }
      take(same[k].index, arena.take(stacks(same[k].index)));
    }
  }
  arena.clear_marks();
}

// What the configurations of the set call on that differ in their counts.
void Runner::find_own_stacks(const ConfigSet& set, Arena& arena) {
  claims_.clear();
  for (const uint32_t index : calls_) {
    if (is_ordered(set[index])) claims_.push_back({set[index].state, set[index].reg, index});
  }
  if (claims_.size() < 2) return;
  own_.resize(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) own_[i] = {set[i].stack, set[i].stack};
  share_out(
      arena, [&](uint32_t i) { return std::span(&set[i].stack, 1); },
      [&](uint32_t i, std::optional<StackRef> stack) { own_[i].own = stack; });
}

void Runner::call(uint32_t index, Arena& arena, ConfigSet& set) {
  gather(index, arena, set);
  Config caller = set[index];
  if (index < own_.size() && caller.stack == own_[index].all) {
    if (!own_[index].own) return;
    caller.stack = *own_[index].own;
  }
  const State& state = store_.state(caller.state);
  callees_.clear();
  if (state.callee != kDead) {
    callees_.push_back({state.callee, 0});
  } else {
    store_.family(state.family).callees(caller.state, caller.reg, arena.regs(), callees_);
  }
  if (callees_.empty()) return;
  const StackRef stack = push(caller, arena);
  for (const Target& callee : callees_) {
    if (callee.state == kDead) continue;
    const uint32_t start = reach({callee.state, callee.reg, 0, stack}, arena, set);
    if (start >= is_start_.size()) is_start_.resize(start + 1);
    is_start_[start] = true;
  }
}

// Where many call a frame of the rules, all that it does is on one node.
void Runner::gather(uint32_t index, Arena& arena, ConfigSet& set) {
  if (index >= is_start_.size() || !is_start_[index]) return;
  const Config& config = set[index];
  const FamilyId family = store_.state(config.state).family;
  if (family != FamilyId::kRules && family != FamilyId::kRepeat) return;
  if (arena.nodes(config.stack).size() <= kManyNodes) return;
  if (const auto all = spread(config.stack, kManyCompared, arena); !all.empty()) {
    const StackRef pruned = prune(arena.reference(all), arena);
    if (arena.nodes(pruned).size() <= kManyNodes) {
      set.set_stack(index, pruned);
      return;
    }
  }
  set.set_stack(index, arena.push(rules_.gather(), 0, config.stack));
}

StackRef Runner::push(const Config& config, Arena& arena) {
  const State& state = store_.state(config.state);
  if ((state.flags & kTailCalls) != 0) return push_tail(config, arena);
  if (state.family != FamilyId::kRules) {
    return arena.push(config.state, config.reg, config.stack);
  }
  const RulesMachine::Caller caller = rules_.caller(config.state);
  if (!caller.loops) return arena.push(caller.state, 0, config.stack);
  const StackRef stack = arena.reference(spread(config.stack, kUnbounded, arena));
  return push_merged(caller.state, stack, arena, [&](uint32_t below) {
    return arena.node(below).state == caller.state ? below : kBottom;
  });
}

// Neighbouring renamings merge, so that tail recursion does not grow the stack.
StackRef Runner::push_tail(const Config& config, Arena& arena) {
  const StateId tail = store_.family(store_.state(config.state).family).tail_state(config.state);
  if (tail == kDead) return config.stack;
  return push_merged(tail, config.stack, arena, [&](uint32_t below) {
    const Arena::Node node = arena.node(below);
    const bool merges = store_.state(node.state).family == FamilyId::kTail;
    if (!merges || node.state == rules_.gather()) return kBottom;
    return arena.push(rules_.compose_tails(tail, node.state), 0, node.below);
  });
}

std::span<const uint32_t> Runner::spread(StackRef stack, std::size_t most, const Arena& arena) {
  spread_.clear();
  const auto nodes = arena.nodes(stack);
  const auto gathers = [&](uint32_t id) {
    return id != kBottom && arena.node(id).state == rules_.gather();
  };
  if (nodes.size() == 1 && !gathers(nodes[0])) {
    spread_.push_back(nodes[0]);
    return spread_;
  }
  if (++seen_epoch_ == 0) {
    seen_.clear();
    seen_epoch_ = 1;
  }
  std::vector<StackRef> stacks{stack};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    for (const uint32_t id : arena.nodes(stacks[i])) {
      if (id >= seen_.size()) seen_.resize(id + 1);
      if (std::exchange(seen_[id], seen_epoch_) == seen_epoch_) continue;
      if (gathers(id)) {
        stacks.push_back(arena.node(id).below);
      } else {
        spread_.push_back(id);
      }
      if (spread_.size() + stacks.size() > most) return {};
    }
  }
  if (stacks.size() > 1) std::ranges::sort(spread_);
  return spread_;
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
  scanned_ += closed.size();
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

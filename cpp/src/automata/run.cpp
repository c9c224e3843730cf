#include "maskwright/automata/run.h"

#include <algorithm>

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
    const StackRef joined = arena.join(configs_[found].stack, config.stack);
    if (joined == configs_[found].stack) return {found, Change::kNone};
    configs_[found].stack = joined;
    return {found, Change::kGrown};
  }
  configs_.push_back(config);
  if (configs_.size() > kLinear + 1) index_[slot] = static_cast<uint32_t>(configs_.size());
  return {static_cast<uint32_t>(configs_.size() - 1), Change::kAdded};
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

void Runner::close(ConfigSet& set, Arena& arena, std::vector<SetId>* returned) {
  work_.clear();
  constexpr uint16_t kMoves = kAccepts | kCalls;
  for (uint32_t i = 0; i < set.size(); ++i) {
    if ((store_.state(set[i].state).flags & kMoves) != 0) work_.push_back(i);
  }
  std::vector<uint32_t> todo;
  todo.swap(work_);
  while (!todo.empty()) {
    const Config config = set[todo.back()];
    todo.pop_back();
    if (const SetId accepts = accepted(config, arena); accepts != kEmptySet) {
      for (const uint32_t id : arena.nodes(config.stack)) {
        if (id == kBottom) {
          if (returned != nullptr) returned->push_back(accepts);
          continue;
        }
        const Config after = resume(arena.node(id), accepts, config.reg, arena);
        if (after.state == kDead) continue;
        const auto [index, change] = set.add(after, arena);
        if (change != ConfigSet::Change::kNone) todo.push_back(index);
      }
    }
    if ((store_.state(config.state).flags & kCalls) != 0) add_callees(config, arena, set, todo);
  }
  work_.swap(todo);
}

void Runner::add_callees(const Config& config, Arena& arena, ConfigSet& set,
                         std::vector<uint32_t>& work) {
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
    if (callee.state == kDead) continue;
    const auto [index, change] = set.add({callee.state, callee.reg, 0, stack}, arena);
    if (change != ConfigSet::Change::kNone) work.push_back(index);
  }
}

StackRef Runner::push(const Config& config, Arena& arena) {
  const State& state = store_.state(config.state);
  if ((state.flags & kTailCalls) == 0) return arena.push(config.state, config.reg, config.stack);
  const StateId tail = store_.family(state.family).tail_state(config.state);
  if (tail == kDead) return config.stack;
  // Neighbouring renamings merge, so that tail recursion does not grow the stack.
  StackRef result = kBottom;
  StackRef plain = kBottom;
  bool any = false;
  bool any_plain = false;
  const auto join = [&](StackRef& target, bool& started, StackRef ref) {
    target = started ? arena.join(target, ref) : ref;
    started = true;
  };
  const std::vector<uint32_t> below(arena.nodes(config.stack).begin(),
                                    arena.nodes(config.stack).end());
  for (const uint32_t id : below) {
    if (id != kBottom && store_.state(arena.node(id).state).family == FamilyId::kTail) {
      const Arena::Node node = arena.node(id);
      join(result, any, arena.push(rules_.compose_tails(tail, node.state), 0, node.below));
    } else {
      join(plain, any_plain, id);
    }
  }
  if (any_plain) join(result, any, arena.push(tail, 0, plain));
  return result;
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
}

void Runner::scan_one(const Config& config, uint8_t byte, Arena& arena, ConfigSet& out) {
  const State& state = store_.state(config.state);
  if ((state.flags & kWhitespace) != 0 && is_space(byte)) {
    if (config.run < state.whitespace_limit) {
      out.add({config.state, config.reg, config.run + 1, config.stack}, arena);
    }
    return;
  }
  const Edge* edge = store_.row(config.state).find(byte);
  if (edge == nullptr) return;
  Target target{edge->target, config.reg};
  if (edge->op == Op::kDynamic) {
    target = store_.family(state.family)
                 .scan(config.state, config.reg, byte, edge->target, arena.regs());
    if (target.state == kDead) return;
  }
  add({target.state, target.reg, 0, config.stack}, arena, out);
}

}  // namespace maskwright

#include "matcher/level_search.h"

#include <algorithm>
#include <array>
#include <utility>

namespace maskwright {

std::optional<LevelSearch::Plan> LevelSearch::find(Completions::Place at, uint32_t bound) {
  bound_ = bound;
  ++known_.searches_;
  for (const Config& config : known_.configs(at)) {
    const uint32_t frame = stack_frame(config.stack);
    const Target start = texts_ == Texts::kShort ? known_.texts_.needed_start(config, arena_)
                                                 : Target{config.state, config.reg};
    add({frame, start, config.run, 0, 0, kNone, kNone, kNone});
  }
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    // More come while it is left.
    for (std::size_t i = 0; i < levels_[level].size(); ++i) {
      const uint32_t index = levels_[level][i];
      if (leave(index)) return plan_to(index);
      if (nodes_left_ == 0) return std::nullopt;
    }
    std::vector<uint32_t>().swap(levels_[level]);
  }
  return std::nullopt;
}

uint32_t LevelSearch::stack_frame(StackRef stack) {
  const auto [id, inserted] = stacks_.intern({&stack, 1});
  if (inserted) {
    frame_of_stack_.push_back(static_cast<uint32_t>(frames_.size()));
    frames_.emplace_back().stack = stack;
  }
  return frame_of_stack_[id];
}

// Tokens that are still to come at least: one that is under way, and as many as hold the bytes.
uint32_t LevelSearch::tokens_at_least(const Visit& visit) {
  const uint32_t longest = vocabulary_.max_token_length();
  const uint32_t under_way = visit.node != 0 ? 1 : 0;
  const uint32_t held = visit.node != 0 ? longest - vocabulary_.depth(visit.node) : 0;
  const uint32_t bytes = known_.grammar_.rules().least_bytes(visit.at.state);
  return under_way + (bytes > held ? (bytes - held + longest - 1) / longest : 0);
}

void LevelSearch::add(Visit visit) {
  if (visit.at.state == kDead || visit.tokens + tokens_at_least(visit) >= bound_) return;
  const std::array<uint32_t, 4> key{visit.frame, visit.at.state, visit.at.reg, visit.node};
  // What was met before took as many tokens or fewer, but for callers that come later.
  if (met_.find(key) != WordInterner::kMissing) return;
  if (levels_.size() <= visit.tokens) levels_.resize(visit.tokens + 1);
  levels_[visit.tokens].push_back(static_cast<uint32_t>(visits_.size()));
  visits_.push_back(visit);
}

// True at the end of a text.
bool LevelSearch::leave(uint32_t index) {
  const Visit visit = visits_[index];
  const std::array<uint32_t, 4> key{visit.frame, visit.at.state, visit.at.reg, visit.node};
  if (!met_.intern(key).inserted) return false;
  const Config config{visit.at.state, visit.at.reg, 0, kBottom};
  const SetId accepted = known_.runner_.accepted(config, arena_);
  if (accepted != kEmptySet && note(index, accepted)) return true;
  const uint16_t flags = store_.state(visit.at.state).flags;
  if ((flags & kReturnOnly) != 0) return false;
  if ((flags & kCalls) != 0) call(index);
  if (visit.node == 0) read_symbols(index);
  read(index);
  return false;
}

// The frame can return something. True if that ends the text.
bool LevelSearch::note(uint32_t index, SetId accepted) {
  const Visit visit = visits_[index];
  if (frames_[visit.frame].called) {
    const Found found{accepted, index};
    frames_[visit.frame].found.push_back(found);
    for (std::size_t i = 0; i < frames_[visit.frame].callers.size(); ++i) {
      const Caller caller = frames_[visit.frame].callers[i];
      deliver(caller, visit.frame, found);
    }
    return false;
  }
  const auto below = arena_.nodes(frames_[visit.frame].stack);
  const std::vector<uint32_t> nodes(below.begin(), below.end());
  for (const uint32_t id : nodes) {
    if (id == kBottom) {
      if (visit.node == 0) return true;
      continue;
    }
    const Config after = known_.runner_.resume(arena_.node(id), accepted, visit.at.reg, arena_);
    if (after.state == kDead) continue;
    const uint32_t frame = stack_frame(after.stack);
    add({frame, {after.state, after.reg}, 0, visit.node, visit.tokens, index, kNone, kNone});
  }
  return false;
}

void LevelSearch::deliver(const Caller& caller, uint32_t frame, const Found& found) {
  if (nodes_left_ == 0) return;
  --nodes_left_;  // takes as long as one
  const Visit& from = visits_[caller.visit];
  const Visit& end = visits_[found.visit];
  Target target{store_.done(found.accepted), end.at.reg};
  if (caller.at.state != kDead) {
    Family& family = store_.family(store_.state(caller.at.state).family);
    target =
        family.resume(caller.at.state, caller.at.reg, found.accepted, end.at.reg, arena_.regs());
  }
  const uint32_t tokens = from.tokens + end.tokens - frames_[frame].tokens;
  add({from.frame, target, 0, end.node, tokens, caller.visit, found.visit, kNone});
}

// As Runner::push, without a stack.
void LevelSearch::call(uint32_t index) {
  const Visit visit = visits_[index];
  const State state = store_.state(visit.at.state);
  Caller caller{index, visit.at};
  if ((state.flags & kTailCalls) != 0) {
    caller.at = {store_.family(state.family).tail_state(visit.at.state), 0};
  } else if (state.family == FamilyId::kRules) {
    caller.at = {known_.grammar_.rules().caller(visit.at.state).state, 0};
  }
  callees_.clear();
  if (state.callee != kDead) {
    callees_.push_back({state.callee, 0});
  } else {
    Family& family = store_.family(state.family);
    if (texts_ == Texts::kShort) {
      family.needed_callees(visit.at.state, visit.at.reg, false, arena_.regs(), callees_);
    } else {
      family.callees(visit.at.state, visit.at.reg, arena_.regs(), callees_);
    }
  }
  const std::vector<Target> callees = callees_;
  for (const Target& callee : callees) {
    if (callee.state == kDead) continue;
    const std::array<uint32_t, 3> key{callee.state, callee.reg, visit.node};
    const auto [id, inserted] = called_.intern(key);
    if (inserted) {
      const auto frame = static_cast<uint32_t>(frames_.size());
      frame_of_call_.push_back(frame);
      frames_.emplace_back();
      frames_[frame].called = true;
      frames_[frame].tokens = visit.tokens;
      add({frame, callee, 0, visit.node, visit.tokens, kNone, kNone, kNone});
    }
    const uint32_t frame = frame_of_call_[id];
    frames_[frame].callers.push_back(caller);
    for (std::size_t i = 0; i < frames_[frame].found.size(); ++i) {
      deliver(caller, frame, frames_[frame].found[i]);
    }
  }
}

void LevelSearch::read_symbols(uint32_t index) {
  const Visit visit = visits_[index];
  const Config here{visit.at.state, visit.at.reg, 0, kBottom};
  if (!tokens_.may_read_symbol({&here, 1})) return;
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (tokens_.is_stop(token)) continue;
    ConfigSet after;
    tokens_.add_symbols({&here, 1}, token, known_.runner_, arena_, after);
    for (const Config& config : after.configs()) {
      add({visit.frame, {config.state, config.reg}, 0, 0, visit.tokens + 1, index, kNone, token});
    }
  }
}

void LevelSearch::read(uint32_t index) {
  const Visit visit = visits_[index];
  const State& state = store_.state(visit.at.state);
  const bool brief = texts_ == Texts::kShort;
  const bool spaces = (state.flags & kWhitespace) != 0;
  const TextClass& free = store_.free_run(visit.at.state).text;
  TextClass loop;
  if ((state.flags & (kHasRegister | kSuspects)) == 0) loop = free;
  if (spaces && visit.node == 0) {
    for (const uint8_t space : kSpaces) loop.add(space);
  }
  const Row& row = store_.row(visit.at.state);
  bool looped = visit.node == 0;  // one token of nothing else will do, and none from a beginning
  bool freed = false;
  const Edge* wide = nullptr;
  const std::optional<uint8_t> end = brief ? end_of(visit.at) : std::nullopt;
  for (uint32_t child = visit.node + 1; child < vocabulary_.next(visit.node);
       child = vocabulary_.next(child)) {
    const uint8_t byte = vocabulary_.byte(child);
    const bool space = spaces && is_space(byte);
    const Edge* edge = space ? nullptr : row.find(byte);
    if (space ? brief || visit.run >= state.whitespace_limit : edge == nullptr) continue;
    if (nodes_left_ == 0) return;
    if (byte < 0x80 && loop.has(byte) && (brief || only_loops(loop, child))) {
      if (looped || brief) continue;
      looped = true;
      const auto below = vocabulary_.tokens_from(child);
      const auto token = std::ranges::find_if_not(
          below, [&](uint32_t candidate) { return tokens_.is_stop(candidate); });
      if (token == below.end()) continue;
      add({visit.frame, visit.at, visit.run, 0, visit.tokens + 1, index, kNone, *token});
      continue;
    }
    if (brief && edge != nullptr) {
      if (end.has_value() && byte != *end) continue;
      if (byte == '\\' && row.edges.size() > 1) continue;
      if (byte < 0x80 && free.has(byte) && std::exchange(freed, true)) continue;
      if (edge->hi >= edge->lo + kWide && std::exchange(wide, edge) == edge) continue;
    }
    --nodes_left_;
    read_child(index, child, space, edge);
  }
}

// The byte that ends an object or array, if it can end: then nothing else is needed.
std::optional<uint8_t> LevelSearch::end_of(Target at) {
  const FamilyId family = store_.state(at.state).family;
  if (family != FamilyId::kObject && family != FamilyId::kArray) return std::nullopt;
  const uint8_t byte = family == FamilyId::kObject ? '}' : ']';
  const Edge* edge = store_.row(at.state).find(byte);
  if (edge == nullptr) return std::nullopt;
  const bool ends =
      edge->op == Op::kPlain ||
      store_.family(family).scan(at.state, at.reg, byte, edge->target, arena_.regs()).state !=
          kDead;
  return ends ? std::optional(byte) : std::nullopt;
}

bool LevelSearch::only_loops(const TextClass& loop, uint32_t child) const {
  if (!vocabulary_.has_children(child)) return true;
  const Vocabulary::Subtree* below = vocabulary_.subtree(child);
  return below != nullptr && !below->text.beyond_ascii && loop.covers_ascii_of(below->text);
}

void LevelSearch::read_child(uint32_t index, uint32_t child, bool space, const Edge* edge) {
  const Visit visit = visits_[index];
  Target target = visit.at;
  if (!space) {
    target.state = edge->target;
    if (edge->op == Op::kDynamic) {
      target = store_.family(store_.state(visit.at.state).family)
                   .scan(visit.at.state, visit.at.reg, vocabulary_.byte(child), edge->target,
                         arena_.regs());
    }
  }
  if (target.state == kDead) return;
  const uint32_t run = space ? visit.run + 1 : 0;
  if (tokens_.readable(child)) {
    add({visit.frame, target, run, 0, visit.tokens + 1, index, kNone, tokens_.token_at(child)});
  }
  if (vocabulary_.has_children(child)) {
    add({visit.frame, target, run, child, visit.tokens, index, kNone, kNone});
  }
}

LevelSearch::Plan LevelSearch::plan_to(uint32_t index) const {
  Plan plan;
  std::vector<uint32_t> waiting{index};
  while (!waiting.empty()) {
    const uint32_t at = waiting.back();
    waiting.pop_back();
    if (at == kNone) continue;
    const Visit& visit = visits_[at];
    if (visit.token != kNone) plan.push_back(visit.token);
    waiting.push_back(visit.from);
    waiting.push_back(visit.inner);
  }
  std::ranges::reverse(plan);
  return plan;
}

// The visit before it, at the same place of the same array with fewer items; kNone if there is
// none.
uint32_t LevelSearch::turn_before(uint32_t index) const {
  const Visit& end = visits_[index];
  const State& state = store_.state(end.at.state);
  const bool counts = (state.flags & (kHasRegister | kPooledRegister)) == kHasRegister;
  if (state.family != FamilyId::kArray || !counts || end.node != 0) return kNone;
  uint32_t at = end.from;
  while (at != kNone) {
    const Visit& visit = visits_[at];
    if (visit.at.state == end.at.state && visit.node == 0 && visit.at.reg < end.at.reg) return at;
    at = visit.from;
  }
  return kNone;
}

std::optional<LevelSearch::Turn> LevelSearch::turn() const {
  uint32_t first = kNone;
  uint32_t last = kNone;
  uint64_t tokens = 1;
  uint64_t items = 0;
  for (uint32_t index = 0; index < visits_.size(); ++index) {
    const uint32_t before = turn_before(index);
    if (before == kNone) continue;
    const uint64_t more_tokens = visits_[index].tokens - visits_[before].tokens;
    const uint64_t more_items = visits_[index].at.reg - visits_[before].at.reg;
    if (more_items * tokens <= items * more_tokens) continue;
    first = before;
    last = index;
    tokens = more_tokens;
    items = more_items;
  }
  if (first == kNone) return std::nullopt;
  Turn found{plan_to(first), plan_to(last)};
  found.tokens.erase(found.tokens.begin(),
                     found.tokens.begin() + static_cast<std::ptrdiff_t>(found.before.size()));
  // What comes before the frame.
  uint32_t frame = visits_[first].frame;
  while (frames_[frame].called) {
    const uint32_t caller = frames_[frame].callers[0].visit;
    const Plan outside = plan_to(caller);
    found.before.insert(found.before.begin(), outside.begin(), outside.end());
    frame = visits_[caller].frame;
  }
  return found;
}

}  // namespace maskwright

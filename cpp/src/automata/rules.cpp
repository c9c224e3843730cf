// Rule frames: the states over the byte NFA (see rules.h for the idea).
//
// A rules state is [frame, mode, positions...]; positions are closed under empty edges, nullable
// calls and left-corner returns of the frame, and only those that can do something are kept.

#include "maskwright/automata/rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "callers.h"
#include "maskwright/support/error.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"
#include "nfa.h"
#include "repeat_family.h"
#include "tail_family.h"

namespace maskwright {

namespace {

enum Mode : uint32_t {
  kInside,     // something was read, or a callee returned
  kStart,      // entered by a call: being empty is the caller's business
  kRootStart,  // the root frame, which may accept the empty text
};

struct Frame {
  SetId callees;  // the rules it was entered for
  std::vector<std::pair<uint32_t, Position>>
      left_corners;  // (rule, position after the call), sorted

  std::size_t memory_bytes() const { return heap_bytes(left_corners); }
};

}  // namespace

struct RulesMachine::Impl final : Family {
  Impl(const Ir& ir, Store& store_in, JsonHooks hooks, Nfa nfa_in)
      : store(store_in),
        json(std::move(hooks)),
        nfa(std::move(nfa_in)),
        num_rules(ir.num_rules()),
        root(ir.root_rule()),
        repeat_family(store_in, nfa,
                      {[this](uint32_t rule) { return rule_start({&rule, 1}, kStart); },
                       [this](StateId state) { return !token_edges(state).empty(); }}),
        tail_family(store_in),
        callers(store_in, {[this](StateId state) { return called(state); },
                           [this](StateId state, SetId set) { return after_call(state, set); },
                           [this](StateId state) { return token_edges(state); }}) {
    if (!nfa.rule_live[root]) {
      throw Error(ErrorKind::kUnsatisfiable, "grammar-unsatisfiable",
                  "no text of the vocabulary's tokens completes the rule \"" +
                      std::string(ir.rule_name(root)) +
                      "\"; look for rules without an end or bytes that no token has");
    }
    store.register_family(FamilyId::kRules, *this);
    store.register_family(FamilyId::kRepeat, repeat_family);
    store.register_family(FamilyId::kTail, tail_family);
    mark.assign(nfa.nodes.size(), 0);
  }

  // --- frames and closures -------------------------------------------------------------------

  uint32_t frame_for(std::span<const uint32_t> rules) {
    const SetId set = store.intern_set(rules);
    const auto [entry, inserted] = frame_ids.try_emplace(set, static_cast<uint32_t>(frames.size()));
    if (inserted) {
      frames.push_back({set, {}});
      find_left_corners(entry->second, rules);
    }
    return entry->second;
  }

  void find_left_corners(uint32_t frame, std::span<const uint32_t> rules) {
    std::vector<std::pair<uint32_t, Position>> corners;
    ++epoch;
    std::vector<Position> work;
    const auto visit = [&](Position p) {
      if (mark[p] != epoch) {
        mark[p] = epoch;
        work.push_back(p);
      }
    };
    for (const uint32_t rule : rules) visit(nfa.rule_start[rule]);
    while (!work.empty()) {
      const Position p = work.back();
      work.pop_back();
      for (const Position to : nfa.nodes[p].empty) visit(to);
      for (const CallEdge& call : nfa.nodes[p].calls) {
        if (is_nullable(call.callee)) visit(call.target);
        if (!is_plain(call.callee)) continue;
        corners.push_back({call.callee, call.target});
        visit(nfa.rule_start[call.callee]);
      }
    }
    make_set(corners);
    frames[frame].left_corners = std::move(corners);
  }

  bool is_plain(uint32_t callee) const { return callee < kTargetTag && !nfa.is_repeat(callee); }
  bool is_nullable(uint32_t callee) const { return callee < kTargetTag && nfa.nullable[callee]; }

  std::vector<uint32_t> rules_of(StateId state) {
    constexpr std::size_t kMaxPlaces = 16;
    std::vector<uint32_t> rules;
    const auto add = [&](uint32_t rule) {  // bodies of repeats have no name
      if (rule < num_rules && std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
    };
    if (store.state(state).family != FamilyId::kRules) return rules;
    const auto content = store.content(state);
    for (const Position p : content.subspan(2, std::min(content.size() - 2, kMaxPlaces))) {
      add(rule_of(nfa, p));
    }
    std::ranges::for_each(store.set(frames[content[0]].callees), add);
    return rules;
  }

  bool frame_returns(uint32_t frame, uint32_t rule) const {
    return std::ranges::binary_search(store.set(frames[frame].callees), rule);
  }

  // Interns the state of the closed positions; kDead if nothing is left.
  StateId close(uint32_t frame, Mode mode, std::span<const Position> from) {
    std::vector<uint32_t> content{frame, mode};
    collect(frame, mode, from, content);
    return content.size() == 2 ? kDead : store.intern(FamilyId::kRules, content);
  }

  // Appends the closure's positions that can do something, sorted.
  void collect(uint32_t frame, Mode mode, std::span<const Position> from,
               std::vector<uint32_t>& out) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    ++epoch;
    std::vector<Position> work;
    const auto visit = [&](Position p) {
      if (mark[p] != epoch) {
        mark[p] = epoch;
        work.push_back(p);
      }
    };
    std::ranges::for_each(from, visit);
    while (!work.empty()) {
      const Position p = work.back();
      work.pop_back();
      const Nfa::Node& node = nfa.nodes[p];
      std::ranges::for_each(node.empty, visit);
      for (const CallEdge& call : node.calls) {
        if (is_nullable(call.callee)) visit(call.target);
        if (mode != kInside && is_plain(call.callee)) visit(nfa.rule_start[call.callee]);
      }
      if (node.ends_rule != kNone) visit_left_corner(frame, node.ends_rule, visit);
      if (keeps(frame, node)) out.push_back(p);
    }
    std::sort(out.begin() + first, out.end());
  }

  template <typename Visit>
  void visit_left_corner(uint32_t frame, uint32_t rule, Visit visit) const {
    const auto& corners = frames[frame].left_corners;
    auto corner = std::ranges::lower_bound(corners, std::pair<uint32_t, Position>{rule, 0});
    for (; corner != corners.end() && corner->first == rule; ++corner) visit(corner->second);
  }

  bool keeps(uint32_t frame, const Nfa::Node& node) const {
    return !node.bytes.empty() || !node.calls.empty() || !node.tokens.empty() ||
           (node.ends_rule != kNone && frame_returns(frame, node.ends_rule));
  }

  // --- Family ----------------------------------------------------------------------------------

  void describe(std::span<const uint32_t> content, State& state) override {
    const uint32_t frame = content[0];
    std::vector<uint32_t> ends;
    bool reads = false;
    bool calls = false;
    for (const Position p : content.subspan(2)) {
      const Nfa::Node& node = nfa.nodes[p];
      reads |= !node.bytes.empty() || !node.tokens.empty();
      for (const CallEdge& call : node.calls) calls |= is_pushed(content[1], call.callee);
      if (node.ends_rule != kNone && frame_returns(frame, node.ends_rule)) {
        ends.push_back(node.ends_rule);
      }
    }
    if (!ends.empty() && content[1] != kStart) {
      make_set(ends);
      state.accepts = store.intern_set(ends);
      state.flags |= kAccepts;
      if (!reads && !calls) state.flags |= kReturnOnly;
    }
    if (calls) {
      state.flags |= kCalls;
      if (all_tail(content)) state.flags |= kTailCalls;
    }
  }

  bool is_pushed(uint32_t mode, uint32_t callee) const {
    return mode == kInside || !is_plain(callee);
  }

  bool all_tail(std::span<const uint32_t> content) {
    for (const Position p : content.subspan(2)) {
      for (const CallEdge& call : nfa.nodes[p].calls) {
        if (is_pushed(content[1], call.callee) && !only_ends(content[0], call.target)) return false;
      }
    }
    return true;
  }

  // The position after a call does nothing but end rules of the frame.
  bool only_ends(uint32_t frame, Position target) {
    std::vector<uint32_t> after;
    collect(frame, kInside, {&target, 1}, after);
    return !after.empty() && std::ranges::all_of(after, [&](Position p) {
      const Nfa::Node& node = nfa.nodes[p];
      return node.bytes.empty() && node.calls.empty() && node.tokens.empty();
    });
  }

  void expand(StateId state, RowBuilder& row) override {
    const auto content = store.content(state);
    const uint32_t frame = content[0];
    std::vector<ByteEdge> edges;
    for (const Position p : content.subspan(2)) {
      edges.insert(edges.end(), nfa.nodes[p].bytes.begin(), nfa.nodes[p].bytes.end());
    }
    std::ranges::sort(edges, {}, &ByteEdge::lo);
    std::vector<ByteEdge> active;
    std::size_t next = 0;
    for (uint32_t lo = 0; lo < 256;) {
      std::erase_if(active, [&](const ByteEdge& edge) { return edge.hi < lo; });
      while (next < edges.size() && edges[next].lo <= lo) active.push_back(edges[next++]);
      uint32_t hi = next < edges.size() ? edges[next].lo - 1U : 255;
      for (const ByteEdge& edge : active) hi = std::min<uint32_t>(hi, edge.hi);
      if (!active.empty()) {
        targets.clear();
        for (const ByteEdge& edge : active) targets.push_back(edge.target);
        const StateId target = close(frame, kInside, targets);
        if (target != kDead) {
          row.add(static_cast<uint8_t>(lo), static_cast<uint8_t>(hi), target);
        }
      }
      lo = hi + 1;
    }
  }

  void callees(StateId state, Reg, RegisterPool&, std::vector<Target>& out) override {
    const auto [entry, inserted] = callee_cache.try_emplace(state);
    if (inserted) {
      std::vector<Target> found = find_callees(state);
      callee_cache[state] = std::move(found);
    }
    const std::vector<Target>& list = callee_cache[state];
    out.insert(out.end(), list.begin(), list.end());
  }

  // The callees that the state pushes itself for.
  std::vector<uint32_t> called(StateId state) {
    const auto content = store.content(state);
    std::vector<uint32_t> found;
    for (const Position p : content.subspan(2)) {
      for (const CallEdge& call : nfa.nodes[p].calls) {
        if (is_pushed(content[1], call.callee)) found.push_back(call.callee);
      }
    }
    make_set(found);
    return found;
  }

  std::vector<Target> find_callees(StateId state) {
    std::vector<uint32_t> rules, targets_called, repeats;
    for (const uint32_t callee : called(state)) {
      auto& list = callee >= kTargetTag ? targets_called : nfa.is_repeat(callee) ? repeats : rules;
      list.push_back(callee);
    }
    std::vector<Target> found;
    if (!rules.empty()) found.push_back({rule_start(rules, kStart), 0});
    for (const uint32_t repeat : repeats) {
      found.push_back({repeat_family.start(nfa.repeat_of[repeat]), 0});
    }
    add_json_starts(targets_called, found);
    return found;
  }

  void add_json_starts(std::vector<uint32_t>& called, std::vector<Target>& found) {
    std::ranges::stable_sort(called, {}, json.options_of);
    for (std::size_t i = 0; i < called.size();) {
      std::size_t end = i + 1;
      while (end < called.size() && json.options_of(called[end]) == json.options_of(called[i]))
        ++end;
      found.push_back({json.start(std::span(called).subspan(i, end - i)), 0});
      i = end;
    }
  }

  StateId rule_start(std::span<const uint32_t> rules, Mode mode) {
    const uint32_t frame = frame_for(rules);
    std::vector<Position> starts;
    for (const uint32_t rule : rules) starts.push_back(nfa.rule_start[rule]);
    return close(frame, mode, starts);
  }

  Target resume(StateId state, Reg, SetId accepted, Reg, RegisterPool&) override {
    return {after_call(state, accepted), 0};
  }

  StateId after_call(StateId state, SetId accepted) {
    const uint64_t key = uint64_t{state} << 32 | accepted;
    const auto found = resume_cache.find(key);
    if (found != resume_cache.end()) return found->second;
    const auto content = store.content(state);
    const auto returned = store.set(accepted);
    std::vector<Position> after;
    for (const Position p : content.subspan(2)) {
      for (const CallEdge& call : nfa.nodes[p].calls) {
        if (is_pushed(content[1], call.callee) &&
            std::ranges::binary_search(returned, call.callee)) {
          after.push_back(call.target);
        }
      }
    }
    const StateId target = after.empty() ? kDead : close(content[0], kInside, after);
    resume_cache.emplace(key, target);
    return target;
  }

  StateId tail_state(StateId state) override {
    const auto [entry, inserted] = tail_cache.try_emplace(state, kDead);
    if (inserted) {
      const StateId tail = find_tail(state);
      tail_cache[state] = tail;
    }
    return tail_cache[state];
  }

  StateId find_tail(StateId state) {
    std::vector<std::pair<uint32_t, SetId>> map;
    bool identity = true;
    for (const uint32_t callee : called(state)) {
      const SetId one = store.intern_set({&callee, 1});
      const SetId returned = store.state(after_call(state, one)).accepts;
      map.push_back({callee, returned});
      identity &= returned == one;
    }
    return identity ? kDead : tail_family.make(std::move(map));
  }

  std::span<const TokenEdge> token_edges(StateId state) {
    const auto [entry, inserted] = token_cache.try_emplace(state);
    if (inserted) {
      std::vector<TokenEdge> edges;
      const auto content = store.content(state);
      for (const Position p : content.subspan(2)) {
        for (const TokenSetEdge& edge : nfa.nodes[p].tokens) {
          edges.push_back({edge.expr, close(content[0], kInside, {&edge.target, 1})});
        }
      }
      token_cache[state] = std::move(edges);
    }
    return token_cache[state];
  }

  // --- stored masks ---

  bool append_stored_key(StateId state, Reg reg, const NormalNumbers& numbers, SharedKey& key) {
    const auto content = store.content(state);
    if (store.state(state).family == FamilyId::kRules) {
      append_content(content, numbers, key);
      return true;
    }
    if (store.state(state).family != FamilyId::kRepeat) return false;
    const uint32_t callee = nfa.repeats[content[0]].callee;
    key.add(numbers.ids[callee]);
    key.add_callee(callee);
    KeyWords counts;
    repeat_family.mask_key(state, reg, RegisterPool(), counts);
    key.add(std::span(counts).subspan(1));
    const StateId inner = content[1];
    key.add(inner == kDead ? 0 : 1);
    if (inner != kDead) append_content(store.content(inner), numbers, key);
    return true;
  }

  void append_content(std::span<const uint32_t> content, const NormalNumbers& numbers,
                      SharedKey& key) const {
    std::vector<std::pair<uint32_t, uint32_t>> callees;  // new and own number
    for (const uint32_t rule : store.set(frames[content[0]].callees)) {
      callees.push_back({numbers.ids[rule], rule});
    }
    std::ranges::sort(callees);
    key.add(content[1]);
    key.add(static_cast<uint32_t>(callees.size()));
    for (const auto& [normal, own] : callees) {
      key.add(normal);
      key.add_callee(own);
    }
    std::vector<uint32_t> positions;
    for (const Position p : content.subspan(2)) positions.push_back(numbers.positions[p]);
    std::ranges::sort(positions);
    key.add(static_cast<uint32_t>(positions.size()));
    key.add(positions);
  }

  // --- tail calls ---

  // State [(callee, returned set)...]: what the frames of tail calls below would return.

  Store& store;
  JsonHooks json;
  Nfa nfa;
  uint32_t num_rules;  // of the IR
  uint32_t root;
  RepeatFamily repeat_family;
  TailFamily tail_family;
  Callers callers;
  std::optional<std::vector<uint32_t>> to_end;  // bytes_to_end()
  std::vector<Frame> frames;
  std::unordered_map<SetId, uint32_t> frame_ids;
  std::unordered_map<StateId, std::vector<Target>> callee_cache;
  std::unordered_map<uint64_t, StateId> resume_cache;
  std::unordered_map<StateId, StateId> tail_cache;
  std::unordered_map<StateId, std::vector<TokenEdge>> token_cache;
  std::vector<uint32_t> mark;
  uint32_t epoch = 0;
  std::vector<Position> targets;  // scratch of expand
};

RulesMachine::RulesMachine(const Ir& ir, Store& store, const std::array<bool, 256>& spellable,
                           const RuleLimits& limits, const JsonHooks& json,
                           const RegularHook& regular)
    : impl_(
          std::make_unique<Impl>(ir, store, json, build_nfa(ir, spellable, limits, json, regular))),
      gather_(impl_->tail_family.same()) {}

RulesMachine::RulesMachine(const Ir& ir, Store& store, const JsonHooks& json,
                           const RuleTables& tables)
    : impl_(std::make_unique<Impl>(ir, store, json, nfa_of(tables, ir.root_rule(), json))),
      gather_(impl_->tail_family.same()) {}

RulesMachine::~RulesMachine() = default;

StateId RulesMachine::start() const {
  const std::array<uint32_t, 1> rules{impl_->root};
  return impl_->rule_start(rules, kRootStart);
}

uint32_t RulesMachine::num_positions() const {
  return static_cast<uint32_t>(impl_->nfa.nodes.size());
}

RuleTables RulesMachine::tables() const {
  return tables_of(impl_->nfa, impl_->num_rules, impl_->root);
}

RulesMachine::NormalNumbers RulesMachine::normal_numbers() const {
  return normal_numbers_of(impl_->nfa, impl_->num_rules, impl_->root);
}

bool RulesMachine::append_stored_key(StateId state, Reg reg, const NormalNumbers& numbers,
                                     SharedKey& key) {
  return impl_->append_stored_key(state, reg, numbers, key);
}

std::size_t RulesMachine::memory_bytes() const {
  const Impl& impl = *impl_;
  return heap_block(sizeof(Impl)) + heap_bytes(impl.nfa, impl.repeat_family, impl.frames,
                                               impl.frame_ids, impl.callee_cache, impl.resume_cache,
                                               impl.tail_cache, impl.token_cache, impl.callers,
                                               impl.mark, impl.targets, impl.to_end);
}

StateId RulesMachine::compose_tails(StateId upper, StateId lower) {
  return impl_->tail_family.compose(upper, lower);
}

uint32_t RulesMachine::least_bytes(StateId state) {
  auto& bytes = impl_->to_end;
  if (!bytes.has_value()) bytes = bytes_to_end(impl_->nfa);
  if (bytes->empty() || impl_->store.state(state).family != FamilyId::kRules) return 0;
  const auto positions = impl_->store.content(state).subspan(2);
  uint32_t least = kUnbounded;
  for (const Position p : positions) least = std::min(least, (*bytes)[p]);
  return least;
}

RulesMachine::Caller RulesMachine::caller(StateId state) { return impl_->callers.get(state); }

std::vector<uint32_t> RulesMachine::rules_of(StateId state) const { return impl_->rules_of(state); }

std::span<const RulesMachine::TokenEdge> RulesMachine::token_edges(StateId state) {
  return impl_->token_edges(state);
}

}  // namespace maskwright

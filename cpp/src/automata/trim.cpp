// Productivity: which positions can still reach the end of their rule, which rules have a text at
// all, which can be empty. One backward pass from the ends of all rules; a call edge counts once
// its target and its callee's start are both known to be live. Linear in the NFA.

#include <algorithm>
#include <map>

#include "nfa.h"

namespace maskwright {

namespace {

class Trimmer {
 public:
  Trimmer(Nfa& nfa, const JsonHooks& json) : nfa_(nfa), json_(json) {}

  void run() {
    find_nullable();
    find_live();
    drop_dead_edges();
  }

 private:
  struct Reverse {
    std::vector<Position> plain;                       // by empty, byte or token edges
    std::vector<std::pair<Position, uint32_t>> calls;  // (source, callee)
  };

  uint32_t body_of(uint32_t callee) const {
    return nfa_.is_repeat(callee) ? nfa_.repeats[nfa_.repeat_of[callee]].body : callee;
  }

  // nullable: the end is reachable from the start by empty edges and calls of nullable rules.
  // Backward from all ends at once; the source is reached from exactly its own rule's end, since
  // no edge leaves a rule.
  void find_nullable() {
    build_reverse([](const Nfa::Node&) { return false; });
    nfa_.nullable.assign(nfa_.rule_start.size(), false);
    for (const RepeatRule& repeat : nfa_.repeats) nfa_.nullable[repeat.callee] = repeat.min == 0;
    spread([&](uint32_t rule) { nfa_.nullable[rule] = true; },
           [&](uint32_t callee) { return nfa_.nullable[callee]; }, false);
    // Empty iterations count for nothing: a nullable body makes every lower bound 0.
    for (RepeatRule& repeat : nfa_.repeats) {
      if (nfa_.nullable[repeat.body]) repeat.min = 0;
    }
  }

  void find_live() {
    build_reverse([](const Nfa::Node&) { return true; });
    nfa_.rule_live.assign(nfa_.rule_start.size(), false);
    for (const RepeatRule& repeat : nfa_.repeats) nfa_.rule_live[repeat.callee] = repeat.min == 0;
    live_ = spread([&](uint32_t rule) { nfa_.rule_live[rule] = true; },
                   [&](uint32_t callee) { return is_live(callee); }, true);
  }

  bool is_live(uint32_t callee) {
    if (callee < kTargetTag) return nfa_.rule_live[callee];
    const auto [entry, inserted] = targets_.try_emplace(callee, false);
    if (inserted) entry->second = json_.productive(callee);
    return entry->second;
  }

  template <typename Consumes>
  void build_reverse(Consumes consumes) {
    reverse_.assign(nfa_.nodes.size(), {});
    for (Position p = 0; p < nfa_.nodes.size(); ++p) {
      const Nfa::Node& node = nfa_.nodes[p];
      for (const Position to : node.empty) reverse_[to].plain.push_back(p);
      for (const CallEdge& call : node.calls)
        reverse_[call.target].calls.push_back({p, call.callee});
      if (!consumes(node)) continue;
      for (const ByteEdge& edge : node.bytes) reverse_[edge.target].plain.push_back(p);
      for (const TokenSetEdge& edge : node.tokens) reverse_[edge.target].plain.push_back(p);
    }
  }

  // Backward marking from every rule's end. `on_start(rule)` is told of each rule whose start is
  // reached; a call edge is crossed when `crosses(callee)`, now or once its callee was reached.
  template <typename OnStart, typename Crosses>
  std::vector<bool> spread(OnStart on_start, Crosses crosses, bool include_targets) {
    std::vector<bool> marked(nfa_.nodes.size(), false);
    std::vector<uint32_t> rule_at(nfa_.nodes.size(), kNone);
    std::vector<std::vector<Position>> waiting(nfa_.rule_start.size());
    std::vector<Position> work;
    const auto mark = [&](Position p) {
      if (!marked[p]) {
        marked[p] = true;
        work.push_back(p);
      }
    };
    for (uint32_t rule = 0; rule < nfa_.rule_start.size(); ++rule) {
      if (nfa_.rule_start[rule] != kNone) rule_at[nfa_.rule_start[rule]] = rule;
    }
    for (Position p = 0; p < nfa_.nodes.size(); ++p) {
      if (nfa_.nodes[p].ends_rule != kNone) mark(p);
    }
    const auto wake = [&](uint32_t callee) {
      on_start(callee);
      for (const Position p : waiting[callee]) mark(p);
      waiting[callee].clear();
    };
    while (!work.empty()) {
      const Position p = work.back();
      work.pop_back();
      for (const Position from : reverse_[p].plain) mark(from);
      for (const auto& [from, callee] : reverse_[p].calls) {
        if (callee >= kTargetTag) {
          if (include_targets && crosses(callee)) mark(from);
        } else if (crosses(callee)) {
          mark(from);
        } else {
          waiting[callee].push_back(from);
        }
      }
      if (const uint32_t rule = rule_at[p]; rule != kNone) {
        wake(rule);
        for (const RepeatRule& repeat : repeats_of(rule)) wake(repeat.callee);
      }
    }
    return marked;
  }

  std::span<const RepeatRule> repeats_of(uint32_t body) const {
    const auto found = std::ranges::lower_bound(nfa_.repeats, body, {}, &RepeatRule::body);
    if (found == nfa_.repeats.end() || found->body != body) return {};
    return {&*found, 1};
  }

  // A repeat that may be left out, of a body without any text: nothing but the empty text.
  bool never_runs(uint32_t callee) const {
    return callee < kTargetTag && nfa_.is_repeat(callee) &&
           nfa_.repeats[nfa_.repeat_of[callee]].min == 0 &&
           !live_[nfa_.rule_start[body_of(callee)]];
  }

  void drop_dead_edges() {
    for (Position p = 0; p < nfa_.nodes.size(); ++p) {
      Nfa::Node& node = nfa_.nodes[p];
      for (const CallEdge& call : node.calls) {
        if (live_[call.target] && never_runs(call.callee)) node.empty.push_back(call.target);
      }
      std::erase_if(node.bytes, [&](const ByteEdge& edge) { return !live_[edge.target]; });
      std::erase_if(node.tokens, [&](const TokenSetEdge& edge) { return !live_[edge.target]; });
      std::erase_if(node.empty, [&](Position to) { return !live_[to]; });
      std::erase_if(node.calls, [&](const CallEdge& call) {
        return !live_[call.target] || !is_live(call.callee) ||
               (call.callee < kTargetTag && !live_[nfa_.rule_start[body_of(call.callee)]]);
      });
    }
  }

  Nfa& nfa_;
  const JsonHooks& json_;
  std::vector<Reverse> reverse_;
  std::vector<bool> live_;
  std::map<uint32_t, bool> targets_;
};

}  // namespace

void trim_nfa(Nfa& nfa, const JsonHooks& json) { Trimmer(nfa, json).run(); }

}  // namespace maskwright

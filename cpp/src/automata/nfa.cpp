// Lowering of IR expressions to the byte NFA (see nfa.h).
//
// A task (expression, from, to) adds edges so that exactly the expression's texts lead from one
// position to the other. Tasks live on an explicit stack, so nesting costs no C++ stack. An
// expression used in several places is lowered once per place; max_states bounds the total.

#include "nfa.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "maskwright/ir/repeat.h"
#include "maskwright/support/error.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

constexpr uint32_t kUnrollSize = 96;  // a repeat of more positions becomes a frame with a counter

class NfaBuilder {
 public:
  NfaBuilder(const Ir& ir, const std::array<bool, 256>& spellable, const RuleLimits& limits,
             const JsonHooks& json, const RegularHook& regular)
      : ir_(ir),
        spellable_(spellable),
        limits_(limits),
        json_(json),
        regular_(regular),
        facts_(expr_facts(ir)) {}

  Nfa build() {
    const uint32_t n = ir_.num_rules();
    nfa_.rule_start.assign(n, kNone);
    nfa_.repeat_of.assign(n, kNone);
    need_rule(ir_.root_rule());
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      lower(task);
    }
    drop_unspellable();
    return std::move(nfa_);
  }

 private:
  struct Task {
    uint32_t expr;
    Position from, to;
    bool unroll_all;  // inside a left-recursive rule, where a repeat must not become a frame
  };

  Position position() {
    check_stop();
    if (nfa_.nodes.size() >= limits_.max_states) {
      throw Error::limit("grammar-too-large",
                         "the grammar needs more than " + std::to_string(limits_.max_states) +
                             " automaton positions; raise max_states or make repeats smaller",
                         "max_states", limits_.max_states);
    }
    nfa_.nodes.emplace_back();
    return static_cast<Position>(nfa_.nodes.size() - 1);
  }

  // Makes the rule's start and end and schedules its body, once.
  void need_rule(uint32_t rule) {
    if (nfa_.rule_start[rule] != kNone) return;
    open_rule(rule, ir_.rule_expr(rule), facts_.rule_left_recursive[rule]);
  }
  void open_rule(uint32_t rule, uint32_t expr, bool unroll_all) {
    const Position start = position();
    const Position end = position();
    nfa_.rule_start[rule] = start;
    nfa_.nodes[end].ends_rule = rule;
    tasks_.push_back({expr, start, end, unroll_all});
  }
  uint32_t new_rule() {
    nfa_.rule_start.push_back(kNone);
    nfa_.repeat_of.push_back(kNone);
    return static_cast<uint32_t>(nfa_.rule_start.size() - 1);
  }

  void empty_edge(Position from, Position to) { nfa_.nodes[from].empty.push_back(to); }

  void lower(const Task& task) {
    const auto payload = ir_.expr(task.expr);
    switch (ir_.expr_kind(task.expr)) {
      case ExprKind::kEmpty: empty_edge(task.from, task.to); break;
      case ExprKind::kLiteral: lower_bytes(payload[0], payload[1], task.from, task.to); break;
      case ExprKind::kClass: add_utf8_ranges(nfa_, payload.subspan(1), task.from, task.to); break;
      case ExprKind::kSequence: lower_sequence(payload.subspan(1), task); break;
      case ExprKind::kChoice:
        for (const uint32_t child : payload.subspan(1)) {
          tasks_.push_back({child, task.from, task.to, task.unroll_all});
        }
        break;
      case ExprKind::kRepeat: lower_repeat(payload, task); break;
      case ExprKind::kRef: lower_ref(payload[0], task); break;
      case ExprKind::kLiteralSet: lower_literal_set(payload, task); break;
      case ExprKind::kIntersect:
      case ExprKind::kComplement:
      case ExprKind::kTextUntil: lower_regular(task); break;
      case ExprKind::kTokenSet: nfa_.nodes[task.from].tokens.push_back({task.expr, task.to}); break;
      case ExprKind::kJson: lower_json(task); break;
      case ExprKind::kCount: break;
    }
  }

  void lower_json(const Task& task) {
    const uint32_t target = json_.target(task.expr);
    nfa_.json_exprs.try_emplace(target, task.expr);
    nfa_.nodes[task.from].calls.push_back({target, task.to});
  }

  void lower_bytes(uint32_t offset, uint32_t length, Position from, Position to) {
    Position at = from;
    const auto text = ir_.bytes(offset, length);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const Position target = i + 1 == text.size() ? to : position();
      const auto byte = static_cast<uint8_t>(text[i]);
      nfa_.nodes[at].bytes.push_back({byte, byte, target});
      at = target;
    }
    if (text.empty()) empty_edge(from, to);
  }

  void lower_sequence(std::span<const uint32_t> parts, const Task& task) {
    Position at = task.from;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Position target = i + 1 == parts.size() ? task.to : position();
      tasks_.push_back({parts[i], at, target, task.unroll_all});
      at = target;
    }
  }

  void lower_repeat(std::span<const uint32_t> payload, const Task& task) {
    const auto [body, min, max, size] = fold(payload);
    if (max == 0) {
      empty_edge(task.from, task.to);
    } else if (task.unroll_all || size <= kUnrollSize || (max == kNone && min <= 1)) {
      unroll(body, min, max, task);
    } else {
      call_repeat(body, min, max, task);
    }
  }

  struct Repeat {
    uint32_t body, min, max;
    uint64_t size;
  };

  // A repeat of repeats as one repeat, where that is possible.
  Repeat fold(std::span<const uint32_t> payload) const {
    uint32_t body = payload[0];
    RepeatBounds bounds{payload[1], payload[2]};
    while (ir_.expr_kind(body) == ExprKind::kRepeat) {
      const auto inner = ir_.expr(body);
      const auto joined = join_nested(bounds, {inner[1], inner[2]});
      if (!joined) break;
      body = inner[0];
      bounds = *joined;
    }
    const uint64_t copies = bounds.max == kNone ? bounds.min + uint64_t{1} : bounds.max;
    return {body, bounds.min, bounds.max, copies * (facts_.size[body] + uint64_t{1})};
  }

  // min copies, then a loop or optional copies that may all skip to the end.
  void unroll(uint32_t body, uint32_t min, uint32_t max, const Task& task) {
    Position at = task.from;
    for (uint32_t i = 0; i < min; ++i) {
      const Position next = position();
      tasks_.push_back({body, at, next, task.unroll_all});
      at = next;
    }
    if (max == kNone) {
      const Position loop = position();
      empty_edge(at, loop);
      tasks_.push_back({body, loop, loop, task.unroll_all});
      empty_edge(loop, task.to);
      return;
    }
    for (uint32_t i = min; i < max; ++i) {
      empty_edge(at, task.to);
      const Position next = position();
      tasks_.push_back({body, at, next, task.unroll_all});
      at = next;
    }
    empty_edge(at, task.to);
  }

  void call_repeat(uint32_t body, uint32_t min, uint32_t max, const Task& task) {
    const uint32_t callee = new_rule();
    const uint32_t body_rule = new_rule();
    nfa_.repeat_of[callee] = static_cast<uint32_t>(nfa_.repeats.size());
    nfa_.repeats.push_back({callee, body_rule, min, max == kNone ? kUnbounded : max});
    open_rule(body_rule, body, false);
    nfa_.nodes[task.from].calls.push_back({callee, task.to});
  }

  void lower_ref(uint32_t rule, const Task& task) {
    if (facts_.rule_inlined[rule]) {
      tasks_.push_back({ir_.rule_expr(rule), task.from, task.to, false});
      return;
    }
    need_rule(rule);
    nfa_.nodes[task.from].calls.push_back({rule, task.to});
  }

  // A byte trie of the literals with one common end.
  void lower_literal_set(std::span<const uint32_t> payload, const Task& task) {
    std::vector<std::string_view> texts;
    for (std::size_t i = 1; i + 1 < payload.size(); i += 2) {
      texts.push_back(ir_.bytes(payload[i], payload[i + 1]));
    }
    std::ranges::sort(texts);
    std::vector<Position> path{task.from};
    std::string_view previous;
    for (const std::string_view text : texts) {
      const auto common = static_cast<std::size_t>(
          std::mismatch(previous.begin(), previous.end(), text.begin(), text.end()).first -
          previous.begin());
      path.resize(common + 1);
      for (std::size_t i = common; i < text.size(); ++i) {
        const Position next = position();
        const auto byte = static_cast<uint8_t>(text[i]);
        nfa_.nodes[path.back()].bytes.push_back({byte, byte, next});
        path.push_back(next);
      }
      empty_edge(path.back(), task.to);
      previous = text;
    }
  }

  void lower_regular(const Task& task) {
    const RegularAutomaton automaton = regular_(task.expr);
    std::vector<Position> positions;
    for (std::size_t i = 0; i < automaton.arcs.size(); ++i) positions.push_back(position());
    if (positions.empty()) return;
    empty_edge(task.from, positions[0]);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (const auto& arc : automaton.arcs[i]) {
        const std::array<uint32_t, 2> range{arc.lo, arc.hi};
        add_utf8_ranges(nfa_, range, positions[i], positions[arc.target]);
      }
      if (automaton.accepting[i]) empty_edge(positions[i], task.to);
    }
  }

  void drop_unspellable() {
    if (std::ranges::all_of(spellable_, [](bool possible) { return possible; })) return;
    for (Nfa::Node& node : nfa_.nodes) {
      std::vector<ByteEdge> kept;
      for (const ByteEdge& edge : node.bytes) {
        for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) {
          if (!spellable_[byte]) continue;
          const auto value = static_cast<uint8_t>(byte);
          if (!kept.empty() && kept.back().target == edge.target && kept.back().hi + 1U == byte) {
            kept.back().hi = value;
          } else {
            kept.push_back({value, value, edge.target});
          }
        }
      }
      node.bytes = std::move(kept);
    }
  }

  const Ir& ir_;
  const std::array<bool, 256>& spellable_;
  const RuleLimits& limits_;
  const JsonHooks& json_;
  const RegularHook& regular_;
  ExprFacts facts_;
  Nfa nfa_;
  std::vector<Task> tasks_;
};

}  // namespace

Nfa build_nfa(const Ir& ir, const std::array<bool, 256>& spellable, const RuleLimits& limits,
              const JsonHooks& json, const RegularHook& regular) {
  Nfa nfa = NfaBuilder(ir, spellable, limits, json, regular).build();
  trim_nfa(nfa, json);
  return nfa;
}

uint32_t rule_of(const Nfa& nfa, Position from) {
  constexpr std::size_t kMaxVisited = 4096;
  std::vector<Position> seen{from};
  std::unordered_set<Position> known{from};
  const auto visit = [&](Position p) {
    if (known.insert(p).second) seen.push_back(p);
  };
  for (std::size_t i = 0; i < seen.size() && i < kMaxVisited; ++i) {
    const Nfa::Node& node = nfa.nodes[seen[i]];
    if (node.ends_rule != kNone) return node.ends_rule;
    std::ranges::for_each(node.empty, visit);
    for (const ByteEdge& edge : node.bytes) visit(edge.target);
    for (const CallEdge& edge : node.calls) visit(edge.target);
    for (const TokenSetEdge& edge : node.tokens) visit(edge.target);
  }
  return kNone;
}

}  // namespace maskwright

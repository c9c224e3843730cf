// The normal form of rules, and the NFA of a normal form (see rule_tables.h). Both ways are linear
// but for the sorting of each position's edges.

#include "maskwright/automata/rule_tables.h"

#include <algorithm>
#include <utility>

#include "cycles.h"
#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"
#include "nfa.h"

namespace maskwright {

namespace {

class Normaliser {
 public:
  Normaliser(const Nfa& nfa, uint32_t num_rules)
      : nfa_(nfa), positions_(nfa.rule_start.size()), new_position_(nfa.nodes.size(), kNone) {
    tables_.num_rules = num_rules;
  }

  RulesMachine::NormalNumbers numbers(uint32_t root) {
    number_all(root);
    return {std::move(new_position_), std::move(new_id_)};
  }

  RuleTables tables(uint32_t root) {
    number_all(root);
    for (const uint32_t target : targets_) {
      tables_.json_exprs.push_back(nfa_.json_exprs.at(target));
    }
    for (const uint32_t rule : reached_) add_view(rule);
    return std::move(tables_);
  }

 private:
  void number_all(uint32_t root) {
    reach(root);
    for (std::size_t i = 0; i < reached_.size(); ++i) collect(reached_[i]);
    make_set(reached_);
    make_set(targets_);
    number();
  }

  void reach(uint32_t rule) {
    if (!positions_[rule].empty()) return;
    positions_[rule].push_back(nfa_.rule_start[rule]);
    reached_.push_back(rule);
  }

  void reach_callee(uint32_t callee) {
    if (callee >= kTargetTag) {
      targets_.push_back(callee);
    } else {
      reach(nfa_.is_repeat(callee) ? nfa_.repeats[nfa_.repeat_of[callee]].body : callee);
    }
  }

  // The rule's positions; all edges stay inside a rule.
  void collect(uint32_t rule) {
    std::vector<Position> found = positions_[rule];
    const auto visit = [&](Position p) {
      if (new_position_[p] != kNone) return;
      new_position_[p] = 0;  // its number comes later
      found.push_back(p);
    };
    new_position_[found[0]] = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Nfa::Node& node = nfa_.nodes[found[i]];
      for (const ByteEdge& edge : node.bytes) visit(edge.target);
      for (const Position to : node.empty) visit(to);
      for (const TokenSetEdge& edge : node.tokens) visit(edge.target);
      for (const CallEdge& call : node.calls) {
        visit(call.target);
        reach_callee(call.callee);
      }
    }
    std::ranges::sort(found);
    positions_[rule] = std::move(found);
  }

  // Repeats that are left keep their order, and so do their bodies.
  void number() {
    new_id_.assign(nfa_.rule_start.size(), kNone);
    uint32_t position = 0;
    for (const uint32_t rule : reached_) {
      for (const Position p : positions_[rule]) new_position_[p] = position++;
      if (rule < tables_.num_rules) new_id_[rule] = rule;
    }
    for (const RepeatRule& repeat : nfa_.repeats) {
      if (positions_[repeat.body].empty()) continue;
      new_id_[repeat.callee] = tables_.num_ids();
      new_id_[repeat.body] = tables_.num_ids() + 1;
      tables_.repeats.push_back({repeat.min, repeat.max});
    }
  }

  void add_view(uint32_t rule) {
    RuleTables::View view{new_id_[rule], 0, new_position_[nfa_.rule_start[rule]], 0, 0, 0};
    const std::size_t first_position = tables_.num_edges.size();
    const std::size_t first_edge = tables_.edges.size();
    for (const Position p : positions_[rule]) {
      if (nfa_.nodes[p].ends_rule == rule) {
        tables_.ends.push_back(new_position_[p]);
        ++view.num_ends;
      }
      add_edges(nfa_.nodes[p]);
    }
    const auto counts = std::span(tables_.num_edges).subspan(first_position);
    const auto edges = std::span(tables_.edges).subspan(first_edge);
    view.num_positions = static_cast<uint32_t>(counts.size());
    view.num_edges = static_cast<uint32_t>(edges.size());
    view.deterministic = RuleTables::is_deterministic(counts, edges) ? 1 : 0;
    tables_.views.push_back(view);
  }

  void add_edges(const Nfa::Node& node) {
    std::vector<RuleTables::Edge> edges;
    const auto add = [&](RuleTables::EdgeKind kind, uint32_t operand, Position target) {
      edges.push_back(RuleTables::Edge::of(kind, operand, new_position_[target]));
    };
    for (const ByteEdge& edge : node.bytes) {
      add(RuleTables::kBytes, uint32_t{edge.lo} << 8 | edge.hi, edge.target);
    }
    for (const Position to : node.empty) add(RuleTables::kEmpty, 0, to);
    for (const CallEdge& call : node.calls) {
      if (call.callee < kTargetTag) {
        add(RuleTables::kCall, new_id_[call.callee], call.target);
      } else {
        add(RuleTables::kJson, json_index(call.callee), call.target);
      }
    }
    for (const TokenSetEdge& edge : node.tokens) add(RuleTables::kToken, edge.expr, edge.target);
    make_set(edges);
    tables_.num_edges.push_back(static_cast<uint32_t>(edges.size()));
    tables_.edges.insert(tables_.edges.end(), edges.begin(), edges.end());
  }

  uint32_t json_index(uint32_t target) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(targets_, target) - targets_.begin());
  }

  const Nfa& nfa_;
  RuleTables tables_;
  std::vector<std::vector<Position>> positions_;  // by old id; of those that are reached
  std::vector<uint32_t> reached_;                 // old ids
  std::vector<uint32_t> targets_;                 // JSON callees
  std::vector<Position> new_position_;            // by old position
  std::vector<uint32_t> new_id_;                  // by old id
};

// Fills an NFA edge by edge.
class Denormaliser {
 public:
  Denormaliser(const RuleTables& tables, const JsonHooks& json) : tables_(tables) {
    uint32_t previous = 0;
    for (const uint32_t expr : tables.json_exprs) {
      const uint32_t target = json.target(expr);
      if (target <= previous) throw Error::stored("two of its JSON values are one");
      targets_.push_back(previous = target);
      nfa_.json_exprs.emplace(target, expr);
    }
  }

  Nfa run() {
    const uint32_t ids = tables_.num_ids();
    nfa_.rule_start.assign(ids, kNone);
    nfa_.repeat_of.assign(ids, kNone);
    nfa_.nodes.resize(tables_.num_edges.size());
    for (uint32_t i = 0; i < tables_.repeats.size(); ++i) {
      const uint32_t callee = tables_.num_rules + 2 * i;
      nfa_.repeat_of[callee] = i;
      nfa_.repeats.push_back({callee, callee + 1, tables_.repeats[i].min, tables_.repeats[i].max});
    }
    std::size_t end = 0;
    for (const RuleTables::View& view : tables_.views) {
      nfa_.rule_start[view.rule] = view.start;
      for (uint32_t i = 0; i < view.num_ends; ++i) {
        nfa_.nodes[tables_.ends[end++]].ends_rule = view.rule;
      }
    }
    std::size_t at = 0;
    for (Position p = 0; p < tables_.num_edges.size(); ++p) {
      for (uint32_t i = 0; i < tables_.num_edges[p]; ++i) add(nfa_.nodes[p], tables_.edges[at++]);
    }
    return std::move(nfa_);
  }

 private:
  void add(Nfa::Node& node, const RuleTables::Edge& edge) const {
    switch (edge.kind()) {
      case RuleTables::kBytes:
        node.bytes.push_back(
            {static_cast<uint8_t>(edge.lo()), static_cast<uint8_t>(edge.hi()), edge.target});
        break;
      case RuleTables::kEmpty: node.empty.push_back(edge.target); break;
      case RuleTables::kCall: node.calls.push_back({edge.operand(), edge.target}); break;
      case RuleTables::kJson: node.calls.push_back({targets_[edge.operand()], edge.target}); break;
      default: node.tokens.push_back({edge.operand(), edge.target}); break;
    }
  }

  const RuleTables& tables_;
  std::vector<uint32_t> targets_;
  Nfa nfa_;
};

// What may be called before the rule has read anything, sorted.
std::vector<uint32_t> left_callees(const Nfa& nfa, uint32_t rule, std::vector<uint32_t>& seen) {
  std::vector<uint32_t> callees;
  std::vector<Position> work;
  const auto visit = [&](Position p) {
    if (seen[p] == rule) return;
    seen[p] = rule;
    work.push_back(p);
  };
  visit(nfa.rule_start[rule]);
  while (!work.empty()) {
    const Nfa::Node& node = nfa.nodes[work.back()];
    work.pop_back();
    std::ranges::for_each(node.empty, visit);
    for (const CallEdge& call : node.calls) {
      if (call.callee >= kTargetTag) continue;
      callees.push_back(call.callee);
      if (nfa.nullable[call.callee]) visit(call.target);
    }
  }
  make_set(callees);
  return callees;
}

// A repeat is pushed whenever it is called, so one that begins with itself would be for ever.
void check_repeats(const Nfa& nfa) {
  if (nfa.repeats.empty()) return;
  std::vector<std::vector<uint32_t>> left(nfa.rule_start.size());
  std::vector<uint32_t> seen(nfa.nodes.size(), kNone);
  for (uint32_t rule = 0; rule < left.size(); ++rule) {
    if (nfa.rule_start[rule] != kNone) left[rule] = left_callees(nfa, rule, seen);
  }
  for (const RepeatRule& repeat : nfa.repeats) left[repeat.callee] = {repeat.body};
  const Cycles cycles = find_cycles(left);
  for (const RepeatRule& repeat : nfa.repeats) {
    if (cycles.member[repeat.callee]) throw Error::stored("a repeat begins with itself");
  }
}

bool is_alike(const RepeatRule& repeat, const RuleTables::Repeat& stored) {
  return repeat.min == stored.min && repeat.max == stored.max;
}

}  // namespace

bool RuleTables::is_deterministic(std::span<const uint32_t> num_edges,
                                  std::span<const Edge> edges) {
  std::size_t at = 0;
  for (const uint32_t count : num_edges) {
    uint32_t free_from = 0;  // no earlier edge reads this byte or a larger one
    for (const Edge& edge : edges.subspan(at, count)) {
      if (edge.kind() == kEmpty || (edge.kind() != kBytes && count > 1)) return false;
      if (edge.kind() != kBytes) continue;
      if (edge.lo() < free_from) return false;
      free_from = edge.hi() + 1;
    }
    at += count;
  }
  return true;
}

RuleTables tables_of(const Nfa& nfa, uint32_t num_rules, uint32_t root) {
  return Normaliser(nfa, num_rules).tables(root);
}

RulesMachine::NormalNumbers normal_numbers_of(const Nfa& nfa, uint32_t num_rules, uint32_t root) {
  return Normaliser(nfa, num_rules).numbers(root);
}

Nfa nfa_of(const RuleTables& tables, uint32_t root, const JsonHooks& json) {
  Nfa nfa = Denormaliser(tables, json).run();
  trim_nfa(nfa, json);
  std::size_t edges = 0;
  for (const Nfa::Node& node : nfa.nodes) {
    edges += node.bytes.size() + node.calls.size() + node.tokens.size() + node.empty.size();
  }
  if (edges != tables.edges.size() || !nfa.rule_live[root]) {
    throw Error::stored("some of its edges lead nowhere");
  }
  if (!std::ranges::equal(nfa.repeats, tables.repeats, is_alike)) {
    throw Error::stored("a repeat of what may be empty has a minimum");
  }
  check_repeats(nfa);
  return nfa;
}

}  // namespace maskwright

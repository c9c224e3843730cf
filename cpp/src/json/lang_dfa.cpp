#include "json/lang_dfa.h"

#include <algorithm>
#include <array>

#include "maskwright/support/interner.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright::langs {

void Dfa::add_arc(uint32_t lo, uint32_t hi, uint32_t target) {
  State& state = states.back();
  if (state.num_arcs > 0 && arcs.back().hi + 1 == lo && arcs.back().target == target) {
    arcs.back().hi = hi;
    return;
  }
  arcs.push_back({lo, hi, target});
  ++state.num_arcs;
}

namespace {

std::vector<bool> reachable(const Dfa& dfa) {
  std::vector<bool> seen(dfa.states.size(), false);
  std::vector<uint32_t> stack{0};
  seen[0] = true;
  while (!stack.empty()) {
    const uint32_t state = stack.back();
    stack.pop_back();
    for (const Lang::Arc& arc : dfa.arcs_of(state)) {
      if (seen[arc.target]) continue;
      seen[arc.target] = true;
      stack.push_back(arc.target);
    }
  }
  return seen;
}

std::vector<bool> productive(const Dfa& dfa) {
  std::vector<uint32_t> offsets(dfa.states.size() + 1, 0);
  for (const Lang::Arc& arc : dfa.arcs) ++offsets[arc.target + 1];
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::vector<uint32_t> sources(dfa.arcs.size());
  std::vector<uint32_t> next = offsets;
  std::vector<bool> seen(dfa.states.size(), false);
  std::vector<uint32_t> stack;
  for (uint32_t state = 0; state < dfa.states.size(); ++state) {
    for (const Lang::Arc& arc : dfa.arcs_of(state)) sources[next[arc.target]++] = state;
    if (!dfa.states[state].accepts) continue;
    seen[state] = true;
    stack.push_back(state);
  }
  while (!stack.empty()) {
    const uint32_t state = stack.back();
    stack.pop_back();
    for (uint32_t i = offsets[state]; i < offsets[state + 1]; ++i) {
      if (seen[sources[i]]) continue;
      seen[sources[i]] = true;
      stack.push_back(sources[i]);
    }
  }
  return seen;
}

}  // namespace

Dfa trim(const Dfa& dfa) {
  if (dfa.states.empty()) return {};
  std::vector<bool> keep = reachable(dfa);
  const std::vector<bool> alive = productive(dfa);
  if (!alive[0]) return {};
  std::vector<uint32_t> number(dfa.states.size(), kDeadLang);
  uint32_t count = 0;
  for (uint32_t state = 0; state < dfa.states.size(); ++state) {
    if (keep[state] && alive[state]) number[state] = count++;
  }
  Dfa result;
  result.states.reserve(count);
  result.arcs.reserve(dfa.arcs.size());
  for (uint32_t state = 0; state < dfa.states.size(); ++state) {
    if (number[state] == kDeadLang) continue;
    result.add_state(dfa.states[state].accepts);
    for (const Lang::Arc& arc : dfa.arcs_of(state)) {
      if (number[arc.target] != kDeadLang) result.add_arc(arc.lo, arc.hi, number[arc.target]);
    }
  }
  return result;
}

namespace {

// Explores tuples of operand states breadth first.
class Product {
 public:
  Product(std::span<TableLang* const> operands, EagerBudget& budget, const std::string& what)
      : operands_(operands), budget_(budget), limits_(budget.limits()), what_(what) {}

  Dfa run() {
    std::vector<uint32_t> tuple;
    for (TableLang* operand : operands_) tuple.push_back(operand->start());
    tuples_.intern(tuple);
    for (uint32_t state = 0; state < tuples_.size(); ++state) {
      expand(state);
      check();
    }
    budget_.charge(dfa_.states.size(), dfa_.arcs.size());
    return trim(dfa_);
  }

 private:
  void check() const {
    check_stop();
    uint64_t work = 0;
    for (const TableLang* operand : operands_) work += operand->work();
    if (tuples_.size() > limits_.max_states || dfa_.arcs.size() > limits_.arcs() ||
        work > limits_.work()) {
      limits_.exceeded(what_);
    }
  }

  void expand(uint32_t state) {
    const auto tuple = tuples_.get(state);
    const std::size_t count = operands_.size();
    bool accepts = true;
    rows_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      accepts = accepts && operands_[i]->accepts(tuple[i]);
      rows_.push_back(operands_[i]->arcs(tuple[i]));
    }
    dfa_.add_state(accepts);
    at_.assign(count, 0);
    target_.resize(count);
    while (true) {
      uint32_t lo = 0;
      uint32_t hi = kMaxCodePoint;
      for (std::size_t i = 0; i < count; ++i) {
        if (at_[i] == rows_[i].size()) return;
        const Lang::Arc& arc = rows_[i][at_[i]];
        lo = std::max(lo, arc.lo);
        hi = std::min(hi, arc.hi);
        target_[i] = arc.target;
      }
      if (lo <= hi) dfa_.add_arc(lo, hi, tuples_.intern(target_).id);
      for (std::size_t i = 0; i < count; ++i) {
        if (rows_[i][at_[i]].hi == hi) ++at_[i];
      }
    }
  }

  std::span<TableLang* const> operands_;
  EagerBudget& budget_;
  const LangLimits& limits_;
  const std::string& what_;
  WordInterner tuples_;
  Dfa dfa_;
  std::vector<std::span<const Lang::Arc>> rows_;
  std::vector<std::size_t> at_;
  std::vector<uint32_t> target_;
};

}  // namespace

Dfa product(std::span<TableLang* const> operands, EagerBudget& budget, const std::string& what) {
  return Product(operands, budget, what).run();
}

Dfa complement(TableLang& operand, std::span<const CodeRange> alphabet, EagerBudget& budget) {
  const std::array<TableLang*, 1> operands{&operand};
  Dfa positive;
  if (operand.start() != kDeadLang) {
    positive = product(operands, budget, "a complement of a pattern");
  }
  Dfa negative;
  const auto sink = static_cast<uint32_t>(positive.states.size());
  for (uint32_t state = 0; state <= sink; ++state) {
    negative.add_state(state == sink || !positive.states[state].accepts);
    const auto arcs = state == sink ? std::span<const Lang::Arc>{} : positive.arcs_of(state);
    std::size_t i = 0;
    for (const CodeRange& range : alphabet) {
      uint32_t lo = range.lo;
      for (; i < arcs.size() && arcs[i].lo <= range.hi; ++i) {
        if (lo < arcs[i].lo) negative.add_arc(lo, arcs[i].lo - 1, sink);
        negative.add_arc(arcs[i].lo, arcs[i].hi, arcs[i].target);
        lo = arcs[i].hi + 1;
      }
      if (lo <= range.hi) negative.add_arc(lo, range.hi, sink);
    }
  }
  return trim(negative);
}

Lengths& DfaLang::lengths() {
  if (lengths_ == nullptr) {
    std::vector<Lengths::Edge> edges;
    std::vector<uint32_t> finals;
    for (uint32_t state = 0; state < dfa_.states.size(); ++state) {
      for (const Arc& arc : dfa_.arcs_of(state)) edges.push_back({state, arc.target, 1});
      if (dfa_.states[state].accepts) finals.push_back(state);
    }
    lengths_ = std::make_unique<Lengths>(static_cast<uint32_t>(dfa_.states.size()),
                                         std::move(edges), finals, limits_);
  }
  return *lengths_;
}

bool DfaLang::can_finish(uint32_t state, uint32_t min, uint32_t max) {
  if (Lengths::is_any(min, max)) return true;
  const std::array<uint32_t, 1> nodes{state};
  return lengths().can_finish(nodes, min, max);
}

uint32_t DfaLang::length_horizon() { return dfa_.states.empty() ? 0 : lengths().horizon(); }

}  // namespace maskwright::langs

#include "json/lang_searches.h"

#include <algorithm>

namespace maskwright::langs {

namespace {

constexpr uint32_t kMaxSearchStates = 2000;
constexpr std::size_t kMaxSearchArcs = 100000;

// Whether the arcs, which are sorted and disjoint, have every character.
bool covers(std::span<const Lang::Arc> arcs, std::span<const CodeRange> alphabet) {
  std::size_t at = 0;
  for (const CodeRange& range : alphabet) {
    uint32_t lo = range.lo;
    while (at < arcs.size() && arcs[at].hi < lo) ++at;
    for (; at < arcs.size() && arcs[at].lo <= lo; ++at) {
      if (arcs[at].hi >= range.hi) break;
      lo = arcs[at].hi + 1;
    }
    if (at == arcs.size() || arcs[at].lo > lo || arcs[at].hi < range.hi) return false;
  }
  return true;
}

// Takes states out of a set until all that is left leads to the set alone.
void close(std::vector<bool>& set, const std::vector<std::vector<uint32_t>>& next) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t state = 0; state < next.size(); ++state) {
      if (!set[state]) continue;
      if (std::ranges::all_of(next[state], [&](uint32_t to) { return set[to]; })) continue;
      set[state] = false;
      changed = true;
    }
  }
}

// Whether every state leads to the set.
bool all_reach(std::vector<bool> set, const std::vector<std::vector<uint32_t>>& next) {
  std::vector<std::vector<uint32_t>> before(next.size());
  std::vector<uint32_t> stack;
  for (uint32_t state = 0; state < next.size(); ++state) {
    for (const uint32_t to : next[state]) before[to].push_back(state);
    if (set[state]) stack.push_back(state);
  }
  while (!stack.empty()) {
    const uint32_t state = stack.back();
    stack.pop_back();
    for (const uint32_t from : before[state]) {
      if (set[from]) continue;
      set[from] = true;
      stack.push_back(from);
    }
  }
  return std::ranges::find(set, false) == set.end();
}

}  // namespace

std::optional<std::vector<uint32_t>> found_states(TableLang& lang,
                                                  std::span<const CodeRange> alphabet) {
  if (lang.start() == kDeadLang) return std::nullopt;
  std::vector<uint32_t> states;             // in the order of their numbers here
  std::vector<uint32_t> numbers;            // by state
  std::vector<std::vector<uint32_t>> next;  // by number
  const auto number = [&](uint32_t state) {
    if (numbers.size() <= state) numbers.resize(std::size_t{state} + 1, kDeadLang);
    if (numbers[state] == kDeadLang) {
      numbers[state] = static_cast<uint32_t>(states.size());
      states.push_back(state);
    }
    return numbers[state];
  };
  number(lang.start());
  std::size_t num_arcs = 0;
  std::vector<bool> found;
  for (uint32_t at = 0; at < states.size(); ++at) {
    const auto arcs = lang.arcs(states[at]);
    num_arcs += arcs.size();
    if (states.size() > kMaxSearchStates || num_arcs > kMaxSearchArcs) return std::nullopt;
    if (!covers(arcs, alphabet)) return std::nullopt;
    next.emplace_back();
    for (const Lang::Arc& arc : arcs) next.back().push_back(number(arc.target));
    found.push_back(lang.accepts(states[at]));
  }
  close(found, next);
  if (!all_reach(found, next)) return std::nullopt;
  std::vector<uint32_t> out;
  for (uint32_t at = 0; at < states.size(); ++at) {
    if (found[at]) out.push_back(states[at]);
  }
  std::ranges::sort(out);
  return out;
}

SearchesLang::SearchesLang(std::vector<Operand> operands, std::vector<CodeRange> alphabet)
    : operands_(std::move(operands)),
      alphabet_(std::move(alphabet)),
      reads_everything_(is_all_code_points(alphabet_)) {
  std::vector<uint32_t> tuple;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    tuple.push_back(settle(i, operands_[i].lang->start()));
  }
  states_.intern(tuple);
}

uint32_t SearchesLang::settle(std::size_t operand, uint32_t state) const {
  return std::ranges::binary_search(operands_[operand].found, state) ? kFound : state;
}

bool SearchesLang::accepts(uint32_t state) {
  const auto tuple = states_.get(state);
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i] != kFound && !operands_[i].lang->accepts(tuple[i])) return false;
  }
  return true;
}

uint32_t SearchesLang::move(uint32_t state, uint32_t code_point) {
  const auto from = states_.get(state);
  std::vector<uint32_t> tuple(from.begin(), from.end());
  bool any = false;
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i] == kFound) continue;
    const uint32_t to = operands_[i].lang->move(tuple[i], code_point);
    if (to == kDeadLang) return kDeadLang;  // outside the alphabet
    tuple[i] = settle(i, to);
    any = true;
  }
  if (any) return states_.intern(tuple).id;
  const auto after = std::ranges::upper_bound(alphabet_, code_point, {}, &CodeRange::lo);
  return after != alphabet_.begin() && std::prev(after)->hi >= code_point ? state : kDeadLang;
}

// Every operand still searching has every character, so their arcs are cut where one of them ends.
std::span<const Lang::Arc> SearchesLang::arcs(uint32_t state) {
  if (arcs_.size() <= state) arcs_.resize(std::size_t{state} + 1);
  if (arcs_[state].has_value()) return *arcs_[state];
  const auto from = states_.get(state);
  std::vector<uint32_t> tuple(from.begin(), from.end());
  std::vector<std::pair<std::size_t, std::span<const Arc>>> rows;  // operand and what is left
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i] != kFound) rows.emplace_back(i, operands_[i].lang->arcs(tuple[i]));
  }
  std::vector<Arc> out;
  for (const CodeRange& range : alphabet_) {
    for (uint32_t lo = range.lo; lo <= range.hi;) {
      uint32_t hi = range.hi;
      for (auto& [operand, row] : rows) {
        while (row.front().hi < lo) row = row.subspan(1);
        hi = std::min(hi, row.front().hi);
        tuple[operand] = settle(operand, row.front().target);
      }
      const uint32_t target = states_.intern(tuple).id;
      if (!out.empty() && out.back().hi + 1 == lo && out.back().target == target) {
        out.back().hi = hi;
      } else {
        out.push_back({lo, hi, target});
      }
      lo = hi + 1;
    }
  }
  return arcs_[state].emplace(std::move(out));
}

}  // namespace maskwright::langs

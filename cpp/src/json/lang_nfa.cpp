#include "json/lang_nfa.h"

#include <algorithm>

namespace maskwright::langs {

SubsetLang::SubsetLang(Nfa nfa, const ClassPool& classes, const LangLimits& limits)
    : nfa_(std::move(nfa)), classes_(classes), limits_(limits), mark_(nfa_.num_nodes(), 0) {
  const std::array<uint32_t, 1> nodes{nfa_.start};
  start_ = intern_closure(nodes);
}

// The state for everything reachable from `nodes` by epsilon edges.
uint32_t SubsetLang::intern_closure(std::span<const uint32_t> nodes) {
  ++mark_now_;
  std::vector<uint32_t> stack;
  std::vector<uint32_t> important;
  const auto visit = [&](uint32_t node) {
    if (mark_[node] == mark_now_) return;
    mark_[node] = mark_now_;
    stack.push_back(node);
  };
  for (const uint32_t node : nodes) visit(node);
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    bool consumes = node == nfa_.final;
    for (uint32_t e = nfa_.first_edge(node); e != kNone; e = nfa_.edge(e).next) {
      const Nfa::Edge& edge = nfa_.edge(e);
      if (edge.class_id == Nfa::kEpsilon)
        visit(edge.target);
      else
        consumes = true;
      ++work_;
    }
    if (consumes) important.push_back(node);
  }
  std::sort(important.begin(), important.end());
  const auto [id, inserted] = sets_.intern(important);
  if (inserted) {
    states_.emplace_back().accepts = mark_[nfa_.final] == mark_now_;
    work_ += important.size();
  }
  return id;
}

std::span<const Lang::Arc> SubsetLang::arcs(uint32_t state) {
  if (!states_[state].expanded) expand(state);
  return states_[state].arcs;
}

void SubsetLang::expand(uint32_t state) {
  std::vector<std::pair<uint32_t, uint32_t>> moves;  // class, target node
  for (const uint32_t node : sets_.get(state)) {
    for (uint32_t e = nfa_.first_edge(node); e != kNone; e = nfa_.edge(e).next) {
      const Nfa::Edge& edge = nfa_.edge(e);
      if (edge.class_id != Nfa::kEpsilon) moves.emplace_back(edge.class_id, edge.target);
    }
  }
  std::sort(moves.begin(), moves.end());
  std::vector<uint32_t> class_set;
  std::vector<std::size_t> first;  // of each class in `moves`
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (i > 0 && moves[i].first == moves[i - 1].first) continue;
    class_set.push_back(moves[i].first);
    first.push_back(i);
  }
  first.push_back(moves.size());
  const Partition& parts = partition(class_set);
  std::vector<uint32_t> target_of(parts.signatures.size());
  std::vector<uint32_t> targets;
  for (uint32_t signature = 0; signature < target_of.size(); ++signature) {
    targets.clear();
    for (const uint32_t index : parts.signatures.get(signature)) {
      for (std::size_t i = first[index]; i < first[index + 1]; ++i) {
        targets.push_back(moves[i].second);
      }
    }
    target_of[signature] = intern_closure(targets);
  }
  std::vector<Arc> arcs;
  for (const Partition::Part& part : parts.parts) {
    const uint32_t target = target_of[part.signature];
    if (!arcs.empty() && arcs.back().hi + 1 == part.lo && arcs.back().target == target) {
      arcs.back().hi = part.hi;
    } else {
      arcs.push_back({part.lo, part.hi, target});
    }
  }
  arcs.shrink_to_fit();
  work_ += arcs.size() + moves.size();
  states_[state].arcs = std::move(arcs);
  states_[state].expanded = true;
}

const SubsetLang::Partition& SubsetLang::partition(std::span<const uint32_t> class_set) {
  const auto [id, inserted] = class_sets_.intern(class_set);
  if (inserted) {
    partitions_.push_back(std::make_unique<Partition>());
    split(class_set, *partitions_.back());
    work_ += partitions_.back()->parts.size();
  }
  return *partitions_[id];
}

// Sweeps over the code points with the list of the classes that contain the current one.
void SubsetLang::split(std::span<const uint32_t> class_set, Partition& partition) const {
  struct Event {
    uint32_t at;
    uint32_t index;
    bool opens;
  };
  std::vector<Event> events;
  for (uint32_t index = 0; index < class_set.size(); ++index) {
    for (std::size_t i = 0; i < classes_.num_ranges(class_set[index]); ++i) {
      const CodeRange range = classes_.range(class_set[index], i);
      events.push_back({range.lo, index, true});
      events.push_back({range.hi + 1, index, false});
    }
  }
  if (class_set.size() > 1) {
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.at < b.at; });
  }
  std::vector<uint32_t> open;  // sorted
  for (std::size_t i = 0; i < events.size();) {
    const uint32_t at = events[i].at;
    for (; i < events.size() && events[i].at == at; ++i) {
      const auto place = std::lower_bound(open.begin(), open.end(), events[i].index);
      if (events[i].opens)
        open.insert(place, events[i].index);
      else
        open.erase(place);
    }
    if (open.empty()) continue;
    partition.parts.push_back({at, events[i].at - 1, partition.signatures.intern(open).id});
  }
}

Lengths& SubsetLang::lengths() {
  if (lengths_ == nullptr) {
    std::vector<Lengths::Edge> edges;
    for (uint32_t node = 0; node < nfa_.num_nodes(); ++node) {
      for (uint32_t e = nfa_.first_edge(node); e != kNone; e = nfa_.edge(e).next) {
        const Nfa::Edge& edge = nfa_.edge(e);
        edges.push_back({node, edge.target, edge.class_id == Nfa::kEpsilon ? 0U : 1U});
      }
    }
    const std::array<uint32_t, 1> finals{nfa_.final};
    lengths_ = std::make_unique<Lengths>(nfa_.num_nodes(), std::move(edges), finals, limits_);
  }
  return *lengths_;
}

bool SubsetLang::can_finish(uint32_t state, uint32_t min, uint32_t max) {
  if (Lengths::is_any(min, max)) return !sets_.get(state).empty();
  return lengths().can_finish(sets_.get(state), min, max);
}

}  // namespace maskwright::langs

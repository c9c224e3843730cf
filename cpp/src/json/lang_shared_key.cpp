// Lang::append_rest(): the texts that can follow a state, in words (automata/shared_key.h).
//
// Idea: an automaton as far as it is ahead of the state, its states numbered in the order in which
// they are met; so what was read before does not matter, and neither do the numbers of states that
// are made when they are met. Cost: linear in what lies ahead, up to SharedKey::kMaxWords.

#include <algorithm>
#include <vector>

#include "json/lang_dfa.h"
#include "json/lang_literals.h"
#include "json/lang_nfa.h"
#include "json/lang_searches.h"

namespace maskwright::langs {

namespace {

// Numbers in the order in which they are asked for.
class Numbering {
 public:
  uint32_t of(uint32_t state) {
    const auto number = std::ranges::find(met_, state) - met_.begin();
    if (static_cast<std::size_t>(number) == met_.size()) met_.push_back(state);
    return static_cast<uint32_t>(number);
  }
  std::size_t size() const { return met_.size(); }
  uint32_t operator[](std::size_t number) const { return met_[number]; }

 private:
  std::vector<uint32_t> met_;  // few: each takes several words of a key
};

}  // namespace

bool DfaLang::append_rest(uint32_t state, SharedKey& key) {
  key.add(RestKind::kDfa);
  Numbering states;
  states.of(state);
  for (std::size_t i = 0; i < states.size() && key.fits(); ++i) {
    const auto arcs = dfa_.arcs_of(states[i]);
    key.add(static_cast<uint32_t>(arcs.size()) * 2 + (dfa_.states[states[i]].accepts ? 1 : 0));
    for (const Arc& arc : arcs) {
      key.add(arc.lo);
      key.add(arc.hi);
      key.add(states.of(arc.target));
    }
  }
  return key.fits();
}

bool RunLang::append_rest(uint32_t state, SharedKey& key) {
  key.add(RestKind::kRun);
  key.add(min_ > state ? min_ - state : 0);
  key.add(max_ == kUnbounded ? kUnbounded : max_ - state);
  key.add(static_cast<uint32_t>(ranges_.size()));
  for (const CodeRange& range : ranges_) {
    key.add(range.lo);
    key.add(range.hi);
  }
  return key.fits();
}

bool LiteralsLang::append_rest(uint32_t state, SharedKey& key) {
  const auto content = states_.get(state);
  const uint32_t depth = content[2];
  key.add(RestKind::kList);
  key.add(content[1] - content[0]);
  for (uint32_t i = content[0]; i < content[1] && key.fits(); ++i) {
    const auto rest = text(i).subspan(depth);
    key.add(static_cast<uint32_t>(rest.size()));
    key.add(rest);
  }
  return key.fits();
}

// The nondeterministic automaton: its states would take long to make.
bool SubsetLang::append_rest(uint32_t state, SharedKey& key) {
  key.add(RestKind::kNodes);
  const auto here = sets_.get(state);
  key.add(static_cast<uint32_t>(here.size()));
  Numbering nodes;
  for (const uint32_t node : here) nodes.of(node);
  for (std::size_t i = 0; i < nodes.size() && key.fits(); ++i) {
    key.add(nodes[i] == nfa_.final ? 1 : 0);
    for (uint32_t e = nfa_.first_edge(nodes[i]); e != kNone; e = nfa_.edge(e).next) {
      const Nfa::Edge& edge = nfa_.edge(e);
      const bool reads = edge.class_id != Nfa::kEpsilon;
      const std::size_t ranges = reads ? classes_.num_ranges(edge.class_id) : 0;
      key.add(static_cast<uint32_t>(ranges) + 1);
      for (std::size_t r = 0; r < ranges && key.fits(); ++r) {
        key.add(classes_.range(edge.class_id, r).lo);
        key.add(classes_.range(edge.class_id, r).hi);
      }
      key.add(nodes.of(edge.target));
    }
    key.add(0);
  }
  return key.fits();
}

bool SearchesLang::append_rest(uint32_t state, SharedKey& key) {
  key.add(RestKind::kSearches);
  const auto tuple = states_.get(state);
  key.add(static_cast<uint32_t>(tuple.size()));
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    key.add(tuple[i] == kFound ? 0 : 1);
    if (tuple[i] != kFound && !operands_[i].lang->append_rest(tuple[i], key)) return false;
  }
  return key.fits();
}

}  // namespace maskwright::langs

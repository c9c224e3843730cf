// Which lengths a text from a node of an automaton to acceptance can have.
//
// The automaton is a graph with edges of weight 0 (epsilon) and 1 (one code point). Nodes that
// reach each other by epsilon edges are one group, so epsilon edges between groups have no cycle.
//
// Every group knows its shortest and longest length (kUnbounded if a cycle can be reached). If at
// each group the lengths offered by the successors form one gapless interval, then by induction
// over the length every length between shortest and longest occurs, and a query is two
// comparisons; this is the case for nearly all patterns. Otherwise layers are kept: A_0 = groups
// that accept, A_(n+1) = predecessors of A_n, as bitsets, until a layer repeats (each layer decides
// the next one, so from there on they are periodic). Only as many layers are computed as a query
// needs; queries with smaller bounds need no more layers than the first one.
//
// Cost: linear in nodes and edges; with gaps, edges times layers.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/lang_base.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

class Lengths {
 public:
  struct Edge {
    uint32_t from, to;
    uint32_t weight;  // 0 or 1
  };

  // Every node must reach one of `finals`.
  Lengths(uint32_t num_nodes, std::vector<Edge> edges, std::span<const uint32_t> finals,
          const LangLimits& limits);

  // Any length will do, as in most patterns: every node reaches a final one, so nothing has to be
  // known about lengths to answer.
  static bool is_any(uint32_t min, uint32_t max) { return min == 0 && max == kUnbounded; }

  // Is there a text of a length in [min, max] from one of the nodes? Raises "lang-too-large" if
  // that needs too many layers.
  bool can_finish(std::span<const uint32_t> nodes, uint32_t min, uint32_t max);
  // See Lang::length_horizon.
  uint32_t horizon();
  std::size_t memory_bytes() const {
    return heap_bytes(group_, forward_, backward_, final_, shortest_, longest_, layers_,
                      layer_by_hash_);
  }

 private:
  struct Graph {
    std::vector<uint32_t> offsets;
    std::vector<Edge> edges;
    std::span<const Edge> of(uint32_t node) const {
      return std::span(edges).subspan(offsets[node], offsets[node + 1] - offsets[node]);
    }
    std::size_t memory_bytes() const { return heap_bytes(offsets, edges); }
  };
  using Bits = std::vector<uint64_t>;

  static Graph make_graph(uint32_t num_nodes, std::vector<Edge> edges);
  static uint32_t components(const Graph& graph, std::vector<uint32_t>& component);
  void condense(uint32_t num_nodes, const std::vector<Edge>& edges);
  void find_shortest();
  void find_longest();
  bool has_no_gaps() const;
  void close(Bits& bits, std::vector<uint32_t>& stack) const;
  bool add_layer();
  bool grow_layers(uint32_t index);
  const Bits& layer(uint32_t length) const;
  bool hits(std::span<const uint32_t> nodes, const Bits& bits) const;
  bool search_layers(std::span<const uint32_t> nodes, uint32_t min, uint32_t max);

  LangLimits limits_;
  std::vector<uint32_t> group_;  // of a node
  uint32_t num_groups_ = 0;
  Graph forward_, backward_;  // over groups
  std::vector<bool> final_;
  std::vector<uint32_t> shortest_, longest_;
  bool gapless_ = false;
  std::vector<Bits> layers_;
  std::unordered_multimap<uint64_t, uint32_t> layer_by_hash_;
  uint32_t period_start_ = 0;
  uint32_t period_ = 0;  // 0 = not known yet
};

}  // namespace maskwright::langs

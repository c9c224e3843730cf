// Nondeterministic automata over code point classes, and their lazy subset construction.
//
// Every node lies on a path from the start to the final node (Thompson's construction over terms
// without impossible parts keeps this by itself), so every subset that the construction makes is
// live. A subset state is the interned sorted set of its *important* nodes: those with a
// consuming edge, and the final node.
//
// The arcs of a state depend on the classes that its nodes read. For each set of classes met, the
// partition of the code points by "which of these classes contain it" is made once and kept.
//
// Cost: a state is expanded on first use, linear in its nodes and in the ranges of its partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "json/lang_lengths.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright::langs {

class Nfa {
 public:
  static constexpr uint32_t kEpsilon = 0xFFFFFFFF;
  struct Edge {
    uint32_t class_id;  // of the ClassPool, or kEpsilon
    uint32_t target;
    uint32_t next;  // the next edge of the same node, or kNone
  };

  void reserve(std::size_t nodes) {
    first_edge_.reserve(nodes);
    edges_.reserve(nodes);
  }
  uint32_t add_node() {
    first_edge_.push_back(kNone);
    return static_cast<uint32_t>(first_edge_.size() - 1);
  }
  void add_edge(uint32_t from, uint32_t class_id, uint32_t to) {
    edges_.push_back({class_id, to, first_edge_[from]});
    first_edge_[from] = static_cast<uint32_t>(edges_.size() - 1);
  }
  void add_epsilon(uint32_t from, uint32_t to) {
    if (from != to) add_edge(from, kEpsilon, to);
  }

  uint32_t num_nodes() const { return static_cast<uint32_t>(first_edge_.size()); }
  uint32_t first_edge(uint32_t node) const { return first_edge_[node]; }
  const Edge& edge(uint32_t index) const { return edges_[index]; }

  uint32_t start = 0;
  uint32_t final = 0;
  std::size_t memory_bytes() const { return heap_bytes(first_edge_, edges_); }

 private:
  std::vector<uint32_t> first_edge_;
  std::vector<Edge> edges_;
};

class SubsetLang final : public TableLang {
 public:
  // `classes` outlives the language.
  SubsetLang(Nfa nfa, const ClassPool& classes, const LangLimits& limits);

  uint32_t start() override { return start_; }
  std::span<const Arc> arcs(uint32_t state) override;
  bool accepts(uint32_t state) override { return states_[state].accepts; }
  bool can_finish(uint32_t state, uint32_t min, uint32_t max) override;
  uint32_t length_horizon() override { return lengths().horizon(); }
  uint64_t work() const override { return work_; }
  bool append_rest(uint32_t state, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) +
           heap_bytes(nfa_, sets_, states_, class_sets_, partitions_, mark_, lengths_);
  }

 private:
  struct State {
    bool accepts = false;
    bool expanded = false;
    std::vector<Arc> arcs;
    std::size_t memory_bytes() const { return heap_bytes(arcs); }
  };
  struct Partition {
    struct Part {
      uint32_t lo, hi, signature;
    };
    std::vector<Part> parts;  // sorted, disjoint
    WordInterner signatures;  // sorted indices into the class set
    std::size_t memory_bytes() const { return heap_bytes(parts, signatures); }
  };

  uint32_t intern_closure(std::span<const uint32_t> nodes);
  const Partition& partition(std::span<const uint32_t> class_set);
  void split(std::span<const uint32_t> class_set, Partition& partition) const;
  void expand(uint32_t state);
  Lengths& lengths();

  Nfa nfa_;
  const ClassPool& classes_;
  LangLimits limits_;
  uint32_t start_ = 0;
  uint64_t work_ = 0;
  WordInterner sets_;  // ids are states
  std::vector<State> states_;
  WordInterner class_sets_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<uint32_t> mark_;  // per node: the last closure that visited it
  uint32_t mark_now_ = 0;
  std::unique_ptr<Lengths> lengths_;
};

}  // namespace maskwright::langs

// The tables of all rules before subset construction, in one normal form: plain data that can be
// stored, compared and checked.
//
// The positions of a rule are neighbours; the rules come in the order of their ids. What nothing
// reaches is left out, and repeats are numbered anew: repeat i is called by id num_rules + 2 * i,
// and the next id is the rule of its body. Edges are sorted, without duplicates, and stay inside
// their rule. So equal rules have equal tables, and the tables of a machine that was made from
// tables are those.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace maskwright {

struct RuleTables {
  static constexpr uint32_t kOperandBits = 29;
  static constexpr uint32_t kMaxOperands = 1U << kOperandBits;
  enum EdgeKind : uint32_t {
    kBytes,  // operand: lo << 8 | hi
    kEmpty,  // operand: 0
    kCall,   // operand: id of a rule or repeat
    kJson,   // operand: index into json_exprs
    kToken,  // operand: expression of a token set
    kKinds,
  };
  struct Edge {
    uint32_t label;  // kind << kOperandBits | operand
    uint32_t target;
    static Edge of(EdgeKind kind, uint32_t operand, uint32_t target) {
      return {static_cast<uint32_t>(kind) << kOperandBits | operand, target};
    }
    uint32_t kind() const { return label >> kOperandBits; }
    uint32_t operand() const { return label & (kMaxOperands - 1); }
    uint32_t lo() const { return operand() >> 8; }
    uint32_t hi() const { return operand() & 0xFFU; }
    friend bool operator==(const Edge&, const Edge&) = default;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  struct View {  // one rule
    uint32_t rule;
    uint32_t num_positions;
    uint32_t start;  // a position, counted over all rules as everywhere
    uint32_t num_ends;
    uint32_t num_edges;
    uint32_t deterministic;  // 1: no byte leaves a choice, see is_deterministic()
    friend bool operator==(const View&, const View&) = default;
  };
  struct Repeat {
    uint32_t min, max;  // max kUnbounded: none
    friend bool operator==(const Repeat&, const Repeat&) = default;
  };

  uint32_t num_rules = 0;  // of the IR
  std::vector<uint32_t> json_exprs;
  std::vector<Repeat> repeats;
  std::vector<View> views;
  std::vector<uint32_t> ends;       // of all views, sorted
  std::vector<uint32_t> num_edges;  // by position
  std::vector<Edge> edges;          // of all positions

  uint32_t num_ids() const { return num_rules + 2 * static_cast<uint32_t>(repeats.size()); }
  bool is_repeat(uint32_t id) const { return id >= num_rules && (id - num_rules) % 2 == 0; }

  // Whether the next byte alone says how to go on from each position: by one byte edge, one call or
  // one token set, and never by an empty edge. Of the positions of one rule, and their edges.
  static bool is_deterministic(std::span<const uint32_t> num_edges, std::span<const Edge> edges);

  friend bool operator==(const RuleTables&, const RuleTables&) = default;
};

}  // namespace maskwright

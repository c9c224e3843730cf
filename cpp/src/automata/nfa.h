// The byte NFA of all rules: positions with byte, empty and call edges.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "maskwright/automata/rule_tables.h"
#include "maskwright/automata/rules.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

using Position = uint32_t;

// Callee ids above the IR's rules and below kTargetTag are repeats and the rules of their bodies.
struct RepeatRule {
  uint32_t callee;    // the repeat itself
  uint32_t body;      // rule id of the body
  uint32_t min, max;  // max kUnbounded = none
};

struct ByteEdge {
  uint8_t lo, hi;
  Position target;
};
struct CallEdge {
  uint32_t callee;
  Position target;
};
struct TokenSetEdge {
  uint32_t expr;
  Position target;
};

struct Nfa {
  struct Node {
    std::vector<ByteEdge> bytes;
    std::vector<Position> empty;
    std::vector<CallEdge> calls;
    std::vector<TokenSetEdge> tokens;
    uint32_t ends_rule = kNone;  // the rule whose last position this is
    std::size_t memory_bytes() const { return heap_bytes(bytes, empty, calls, tokens); }
  };
  std::vector<Node> nodes;
  std::vector<Position> rule_start;  // by rule id, bodies of repeats included
  std::vector<bool> nullable;        // by rule id
  std::vector<uint32_t> repeat_of;  // by rule id: index into repeats if the id is a repeat's callee
  std::vector<RepeatRule> repeats;
  std::vector<bool> rule_live;
  std::map<uint32_t, uint32_t> json_exprs;  // an expression of each JSON target that is called

  bool is_repeat(uint32_t callee) const {
    return callee < repeat_of.size() && repeat_of[callee] != kNone;
  }
  std::size_t memory_bytes() const {
    return heap_bytes(nodes, rule_start, nullable, repeat_of, repeats, rule_live, json_exprs);
  }
};

// Adds edges from `from` to `to` for the UTF-8 encodings of the ranges.
void add_utf8_ranges(Nfa& nfa, std::span<const uint32_t> ranges, Position from, Position to);

// Lowers all rules reachable from the root and trims the result.
Nfa build_nfa(const Ir& ir, const std::array<bool, 256>& spellable, const RuleLimits& limits,
              const JsonHooks& json, const RegularHook& regular);

// The rule of a position, whose edges stay inside it, some of them up to its end; kNone if that is
// far away. Takes time in the size of the rule.
uint32_t rule_of(const Nfa& nfa, Position from);

// By position: the bytes of a shortest text to the end of its rule. Empty if some rule calls
// another, or reads tokens that are no text.
std::vector<uint32_t> bytes_to_end(const Nfa& nfa);

// The normal form of an NFA that was trimmed, and back. `tables` have been checked (serialize/);
// raises kStoredFormat for what only the NFA as a whole shows: positions without a way to the end
// of their rule, and repeats that begin with themselves.
RuleTables tables_of(const Nfa& nfa, uint32_t num_rules, uint32_t root);
RulesMachine::NormalNumbers normal_numbers_of(const Nfa& nfa, uint32_t num_rules, uint32_t root);
Nfa nfa_of(const RuleTables& tables, uint32_t root, const JsonHooks& json);

// Facts about expressions and rules that decide how they are lowered (see expr_facts.cpp).
struct ExprFacts {
  std::vector<bool> nullable;        // by expression
  std::vector<uint32_t> size;        // positions it would take, saturating
  std::vector<bool> rule_recursive;  // by rule
  std::vector<bool> rule_left_recursive;
  std::vector<bool> rule_inlined;
};
ExprFacts expr_facts(const Ir& ir);

// Removes edges that cannot lead to the end of their rule; sets rule_live and nullable.
void trim_nfa(Nfa& nfa, const JsonHooks& json);

}  // namespace maskwright

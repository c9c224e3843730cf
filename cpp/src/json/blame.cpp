#include "json/blame.h"

#include <algorithm>
#include <array>

#include "maskwright/support/error.h"

namespace maskwright {

uint32_t Blame::find(uint32_t options, uint32_t node) {
  std::unordered_set<uint32_t> met;
  try {
    while (met.insert(node).second) {
      const uint32_t next = below(options, node);
      if (next == kNone || ir_.node_kind(next) == NodeKind::kNever) break;
      node = next;
    }
  } catch (const Error&) {
    // What was found so far is an answer too: a limit must not hide it.
  }
  return node;
}

bool Blame::hopeless(uint32_t options, uint32_t node) {
  return !solver_.productive(targets_.intern(options, std::array<uint32_t, 1>{node}));
}

// A smaller node without a value; kNone if there is none.
uint32_t Blame::below(uint32_t options, uint32_t node) {
  const uint32_t part = conjunct(options, node);
  return part != kNone ? part : place(options, node);
}

uint32_t Blame::conjunct(uint32_t options, uint32_t node) {
  const NodeKind kind = ir_.node_kind(node);
  const auto payload = ir_.node(node);
  const bool choice = kind == NodeKind::kAnyOf || kind == NodeKind::kOneOf;
  if (kind != NodeKind::kAllOf && !(choice && payload[0] == 1)) return kNone;
  for (const uint32_t child : payload.subspan(1, payload[0])) {
    if (hopeless(options, child)) return child;
  }
  return kNone;
}

// The node at a place that must be there, if only one way is left to satisfy `node`.
uint32_t Blame::place(uint32_t options, uint32_t node) {
  const uint32_t target = targets_.intern(options, std::array<uint32_t, 1>{node});
  const auto lists = targets_.flatten(target);
  const auto ids = solver_.clauses(target);
  if (lists.size() != 1 || ids.size() != 1) return kNone;
  const Clause& clause = clauses_.get(ids[0]);
  std::vector<uint32_t> nodes;
  const auto add = [&](uint32_t child) {
    if (child != kNone && hopeless(options, child)) nodes.push_back(child);
  };
  for (const uint32_t word : lists[0]) {
    if (is_derived(word) || is_negated(word)) continue;
    const NodeKind kind = ir_.node_kind(node_of(word));
    if (kind == NodeKind::kObject && clause.object != kNone) {
      const ObjectShape shape = clauses_.object(clause.object);
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const auto [key, value, flags] = shape.member(i);
        const bool required = (flags & ObjectShape::kIsRequired) != 0;
        if (required && !solver_.target_productive(value)) add(member_node(node_of(word), key));
      }
    } else if (kind == NodeKind::kArray && clause.array != kNone) {
      const auto payload = ir_.node(node_of(word));
      const uint32_t needed = clauses_.array(clause.array).min;
      for (uint32_t i = 0; i < needed && i < payload[0]; ++i) add(payload[1 + i]);
      if (needed > payload[0]) add(payload[payload.size() - 1]);
    }
  }
  return nodes.empty() ? kNone : nodes.front();
}

uint32_t Blame::member_node(uint32_t object, uint32_t key) {
  WordReader reader(ir_.node(object));
  for (uint32_t left = reader.next(); left != 0; --left) {
    const auto entry = reader.take(3);
    if (targets_.keys().intern(ir_.bytes(entry[0], entry[1])) == key) return entry[2];
  }
  return kNone;
}

}  // namespace maskwright

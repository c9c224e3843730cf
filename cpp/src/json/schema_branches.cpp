#include "json/schema_branches.h"

#include <array>
#include <map>
#include <unordered_set>

namespace maskwright {

std::span<const uint32_t> enum_nodes(const Ir& ir, uint32_t node) {
  WordReader reader(ir.node(node));
  reader.next();
  reader.take(std::size_t{reader.next()} * 2);
  reader.take(std::size_t{reader.next()} * 2);
  const uint32_t count = reader.next();
  return reader.take(count);
}

uint32_t enum_scalar_types(const Ir& ir, uint32_t node) {
  WordReader reader(ir.node(node));
  const uint32_t literals = reader.next();
  const uint32_t numbers = reader.next();
  reader.take(std::size_t{numbers} * 2);
  const uint32_t strings = reader.next();
  uint32_t types = 0;
  if ((literals & kEnumNull) != 0) types |= kNull;
  if ((literals & (kEnumFalse | kEnumTrue)) != 0) types |= kBoolean;
  if (numbers != 0) types |= kInteger | kNumberType;
  if (strings != 0) types |= kStringType;
  return types;
}

bool BranchTable::is_choice(uint32_t word) const {
  if ((word & (kScalarPart | kDerived)) != 0) return false;
  const NodeKind kind = ir_.node_kind(node_of(word));
  if (!is_negated(word)) {
    if (kind == NodeKind::kEnum) return !enum_nodes(ir_, node_of(word)).empty();
    return kind == NodeKind::kAnyOf || kind == NodeKind::kOneOf;
  }
  switch (kind) {
    case NodeKind::kAllOf:
    case NodeKind::kOneOf:
    case NodeKind::kArray:
    case NodeKind::kItemCount:
    case NodeKind::kContains:
    case NodeKind::kObject:
    case NodeKind::kRequired:
    case NodeKind::kMemberCount:
    case NodeKind::kMemberNames:
    case NodeKind::kDependentRequired:
    case NodeKind::kStringLength: return true;
    default: return false;
  }
}

const Branches& BranchTable::of(uint32_t choice) {
  auto& made = made_[choice];
  if (made == nullptr) made = std::make_unique<const Branches>(make(choice));
  return *made;
}

Branches BranchTable::make(uint32_t choice) {
  const uint32_t node = node_of(choice);
  const NodeKind kind = ir_.node_kind(node);
  Branches out;
  if (is_negated(choice)) {
    if (kind == NodeKind::kAllOf) {
      negate_all_of(node, out);
      return merge_members(out);
    }
    if (kind == NodeKind::kOneOf) {
      negate_one_of(node, out);
    } else {
      negate_leaf(node, out);
    }
  } else if (kind == NodeKind::kEnum) {
    if (enum_scalar_types(ir_, node) != 0) out.add(node | kScalarPart);
    for (const uint32_t value : enum_nodes(ir_, node)) out.add(value);
  } else {
    const auto payload = ir_.node(node);
    for (const uint32_t child : payload.subspan(1, payload[0])) out.add(inherit(choice, child));
    out.exclusive = kind == NodeKind::kOneOf;
  }
  return out;
}

// The word for a value that `child` does not accept; false if there is none.
bool BranchTable::negate_child(uint32_t child, uint32_t& word) const {
  const NodeKind kind = ir_.node_kind(child);
  if (kind == NodeKind::kAny) return false;
  word = kind == NodeKind::kNever ? kAnyWord : negate(child);
  return true;
}

// The branches of children are spliced in, so that merge_members() sees all of them.
void BranchTable::negate_all_of(uint32_t node, Branches& out) {
  std::vector<uint32_t> stack{node};
  std::unordered_set<uint32_t> met;
  while (!stack.empty()) {
    const uint32_t child = stack.back();
    stack.pop_back();
    if (!met.insert(child).second) continue;
    const NodeKind kind = ir_.node_kind(child);
    if (kind == NodeKind::kAllOf) {
      const auto payload = ir_.node(child);
      const auto children = payload.subspan(1, payload[0]);
      stack.insert(stack.end(), children.rbegin(), children.rend());
    } else if (kind == NodeKind::kOneOf || !is_choice(negate(child))) {
      out.add(negate(child));
    } else {
      negate_leaf(child, out);
    }
  }
}

// None of them, or two of them.
void BranchTable::negate_one_of(uint32_t node, Branches& out) {
  const auto payload = ir_.node(node);
  const auto children = payload.subspan(1, payload[0]);
  std::vector<uint32_t> none;
  for (const uint32_t child : children) none.push_back(negate(child));
  out.add(none);
  for (std::size_t i = 0; i < children.size(); ++i) {
    for (std::size_t j = i + 1; j < children.size(); ++j) {
      out.add(std::array<uint32_t, 2>{children[i] | kSilent, children[j] | kSilent});
    }
  }
}

void BranchTable::negate_array(uint32_t node, Branches& out) {
  const auto payload = ir_.node(node);
  uint32_t word = 0;
  for (uint32_t i = 0; i < payload[0]; ++i) {
    if (negate_child(payload[1 + i], word)) add_derived({DerivedKind::kItemIs, i, word}, out);
  }
  const uint32_t rest = payload[payload.size() - 1];
  if (rest != kNone && negate_child(rest, word)) {
    add_derived({DerivedKind::kSomeItem, payload[0], word}, out);
  }
}

void BranchTable::negate_object(uint32_t node, Branches& out) {
  WordReader reader(ir_.node(node));
  uint32_t word = 0;
  for (uint32_t left = reader.next(); left != 0; --left) {
    const auto entry = reader.take(3);
    if (!negate_child(entry[2], word)) continue;
    const uint32_t key = keys_.intern(ir_.bytes(entry[0], entry[1]));
    add_derived({DerivedKind::kHasMember, key, word}, out);
  }
  const uint32_t patterns = reader.next();
  for (uint32_t i = 0; i < patterns; ++i) {
    const auto entry = reader.take(2);
    if (negate_child(entry[1], word)) {
      add_derived({DerivedKind::kSomeMember, node, i, word}, out);
    }
  }
  const uint32_t additional = reader.next();
  if (additional != kNone && negate_child(additional, word)) {
    add_derived({DerivedKind::kSomeMember, node, kNone, word}, out);
  }
}

void BranchTable::negate_dependency(uint32_t node, Branches& out) {
  WordReader reader(ir_.node(node));
  const auto name = [&] {
    const auto entry = reader.take(2);
    return keys_.intern(ir_.bytes(entry[0], entry[1]));
  };
  const uint32_t has = derived_.intern({DerivedKind::kHasMember, name(), kAnyWord});
  for (uint32_t left = reader.next(); left != 0; --left) {
    const uint32_t lacks = derived_.intern({DerivedKind::kLacksMember, name()});
    out.add(std::array<uint32_t, 2>{has, lacks});
  }
}

void BranchTable::add_outside(DerivedKind kind, uint32_t min, uint32_t max, Branches& out) {
  if (min != 0) add_derived({kind, 0, 0, min - 1}, out);
  if (max != kNone) add_derived({kind, 0, max + 1, kNone}, out);
}

void BranchTable::negate_leaf(uint32_t node, Branches& out) {
  const auto payload = ir_.node(node);
  switch (ir_.node_kind(node)) {
    case NodeKind::kArray: negate_array(node, out); return;
    case NodeKind::kObject: negate_object(node, out); return;
    case NodeKind::kDependentRequired: negate_dependency(node, out); return;
    case NodeKind::kStringLength:
      add_outside(DerivedKind::kLength, payload[0], payload[1], out);
      return;
    case NodeKind::kItemCount:
      add_outside(DerivedKind::kItemCount, payload[0], payload[1], out);
      return;
    case NodeKind::kMemberCount:
      add_outside(DerivedKind::kMemberCount, payload[0], payload[1], out);
      return;
    case NodeKind::kContains: {
      const auto [word, min, max] = std::array{payload[0] | kSilent, payload[1], payload[2]};
      if (min != 0) add_derived({DerivedKind::kContains, word, 0, min - 1}, out);
      if (max != kNone) add_derived({DerivedKind::kContains, word, max + 1, kNone}, out);
      return;
    }
    case NodeKind::kMemberNames: {
      uint32_t word = 0;
      if (negate_child(payload[0], word)) add_derived({DerivedKind::kSomeName, word}, out);
      return;
    }
    case NodeKind::kRequired:
      for (uint32_t i = 0; i < payload[0]; ++i) {
        const auto entry = payload.subspan(1 + std::size_t{i} * 2, 2);
        const uint32_t key = keys_.intern(ir_.bytes(entry[0], entry[1]));
        add_derived({DerivedKind::kLacksMember, key}, out);
      }
      return;
    default: return;
  }
}

// Joins "lacks k" and one "has k, and its value satisfies w" to "if there is k, it satisfies w".
Branches BranchTable::merge_members(const Branches& from) {
  std::map<uint32_t, std::vector<std::size_t>> has, lacks;  // by key
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].size() != 1 || !is_derived(from[i][0])) continue;
    const DerivedLeaf leaf = derived_.get(from[i][0]);
    if (leaf.kind == DerivedKind::kHasMember) has[leaf.a].push_back(i);
    if (leaf.kind == DerivedKind::kLacksMember) lacks[leaf.a].push_back(i);
  }
  std::vector<uint32_t> replaced(from.size(), kNone);
  std::vector<bool> dropped(from.size(), false);
  for (const auto& [key, places] : lacks) {
    const auto match = has.find(key);
    if (match == has.end() || match->second.size() != 1) continue;
    const std::size_t at = match->second[0];
    const uint32_t word = derived_.get(from[at][0]).b;
    replaced[at] = derived_.intern({DerivedKind::kIfMember, key, word});
    for (const std::size_t place : places) dropped[place] = true;
  }
  Branches out;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (dropped[i]) continue;
    if (replaced[i] != kNone) {
      out.add(replaced[i]);
    } else {
      out.add(from[i]);
    }
  }
  return out;
}

}  // namespace maskwright

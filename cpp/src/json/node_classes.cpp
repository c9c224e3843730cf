#include "json/node_classes.h"

#include <algorithm>

namespace maskwright {

uint32_t NodeClasses::of(uint32_t node) {
  if (classes_.empty()) classes_.assign(ir_.num_nodes(), kNone);
  if (classes_[node] < kOpen) return classes_[node];
  std::vector<uint32_t> stack{node};
  std::vector<uint32_t> below;
  while (!stack.empty()) {
    const uint32_t next = stack.back();
    if (classes_[next] == kNone) {
      classes_[next] = kOpen;
      below.clear();
      children(next, below);
      for (const uint32_t child : below) {
        if (classes_[child] == kNone) stack.push_back(child);
      }
    } else {
      if (classes_[next] == kOpen) classes_[next] = make(next);
      stack.pop_back();
    }
  }
  return classes_[node];
}

void NodeClasses::children(uint32_t node, std::vector<uint32_t>& out) const {
  WordReader reader(ir_.node(node));
  const auto take = [&](uint32_t count) {
    const auto ids = reader.take(count);
    out.insert(out.end(), ids.begin(), ids.end());
  };
  const auto take_optional = [&] {
    const uint32_t id = reader.next();
    if (id != kNone) out.push_back(id);
  };
  switch (ir_.node_kind(node)) {
    case NodeKind::kEnum:
      reader.next();
      reader.take(std::size_t{reader.next()} * 2);
      reader.take(std::size_t{reader.next()} * 2);
      take(reader.next());
      return;
    case NodeKind::kArray:
      take(reader.next());
      take_optional();
      return;
    case NodeKind::kObject:
      for (uint32_t left = reader.next(); left != 0; --left) out.push_back(reader.take(3)[2]);
      for (uint32_t left = reader.next(); left != 0; --left) out.push_back(reader.take(2)[1]);
      take_optional();
      return;
    case NodeKind::kAllOf:
    case NodeKind::kAnyOf:
    case NodeKind::kOneOf: take(reader.next()); return;
    case NodeKind::kNot:
    case NodeKind::kContains:
    case NodeKind::kMemberNames: take(1); return;
    default: return;
  }
}

// The class of a child; the node itself while it is being made.
uint32_t NodeClasses::known(uint32_t node) const {
  // Classes are even here and nodes odd, so that they differ.
  return classes_[node] == kOpen ? node * 2 + 1 : classes_[node] * 2;
}

void NodeClasses::add_refs(uint32_t count, WordReader& reader, bool sort,
                           std::vector<uint32_t>& key) {
  key.push_back(count);
  const auto begin = static_cast<std::ptrdiff_t>(key.size());
  for (uint32_t i = 0; i < count; ++i) key.push_back(text(reader.take(2)));
  if (sort) std::sort(key.begin() + begin, key.end());
}

uint32_t NodeClasses::make(uint32_t node) {
  const NodeKind kind = ir_.node_kind(node);
  const auto payload = ir_.node(node);
  WordReader reader(payload);
  std::vector<uint32_t> key;
  const auto child = [&](uint32_t id) { return id == kNone ? kNone : known(id); };
  switch (kind) {
    case NodeKind::kNumber:
      key.push_back(reader.next());
      add_refs(2, reader, false, key);
      break;
    case NodeKind::kMultipleOf: add_refs(1, reader, false, key); break;
    case NodeKind::kRequired: add_refs(reader.next(), reader, true, key); break;
    case NodeKind::kDependentRequired:
      add_refs(1, reader, false, key);
      add_refs(reader.next(), reader, true, key);
      break;
    case NodeKind::kEnum:
      key.push_back(reader.next());
      add_refs(reader.next(), reader, true, key);
      add_refs(reader.next(), reader, true, key);
      for (uint32_t left = reader.next(); left != 0; --left) key.push_back(child(reader.next()));
      break;
    case NodeKind::kArray:
    case NodeKind::kObject:
      if (kind == NodeKind::kObject) {
        for (uint32_t left = reader.next(); left != 0; --left) {
          const auto entry = reader.take(3);
          key.push_back(text(entry));
          key.push_back(child(entry[2]));
        }
        key.push_back(kNone);
        for (uint32_t left = reader.next(); left != 0; --left) {
          key.push_back(reader.next());
          key.push_back(child(reader.next()));
        }
      } else {
        for (uint32_t left = reader.next(); left != 0; --left) key.push_back(child(reader.next()));
      }
      key.push_back(kNone);
      key.push_back(child(reader.next()));
      break;
    case NodeKind::kAllOf:
    case NodeKind::kAnyOf:
    case NodeKind::kOneOf:
      for (uint32_t left = reader.next(); left != 0; --left) key.push_back(child(reader.next()));
      // An alias.
      if (payload[0] == 1 && (key[0] & 1) == 0) return key[0] / 2;
      std::sort(key.begin(), key.end());
      break;
    case NodeKind::kNot:
    case NodeKind::kMemberNames: key.push_back(child(reader.next())); break;
    case NodeKind::kContains: key = {child(payload[0]), payload[1], payload[2]}; break;
    default: key.assign(payload.begin(), payload.end()); break;
  }
  return keys_.intern(key, static_cast<uint32_t>(kind)).id;
}

}  // namespace maskwright

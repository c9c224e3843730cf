// Outlines of words; how they combine is in outline_algebra.cpp.
#include "json/outline.h"

#include <algorithm>

#include "json/target.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

OutlineRef of_types(uint32_t types) {
  auto out = std::make_shared<Outline>();
  out->types = types;
  return out;
}

}  // namespace

OutlineTable::OutlineTable(const Ir& ir, BranchTable& branches)
    : ir_(ir), branches_(branches), classes_(ir, branches.keys()) {
  // In the order of Literal.
  atom(kNull, "null");
  atom(kBoolean, "false");
  atom(kBoolean, "true");
}

std::size_t OutlineTable::memory_bytes() const {
  std::size_t total = heap_bytes(classes_, identities_, derived_identities_, atoms_, atom_types_) +
                      heap::hash_table(known_);
  for (const auto& [word, outline] : known_) {
    if (outline != nullptr) total += heap_block(sizeof(Outline) + 16) + outline->memory_bytes();
  }
  return total;
}

uint32_t OutlineTable::atom(uint32_t type, std::string_view text) {
  std::string key(1, static_cast<char>(type));
  key += text;
  const auto [at, inserted] = atoms_.emplace(std::move(key), atom_types_.size());
  if (inserted) atom_types_.push_back(type);
  return at->second;
}

OutlineRef OutlineTable::of(uint32_t word, uint32_t depth) {
  if (word == kAnyWord || nesting_ > kNesting) return nullptr;
  if (!is_derived(word)) word &= ~kSilent;
  const uint64_t key = uint64_t{depth} << 32 | word;
  // A word that is met within its own outline could be anything there.
  const auto [at, inserted] = known_.emplace(key, nullptr);
  if (!inserted) return at->second;
  ++nesting_;
  OutlineRef made = with_itself(word, make(word, depth));
  --nesting_;
  return known_[key] = std::move(made);
}

uint32_t OutlineTable::identity(uint32_t word) {
  if (word == kAnyWord) return word;
  if (!is_derived(word)) return classes_.of(node_of(word)) | (word & (kNegated | kScalarPart));
  const uint32_t index = node_of(word);
  if (derived_identities_.size() <= index) derived_identities_.resize(index + 1, kNone);
  if (derived_identities_[index] == kNone) {
    const uint32_t made = derived_identity(word);
    derived_identities_[index] = made;
  }
  return derived_identities_[index];
}

uint32_t OutlineTable::derived_identity(uint32_t word) {
  DerivedLeaf leaf = branches_.derived().get(word);
  switch (leaf.kind) {
    case DerivedKind::kHasMember:
    case DerivedKind::kIfMember:
    case DerivedKind::kItemIs:
    case DerivedKind::kSomeItem: leaf.b = identity(leaf.b); break;
    case DerivedKind::kSomeMember:
      leaf.a = classes_.of(leaf.a);
      leaf.c = identity(leaf.c);
      break;
    case DerivedKind::kSomeName:
    case DerivedKind::kContains: leaf.a = identity(leaf.a); break;
    default: break;
  }
  return identities_.intern(leaf);
}

// Notes the word itself among what holds, unless the outline tells all of it anyway.
OutlineRef OutlineTable::with_itself(uint32_t word, OutlineRef made) {
  if (is_derived(word) || (made != nullptr && made->empty())) return made;
  switch (ir_.node_kind(node_of(word))) {
    case NodeKind::kAny:
    case NodeKind::kNever:
    case NodeKind::kNot:
    case NodeKind::kTypes: return made;
    default: break;
  }
  if ((word & kScalarPart) != 0) return made;
  auto out = made == nullptr ? std::make_shared<Outline>() : std::make_shared<Outline>(*made);
  const uint32_t itself = classes_.of(node_of(word)) | (word & kNegated);
  const auto at = std::lower_bound(out->holds.begin(), out->holds.end(), itself);
  if (at == out->holds.end() || *at != itself) out->holds.insert(at, itself);
  return out;
}

OutlineRef OutlineTable::make(uint32_t word, uint32_t depth) {
  if (is_derived(word)) return make_derived(word, depth);
  const uint32_t node = node_of(word);
  if (is_negated(word)) return make_negated(node, depth);
  const auto payload = ir_.node(node);
  switch (ir_.node_kind(node)) {
    case NodeKind::kNever: return of_types(0);
    case NodeKind::kTypes: return of_types(widen_types(payload[0]));
    case NodeKind::kEnum:
      return branches_.is_choice(word) ? join_branches(word, depth) : make_enum(node, false);
    case NodeKind::kAnyOf:
    case NodeKind::kOneOf: return join_branches(word, depth);
    case NodeKind::kAllOf: return meet_children(node, false, depth);
    case NodeKind::kNot: return of(negate(payload[0]), depth);
    case NodeKind::kArray: return make_array(node, depth);
    case NodeKind::kItemCount: {
      auto out = std::make_shared<Outline>();
      out->min_items = payload[0];
      out->max_items = payload[1];
      return out;
    }
    case NodeKind::kObject: return make_object(node, depth);
    case NodeKind::kRequired: return make_required(node);
    default: return nullptr;
  }
}

OutlineRef OutlineTable::make_negated(uint32_t node, uint32_t depth) {
  const uint32_t word = node | kNegated;
  const auto payload = ir_.node(node);
  switch (ir_.node_kind(node)) {
    case NodeKind::kAny: return of_types(0);
    case NodeKind::kTypes: return of_types(kAllTypes & ~widen_types(payload[0]));
    case NodeKind::kNumber:
    case NodeKind::kMultipleOf: return of_types(kInteger | kNumberType);
    case NodeKind::kStringLanguage: return of_types(kStringType);
    case NodeKind::kUniqueItems: return of_types(kArrayType);
    case NodeKind::kEnum: return make_enum(node, true);
    case NodeKind::kAnyOf: return meet_children(node, true, depth);
    case NodeKind::kNot: return of(payload[0], depth);
    case NodeKind::kOneOf: return nullptr;
    default: return branches_.is_choice(word) ? join_branches(word, depth) : nullptr;
  }
}

OutlineRef OutlineTable::make_derived(uint32_t word, uint32_t depth) {
  const DerivedLeaf leaf = branches_.derived().get(word);
  auto out = std::make_shared<Outline>();
  out->types = DerivedTable::type_of(leaf.kind);
  const auto value = [&](uint32_t of_word) {
    return depth == 0 ? nullptr : of(of_word, depth - 1);
  };
  switch (leaf.kind) {
    case DerivedKind::kHasMember:
      out->members.push_back({leaf.a, true, false, value(leaf.b)});
      break;
    case DerivedKind::kIfMember:
      out->members.push_back({leaf.a, false, false, value(leaf.b)});
      break;
    case DerivedKind::kLacksMember: out->members.push_back({leaf.a, false, true, nullptr}); break;
    case DerivedKind::kItemIs:
      out->min_items = leaf.a + 1;
      if (leaf.a < kPrefix) {
        out->prefix.resize(leaf.a);
        out->prefix.push_back(value(leaf.b));
      }
      break;
    case DerivedKind::kItemCount:
      out->min_items = leaf.b;
      out->max_items = leaf.c;
      break;
    default: break;
  }
  settle(*out);
  return out;
}

OutlineRef OutlineTable::make_enum(uint32_t node, bool negated) {
  WordReader reader(ir_.node(node));
  auto out = std::make_shared<Outline>();
  const uint32_t literals = reader.next();
  if ((literals & kEnumNull) != 0) out->atoms.push_back(kNullAtom);
  if ((literals & kEnumFalse) != 0) out->atoms.push_back(kFalseAtom);
  if ((literals & kEnumTrue) != 0) out->atoms.push_back(kTrueAtom);
  for (const bool strings : {false, true}) {
    const uint32_t count = reader.next();
    if (count > kAtoms) return negated ? nullptr : of_types(enum_scalar_types(ir_, node));
    for (uint32_t i = 0; i < count; ++i) {
      const auto ref = reader.take(2);
      const std::string_view text = ir_.bytes(ref[0], ref[1]);
      const bool integer = text.find('.') == std::string_view::npos;
      out->atoms.push_back(atom(strings ? kStringType : (integer ? kInteger : kNumberType), text));
    }
  }
  make_set(out->atoms);
  out->listed = !negated;
  if (!negated) out->types = enum_scalar_types(ir_, node);
  settle(*out);
  return out;
}

OutlineRef OutlineTable::make_array(uint32_t node, uint32_t depth) {
  if (depth == 0) return nullptr;
  const auto payload = ir_.node(node);
  const uint32_t rest = payload[payload.size() - 1];
  auto out = std::make_shared<Outline>();
  for (std::size_t i = 0; i < kPrefix; ++i) {
    const uint32_t item = i < payload[0] ? payload[1 + i] : rest;
    out->prefix.push_back(item == kNone ? nullptr : of(item, depth - 1));
  }
  while (!out->prefix.empty() && out->prefix.back() == nullptr) out->prefix.pop_back();
  return out;
}

OutlineRef OutlineTable::make_object(uint32_t node, uint32_t depth) {
  WordReader reader(ir_.node(node));
  auto out = std::make_shared<Outline>();
  for (uint32_t left = reader.next(); left != 0; --left) {
    const auto entry = reader.take(3);
    const uint32_t key = branches_.keys().intern(ir_.bytes(entry[0], entry[1]));
    OutlineRef value = depth == 0 ? nullptr : of(entry[2], depth - 1);
    out->members.push_back({key, false, false, std::move(value)});
  }
  std::sort(out->members.begin(), out->members.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  const uint32_t patterns = reader.next();
  reader.take(std::size_t{patterns} * 2);
  const uint32_t additional = reader.next();
  out->closed =
      patterns == 0 && additional != kNone && ir_.node_kind(additional) == NodeKind::kNever;
  if (!out->closed) std::erase_if(out->members, [](const auto& m) { return m.value == nullptr; });
  return out;
}

OutlineRef OutlineTable::make_required(uint32_t node) {
  const auto payload = ir_.node(node);
  auto out = std::make_shared<Outline>();
  for (uint32_t i = 0; i < payload[0]; ++i) {
    const auto entry = payload.subspan(1 + std::size_t{i} * 2, 2);
    const uint32_t key = branches_.keys().intern(ir_.bytes(entry[0], entry[1]));
    out->members.push_back({key, true, false, nullptr});
  }
  std::sort(out->members.begin(), out->members.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return out;
}

OutlineRef OutlineTable::meet_children(uint32_t node, bool negated, uint32_t depth) {
  const auto payload = ir_.node(node);
  OutlineRef all;
  for (const uint32_t child : payload.subspan(1, payload[0])) {
    all = meet(all, of(negated ? negate(child) : child, depth));
  }
  return all;
}

OutlineRef OutlineTable::join_branches(uint32_t choice, uint32_t depth) {
  const Branches& branches = branches_.of(choice);
  OutlineRef any;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    OutlineRef all;
    for (const uint32_t word : branches[i]) all = meet(all, of(word, depth));
    any = i == 0 ? all : join(any, all);
    if (any == nullptr) return nullptr;
  }
  return branches.size() == 0 ? of_types(0) : any;
}

bool OutlineTable::excludes(const OutlineRef& a, std::span<const uint32_t> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](uint32_t word) { return disjoint(a, of(word)); });
}

}  // namespace maskwright

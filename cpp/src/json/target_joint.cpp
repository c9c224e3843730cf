// Joint targets: choices about different members of an object, side by side.
//
// Idea: twelve schemas that depend on twelve members are 4,096 clauses, and yet an object can be
// judged by each of them without a look at the others. Choices are put into one part if they
// concern a common name, directly or by way of others; each part, with all that holds anyway, is a
// target of its own, and so is what holds anyway. An object satisfies the whole iff it satisfies
// all of these. Each part owns the names that its choices concern: whether the object satisfies it
// depends on these members alone, as far as it does not depend on the rest for every part. So
// parts can be completed independently, and an object whose every part is alive is alive.
//
// That needs members in any order, no bounds on their number, names that never run out and no
// obligation that any member may meet; and in strict mode, that no choice decides whether the
// object is closed. Choices that concern any name are multiplied as before, first.
//
// Cost: linear in the nodes below the choices, once per choice. Parts instead of products are made
// where there would be more than kFewClauses.
#include <algorithm>
#include <unordered_map>

#include "json/target.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

constexpr std::size_t kFewClauses = 4;
constexpr uint32_t kWhole = 0, kPart = 1;

}  // namespace

// Adds the names that a word says something about; false if it may be any. What it is made of goes
// to `inside`.
bool TargetTable::concerns_names(uint32_t word, Concern& concern, std::vector<uint32_t>& inside) {
  if (is_derived(word)) {
    const DerivedLeaf leaf = derived().get(word);
    switch (leaf.kind) {
      case DerivedKind::kHasMember:
      case DerivedKind::kIfMember:
      case DerivedKind::kLacksMember: concern.keys.push_back(leaf.a); return true;
      default: return DerivedTable::type_of(leaf.kind) != kObjectType;
    }
  }
  WordReader reader(ir_.node(node_of(word)));
  const auto add_keys = [&](uint32_t count, std::size_t more) {
    for (; count != 0; --count) {
      const auto entry = reader.take(2);
      concern.keys.push_back(keys().intern(ir_.bytes(entry[0], entry[1])));
      reader.take(more);
    }
  };
  switch (ir_.node_kind(node_of(word))) {
    case NodeKind::kAllOf:
    case NodeKind::kAnyOf:
    case NodeKind::kOneOf: {
      const auto children = reader.take(reader.next());
      inside.insert(inside.end(), children.begin(), children.end());
      return true;
    }
    case NodeKind::kNot: inside.push_back(reader.next()); return true;
    case NodeKind::kEnum: return enum_nodes(ir_, node_of(word)).empty();
    case NodeKind::kObject:
      add_keys(reader.next(), 1);
      return reader.next() == 0 && reader.next() == kNone;
    case NodeKind::kRequired: add_keys(reader.next(), 0); return true;
    case NodeKind::kDependentRequired:
      add_keys(1, 0);
      add_keys(reader.next(), 0);
      return true;
    case NodeKind::kMemberCount:
    case NodeKind::kMemberNames: return false;
    default: return true;
  }
}

const TargetTable::Concern& TargetTable::concern_of(uint32_t choice) {
  const auto [at, inserted] = concerns_.try_emplace(choice);
  Concern& concern = at->second;
  if (!inserted) return concern;
  const Branches& branches = branches_.of(choice);
  std::vector<uint32_t> words;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    words.insert(words.end(), branches[i].begin(), branches[i].end());
  }
  WordMarks met(ir_.num_nodes());
  while (!words.empty() && !concern.all) {
    const uint32_t word = words.back();
    words.pop_back();
    if (word == kAnyWord || !met.insert(word)) continue;
    concern.all = !concerns_names(word, concern, words);
  }
  make_set(concern.keys);
  concern.all = concern.all || concern.keys.empty();
  return concern;
}

// A word that any object satisfies. Targets with that of a part are not parted again.
uint32_t TargetTable::any_object(uint32_t mark) {
  return derived().intern({DerivedKind::kMemberCount, mark, 0, kNone});
}

// Whether what holds anyway leaves members independent of each other.
bool TargetTable::may_part(uint32_t options, std::span<const uint32_t> list) {
  const JsonOptions& layout = options_.get(options);
  if (!layout.any_order || !layout.can_separate || !layout.can_label) return false;
  bool closed = !layout.strict;
  for (const uint32_t word : list) {
    if (branches_.is_choice(word)) continue;
    if (is_derived(word)) {
      const DerivedKind kind = derived().get(word).kind;
      if (kind == DerivedKind::kSomeMember || kind == DerivedKind::kSomeName) return false;
      if (kind == DerivedKind::kMemberCount && word != any_object(kWhole)) return false;
      continue;
    }
    const NodeKind kind = ir_.node_kind(node_of(word));
    if (kind == NodeKind::kMemberCount || kind == NodeKind::kMemberNames) return false;
    if (kind != NodeKind::kObject) continue;
    WordReader reader(ir_.node(node_of(word)));
    const uint32_t members = reader.next();
    reader.take(std::size_t{members} * 3);
    if (reader.next() != 0) return false;
    // In strict mode choices don't close it if it is closed anyway, nor if it is open anyway.
    if ((word & kSilent) == 0) closed = closed || members != 0 || reader.next() != kNone;
  }
  return closed;
}

// The choices of a list that concern certain names, in parts.
std::vector<TargetTable::Part> TargetTable::parts_of(std::span<const uint32_t> list) {
  std::vector<Part> parts;
  std::unordered_map<uint32_t, std::size_t> owner;  // by key: a part
  std::vector<std::size_t> merged_into;             // by part; its own index: none
  const auto find = [&](std::size_t part) {
    while (merged_into[part] != part) part = merged_into[part];
    return part;
  };
  const auto add = [&](std::span<const uint32_t> keys) {
    const std::size_t own = parts.size();
    parts.emplace_back();
    merged_into.push_back(own);
    for (const uint32_t key : keys) {
      const auto [at, inserted] = owner.try_emplace(key, own);
      if (!inserted) merged_into[find(at->second)] = own;
    }
    return own;
  };
  std::vector<std::pair<uint32_t, std::size_t>> choices;
  for (const uint32_t word : list) {
    if (branches_.is_choice(word)) {
      const Concern& concern = concern_of(word);
      if (!concern.all) choices.emplace_back(word, add(concern.keys));
    } else if (!is_derived(word) && ir_.node_kind(node_of(word)) == NodeKind::kDependentRequired) {
      Concern names;
      std::vector<uint32_t> inside;
      concerns_names(word, names, inside);
      add(names.keys);
    }
  }
  for (const auto& [word, part] : choices) parts[find(part)].choices.push_back(word);
  for (const auto& [key, part] : owner) parts[find(part)].keys.push_back(key);
  std::erase_if(parts, [](const Part& part) { return part.choices.empty(); });
  for (Part& part : parts) make_set(part.keys);
  return parts;
}

// Whether there would be more than a few clauses.
bool TargetTable::multiplies(std::span<const Part> parts, const OutlineRef& outline,
                             uint32_t partial) {
  if (parts.size() < 2) return false;
  std::size_t clauses = 1;
  for (const Part& part : parts) {
    for (const uint32_t choice : part.choices) {
      clauses *= branches_left(partial, outline, choice, kFewClauses + 1);
      if (clauses > kFewClauses) return true;
    }
  }
  return false;
}

// Makes clauses or partial clauses of a list whose choices concern different members; false if they
// don't, or if there are only a few.
bool TargetTable::separate(uint32_t options, uint32_t partial, const OutlineRef& outline,
                           std::span<const uint32_t> list, Clauses& clauses) {
  if ((outline->types & kObjectType) == 0 || !may_part(options, list)) return false;
  const std::vector<Part> parts = parts_of(list);
  if (!multiplies(parts, outline, partial)) return false;
  if (outline->types != kObjectType) {
    const std::array kinds{
        any_object(kWhole),
        derived().intern({DerivedKind::kNoObject}),
    };
    for (const uint32_t kind : kinds) {
      std::vector<uint32_t> next(list.begin(), list.end());
      next.push_back(kind);
      remember(options, next, {partial, kNone, partials_[partial].covered});
    }
    return true;
  }
  std::size_t best = kDeadEnd;
  std::size_t fewest = kDeadEnd;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (!branches_.is_choice(list[at])) continue;
    const bool all = concern_of(list[at]).all;
    const std::size_t left = branches_left(partial, outline, list[at], all ? fewest : 1);
    if (left == 0) return true;
    if (!all || left >= fewest) continue;
    fewest = left;
    best = at;
  }
  if (best != kDeadEnd) {
    expand(options, partial, list, best, outline);
  } else {
    clauses.push_back({derived().intern({DerivedKind::kJoint, join(options, list, parts)})});
  }
  return true;
}

// The joint targets of a list: what holds anyway, and with it each part.
uint32_t TargetTable::join(uint32_t options, std::span<const uint32_t> list,
                           std::span<const Part> parts) {
  std::vector<uint32_t> words;
  for (const uint32_t word : list) {
    if (!branches_.is_choice(word)) words.push_back(word);
  }
  const std::size_t always = words.size();
  std::vector<uint32_t> content{static_cast<uint32_t>(parts.size() + 1), intern(options, words)};
  for (const Part& part : parts) {
    words.resize(always);
    words.insert(words.end(), part.choices.begin(), part.choices.end());
    words.push_back(any_object(kPart));
    content.push_back(intern(options, words));
  }
  for (const Part& part : parts) {
    content.push_back(static_cast<uint32_t>(part.keys.size()));
    content.insert(content.end(), part.keys.begin(), part.keys.end());
  }
  return joint_.intern(content).id;
}

}  // namespace maskwright

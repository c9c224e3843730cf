// How outlines combine.
#include <algorithm>
#include <iterator>

#include "json/outline.h"

namespace maskwright {

namespace {

constexpr uint32_t kScalars = kNull | kBoolean | kInteger | kNumberType | kStringType;

using Atoms = std::vector<uint32_t>;
using Members = std::vector<Outline::Member>;

Atoms common(const Atoms& a, const Atoms& b) {
  Atoms out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Atoms without(const Atoms& a, const Atoms& b) {
  Atoms out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Atoms together(const Atoms& a, const Atoms& b) {
  Atoms out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

const Outline::Member* find(const Members& members, uint32_t key) {
  const auto at = std::lower_bound(members.begin(), members.end(), key,
                                   [](const auto& m, uint32_t k) { return m.key < k; });
  return at != members.end() && at->key == key ? &*at : nullptr;
}

// Calls visit(a's member or null, b's member or null) for every key, in order.
template <typename Visit>
void merge(const Members& a, const Members& b, const Visit& visit) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].key < b[j].key)) {
      visit(&a[i++], nullptr);
    } else if (i == a.size() || b[j].key < a[i].key) {
      visit(nullptr, &b[j++]);
    } else {
      visit(&a[i++], &b[j++]);
    }
  }
}

bool contradict(const Atoms& a, const Atoms& b) {
  const Atoms& small = a.size() <= b.size() ? a : b;
  const Atoms& large = a.size() <= b.size() ? b : a;
  return std::any_of(small.begin(), small.end(), [&](uint32_t word) {
    return std::binary_search(large.begin(), large.end(), word ^ kNegated);
  });
}

// What it takes to combine an outline with another, those inside aside.
uint64_t words_in(const Outline& outline) {
  return 1 + outline.holds.size() + outline.atoms.size() + outline.members.size() +
         outline.prefix.size();
}

const OutlineRef& item(const Outline& outline, std::size_t index) {
  static const OutlineRef any;
  return index < outline.prefix.size() ? outline.prefix[index] : any;
}

}  // namespace

// Takes out the types of which no value is left.
void OutlineTable::settle(Outline& out) const {
  if (out.listed) {
    std::erase_if(out.atoms, [&](uint32_t id) { return (atom_types_[id] & out.types) == 0; });
    uint32_t types = 0;
    for (const uint32_t id : out.atoms) types |= atom_types_[id];
    out.types &= types | ~kScalars;
  } else {
    const auto excluded = [&](uint32_t id) {
      return std::binary_search(out.atoms.begin(), out.atoms.end(), id);
    };
    if (excluded(kNullAtom)) out.types &= ~uint32_t{kNull};
    if (excluded(kFalseAtom) && excluded(kTrueAtom)) out.types &= ~uint32_t{kBoolean};
  }
  if ((out.types & kObjectType) != 0) {
    for (const Outline::Member& member : out.members) {
      const bool none = member.absent || (member.value != nullptr && member.value->empty());
      if (member.required && none) out.types &= ~uint32_t{kObjectType};
    }
  }
  if ((out.types & kArrayType) != 0) {
    bool none = out.min_items > out.max_items;
    for (std::size_t i = 0; i < out.prefix.size() && i < out.min_items; ++i) {
      none = none || (out.prefix[i] != nullptr && out.prefix[i]->empty());
    }
    if (none) out.types &= ~uint32_t{kArrayType};
  }
}

OutlineRef OutlineTable::meet(const OutlineRef& a, const OutlineRef& b) const {
  if (a == nullptr || a == b) return b;
  if (b == nullptr || a->empty()) return a;
  work_ += words_in(*a) + words_in(*b);
  auto out = std::make_shared<Outline>();
  out->types = contradict(a->holds, b->holds) ? 0 : a->types & b->types;
  out->holds = together(a->holds, b->holds);
  if ((out->types & kScalars) != 0) meet_scalars(*a, *b, *out);
  if ((out->types & kObjectType) != 0) meet_members(*a, *b, *out);
  if ((out->types & kArrayType) != 0) {
    out->min_items = std::max(a->min_items, b->min_items);
    out->max_items = std::min(a->max_items, b->max_items);
    const std::size_t length = std::max(a->prefix.size(), b->prefix.size());
    for (std::size_t i = 0; i < length; ++i) out->prefix.push_back(meet(item(*a, i), item(*b, i)));
  }
  settle(*out);
  return out;
}

void OutlineTable::meet_scalars(const Outline& a, const Outline& b, Outline& out) const {
  out.listed = a.listed || b.listed;
  if (a.listed && b.listed) {
    out.atoms = common(a.atoms, b.atoms);
  } else if (a.listed) {
    out.atoms = without(a.atoms, b.atoms);
  } else if (b.listed) {
    out.atoms = without(b.atoms, a.atoms);
  } else {
    out.atoms = together(a.atoms, b.atoms);
  }
}

void OutlineTable::meet_members(const Outline& a, const Outline& b, Outline& out) const {
  out.closed = a.closed || b.closed;
  merge(a.members, b.members, [&](const Outline::Member* x, const Outline::Member* y) {
    if (x != nullptr && y != nullptr) {
      out.members.push_back(
          {x->key, x->required || y->required, x->absent || y->absent, meet(x->value, y->value)});
      return;
    }
    out.members.push_back(x != nullptr ? *x : *y);
    const bool refused = x != nullptr ? b.closed : a.closed;
    out.members.back().absent = out.members.back().absent || refused;
  });
}

OutlineRef OutlineTable::join(const OutlineRef& a, const OutlineRef& b) const {
  if (a == nullptr || b == nullptr) return nullptr;
  if (a == b || b->empty()) return a;
  if (a->empty()) return b;
  work_ += words_in(*a) + words_in(*b);
  auto out = std::make_shared<Outline>();
  out->types = a->types | b->types;
  out->holds = common(a->holds, b->holds);
  join_scalars(*a, *b, *out);
  join_members(*a, *b, *out);
  const bool in_a = (a->types & kArrayType) != 0;
  const bool in_b = (b->types & kArrayType) != 0;
  if (in_a && in_b) {
    out->min_items = std::min(a->min_items, b->min_items);
    out->max_items = std::max(a->max_items, b->max_items);
    const std::size_t length = std::min(a->prefix.size(), b->prefix.size());
    for (std::size_t i = 0; i < length; ++i) {
      out->prefix.push_back(join(a->prefix[i], b->prefix[i]));
    }
  } else if (in_a || in_b) {
    const Outline& only = in_a ? *a : *b;
    out->min_items = only.min_items;
    out->max_items = only.max_items;
    out->prefix = only.prefix;
  }
  return out;
}

void OutlineTable::join_scalars(const Outline& a, const Outline& b, Outline& out) const {
  const bool in_a = (a.types & kScalars) != 0;
  const bool in_b = (b.types & kScalars) != 0;
  if (!in_a || !in_b) {
    const Outline& only = in_a ? a : b;
    out.listed = only.listed;
    out.atoms = only.atoms;
  } else if (a.listed && b.listed) {
    out.listed = true;
    out.atoms = together(a.atoms, b.atoms);
  } else if (a.listed || b.listed) {
    out.atoms = a.listed ? without(b.atoms, a.atoms) : without(a.atoms, b.atoms);
  } else {
    out.atoms = common(a.atoms, b.atoms);
  }
}

void OutlineTable::join_members(const Outline& a, const Outline& b, Outline& out) const {
  const bool in_a = (a.types & kObjectType) != 0;
  const bool in_b = (b.types & kObjectType) != 0;
  if (!in_a || !in_b) {
    const Outline& only = in_a ? a : b;
    out.closed = only.closed;
    out.members = only.members;
    return;
  }
  out.closed = a.closed && b.closed;
  merge(a.members, b.members, [&](const Outline::Member* x, const Outline::Member* y) {
    if (x != nullptr && y != nullptr) {
      OutlineRef value = x->absent ? y->value : (y->absent ? x->value : join(x->value, y->value));
      out.members.push_back(
          {x->key, x->required && y->required, x->absent && y->absent, std::move(value)});
    } else if (x != nullptr ? b.closed : a.closed) {
      out.members.push_back(x != nullptr ? *x : *y);
      out.members.back().required = false;
    }
  });
}

bool OutlineTable::disjoint(const OutlineRef& a, const OutlineRef& b) const {
  if (a == nullptr || b == nullptr) {
    return (a != nullptr && a->empty()) || (b != nullptr && b->empty());
  }
  work_ += std::min(words_in(*a), words_in(*b));
  if (contradict(a->holds, b->holds)) return true;
  const uint32_t types = a->types & b->types;
  if ((types & kScalars) != 0 && !scalars_disjoint(*a, *b, types)) return false;
  if ((types & kObjectType) != 0 && !objects_disjoint(*a, *b)) return false;
  return (types & kArrayType) == 0 || arrays_disjoint(*a, *b);
}

bool OutlineTable::scalars_disjoint(const Outline& a, const Outline& b, uint32_t types) const {
  if (!a.listed && !b.listed) return false;
  const bool take_a = a.listed && (!b.listed || a.atoms.size() <= b.atoms.size());
  const Outline& list = take_a ? a : b;
  const Outline& other = take_a ? b : a;
  return std::none_of(list.atoms.begin(), list.atoms.end(), [&](uint32_t id) {
    const bool in_other = std::binary_search(other.atoms.begin(), other.atoms.end(), id);
    return (atom_types_[id] & types) != 0 && in_other == other.listed;
  });
}

bool OutlineTable::objects_disjoint(const Outline& a, const Outline& b) const {
  const bool swap = a.members.size() > b.members.size();
  const Outline& small = swap ? b : a;
  const Outline& large = swap ? a : b;
  for (const Outline::Member& member : small.members) {
    const Outline::Member* other = find(large.members, member.key);
    if (other == nullptr) {
      if (member.required && large.closed) return true;
      continue;
    }
    if (!member.required && !other->required) continue;
    if (member.absent || other->absent || disjoint(member.value, other->value)) return true;
  }
  if (!small.closed) return false;
  return std::any_of(large.members.begin(), large.members.end(), [&](const auto& member) {
    return member.required && find(small.members, member.key) == nullptr;
  });
}

bool OutlineTable::arrays_disjoint(const Outline& a, const Outline& b) const {
  const uint32_t min = std::max(a.min_items, b.min_items);
  if (min > std::min(a.max_items, b.max_items)) return true;
  for (std::size_t i = 0; i < min && i < a.prefix.size() && i < b.prefix.size(); ++i) {
    if (disjoint(a.prefix[i], b.prefix[i])) return true;
  }
  return false;
}

}  // namespace maskwright

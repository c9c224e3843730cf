#include "json/object_family_members.h"

#include "json/object_family_debts.h"
#include "json/object_family_names.h"

namespace maskwright {

namespace {

using Role = ObjectAlternative::Role;
using Place = ObjectAlternative::Place;

bool fits(const ObjectProgress& progress, bool required) {
  const uint32_t missing = progress.missing - (required ? 1 : 0);
  return progress.slots > missing;
}

// Where only the turn and the counts decide: the name may come, and enough others after it.

bool ordered_fits(const ObjectAlternative& alternative, const ObjectProgress& progress,
                  uint32_t position) {
  if (!fits(progress, alternative.ordered[position].required)) return false;
  if (alternative.any_order || progress.need <= 1) return true;
  const auto after = static_cast<uint32_t>(alternative.ordered.size() - position - 1);
  const uint32_t rest = add_counts(progress.unseen_extras, progress.others_left);
  return add_counts(after, rest) >= progress.need - 1;
}

bool extra_fits(const ObjectProgress& progress, bool required) {
  return fits(progress, required) &&
         add_counts(progress.unseen_extras, progress.others_left) >= progress.need;
}

bool others_in_turn(const ObjectAlternative& alternative, const ObjectProgress& progress) {
  return alternative.any_order || progress.barrier == alternative.ordered.size();
}

bool in_turn(const ObjectAlternative& alternative, const ObjectProgress& progress, Place place) {
  switch (place.role) {
    case Role::kOrdered:
      return alternative.any_order ||
             (place.index >= progress.next && place.index <= progress.barrier);
    case Role::kExtra: return others_in_turn(alternative, progress);
    case Role::kOther: return progress.others_left != 0 && others_in_turn(alternative, progress);
    case Role::kRefused: break;
  }
  return false;
}

bool counts_fit(const ObjectAlternative& alternative, const ObjectProgress& progress, Place place) {
  switch (place.role) {
    case Role::kOrdered: return ordered_fits(alternative, progress, place.index);
    case Role::kExtra: return extra_fits(progress, alternative.extras[place.index].required);
    case Role::kOther: return extra_fits(progress, false);
    case Role::kRefused: break;
  }
  return false;
}

// Calls visit(key, place) for the names that the alternative mentions and whose turn it may be, and
// for one other name of each class; until that returns true.
template <typename Visit>
bool any_name(const ObjectAlternative& alternative, const ObjectProgress& progress, Visit visit) {
  const std::size_t end =
      std::min<std::size_t>(alternative.ordered.size(), std::size_t{progress.barrier} + 1);
  for (std::size_t p = progress.next; p < end; ++p) {
    const Place place{Role::kOrdered, static_cast<uint32_t>(p)};
    if (visit(alternative.ordered[p].key, place)) return true;
  }
  for (std::size_t e = 0; e < alternative.extras.size(); ++e) {
    const Place place{Role::kExtra, static_cast<uint32_t>(e)};
    if (visit(alternative.extras[e].key, place)) return true;
  }
  for (const auto& [key, place] : alternative.named) {
    if (place.role == Role::kOther && visit(key, place)) return true;
  }
  for (uint32_t c = 0; c < alternative.others.size(); ++c) {
    if (alternative.others[c] == kNone) continue;
    if (visit(alternative.num_keys, Place{Role::kOther, c})) return true;
  }
  return false;
}

}  // namespace

ObjectProgress progress_of(const ObjectAlternative& alternative, uint32_t met,
                           const SeenMembers& seen) {
  ObjectProgress out;
  const auto size = static_cast<uint32_t>(alternative.ordered.size());
  const bool any_order = alternative.any_order;
  uint32_t accounted = 0;
  for (uint32_t position = 0; position < size; ++position) {
    if (!seen.test(alternative.ordered[position].key)) continue;
    ++accounted;
    if (!any_order) out.next = position + 1;
  }
  const uint32_t ordered = accounted;
  bool extra_seen = false;
  for (const ObjectMember& extra : alternative.extras) {
    extra_seen = extra_seen || seen.test(extra.key);
  }
  if (!any_order) {
    bool others = extra_seen;
    if (alternative.open()) {
      for (const uint32_t key : alternative.refused) accounted += seen.test(key) ? 1 : 0;
      others = seen.others != 0 || seen.total > accounted;
    }
    if (others) out.next = size;
  }
  if (!alternative.dependencies.empty()) add_debts(alternative, seen, out);
  out.barrier = size;
  uint32_t blocked = 0;
  for (uint32_t position = 0; position < size; ++position) {
    const ObjectMember& member = alternative.ordered[position];
    if (seen.test(member.key)) continue;
    if (out.blocks(member.key) && position >= out.next) ++blocked;
    if (!member.required && !out.owes(member.key)) continue;
    ++out.missing;
    if (any_order) continue;
    out.barrier = std::min(out.barrier, position);
    out.stuck = out.stuck || position < out.next;
  }
  for (const ObjectMember& extra : alternative.extras) {
    if (seen.test(extra.key)) continue;
    if (!out.blocks(extra.key)) ++out.unseen_extras;
    out.missing += extra.required || out.owes(extra.key) ? 1 : 0;
  }
  out.unseen = (any_order ? size - ordered : size - out.next) - blocked;
  out.others_left = alternative.room;
  if (alternative.limited()) {
    uint32_t used = seen.others;
    for (const auto& [key, place] : alternative.named) {
      used += place.role == Role::kOther && seen.test(key) ? 1 : 0;
    }
    out.others_left -= std::min(used, alternative.room);
  }
  out.slots = alternative.max == kUnbounded ? kUnbounded : alternative.max - seen.count;
  out.need = alternative.min > seen.count ? alternative.min - seen.count : 0;
  out.unmet = alternative.obligations & ~met;
  return out;
}

uint32_t ObjectProgress::available() const {
  return add_counts(add_counts(unseen, unseen_extras), others_left);
}

NameChoice allows(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen, uint32_t key,
                  Place place) {
  if (progress.slots == 0) return {};
  if (key < alternative.num_keys && seen.test(key)) return {};
  if (!in_turn(alternative, progress, place)) return {};
  const auto end = static_cast<uint32_t>(alternative.ordered.size());
  if (progress.blocks(key, place.role == Role::kOrdered ? place.index : end)) return {};
  if (concerns_debts(alternative, progress, key)) {
    return try_name(alternative, alive, progress, seen, key, place);
  }
  return {counts_fit(alternative, progress, place), 0, 0};
}

bool can_continue(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen) {
  const auto possible = [&](uint32_t key, Place place) {
    return alternative.owns(key) && allows(alternative, alive, progress, seen, key, place).possible;
  };
  if (!progress.can_close()) return true;
  if (alternative.num_parts > 1) return any_name(alternative, progress, possible);
  if (progress.slots == 0) return false;
  if (alternative.dependencies.empty() || progress.slots == kUnbounded) {
    return progress.available() != 0;
  }
  return progress.others_left != 0 || any_name(alternative, progress, possible);
}

std::vector<uint32_t> allowed_labels(const AliveSet& alive, const SeenMembers& seen) {
  NameCollector names(*alive.all, (std::size_t{alive.all->num_labels} + 31) / 32);
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    bool others = false;
    any_name(alternative, progress, [&](uint32_t key, Place place) {
      const bool listed = key < alternative.num_keys;
      if (listed && !alternative.owns(key)) return false;
      if (!allows(alternative, entry, progress, seen, key, place).possible) return false;
      if (alternative.owns(key)) names.add(listed ? key : alternative.label_base + place.index);
      others = others || !listed;
      return false;
    });
    // Only an alternative with one class leaves names of the list unmentioned.
    if (others) names.add_others(alternative);
  }
  std::vector<uint32_t> content{0};
  const std::vector<uint32_t> bits = names.take(seen);
  content.insert(content.end(), bits.begin(), bits.end());
  return content;
}

namespace {

// Members that must come, the first or any that may come next; empty if there are none, or if more
// than those decides.
std::vector<uint32_t> owed_members(const ObjectAlternative& alternative,
                                   const AliveAlternative& entry, const SeenMembers& seen,
                                   bool any) {
  // In declared order a member that is passed over can't make up the count.
  const bool simple = alternative.dependencies.empty() && alternative.obligations == 0 &&
                      entry.must == 0 && (alternative.any_order || alternative.min == 0);
  const ObjectProgress progress = progress_of(alternative, entry.met, seen);
  std::vector<uint32_t> owed;
  if (!simple || progress.missing == 0) return owed;
  for (const auto* members : {&alternative.ordered, &alternative.extras}) {
    for (const ObjectMember& member : *members) {
      if (!member.required || seen.took(member.key)) continue;
      const auto place = alternative.find(member.key);
      if (!allows(alternative, entry, progress, seen, member.key, place).possible) return owed;
      owed.push_back(member.key);
      if (!any || !alternative.any_order) return owed;
    }
  }
  return owed;
}

}  // namespace

std::vector<uint32_t> needed_labels(const AliveSet& alive, const SeenMembers& seen, bool any) {
  if (alive.all->joint || !seen.closing.empty()) return {};
  std::vector<uint32_t> content(1 + (std::size_t{alive.all->num_labels} + 31) / 32, 0);
  for (const AliveAlternative& entry : alive.alternatives) {
    const auto owed = owed_members(alive.get(entry), entry, seen, any);
    if (owed.empty()) return {};
    for (const uint32_t key : owed) content[1 + key / 32] |= 1U << key % 32;
  }
  while (content.back() == 0) content.pop_back();
  return content;
}

void append_member_key(const AliveSet& alive, const SeenMembers& seen,
                       std::span<const uint32_t> content, uint32_t max_advance,
                       const RegisterPool& regs, KeyWords& key) {
  if (content.size() > 1) {
    key.push_back((seen.others != 0 ? 1U : 0U) | (seen.names != 0 ? 2U : 0U));
    if (!alive.all->endless) key.push_back(bound_of(seen.names, max_advance, regs));
  }
  if (content.size() > SeenMembers::kBitWords) {
    key.insert(key.end(), content.begin() + SeenMembers::kBitWords, content.end());
  }
  if (!alive.counted && alive.others_cap == 0) return;
  key.push_back(kNone);  // ends the words of the register, which have no fixed number
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    // In K bytes at most K members begin. Passing over declared members may take no bytes at all,
    // so where that is limited by the least count, the count itself decides.
    const bool debts = !alternative.dependencies.empty() || alternative.obligations != 0;
    const auto clip = [&](uint32_t left, bool exact) {
      return exact || left == kUnbounded ? left : std::min(left, max_advance);
    };
    const bool passing = !alternative.any_order && progress.need != 0;
    if (alternative.limited()) key.push_back(clip(progress.others_left, passing));
    if (!alternative.counted()) continue;
    key.push_back(progress.slots == kUnbounded || debts
                      ? progress.slots
                      : std::min(progress.slots - progress.missing, max_advance));
    key.push_back(clip(progress.need, debts || (passing && alternative.room != kUnbounded)));
  }
}

}  // namespace maskwright

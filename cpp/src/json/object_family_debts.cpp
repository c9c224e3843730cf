#include "json/object_family_debts.h"

#include <algorithm>

namespace maskwright {

namespace {

using Bits = std::vector<uint32_t>;
using Dependencies = std::span<const std::pair<uint32_t, uint32_t>>;

void set(Bits& words, uint32_t key) { words[key / 32] |= 1U << (key % 32); }

// The pairs of a sorted list that begin with the key.
Dependencies pairs_of(Dependencies all, uint32_t key) {
  const auto from = std::ranges::lower_bound(all, std::pair{key, 0U});
  auto to = from;
  while (to != all.end() && to->first == key) ++to;
  return {from, to};
}

// What the name needs.
Dependencies needs_of(const ObjectAlternative& alternative, uint32_t key) {
  return pairs_of(alternative.dependencies, key);
}

// Adds to `owed` all that is not there and that the name needs, also by way of others; returns how
// many names that are.
uint32_t add_needs(const ObjectAlternative& alternative, const SeenMembers& seen, uint32_t key,
                   Bits& owed) {
  uint32_t added = 0;
  std::vector<uint32_t> stack{key};
  while (!stack.empty()) {
    const uint32_t next = stack.back();
    stack.pop_back();
    for (const auto& [trigger, needed] : needs_of(alternative, next)) {
      if (seen.took(needed) || SeenMembers::has(owed, needed)) continue;
      set(owed, needed);
      ++added;
      stack.push_back(needed);
    }
  }
  return added;
}

// The name's place is past.
bool is_past(const ObjectAlternative& alternative, const ObjectProgress& progress, uint32_t key) {
  const auto place = alternative.find(key);
  return place.role == ObjectAlternative::Role::kOrdered && !alternative.any_order &&
         place.index < progress.next;
}

bool is_required(const ObjectAlternative& alternative, uint32_t key) {
  const auto place = alternative.find(key);
  if (place.role == ObjectAlternative::Role::kOrdered) {
    return alternative.ordered[place.index].required;
  }
  return place.role == ObjectAlternative::Role::kExtra && alternative.extras[place.index].required;
}

// A listed name can still come and be a witness with the slots that there are.
bool can_witness(const ObjectAlternative& alternative, const ObjectProgress& progress,
                 const SeenMembers& seen, uint32_t key) {
  if (seen.test(key) || progress.blocks(key) || is_past(alternative, progress, key)) return false;
  if (progress.slots == kUnbounded) return true;
  Bits owed = progress.owed;
  if (owed.empty()) owed.assign(seen.bits.size(), 0);
  Bits before = owed;
  add_needs(alternative, seen, key, owed);
  set(owed, key);
  uint32_t cost = 0;
  for (const ObjectAlternative::Named& named : alternative.named) {
    const uint32_t name = named.key;
    const bool is_new = SeenMembers::has(owed, name) && !SeenMembers::has(before, name);
    if (is_new && !is_required(alternative, name)) ++cost;
  }
  return progress.missing + cost <= progress.slots;
}

// Whether a name of a class that is concerned can still come.
bool class_can_witness(const ObjectAlternative::Obligation& obligation,
                       const ObjectProgress& progress) {
  return obligation.easy && progress.others_left != 0 && progress.missing < progress.slots;
}

bool can_meet(const ObjectAlternative& alternative, const ObjectAlternative::Obligation& obligation,
              const ObjectProgress& progress, const SeenMembers& seen) {
  if (class_can_witness(obligation, progress)) return true;
  return std::ranges::any_of(obligation.members, [&](const auto& member) {
    return can_witness(alternative, progress, seen, member.first);
  });
}

// The obligations, of those in `among`, that concern the name.
uint32_t concerned(const ObjectAlternative& alternative, uint32_t among, uint32_t key,
                   ObjectAlternative::Place place, bool by_name) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < alternative.obligations.size(); ++i) {
    const auto& obligation = alternative.obligations[i];
    if ((among >> i & 1) == 0 || obligation.by_name != by_name) continue;
    if (alternative.witness(obligation, key, place) != kNone) found |= 1U << i;
  }
  return found;
}

// From the first place on, each member tells those that need it; the first to tell counts.
void find_first_needed(const ObjectAlternative& alternative, const SeenMembers& seen,
                       ObjectProgress& progress) {
  progress.first_needed.assign(alternative.num_keys, kNone);
  std::vector<uint32_t> stack;
  for (uint32_t place = 0; place < alternative.ordered.size(); ++place) {
    const uint32_t member = alternative.ordered[place].key;
    if (seen.took(member)) continue;
    stack.push_back(member);
    while (!stack.empty()) {
      const uint32_t needed = stack.back();
      stack.pop_back();
      for (const auto& [unused, trigger] : pairs_of(alternative.needed_by, needed)) {
        if (seen.took(trigger) || progress.first_needed[trigger] != kNone) continue;
        progress.first_needed[trigger] = place;
        stack.push_back(trigger);
      }
    }
  }
}

// Whatever comes next, another name can still meet each of the obligations.
bool is_relaxed(const ObjectAlternative& alternative, const ObjectProgress& progress,
                uint32_t unmet) {
  if (alternative.max != kUnbounded || alternative.room != kUnbounded) return false;
  if (!alternative.dependencies.empty() || progress.need > 1) return false;
  for (uint32_t i = 0; i < alternative.obligations.size(); ++i) {
    if ((unmet >> i & 1) != 0 && !alternative.obligations[i].easy) return false;
  }
  return true;
}

}  // namespace

void add_debts(const ObjectAlternative& alternative, const SeenMembers& seen,
               ObjectProgress& progress) {
  progress.owed.assign(seen.bits.size(), 0);
  for (const auto& [trigger, needed] : alternative.dependencies) {
    if (seen.took(trigger)) add_needs(alternative, seen, trigger, progress.owed);
  }
  if (!alternative.any_order) find_first_needed(alternative, seen, progress);
}

bool completable(const ObjectAlternative& alternative, const ObjectProgress& progress,
                 const SeenMembers& seen) {
  if (progress.stuck || progress.missing > progress.slots) return false;
  if (progress.need > std::min(progress.slots, progress.available())) return false;
  for (uint32_t i = 0; i < alternative.obligations.size(); ++i) {
    const bool unmet = (progress.unmet >> i & 1) != 0;
    if (unmet && !can_meet(alternative, alternative.obligations[i], progress, seen)) return false;
  }
  return true;
}

bool concerns_debts(const ObjectAlternative& alternative, const ObjectProgress& progress,
                    uint32_t key) {
  if (progress.unmet != 0) return true;
  if (alternative.dependencies.empty()) return false;
  const auto listed = static_cast<uint32_t>(alternative.named.size());
  const bool tight = progress.slots < add_counts(progress.missing, listed);
  if (!tight && progress.need <= 1) return false;
  return key == alternative.num_keys || progress.need > 1 || progress.owes(key) ||
         !needs_of(alternative, key).empty();
}

NameChoice try_name(const ObjectAlternative& alternative, const AliveAlternative& alive,
                    const ObjectProgress& progress, const SeenMembers& seen, uint32_t key,
                    ObjectAlternative::Place place) {
  const auto all = static_cast<uint32_t>((uint64_t{1} << alternative.obligations.size()) - 1);
  NameChoice choice;
  choice.met = concerned(alternative, all & ~alive.met, key, place, true);
  if (is_relaxed(alternative, progress, progress.unmet & ~choice.met)) {
    choice.possible = true;
    return choice;
  }
  SeenMembers with = seen;
  with.add(key, alternative.num_keys);
  const auto possible = [&](uint32_t met) {
    return completable(alternative, progress_of(alternative, met, with), with);
  };
  const uint32_t met = alive.met | choice.met;
  choice.possible = possible(met);
  if (choice.possible) return choice;
  const uint32_t by_value = concerned(alternative, all & ~met, key, place, false);
  for (uint32_t bit = 1; bit != 0 && bit <= by_value; bit <<= 1) {
    if ((by_value & bit) == 0 || !possible(met | bit)) continue;
    choice.possible = true;
    choice.must = bit;
    break;
  }
  return choice;
}

std::vector<uint32_t> taken_that_matter(const AliveSet& alive, const SeenMembers& seen,
                                        std::span<const uint32_t> bits) {
  std::vector<uint32_t> out(seen.bits.size(), 0);
  const auto gone = [&](uint32_t key) { return (bits[key / 32] >> (key % 32) & 1) != 0; };
  for (const AliveAlternative& entry : alive.alternatives) {
    for (const auto& [trigger, needed] : alive.get(entry).dependencies) {
      if (!gone(trigger) && seen.took(needed)) set(out, needed);
      if (seen.took(trigger) && !gone(needed)) set(out, trigger);
    }
  }
  return out;
}

}  // namespace maskwright

#include "json/object_family_debts.h"

#include <algorithm>

#include "json/member_cover.h"

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

// How many members come with the listed name, itself included, beyond those that must come anyway.
uint32_t cost_of(const ObjectAlternative& alternative, const ObjectProgress& progress,
                 const SeenMembers& seen, uint32_t key) {
  if (alternative.dependencies.empty()) return is_required(alternative, key) ? 0 : 1;
  const Bits& before = progress.owed;
  Bits owed = before;
  add_needs(alternative, seen, key, owed);
  set(owed, key);
  uint32_t cost = 0;
  for (const ObjectAlternative::Named& named : alternative.named) {
    const uint32_t name = named.key;
    const bool is_new = SeenMembers::has(owed, name) && !SeenMembers::has(before, name);
    if (is_new && !is_required(alternative, name)) ++cost;
  }
  return cost;
}

std::vector<uint32_t> offers_of(const ObjectAlternative& alternative, uint32_t unmet, uint32_t key,
                                ObjectAlternative::Place place) {
  return offers(alternative.witnesses, unmet, alternative.num_by_name(),
                [&](const ObjectAlternative::Witness& witness) {
                  return ObjectAlternative::target(witness, key, place);
                });
}

// The names that can still come meet all obligations, with the slots that there are.
bool can_meet_all(const ObjectAlternative& alternative, const ObjectProgress& progress,
                  const SeenMembers& seen) {
  const bool limited = progress.slots != kUnbounded;
  MemberCover cover(progress.unmet, alternative.by_name,
                    limited ? progress.slots - progress.missing : kUnbounded);
  for (uint32_t c = 0; c < alternative.others.size() && !cover.done(); ++c) {
    if (alternative.others[c] == kNone || progress.others_left == 0) continue;
    const ObjectAlternative::Place place{ObjectAlternative::Role::kOther, c};
    cover.add(offers_of(alternative, progress.unmet, alternative.num_keys, place), 1, true);
  }
  for (std::size_t i = 0; i < alternative.named.size() && !cover.done(); ++i) {
    const auto& [key, place] = alternative.named[i];
    const bool own = place.role == ObjectAlternative::Role::kOrdered ||
                     place.role == ObjectAlternative::Role::kExtra;
    if (!own || seen.test(key) || progress.blocks(key)) continue;
    if (is_past(alternative, progress, key)) continue;
    cover.add(offers_of(alternative, progress.unmet, key, place),
              limited ? cost_of(alternative, progress, seen, key) : 0, false);
  }
  return cover.done();
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
  return (unmet & ~alternative.easy) == 0;
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
  return progress.unmet == 0 || can_meet_all(alternative, progress, seen);
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
  const uint32_t unmet = progress.unmet;
  NameChoice choice;
  choice.met = offers_of(alternative, unmet, key, place)[0];
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
  const uint32_t first = alternative.num_by_name();
  for (uint32_t i = first; i < alternative.witnesses.size(); ++i) {
    const auto& witness = alternative.witnesses[i];
    if ((witness.meets & ~unmet) != 0) continue;
    if (ObjectAlternative::target(witness, key, place) == kNone) continue;
    if (possible(met | witness.meets)) choice.must |= 1U << (i - first);
  }
  choice.possible = choice.must != 0;
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

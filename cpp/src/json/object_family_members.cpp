#include "json/object_family_members.h"

#include <array>
#include <bit>

#include "json/name_set.h"
#include "json/object_family_debts.h"

namespace maskwright {

namespace {

using Role = ObjectAlternative::Role;
using Place = ObjectAlternative::Place;

constexpr std::size_t kNamesWord = 2;  // of the register's content
constexpr std::size_t kBitWords = 3;

uint32_t add_counts(uint32_t a, uint32_t b) { return a > kUnbounded - b ? kUnbounded : a + b; }

// Collects names over alternatives: those that some alternative names and may use, and those that
// some alternative may use as an other name.
class NameSet {
 public:
  explicit NameSet(const ObjectUnion& all, std::size_t num_words)
      : all_(all), bits_(num_words, 0) {}

  void add(uint32_t label) { bits_[label / 32] |= 1U << (label % 32); }

  // All names that the alternative does not mention.
  void add_others(const ObjectAlternative& alternative) {
    ++open_;
    if (named_.empty()) named_.assign(all_.num_keys, 0);
    for (const auto& named : alternative.named) ++named_[named.key];
  }

  // Finishes: other names that were not seen.
  std::vector<uint32_t> take(const SeenMembers& seen) {
    for (uint32_t key = 0; open_ != 0 && key < all_.num_keys; ++key) {
      if (named_[key] < open_ && !seen.test(key)) add(key);
    }
    return std::move(bits_);
  }

 private:
  const ObjectUnion& all_;
  std::vector<uint32_t> bits_;
  std::vector<uint32_t> named_;  // by how many of the open alternatives
  uint32_t open_ = 0;
};

// The names that can be used now or later.
std::vector<uint32_t> usable_names(const AliveSet& alive, const SeenMembers& seen) {
  NameSet names(*alive.all, alive.all->num_words());
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    for (std::size_t p = progress.next; p < alternative.ordered.size(); ++p) {
      if (!seen.test(alternative.ordered[p].key)) names.add(alternative.ordered[p].key);
    }
    for (const ObjectMember& extra : alternative.extras) {
      if (!seen.test(extra.key)) names.add(extra.key);
    }
    for (const auto& [key, place] : alternative.named) {
      if (place.role == Role::kOther && !seen.test(key)) names.add(key);
    }
    if (alternative.open()) names.add_others(alternative);
  }
  return names.take(seen);
}

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

bool counts_fit(const ObjectAlternative& alternative, const ObjectProgress& progress,
                Place place) {
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
  const std::size_t end = std::min<std::size_t>(alternative.ordered.size(),
                                                std::size_t{progress.barrier} + 1);
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

void SeenMembers::add(uint32_t key, uint32_t num_keys) {
  count = add_counts(count, 1);
  if (key == num_keys) {
    others = add_counts(others, 1);
    return;
  }
  if (!test(key)) ++total;
  bits[key / 32] |= 1U << (key % 32);
  if (!taken.empty()) taken[key / 32] |= 1U << (key % 32);
}

SeenMembers decode_seen(std::span<const uint32_t> content, const AliveSet& alive) {
  SeenMembers seen;
  const std::size_t words = alive.all->num_words();
  seen.bits.assign(words, 0);
  if (alive.keeps_taken) seen.taken.assign(words, 0);
  if (!content.empty()) seen.count = content[0];
  if (content.size() > 1) seen.others = content[1];
  if (content.size() > kNamesWord) seen.names = content[kNamesWord];
  for (std::size_t i = kBitWords; i < content.size(); ++i) {
    const std::size_t word = i - kBitWords;
    if (word >= words) {
      seen.taken[word - words] = content[i];
      continue;
    }
    seen.bits[word] = content[i];
    seen.total += static_cast<uint32_t>(std::popcount(content[i]));
  }
  return seen;
}

namespace {

// The register's word about other names.
uint32_t others_word(const SeenMembers& seen, const AliveSet& alive,
                     std::span<const uint32_t> bits) {
  if (alive.others_cap != 0) return std::min(seen.others, alive.others_cap);
  const auto past = [&](const ObjectMember& member) {
    return (bits[member.key / 32] >> (member.key % 32) & 1) != 0;
  };
  // It tells something if an alternative for which it closes the declared members has one that
  // another alternative keeps usable.
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    if (seen.others == 0 || alternative.any_order || !alternative.open()) continue;
    if (!std::all_of(alternative.ordered.begin(), alternative.ordered.end(), past)) return 1;
  }
  return 0;
}

}  // namespace

Reg encode_seen(const SeenMembers& seen, const AliveSet& alive, RegisterPool& regs) {
  const ObjectUnion& all = *alive.all;
  std::vector<uint32_t> bits = usable_names(alive, seen);
  for (uint32_t& word : bits) word = ~word;
  if (all.num_keys % 32 != 0) bits.back() &= (1U << (all.num_keys % 32)) - 1;
  std::vector<uint32_t> content{alive.counted ? std::min(seen.count, alive.cap) : 0,
                                others_word(seen, alive, bits), 0};
  content.insert(content.end(), bits.begin(), bits.end());
  if (alive.keeps_taken) {
    const std::vector<uint32_t> taken = taken_that_matter(alive, seen, bits);
    content.insert(content.end(), taken.begin(), taken.end());
  }
  const bool more = std::ranges::any_of(alive.alternatives, [&](const AliveAlternative& entry) {
    const ObjectAlternative& alternative = alive.get(entry);
    return alternative.open() && (alternative.max == kUnbounded || seen.count < alternative.max);
  });
  if (more) content[kNamesWord] = seen.names;
  while (!content.empty() && content.back() == 0) content.pop_back();
  return regs.intern(content);
}

Reg with_names(std::span<const uint32_t> content, Reg names, RegisterPool& regs) {
  std::vector<uint32_t> words(content.begin(), content.end());
  if (words.size() <= kNamesWord) words.resize(kNamesWord + 1, 0);
  words[kNamesWord] = names;
  return regs.intern(words);
}

bool is_unknown(Reg names, const RegisterPool& regs) {
  const auto content = regs.get(names);
  return !content.empty() && content[0] == kUnbounded;
}

uint32_t bound_of(Reg names, uint32_t max_advance, const RegisterPool& regs) {
  if (names == 0) return 0;
  if (!is_unknown(names, regs)) return std::bit_ceil(count_names(names, regs)) + max_advance;
  const auto content = regs.get(names);
  return content.size() == 1 ? max_advance : content[1];
}

Reg forget_names(Reg names, bool endless, uint32_t max_advance, const RegisterPool& from,
                 RegisterPool& to) {
  if (endless) return RegisterPool::kUnknown;
  const uint32_t bound = std::max(max_advance, bound_of(names, max_advance, from));
  return to.intern(std::array<uint32_t, 2>{kUnbounded, bound});
}

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
  const auto all = static_cast<uint32_t>((uint64_t{1} << alternative.obligations.size()) - 1);
  out.unmet = all & ~met;
  return out;
}

uint32_t ObjectProgress::available() const {
  return add_counts(add_counts(unseen, unseen_extras), others_left);
}

NameChoice allows(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen, uint32_t key,
                  Place place) {
  if (progress.slots == 0) return {};
  if (key < alternative.num_keys && (seen.test(key) || progress.blocks(key))) return {};
  if (!in_turn(alternative, progress, place)) return {};
  if (concerns_debts(alternative, progress, key)) {
    return try_name(alternative, alive, seen, key, place);
  }
  return {counts_fit(alternative, progress, place), 0, 0};
}

bool can_continue(const ObjectAlternative& alternative, const AliveAlternative& alive,
                  const ObjectProgress& progress, const SeenMembers& seen) {
  if (!progress.can_close()) return true;
  if (progress.slots == 0) return false;
  if (alternative.dependencies.empty() || progress.slots == kUnbounded) {
    return progress.available() != 0;
  }
  return progress.others_left != 0 ||
         any_name(alternative, progress, [&](uint32_t key, Place place) {
           return allows(alternative, alive, progress, seen, key, place).possible;
         });
}

std::vector<uint32_t> allowed_labels(const AliveSet& alive, const SeenMembers& seen) {
  NameSet names(*alive.all, (std::size_t{alive.all->num_labels} + 31) / 32);
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    bool others = false;
    any_name(alternative, progress, [&](uint32_t key, Place place) {
      if (!allows(alternative, entry, progress, seen, key, place).possible) return false;
      const bool listed = key < alternative.num_keys;
      names.add(listed ? key : alternative.label_base + place.index);
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

void append_member_key(const AliveSet& alive, const SeenMembers& seen,
                       std::span<const uint32_t> content, uint32_t max_advance,
                       const RegisterPool& regs, KeyWords& key) {
  if (content.size() > 1) {
    key.push_back((seen.others != 0 ? 1U : 0U) | (seen.names != 0 ? 2U : 0U));
    if (!alive.all->endless) key.push_back(bound_of(seen.names, max_advance, regs));
  }
  if (content.size() > kBitWords) {
    key.insert(key.end(), content.begin() + kBitWords, content.end());
  }
  if (!alive.counted && alive.others_cap == 0) return;
  key.push_back(kNone);  // ends the words of the register, which have no fixed number
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    // In K bytes at most K members begin. Passing over declared members may take no bytes at all,
    // so where that is limited by the least count, the count itself decides.
    const bool debts = !alternative.dependencies.empty() || !alternative.obligations.empty();
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

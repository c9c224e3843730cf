#include "json/object_family_members.h"

#include <bit>

namespace maskwright {

namespace {

using Role = ObjectAlternative::Role;

constexpr std::size_t kNamesWord = 2;  // of the register's content
constexpr std::size_t kBitWords = 3;

// Collects names over alternatives: those that some alternative names and may use, and those that
// some alternative may use as an other name.
class NameSet {
 public:
  explicit NameSet(const ObjectUnion& all) : all_(all), bits_(all.num_words(), 0) {}

  void add(uint32_t key) { bits_[key / 32] |= 1U << (key % 32); }

  // All names that the alternative does not name itself.
  void add_others(const ObjectAlternative& alternative) {
    ++open_;
    if (named_.empty()) named_.assign(all_.num_keys, 0);
    for (const auto& named : alternative.named) ++named_[named.key];
  }

  bool open() const { return open_ != 0; }

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
  NameSet names(*alive.all);
  for (const uint32_t i : alive.alternatives) {
    const ObjectAlternative& alternative = alive.all->alternatives[i];
    const ObjectProgress progress = progress_of(alternative, seen);
    for (std::size_t p = progress.next; p < alternative.ordered.size(); ++p) {
      if (!seen.test(alternative.ordered[p].key)) names.add(alternative.ordered[p].key);
    }
    for (const ObjectMember& extra : alternative.extras) {
      if (!seen.test(extra.key)) names.add(extra.key);
    }
    if (alternative.open()) names.add_others(alternative);
  }
  return names.take(seen);
}

bool fits(const ObjectProgress& progress, bool required) {
  const uint32_t missing = progress.missing - (required ? 1 : 0);
  return progress.slots > missing;
}

bool ordered_allowed(const ObjectAlternative& alternative, const ObjectProgress& progress,
                     const SeenMembers& seen, uint32_t position) {
  const ObjectMember& member = alternative.ordered[position];
  if (seen.test(member.key) || !fits(progress, member.required)) return false;
  if (alternative.any_order) return true;
  if (position < progress.next || position > progress.barrier) return false;
  if (alternative.open() || progress.need <= 1) return true;
  const std::size_t after = alternative.ordered.size() - position - 1 + progress.unseen_extras;
  return after >= progress.need - 1;
}

bool others_in_turn(const ObjectAlternative& alternative, const ObjectProgress& progress) {
  return alternative.any_order || progress.barrier == alternative.ordered.size();
}

bool extra_allowed(const ObjectAlternative& alternative, const ObjectProgress& progress,
                   const SeenMembers& seen, const ObjectMember& extra) {
  if (seen.test(extra.key) || !others_in_turn(alternative, progress)) return false;
  if (!fits(progress, extra.required)) return false;
  return alternative.open() || progress.unseen_extras >= progress.need;
}

bool other_allowed(const ObjectAlternative& alternative, const ObjectProgress& progress) {
  return alternative.open() && others_in_turn(alternative, progress) && fits(progress, false);
}

}  // namespace

SeenMembers decode_seen(std::span<const uint32_t> content, const ObjectUnion& all) {
  SeenMembers seen;
  seen.bits.assign(all.num_words(), 0);
  if (!content.empty()) seen.count = content[0];
  if (content.size() > 1) seen.other = (content[1] & 1) != 0;
  if (content.size() > kNamesWord) seen.names = content[kNamesWord];
  for (std::size_t i = kBitWords; i < content.size(); ++i) {
    seen.bits[i - kBitWords] = content[i];
    seen.total += static_cast<uint32_t>(std::popcount(content[i]));
  }
  return seen;
}

Reg encode_seen(SeenMembers seen, const AliveSet& alive, RegisterPool& regs) {
  const ObjectUnion& all = *alive.all;
  const std::vector<uint32_t> usable = usable_names(alive, seen);
  std::vector<uint32_t> content{alive.counted ? std::min(seen.count, alive.cap) : 0, 0, 0};
  for (std::size_t word = 0; word < usable.size(); ++word) {
    const uint32_t tail = all.num_keys % 32;
    const bool last = word + 1 == usable.size();
    content.push_back(~usable[word] & (last && tail != 0 ? (1U << tail) - 1 : ~0U));
  }
  const auto past = [&](const ObjectMember& member) {
    return (content[kBitWords + member.key / 32] >> (member.key % 32) & 1) != 0;
  };
  // The flag tells something if an alternative for which it closes the declared members has one
  // that another alternative keeps usable.
  for (const uint32_t i : alive.alternatives) {
    const ObjectAlternative& alternative = all.alternatives[i];
    if (!seen.other || alternative.any_order || !alternative.open()) continue;
    if (!std::all_of(alternative.ordered.begin(), alternative.ordered.end(), past)) {
      content[1] = 1;
      break;
    }
  }
  const bool more =
      std::any_of(alive.alternatives.begin(), alive.alternatives.end(), [&](uint32_t i) {
        const ObjectAlternative& alternative = all.alternatives[i];
        return alternative.open() &&
               (alternative.max == kUnbounded || seen.count < alternative.max);
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

ObjectProgress progress_of(const ObjectAlternative& alternative, const SeenMembers& seen) {
  ObjectProgress out;
  const auto size = static_cast<uint32_t>(alternative.ordered.size());
  uint32_t accounted = 0;
  out.barrier = size;
  for (uint32_t position = 0; position < size; ++position) {
    const ObjectMember& member = alternative.ordered[position];
    if (seen.test(member.key)) {
      ++accounted;
      if (!alternative.any_order) out.next = position + 1;
    } else if (member.required) {
      ++out.missing;
      if (!alternative.any_order) out.barrier = std::min(out.barrier, position);
    }
  }
  bool extra_seen = false;
  for (const ObjectMember& extra : alternative.extras) {
    const bool known = seen.test(extra.key);
    extra_seen = extra_seen || known;
    if (known) continue;
    ++out.unseen_extras;
    out.missing += extra.required ? 1 : 0;
  }
  if (!alternative.any_order) {
    bool others = extra_seen;
    if (alternative.open()) {
      for (const uint32_t key : alternative.refused) accounted += seen.test(key) ? 1 : 0;
      others = seen.other || seen.total > accounted;
    }
    if (others) out.next = size;
  }
  out.unseen = alternative.any_order ? size - accounted : size - out.next;
  out.slots = alternative.max == kUnbounded ? kUnbounded : alternative.max - seen.count;
  out.need = alternative.min > seen.count ? alternative.min - seen.count : 0;
  return out;
}

bool can_continue(const ObjectAlternative& alternative, const ObjectProgress& progress) {
  if (!progress.can_close()) return true;
  if (progress.slots == 0) return false;
  return alternative.open() || progress.unseen != 0 || progress.unseen_extras != 0;
}

bool allows(const ObjectAlternative& alternative, const ObjectProgress& progress,
            const SeenMembers& seen, uint32_t key, uint32_t num_keys) {
  if (key == num_keys) return other_allowed(alternative, progress);
  const auto place = alternative.find(key);
  switch (place.role) {
    case Role::kOrdered: return ordered_allowed(alternative, progress, seen, place.index);
    case Role::kExtra:
      return extra_allowed(alternative, progress, seen, alternative.extras[place.index]);
    case Role::kRefused: return false;
    case Role::kOther: break;
  }
  return !seen.test(key) && other_allowed(alternative, progress);
}

std::vector<uint32_t> allowed_names(const AliveSet& alive, const SeenMembers& seen) {
  NameSet names(*alive.all);
  for (const uint32_t i : alive.alternatives) {
    const ObjectAlternative& alternative = alive.all->alternatives[i];
    const ObjectProgress progress = progress_of(alternative, seen);
    const std::size_t end =
        std::min<std::size_t>(alternative.ordered.size(), std::size_t{progress.barrier} + 1);
    for (std::size_t p = progress.next; p < end; ++p) {
      if (ordered_allowed(alternative, progress, seen, static_cast<uint32_t>(p))) {
        names.add(alternative.ordered[p].key);
      }
    }
    for (const ObjectMember& extra : alternative.extras) {
      if (extra_allowed(alternative, progress, seen, extra)) names.add(extra.key);
    }
    if (other_allowed(alternative, progress)) names.add_others(alternative);
  }
  std::vector<uint32_t> content{names.open() ? 1U : 0U};
  const std::vector<uint32_t> bits = names.take(seen);
  content.insert(content.end(), bits.begin(), bits.end());
  return content;
}

void append_member_key(const AliveSet& alive, const SeenMembers& seen,
                       std::span<const uint32_t> content, uint32_t max_advance, KeyWords& key) {
  if (content.size() > 1) key.push_back(content[1] | (seen.names != 0 ? 2 : 0));
  if (content.size() > kBitWords) {
    key.insert(key.end(), content.begin() + kBitWords, content.end());
  }
  if (!alive.counted) return;
  key.push_back(kNone);  // ends the words of the register, which have no fixed number
  for (const uint32_t i : alive.alternatives) {
    const ObjectAlternative& alternative = alive.all->alternatives[i];
    if (!alternative.counted()) continue;
    const ObjectProgress progress = progress_of(alternative, seen);
    // In K bytes at most K members begin. Passing over declared members may take no bytes at all,
    // so where that is limited by the least count, the count itself decides.
    const bool exact = !alternative.any_order && !alternative.open() && progress.need != 0;
    key.push_back(progress.slots == kUnbounded
                      ? max_advance
                      : std::min(progress.slots - progress.missing, max_advance));
    key.push_back(exact ? progress.need : std::min(progress.need, max_advance));
  }
}

}  // namespace maskwright

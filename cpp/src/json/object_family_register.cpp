// The object register: seen members as words and back.
#include <array>
#include <bit>

#include "json/name_set.h"
#include "json/object_family_debts.h"
#include "json/object_family_members.h"
#include "json/object_family_names.h"

namespace maskwright {

namespace {

constexpr std::size_t kNamesWord = 2;  // of the register's content
constexpr std::size_t kBitWords = SeenMembers::kBitWords;
constexpr uint32_t kClosing = kUnbounded;  // in the place of the count, which is 0 in free sets

// The names that can be used now or later.
std::vector<uint32_t> usable_names(const AliveSet& alive, const SeenMembers& seen) {
  NameCollector names(*alive.all, alive.all->num_words());
  for (const AliveAlternative& entry : alive.alternatives) {
    const ObjectAlternative& alternative = alive.get(entry);
    const ObjectProgress progress = progress_of(alternative, entry.met, seen);
    const auto add = [&](uint32_t key) {
      if (!seen.test(key) && alternative.owns(key)) names.add(key);
    };
    for (std::size_t p = progress.next; p < alternative.ordered.size(); ++p) {
      add(alternative.ordered[p].key);
    }
    for (const ObjectMember& extra : alternative.extras) add(extra.key);
    for (const auto& [key, place] : alternative.named) {
      if (place.role == ObjectAlternative::Role::kOther) add(key);
    }
    if (alternative.open()) names.add_others(alternative);
  }
  return names.take(seen);
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
  if (alive.free && !content.empty() && content[0] == kClosing) {
    seen.count = 0;  // free sets don't count
    seen.closing.assign(content.begin() + kBitWords, content.end());
    return seen;
  }
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
  if (!seen.closing.empty()) return encode_closing(seen.closing, seen.names, regs);
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

std::vector<uint32_t> closing_bits(const AliveSet& alive, std::span<const uint32_t> content,
                                   uint32_t key) {
  std::vector<uint32_t> out((alive.all->alternatives.size() + 31) / 32, 0);
  const auto seen = content.subspan(std::min(content.size(), kBitWords));
  for (const AliveAlternative& entry : alive.alternatives) {
    const std::vector<uint32_t>& required = alive.get(entry).required;
    bool all = true;
    for (std::size_t i = 0; i < required.size() && all; ++i) {
      uint32_t there = i < seen.size() ? seen[i] : 0;
      if (key / 32 == i) there |= 1U << key % 32;
      all = (required[i] & ~there) == 0;
    }
    if (all) out[entry.index / 32] |= 1U << entry.index % 32;
  }
  return out;
}

Reg encode_closing(std::span<const uint32_t> closing, Reg names, RegisterPool& regs) {
  std::vector<uint32_t> content{kClosing, 0, names};
  content.insert(content.end(), closing.begin(), closing.end());
  return regs.intern(content);
}

namespace {

// The members that no token reaches, by word: required ones that are missing, and all that may
// still come.
struct FarMembers {
  const ObjectAlternative& alternative;
  const std::vector<uint32_t>& reached;
  std::span<const uint32_t> bits;
  uint32_t key;  // of the member under way: it counts as there

  FarMembers(const AliveSet& alive, std::span<const uint32_t> content, uint32_t under_way)
      : alternative(alive.get(alive.alternatives[0])),
        reached(alive.all->reached),
        bits(content.subspan(std::min(content.size(), kBitWords))),
        key(under_way) {}

  std::size_t words() const { return reached.size(); }
  uint32_t seen(std::size_t i) const { return i < bits.size() ? bits[i] : 0; }
  uint32_t own(std::size_t i) const { return key / 32 == i ? 1U << key % 32 : 0; }
  uint32_t there(std::size_t i) const { return seen(i) | reached[i] | own(i); }
  bool any_left(const std::vector<uint32_t>& of) const {
    for (std::size_t i = 0; i < words(); ++i) {
      if ((of[i] & ~there(i)) != 0) return true;
    }
    return false;
  }
  bool missing() const { return any_left(alternative.required); }
  bool more() const { return !alternative.open() && any_left(alternative.usable); }
};

}  // namespace

void append_far_members(const AliveSet& alive, std::span<const uint32_t> content, uint32_t key,
                        KeyWords& out) {
  const FarMembers far(alive, content, key);
  const bool missing = far.missing();
  const bool names = content.size() > kNamesWord && content[kNamesWord] != 0;
  out.push_back((missing ? 1U : 0U) | (missing || far.more() ? 2U : 0U) | (names ? 4U : 0U));
  for (std::size_t i = 0; i < far.words(); ++i) {
    if (far.reached[i] != 0) out.push_back((far.seen(i) | far.own(i)) & far.reached[i]);
  }
}

std::vector<uint32_t> far_members(const AliveSet& alive, std::span<const uint32_t> content,
                                  uint32_t key) {
  const FarMembers far(alive, content, key);
  std::vector<uint32_t> out(content.begin(), content.end());
  out.resize(kBitWords + far.words(), 0);
  const bool missing = far.missing();
  bool stays = missing || far.more();  // one member has yet to come, for all that do
  for (std::size_t i = 0; i < far.words(); ++i) {
    const uint32_t exact = far.reached[i] | far.own(i);
    const uint32_t required = far.alternative.required[i];
    const uint32_t from = missing ? required : far.alternative.usable[i] & ~required;
    uint32_t bits = (far.seen(i) & exact) | ~exact;
    if (const uint32_t left = from & ~exact; stays && left != 0) {
      bits &= ~(1U << std::countr_zero(left));
      stays = false;
    }
    out[kBitWords + i] = bits;
  }
  if (const uint32_t rest = alive.all->num_keys % 32; rest != 0) out.back() &= (1U << rest) - 1;
  while (!out.empty() && out.back() == 0) out.pop_back();
  return out;
}

Reg with_names(std::span<const uint32_t> content, Reg names, RegisterPool& regs) {
  std::vector<uint32_t> words(content.begin(), content.end());
  if (words.size() <= kNamesWord) words.resize(kNamesWord + 1, 0);
  words[kNamesWord] = names;
  while (!words.empty() && words.back() == 0) words.pop_back();
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

}  // namespace maskwright

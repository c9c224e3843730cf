// Walks that stand for many counts of a repeat.
//
// Idea: mask keys hold how far a count is from its maximum, up to the bytes of the longest token,
// since a token can't count further than it has bytes. Most tokens count not at all, and none
// nearly as far: a walk knows how far it has gone up, and is right for every count that is further
// than that from the maximum. So `(word sep){0,49}` takes a few walks, not 49.

#include "automata/repeat_family.h"
#include "maskwright/mask/mask_store.h"

namespace maskwright {

namespace {

// In keys, before a configuration's words.
constexpr uint32_t kOther = 0;
constexpr uint32_t kCounting = 1;

}  // namespace

// The entry of a walk from the same escapes that stands for this one, if there is one; else what
// keep_far() needs of the walk that must be made. One configuration may count.
uint32_t MaskStore::far_entry(std::span<const Config> configs, uint32_t escapes, Arena& arena) {
  far_key_ = kMissing;
  if (!store_.shortcuts().clipping) return kMissing;
  const Config* counting = nullptr;
  for (const Config& config : configs) {
    if (store_.state(config.state).family != FamilyId::kRepeat) continue;
    if (counting != nullptr) return kMissing;
    counting = &config;
  }
  if (counting == nullptr) return kMissing;
  auto& repeats = static_cast<RepeatFamily&>(store_.family(FamilyId::kRepeat));
  uint32_t room = 0;
  KeyWords words;
  for (const Config& config : configs) {
    words.push_back(&config == counting ? kCounting : kOther);
    if (&config == counting) {
      if (!repeats.far_key(config.state, config.reg, words, room)) return kMissing;
    } else if (config.state != kDead) {
      append_key(config, arena, words);
    }
    words.push_back(static_cast<uint32_t>(words.size()));
  }
  const uint32_t key = far_keys_.intern(words, escapes).id;
  const auto known = far_.find(key);
  if (known != far_.end() && room > known->second.rise) return known->second.entry;
  far_key_ = key;
  far_count_ = counting->reg;
  repeats.watch(counting->state, counting->reg);
  return kMissing;
}

void MaskStore::keep_far(uint32_t entry) {
  if (far_key_ == kMissing) return;
  const auto& repeats = static_cast<RepeatFamily&>(store_.family(FamilyId::kRepeat));
  if (repeats.highest() == kUnbounded) return;
  far_.try_emplace(far_key_, Far{entry, repeats.highest() - far_count_});
}

}  // namespace maskwright

#include "maskwright/matcher/mask_table.h"

#include <algorithm>

namespace maskwright {

uint32_t MaskTable::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(masks_.size());
}

MaskId MaskTable::id_of(std::span<const uint32_t> mask, Room room) {
  const uint64_t hash = hash_words(mask, 0);
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_hash_.equal_range(hash);
  const auto same = std::find_if(begin, end, [&](const auto& known) {
    return std::equal(mask.begin(), mask.end(), masks_[static_cast<uint32_t>(known.second)].get());
  });
  if (same != end) return same->second;
  const std::size_t limit = room == Room::kAll ? limit_bytes_ : limit_bytes_ / 2;
  if ((masks_.size() + 1) * mask_bytes() > limit) return kNoMaskId;
  const auto id = static_cast<MaskId>(masks_.size());
  masks_.push_back(std::make_unique<uint32_t[]>(mask.size()));
  std::ranges::copy(mask, masks_.back().get());
  by_hash_.emplace(hash, id);
  return id;
}

std::span<const uint32_t> MaskTable::mask(int64_t id) const {
  const std::lock_guard lock(mutex_);
  if (id < 0 || id >= static_cast<int64_t>(masks_.size())) return {};
  return {masks_[static_cast<std::size_t>(id)].get(), mask_words_};
}

std::optional<MaskId> MaskIds::find(std::span<const uint32_t> key) const {
  const uint32_t known = keys_.find(key);
  if (known == WordInterner::kMissing) return std::nullopt;
  return ids_[known];
}

MaskId MaskIds::keep(std::span<const uint32_t> key, std::span<const uint32_t> mask) {
  const auto [known, inserted] = keys_.intern(key);
  if (inserted) ids_.push_back(table_->id_of(mask));
  return ids_[known];
}

}  // namespace maskwright

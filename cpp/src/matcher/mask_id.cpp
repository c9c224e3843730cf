// The id of the mask of a step, see mask_table.h.

#include <mutex>
#include <optional>
#include <vector>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

// What the entries leave open: whether the text is complete, and what then ends it.
void Matcher::append_stops(std::vector<uint32_t>& key) const {
  const std::vector<uint32_t>& stops = tokens_.stop_ids();
  key.push_back((now().completed ? 1U : 0U) | (terminate_without_stop_token_ ? 2U : 0U));
  key.insert(key.end(), stops.begin(), stops.end());
}

std::optional<MaskId> Matcher::mask_id(bool walk) {
  std::vector<uint32_t> key;
  {
    std::unique_lock lock(grammar_->mutex(), std::defer_lock);
    if (walk) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return std::nullopt;
    }
    if (now().stopped) terminated();
    if (!is_composed()) return kNoMaskId;
    const auto composition = grammar_->masks().compose(configs(), family_->arena, key, walk);
    if (composition == MaskStore::Composition::kCold) return std::nullopt;
    if (composition == MaskStore::Composition::kOwn) return kNoMaskId;
    append_stops(key);
    if (const auto known = grammar_->mask_ids().find(key); known.has_value()) return known;
  }
  std::vector<uint32_t> mask(grammar_->vocabulary().mask_words());
  if (fill_bitmask(mask, walk) == Fill::kCold) return std::nullopt;
  const std::lock_guard lock(grammar_->mutex());
  return grammar_->mask_ids().keep(key, mask);
}

}  // namespace maskwright

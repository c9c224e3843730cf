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
  std::unique_lock lock(grammar_->mutex(), std::defer_lock);
  if (walk) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return std::nullopt;
  }
  return find_mask_id(walk);
}

// Where entries alone decide the mask they are the key of its id; elsewhere the mask is made and
// found by its words. So masks that are equal have one id, whatever they come from.
std::optional<MaskId> Matcher::find_mask_id(bool walk) {
  if (now().stopped) terminated();
  if (!walk && tokens_.needs_search()) return std::nullopt;
  std::vector<uint32_t> key;
  if (is_composed(walk)) {
    const auto composition = grammar_->masks().compose(configs(), family_->arena, key, walk);
    if (composition == MaskStore::Composition::kCold) return std::nullopt;
    if (composition == MaskStore::Composition::kOwn) {
      key.clear();
    } else {
      append_stops(key);
      if (const auto known = grammar_->mask_ids().find(key); known.has_value()) return known;
    }
  }
  std::vector<uint32_t> mask(grammar_->vocabulary().mask_words());
  const Fill filled = fill(mask, walk);
  if (filled == Fill::kCold) return std::nullopt;
  if (filled == Fill::kNone) terminated();
  if (key.empty()) return grammar_->mask_table()->id_of(mask, MaskTable::Room::kHalf);
  return grammar_->mask_ids().keep(key, mask);
}

}  // namespace maskwright

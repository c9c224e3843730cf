#include "json/item_rules.h"

#include <algorithm>

namespace maskwright {

namespace {

uint32_t missing(uint32_t min, uint32_t count) { return min > count ? min - count : 0; }

uint32_t room(uint32_t max, uint32_t count) {
  if (max == kUnbounded) return kUnbounded;
  return max > count ? max - count : 0;
}

}  // namespace

bool ItemRules::can_end(uint32_t count, std::span<const uint32_t> found) const {
  if (count < min || count > max) return false;
  for (std::size_t k = 0; k < contains.size(); ++k) {
    if (found[k] < contains[k].min || found[k] > contains[k].max) return false;
  }
  return true;
}

std::vector<uint32_t> ItemRules::after(std::span<const uint32_t> found, uint32_t cell) const {
  std::vector<uint32_t> out(found.begin(), found.end());
  for (std::size_t k = 0; k < contains.size(); ++k) {
    // Without an upper bound more than enough is enough.
    const bool full = contains[k].max == kUnbounded && out[k] >= contains[k].min;
    if ((cell >> k & 1) != 0 && !full) ++out[k];
  }
  return out;
}

bool ItemRules::can_take(uint32_t count, std::span<const uint32_t> found, uint32_t cell) const {
  if (count >= max || (cells(count) >> cell & 1) == 0) return false;
  return can_complete(count + 1, after(found, cell));
}

bool ItemRules::can_complete(uint32_t count, std::span<const uint32_t> found) const {
  for (std::size_t k = 0; k < contains.size(); ++k) {
    if (std::max(found[k], contains[k].min) > contains[k].max) return false;
  }
  if (contains.empty()) return complete_plain(count);
  return contains.size() == 1 ? complete_one(count, found[0]) : complete_many(count, found);
}

bool ItemRules::complete_plain(uint32_t count) const {
  if (count > max || min > max) return false;
  const auto length = static_cast<uint32_t>(prefix.size());
  if (min > length && count < min && rest == 0) return false;
  for (uint32_t index = count; index < std::min(min, length); ++index) {
    if (prefix[index] == 0) return false;
  }
  return true;
}

bool ItemRules::complete_one(uint32_t count, uint32_t found) const {
  const uint32_t need = missing(contains[0].min, found);
  const uint32_t most = room(contains[0].max, found);
  uint32_t forced = 0;    // of the places passed, those that satisfy the condition anyway
  uint32_t possible = 0;  // ... and those that can
  const auto add = [&](uint64_t place) {
    if ((place & 1) == 0) ++forced;
    if ((place & 2) != 0) ++possible;
  };
  for (;; ++count) {
    if (count > max) return false;
    if (count >= min && forced <= most && possible >= need) return true;
    if (count >= prefix.size()) break;
    if (prefix[count] == 0) return false;
    add(prefix[count]);
  }
  if (rest == 0 || forced > most) return false;
  uint32_t least = missing(min, count);
  if (possible < need) {
    if ((rest & 2) == 0) return false;
    least = std::max(least, need - possible);
  }
  uint32_t largest = room(max, count);
  if ((rest & 1) == 0 && most != kUnbounded) largest = std::min(largest, most - forced);
  return least <= largest;
}

// Memoised by what still matters: places to come, and what each condition needs and allows.
bool ItemRules::complete_many(uint32_t count, std::span<const uint32_t> found) const {
  const auto length = static_cast<uint32_t>(prefix.size());
  uint64_t needed = missing(min, count);
  std::vector<uint32_t> key{std::min(count, length), missing(min, count)};
  for (std::size_t k = 0; k < contains.size(); ++k) {
    key.push_back(missing(contains[k].min, found[k]));
    key.push_back(room(contains[k].max, found[k]));
    needed += missing(contains[k].min, found[k]);
  }
  const uint32_t places = room(max, count);
  const uint64_t useful = needed + (length > count ? length - count : 0);
  key.push_back(places >= useful ? kUnbounded : places);
  if (needed == 0) return count <= max;
  if (places == 0) return false;
  const auto [entry, added] = known_.try_emplace(std::move(key), false);
  if (!added) return entry->second;
  const bool answer = try_cells(count, found);
  entry->second = answer;
  return answer;
}

bool ItemRules::try_cells(uint32_t count, std::span<const uint32_t> found) const {
  const uint64_t here = cells(count);
  const bool in_prefix = count < prefix.size();
  for (uint32_t cell = 1U << contains.size(); cell-- > 0;) {
    if ((here >> cell & 1) == 0) continue;
    // Behind the prefix all places are alike, so that an item that nothing needs can be left out.
    bool useful = in_prefix || count < min;
    bool fits = true;
    for (std::size_t k = 0; k < contains.size(); ++k) {
      if ((cell >> k & 1) == 0) continue;
      useful = useful || found[k] < contains[k].min;
      fits = fits && found[k] < contains[k].max;
    }
    if (fits && useful && complete_many(count + 1, after(found, cell))) return true;
  }
  return false;
}

uint64_t ItemRules::search_size() const {
  if (contains.size() < 2) return 1;
  uint64_t size = prefix.size() + uint64_t{min} + 2;
  for (const ItemCount& count : contains) {
    const uint64_t bound = std::max(count.min, count.max == kUnbounded ? 0 : count.max);
    size *= bound + 2;
    size = std::min<uint64_t>(size, uint64_t{1} << 40);
  }
  return size;
}

}  // namespace maskwright

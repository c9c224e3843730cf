#include "maskwright/mask/shared_masks.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"
#include "maskwright/support/patience.h"

namespace maskwright {

namespace {

// What an entry takes beside itself: its count of references, its place in the order and in the
// tables.
constexpr std::size_t kEntryBytes = heap_block(3 * sizeof(void*) + 8) + heap_block(5 * 8) + 2 * 8;
constexpr std::size_t kTextBytes = heap_block(4 * 8) + 2 * 8;

// Of the process: to ask for a random number takes longer than to make a store.
uint64_t random_seed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }();
  return seed;
}

std::size_t bitmap_bytes(const TokenClasses::Bitmap& bits) {
  return heap_block(sizeof(bits) + 16) + heap_bytes(bits);
}

}  // namespace

std::size_t SharedMask::memory_bytes() const {
  return heap_block(sizeof(*this) + 16) + heap_bytes(key, ids, unsure, sets) +
         (dense == nullptr ? 0 : bitmap_bytes(*dense));
}

void StartMask::render(std::span<uint32_t> row) const {
  if (!dense.empty()) {
    std::ranges::copy(dense, row.begin());
    return;
  }
  std::ranges::fill(row, 0);
  for (const uint32_t token : ids) row[token / 32] |= 1U << token % 32;
}

SharedMasks::SharedMasks(std::shared_ptr<const Vocabulary> vocabulary, std::size_t limit_bytes,
                         std::shared_ptr<ByteLedger> ledger, std::shared_ptr<SharedMasks> below)
    : vocabulary_(std::move(vocabulary)),
      limit_bytes_(limit_bytes),
      seed_(random_seed()),
      below_(below) {
  charge_.charge_to(std::move(ledger));
  if (below == nullptr) return;
  if (below->vocabulary_ != vocabulary_) {
    throw std::invalid_argument("the masks below are of another vocabulary");
  }
  below->freeze();
  next_number_ = below->next_number_;
}

std::shared_ptr<SharedMasks> SharedMasks::of_one_grammar(
    std::shared_ptr<const Vocabulary> vocabulary) {
  auto masks = std::make_shared<SharedMasks>(std::move(vocabulary), kUnlimited);
  masks->belongs_to_one_ = true;
  return masks;
}

SharedMaskRef SharedMasks::find(std::span<const uint32_t> key) {
  const uint64_t hash = hash_words(key, seed_);
  if (SharedMaskRef mask = find_below(key, hash)) {
    ++hits_;
    return mask;
  }
  const auto locked = lock_soon(mutex_);
  const auto place = locked ? find_place(key, hash) : Order::const_iterator{};
  if (!locked || place == order_.end()) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  return use(place);
}

SharedMaskRef SharedMasks::list(std::span<const uint32_t> content) {
  auto made = std::make_shared<SharedMask>();
  made->key.reserve(content.size() + 1);
  made->key.push_back(kListTag);
  made->key.insert(made->key.end(), content.begin(), content.end());
  return keep(std::move(made));
}

SharedMaskRef SharedMasks::keep(std::shared_ptr<SharedMask> mask) {
  std::vector<SharedMaskRef> dropped;  // freed after the lock
  const uint64_t hash = hash_words(mask->key, seed_);
  if (SharedMaskRef known = find_below(mask->key, hash)) return known;
  const auto locked = lock_soon(mutex_);
  if (!locked) return nullptr;
  if (const auto place = find_place(mask->key, hash); place != order_.end()) return use(place);
  if (frozen_) return nullptr;
  const std::size_t bytes = added_bytes(*mask);
  if (!make_room(bytes, dropped)) return nullptr;
  if (mask->key[0] == kListTag) mask->number = next_number_++;
  if (mask->text != nullptr) ++texts_[mask->text.get()];
  entry_bytes_ += bytes;
  order_.push_back(std::move(mask));
  ++entries_;
  by_hash_.emplace(hash, std::prev(order_.end()));
  charge_.set(entry_bytes_);
  return order_.back();
}

void SharedMasks::freeze() {
  if (frozen_) return;  // without the mutex, which a forked process may find taken
  const std::lock_guard locked(mutex_);
  frozen_ = true;
}

SharedMaskRef SharedMasks::find_below(std::span<const uint32_t> key, uint64_t hash) const {
  if (below_ == nullptr) return nullptr;
  const auto place = below_->find_place(key, hash);
  return place == below_->order_.end() ? below_->find_below(key, hash) : *place;
}

SharedMasks::Order::const_iterator SharedMasks::find_place(std::span<const uint32_t> key,
                                                           uint64_t hash) const {
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (std::ranges::equal((*at->second)->key, key)) return at->second;
  }
  return order_.end();
}

SharedMaskRef SharedMasks::use(Order::const_iterator place) {
  // What belongs to one grammar never goes, and is stored in the order in which it came.
  if (!belongs_to_one_ && !frozen_) order_.splice(order_.end(), order_, place);
  return *place;
}

std::size_t SharedMasks::added_bytes(const SharedMask& mask) const {
  std::size_t bytes = mask.memory_bytes() + kEntryBytes;
  if (mask.text != nullptr && !texts_.contains(mask.text.get())) {
    bytes += bitmap_bytes(*mask.text) + kTextBytes;
  }
  return bytes;
}

// References are only added under the lock, so that one that is the last one stays the last.
bool SharedMasks::make_room(std::size_t bytes, std::vector<SharedMaskRef>& dropped) {
  if (bytes > limit_bytes_) return false;
  uint32_t passed = 0;
  while (entry_bytes_ > limit_bytes_ - bytes) {
    if (order_.empty() || passed > kMaxPassed) return false;
    const auto oldest = order_.begin();
    if (oldest->use_count() > 1) {
      order_.splice(order_.end(), order_, oldest);
      ++passed;
    } else {
      dropped.push_back(*oldest);
      drop(oldest);
    }
  }
  return true;
}

void SharedMasks::drop(Order::iterator place) {
  const SharedMask& mask = **place;
  const auto [begin, end] = by_hash_.equal_range(hash_words(mask.key, seed_));
  by_hash_.erase(
      std::find_if(begin, end, [&](const auto& entry) { return entry.second == place; }));
  std::size_t bytes = mask.memory_bytes() + kEntryBytes;
  if (mask.text != nullptr) {
    const auto text = texts_.find(mask.text.get());
    if (--text->second == 0) {
      texts_.erase(text);
      bytes += bitmap_bytes(*mask.text) + kTextBytes;
    }
  }
  entry_bytes_ -= bytes;
  ++evictions_;
  --entries_;
  order_.erase(place);
  charge_.set(entry_bytes_);
}

StorableMasks SharedMasks::all() {
  StorableMasks found;
  std::unordered_map<uint64_t, uint32_t> lists;  // index by number
  const std::lock_guard lock(mutex_);
  for (const SharedMaskRef& entry : order_) {
    if (entry->key[0] != kListTag) continue;
    lists.emplace(entry->number, static_cast<uint32_t>(found.lists.size()));
    found.lists.emplace_back(entry->key.begin() + 1, entry->key.end());
  }
  for (const SharedMaskRef& entry : order_) {
    if (entry->key[0] == kListTag) continue;
    StorableMask mask{entry->key, entry, lists.at(entry->escapes->number), entry->sets};
    if (SharedMask::names_list(mask.key)) {
      mask.key[1] = lists.at(SharedMask::list_in(mask.key));
      mask.key[2] = 0;
    }
    found.masks.push_back(std::move(mask));
  }
  return found;
}

SharedMaskStats SharedMasks::stats() const {
  return {entries_, bytes(), hits_, misses_, evictions_};
}

}  // namespace maskwright

#include "maskwright/support/interner.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace maskwright {

namespace {

constexpr std::size_t kFewestSlots = 8;
constexpr std::size_t kFewestWords = 16;  // in a block

}  // namespace

uint64_t hash_words(std::span<const uint32_t> words, uint64_t seed) {
  uint64_t hash = seed * 0x9E3779B97F4A7C15ULL + words.size();
  for (const uint32_t word : words) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9ULL;
    hash ^= hash >> 29;
  }
  hash *= 0x94D049BB133111EBULL;
  return hash ^ (hash >> 32);
}

WordInterner::Result WordInterner::intern(std::span<const uint32_t> words, uint32_t tag) {
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
    rehash(std::max(kFewestSlots, slots_.size() * 2));
  }
  const uint64_t hash = hash_words(words, tag);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      const uint32_t* stored = store(words);
      const uint32_t id = size();
      entries_.push_back({stored, static_cast<uint32_t>(words.size()), tag, hash});
      slots_[slot] = id + 1;
      return {id, true};
    }
    const uint32_t id = slots_[slot] - 1;
    if (entries_[id].holds(words, tag, hash)) return {id, false};
  }
}

uint32_t WordInterner::find(std::span<const uint32_t> words, uint32_t tag) const {
  if (slots_.empty()) return kMissing;
  const uint64_t hash = hash_words(words, tag);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t id = slots_[slot] - 1;
    if (entries_[id].holds(words, tag, hash)) return id;
  }
  return kMissing;
}

void WordInterner::truncate(uint32_t size) {
  for (uint32_t id = this->size(); id-- > size;) {
    const Entry& entry = entries_[id];
    std::size_t slot = entry.hash & (slots_.size() - 1);
    while (slots_[slot] != id + 1) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = 0;
    if (entry.length == 0) continue;
    blocks_.back().used -= entry.length;
    if (blocks_.back().used == 0) {
      block_words_ -= blocks_.back().size;
      block_bytes_ -= heap_block(blocks_.back().size * sizeof(uint32_t));
      blocks_.pop_back();
    }
  }
  entries_.resize(size);
  if (entries_.capacity() > 4 * (std::size_t{size} + kFewestSlots)) entries_.shrink_to_fit();
  if (blocks_.capacity() > 4 * (blocks_.size() + 1)) blocks_.shrink_to_fit();
  if (slots_.size() > kFewestSlots && slots_.size() > std::size_t{size} * 8) {
    rehash(std::max(kFewestSlots, std::bit_ceil(std::size_t{size} * 2)));
  }
}

std::size_t WordInterner::memory_bytes() const {
  return heap_bytes(entries_, slots_) + block_bytes_ +
         heap_block(blocks_.capacity() * sizeof(Block));
}

const uint32_t* WordInterner::store(std::span<const uint32_t> words) {
  if (words.empty()) return nullptr;
  if (blocks_.empty() || blocks_.back().used + words.size() > blocks_.back().size) {
    const std::size_t wanted = std::min<std::size_t>(std::max(kFewestWords, block_words_), 16384);
    const std::size_t size = std::max(words.size(), wanted);
    blocks_.push_back({std::make_unique_for_overwrite<uint32_t[]>(size), size, 0});
    block_words_ += size;
    block_bytes_ += heap_block(size * sizeof(uint32_t));
  }
  Block& block = blocks_.back();
  uint32_t* target = block.words.get() + block.used;
  std::memcpy(target, words.data(), words.size_bytes());
  block.used += words.size();
  return target;
}

void WordInterner::rehash(std::size_t size) {
  slots_ = std::vector<uint32_t>(size, 0);
  for (uint32_t id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & (size - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = id + 1;
  }
}

}  // namespace maskwright

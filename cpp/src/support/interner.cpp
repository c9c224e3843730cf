#include "maskwright/support/interner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace maskwright {

namespace {

constexpr std::size_t kFewestSlots = 8;
constexpr std::size_t kFewestWords = 16;  // in a block

// How many contents so many slots are for.
constexpr std::size_t room(std::size_t slots) { return slots * 3 / 4; }

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
  if (entries_.size() == room(slots_.size())) {
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
    last_->used -= entry.length;
    if (last_->used == 0) drop_block();
  }
  entries_.resize(size);
  if (slots_.size() > kFewestSlots && slots_.size() > std::size_t{size} * 8) {
    rehash(std::max(kFewestSlots, std::bit_ceil(std::size_t{size} * 2)));
  }
}

std::size_t WordInterner::memory_bytes() const {
  return heap_bytes(entries_, slots_) + block_bytes_;
}

WordInterner::~WordInterner() {
  while (last_ != nullptr) drop_block();
}

void WordInterner::swap(WordInterner& other) noexcept {
  std::swap(entries_, other.entries_);
  std::swap(slots_, other.slots_);
  std::swap(last_, other.last_);
  std::swap(block_words_, other.block_words_);
  std::swap(block_bytes_, other.block_bytes_);
}

const uint32_t* WordInterner::store(std::span<const uint32_t> words) {
  if (words.empty()) return nullptr;
  if (last_ == nullptr || last_->used + words.size() > last_->size) {
    const std::size_t wanted = std::min<std::size_t>(std::max(kFewestWords, block_words_), 16384);
    const std::size_t size = std::max(words.size(), wanted);
    void* memory = ::operator new(sizeof(Block) + size * sizeof(uint32_t));
    last_ = new (memory) Block{last_, size, 0};
    block_words_ += size;
    block_bytes_ += heap_block(sizeof(Block) + size * sizeof(uint32_t));
  }
  uint32_t* target = last_->words() + last_->used;
  std::memcpy(target, words.data(), words.size_bytes());
  last_->used += words.size();
  return target;
}

void WordInterner::drop_block() {
  Block* block = last_;
  last_ = block->previous;
  block_words_ -= block->size;
  block_bytes_ -= heap_block(sizeof(Block) + block->size * sizeof(uint32_t));
  ::operator delete(block);
}

void WordInterner::rehash(std::size_t size) {
  slots_ = std::vector<uint32_t>(size, 0);
  if (entries_.capacity() > 4 * room(size)) entries_.shrink_to_fit();
  entries_.reserve(room(size));
  for (uint32_t id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & (size - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = id + 1;
  }
}

}  // namespace maskwright

// Hash-consing of word sequences: equal contents get equal ids. Used for states, sets, registers
// and mask keys. Ids are dense and start at 0; contents never move. The newest can be dropped
// again: a slot of the table is taken by passing over slots of smaller ids only, so taking contents
// out in the reverse order of their ids leaves a table as if they had never been there. Not
// synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

uint64_t hash_words(std::span<const uint32_t> words, uint64_t seed);

class WordInterner {
 public:
  WordInterner() = default;
  WordInterner(WordInterner&& other) noexcept { swap(other); }
  WordInterner& operator=(WordInterner&& other) noexcept {
    swap(other);
    return *this;
  }
  ~WordInterner();

  struct Result {
    uint32_t id;
    bool inserted;
  };

  Result intern(std::span<const uint32_t> words, uint32_t tag = 0);
  // The id of the content or kMissing.
  uint32_t find(std::span<const uint32_t> words, uint32_t tag = 0) const;
  std::span<const uint32_t> get(uint32_t id) const {
    const Entry& entry = entries_[id];
    return {entry.words, entry.length};
  }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  // Drops the contents with ids from `size` on.
  void truncate(uint32_t size);
  // Takes constant time.
  std::size_t memory_bytes() const;

  static constexpr uint32_t kMissing = 0xFFFFFFFF;

 private:
  struct Entry {
    const uint32_t* words;
    uint32_t length;
    uint32_t tag;
    uint64_t hash;
    bool holds(std::span<const uint32_t> other, uint32_t other_tag, uint64_t other_hash) const {
      return hash == other_hash && tag == other_tag && length == other.size() &&
             std::equal(other.begin(), other.end(), words);
    }
  };

  // Begins an allocation; its words follow.
  struct Block {
    Block* previous;
    std::size_t size;
    std::size_t used;
    uint32_t* words() { return reinterpret_cast<uint32_t*>(this + 1); }
  };

  void swap(WordInterner& other) noexcept;
  const uint32_t* store(std::span<const uint32_t> words);
  void drop_block();
  void rehash(std::size_t size);

  std::vector<Entry> entries_;   // by id; room for as many as the slots are for
  std::vector<uint32_t> slots_;  // id + 1, 0 = empty; size is a power of two
  Block* last_ = nullptr;        // none is unused
  std::size_t block_words_ = 0;  // of all blocks
  std::size_t block_bytes_ = 0;
};

}  // namespace maskwright

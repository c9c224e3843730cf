// Numbers for masks, so that an engine can keep masks on its device and send numbers.
//
// Idea: a table holds each distinct mask of a vocabulary once; its number is its id, from 0 on, for
// good. It is found by a hash and compared in full. A grammar remembers the id of each combination
// of mask entries, whose union the mask is (mask_store.h), so that a step that looks like an
// earlier one costs the look-ups of its entries and one more, and never the mask itself. A mask
// that depends on more of the text, as near the end of a token budget, is found by its words each
// time.
//
// The table is bounded: when it is full, masks that are not in it have no id. Nothing is ever taken
// out, since somebody may hold the number.
//
// Locking: a table has a mutex of its own, since all grammars of a compiler share it; it is taken
// after a grammar's. What a grammar remembers is guarded by the grammar's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

using MaskId = int32_t;
// The mask is in no table.
constexpr MaskId kNoMaskId = -1;

class MaskTable {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{64} << 20;

  MaskTable(uint32_t mask_words, std::size_t limit_bytes)
      : mask_words_(mask_words), limit_bytes_(limit_bytes) {}

  uint32_t mask_words() const { return mask_words_; }
  std::size_t limit_bytes() const { return limit_bytes_; }
  uint32_t size() const;
  // At most the limit.
  std::size_t memory_bytes() const { return size() * mask_bytes(); }
  // What a mask that is new may be kept in. Half: for masks of one text, of which there may be any
  // number, so that those of the grammars always find room.
  enum class Room : uint8_t { kAll, kHalf };
  // The id of a mask of mask_words() words, kept if there is room.
  MaskId id_of(std::span<const uint32_t> mask, Room room = Room::kAll);
  // What id_of() gave. Lives as long as the table; empty if there is no such id.
  std::span<const uint32_t> mask(int64_t id) const;

 private:
  // With its places in both containers.
  std::size_t mask_bytes() const { return heap_block(mask_words_ * sizeof(uint32_t)) + 128; }

  const uint32_t mask_words_;
  const std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<uint32_t[]>> masks_;
  std::unordered_multimap<uint64_t, MaskId> by_hash_;
};

// What a grammar knows about the ids of its masks.
class MaskIds {
 public:
  explicit MaskIds(std::shared_ptr<MaskTable> table) : table_(std::move(table)) {}

  const std::shared_ptr<MaskTable>& table() const { return table_; }
  std::optional<MaskId> find(std::span<const uint32_t> key) const;
  // Remembers the id of a mask, in the table or none, for a key that decides the mask.
  MaskId keep(std::span<const uint32_t> key, std::span<const uint32_t> mask);
  // Keys may mean other masks from now on.
  void forget() {
    keys_ = {};
    ids_ = {};
  }
  std::size_t size() const { return ids_.size(); }
  std::size_t memory_bytes() const { return heap_bytes(keys_, ids_); }

 private:
  std::shared_ptr<MaskTable> table_;
  WordInterner keys_;
  std::vector<MaskId> ids_;  // by key
};

}  // namespace maskwright

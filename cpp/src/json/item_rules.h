// How many items of which kind an array may still have: the arithmetic of items and `contains`.
//
// Each place of an array has *cells*: combinations of answers to the conditions, bit k for
// condition k, of which those can be chosen that have a value at all. An array can be completed iff
// cells can be chosen for some number of further items so that all counts come out right. With one
// condition that is closed form: places that must satisfy it, places that can, in between all
// numbers are possible. With several the choices depend on each other and a memoised search over
// what each condition still needs and allows decides.
//
// Cost: linear in the prefix, constant behind it; of several conditions, once the product of their
// bounds.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

// So many of the items from an index on satisfy a condition.
struct ItemCount {
  uint32_t from, min, max;
  friend auto operator<=>(const ItemCount&, const ItemCount&) = default;
};

class ItemRules {
 public:
  uint32_t min = 0, max = kUnbounded;
  std::vector<ItemCount> contains;
  // The cells that have values, a bit each; places behind the prefix have those of the rest.
  std::vector<uint64_t> prefix;
  uint64_t rest = 0;

  uint64_t cells(uint32_t index) const { return index < prefix.size() ? prefix[index] : rest; }
  bool can_end(uint32_t count, std::span<const uint32_t> found) const;
  // After `count` items, of which found[k] satisfy condition k, some number of further items
  // completes the array.
  bool can_complete(uint32_t count, std::span<const uint32_t> found) const;
  // The same after an item of the cell more; false if there is none.
  bool can_take(uint32_t count, std::span<const uint32_t> found, uint32_t cell) const;
  // The counts after such an item.
  std::vector<uint32_t> after(std::span<const uint32_t> found, uint32_t cell) const;
  // The largest number of places that a search would have to tell apart.
  uint64_t search_size() const;
  std::size_t memory_bytes() const { return heap_bytes(contains, prefix, known_); }

 private:
  bool complete_plain(uint32_t count) const;
  bool complete_one(uint32_t count, uint32_t found) const;
  bool complete_many(uint32_t count, std::span<const uint32_t> found) const;
  bool try_cells(uint32_t count, std::span<const uint32_t> found) const;

  mutable std::map<std::vector<uint32_t>, bool> known_;
};

}  // namespace maskwright

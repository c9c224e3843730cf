// A text that completes a place in which what was read before decides, as among unique items.
//
// Best first, by what the least text from a place would be if nothing had been read before
// (shortest_texts.h), and by two orders in turns. One is by the names and items in it that might be
// there already, and then by the bytes of the whole text. So it follows that text to where it is
// refused, an item that ends and is there already, looks for the nearest other one, and does not
// come back to an item that was taken: short detours, one behind the other. The other order is by
// the bytes of the whole text alone, and finds short ones with one more item, of which the first
// would try all spellings of a number before. The text need not be the shortest.
//
// Cost: up to a few microseconds for each byte that is tried, kMaxReads at most. Of the bytes of
// one edge that lead on some are enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "matcher/completions.h"

namespace maskwright {

class TextSearch {
 public:
  static constexpr uint32_t kMaxReads = 10'000;

  explicit TextSearch(Completions& known) : known_(known) {}

  std::optional<std::string> find(Completions::Place at);
  // With Memory::kIgnored, from where an item begins that may be there already: texts before and
  // behind any letters, or any digits, that make another item of each. `behind` is where the item
  // that is there leads to with the byte that follows it.
  std::optional<Completions::Pad> find_pad(Completions::Place at, Completions::Place behind);
  // Bytes that it tried.
  uint32_t reads() const { return reads_; }

 private:
  static constexpr uint32_t kMaxPadReads = 1000;
  static constexpr uint32_t kBytesOfEdge = 40;

  enum class Led : uint8_t { kNowhere, kOn, kToEnd };
  struct Visit {
    Completions::Place place;
    uint32_t from;
    uint32_t bytes;  // up to here
    char byte;
    bool left = false;
  };

  void visit(Completions::Place place, uint32_t from, char byte, uint32_t led);
  bool next(uint32_t& index);
  bool expand(uint32_t index);
  Led read(uint32_t index, uint8_t byte, uint32_t led);
  bool run(Completions::Place at);
  bool leads_to_pad(uint32_t index, Completions::Place place, uint8_t byte);
  std::string text_to(uint32_t index) const;

  Completions& known_;
  uint32_t reads_ = 0;
  uint32_t max_reads_ = kMaxReads;
  // Of find_pad().
  Completions::Place behind_ = Completions::kNoPlace;
  uint32_t repeats_ = 0;  // at the beginning of the item: behind it there are fewer
  Completions::Pad pad_;
  uint32_t least_ = kUnbounded;  // bytes behind those of the edge that were tried
  std::vector<Visit> visits_;
  std::unordered_set<Completions::Place> seen_;
  using Rank = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;  // at last an index
  std::array<std::priority_queue<Rank, std::vector<Rank>, std::greater<>>, 2> waiting_;
  std::size_t turn_ = 0;
};

}  // namespace maskwright

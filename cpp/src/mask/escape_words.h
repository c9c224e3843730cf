// Lists of escapes in words: node and number of the set for each, sorted; behind them, for each
// free text, kFreeEscape, the number of the set, its two classes, and the nodes that it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mask/mask_walk.h"

namespace maskwright {

inline constexpr uint32_t kFreeEscape = kNone;
inline constexpr std::size_t kFreeHead = 17;  // words before the nodes

void append_free_escape(const MaskWalk::FreeText& at, uint32_t set, std::vector<uint32_t>& words);
// The text of the words behind kFreeEscape and the set.
MaskWalk::FreeText read_free_text(std::span<const uint32_t> words);

// How many sets the list takes for granted; nothing if it is none over a trie of so many nodes.
std::optional<uint32_t> count_sets(std::span<const uint32_t> words, uint32_t num_nodes);

template <typename Plain, typename Free>
void each_escape(std::span<const uint32_t> words, Plain plain, Free free) {
  while (!words.empty() && words[0] != kFreeEscape) {
    plain(words[0], words[1]);
    words = words.subspan(2);
  }
  while (!words.empty()) {
    free(read_free_text(words), words[1]);
    words = words.subspan(kFreeHead + words[kFreeHead - 1]);
  }
}

}  // namespace maskwright

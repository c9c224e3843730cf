// What characters of a class lead to in the trie, and the other bytes behind them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "maskwright/support/byte_set.h"
#include "maskwright/trie/trie.h"
#include "trie/utf8_steps.h"

namespace maskwright {

// All texts below the node are made of characters of the class, perhaps with half of a last one.
inline bool is_text_below(const Vocabulary& vocabulary, uint32_t node, const TextClass& text) {
  if (const Vocabulary::Subtree* below = vocabulary.subtree(node)) {
    return text.covers(below->text) && (!below->text.beyond_ascii || below->utf8);
  }
  std::array<Utf8State, Vocabulary::kSmallSubtree + 1> at{kBoundary};  // by depth below the node
  for (uint32_t child = node + 1; child < vocabulary.next(node); ++child) {
    const uint8_t byte = vocabulary.byte(child);
    const uint32_t depth = vocabulary.depth(child) - vocabulary.depth(node);
    at[depth] = utf8_step(at[depth - 1], byte);
    if (at[depth] == kDeadUtf8 || !text.begins(byte)) return false;
  }
  return true;
}

// Follows texts of a class from a code point boundary at a node to what is below it. `text` and
// `allowed`, which has all of it, are sets of ASCII characters and of bytes that begin others.
// Calls
//   words(range)       tokens of characters of `text` and at most one, perhaps half, of `allowed`
//   exit(byte, node)   a byte of `others` behind such a text or none
// A byte of `text` is followed though it be one of `others`. What is below a node is left out if
// all of it is text of `allowed`. Returns how many nodes were looked at.
template <typename Words, typename Exit>
uint32_t follow_text(const Vocabulary& vocabulary, uint32_t node, const TextClass& text,
                     const TextClass& allowed, const ByteSet& others, Words words, Exit exit) {
  std::vector<Utf8State> at(vocabulary.max_token_length() + 1, kBoundary);
  const uint32_t end = vocabulary.next(node);
  uint32_t looked_at = 0;
  for (uint32_t child = node + 1; child < end; ++looked_at) {
    const uint8_t byte = vocabulary.byte(child);
    const uint32_t depth = vocabulary.depth(child);
    const Utf8State before = at[depth - 1];
    at[depth] = byte < 0x80 && before == kBoundary ? kBoundary : utf8_step(before, byte);
    const bool reads = at[depth] != kDeadUtf8 && allowed.begins(byte);
    if (reads) words(vocabulary.range_at(child));
    if (reads && at[depth] == kBoundary && is_text_below(vocabulary, child, allowed)) {
      words(vocabulary.range_below(child));
      child = vocabulary.next(child);
      continue;
    }
    if (before == kBoundary && others.has(byte)) exit(byte, child);
    child = reads && text.begins(byte) ? child + 1 : vocabulary.next(child);
  }
  return looked_at;
}

}  // namespace maskwright

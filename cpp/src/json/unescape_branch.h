// What each next byte inside a JSON string means for a list of language states.
//
// For every byte that goes on with a partial spelling, the code points still possible are compared
// with the arcs of each item: none of them has a move (the item is not hit), all of them move to
// one state, or it is not decided yet. Bytes that no item tells apart form one branch. If every hit
// item is decided the caller moves the items at once and forgets the value, so that a language
// that does not care needs a handful of states.
//
// Cost: linear in the arcs that meet the reach plus the hits given out; never per code point.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "maskwright/json/lang.h"
#include "support/unescape.h"

namespace maskwright {

struct ByteRange {
  uint8_t lo, hi;  // inclusive
};

struct SpellingHit {
  static constexpr uint32_t kUndecided = 0xFFFFFFFF;
  uint32_t item;
  uint32_t target;  // state after the code point, or kUndecided
};

struct SpellingBranch {
  Spelling next;
  uint32_t value;  // of the partial spelling after the byte; meaningless if decided
  bool decided;    // no hit is kUndecided; always so when next is kBetween
  std::vector<ByteRange> bytes;
  std::vector<SpellingHit> hits;  // by item, never empty
};

// Arcs of an item's state: sorted and disjoint; read before the function is called again.
using ItemArcs = std::function<std::span<const Lang::Arc>(uint32_t item)>;

std::vector<SpellingBranch> spelling_branches(Spelling spelling, uint32_t value, uint32_t num_items,
                                              const ItemArcs& arcs);

// The arcs that meet a range of code points.
std::span<const Lang::Arc> arcs_within(std::span<const Lang::Arc> arcs, CodeRange range);

}  // namespace maskwright

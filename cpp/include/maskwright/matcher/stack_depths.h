// About how many frames are open, for the order of searches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "maskwright/automata/run.h"

namespace maskwright {

// Of the stacks of one arena, as far as asked for.
class StackDepths {
 public:
  // The least that the reference has.
  uint32_t depth(StackRef stack, const Arena& arena) {
    // A node is made after those below it.
    for (auto id = static_cast<uint32_t>(depths_.size()); id < arena.size().nodes; ++id) {
      depths_.push_back(id == kBottom ? 0 : least(arena.node(id).below, arena) + 1);
    }
    return least(stack, arena);
  }
  // The arena was truncated to so many nodes.
  void truncate(uint32_t nodes) { depths_.resize(std::min<std::size_t>(depths_.size(), nodes)); }
  std::size_t memory_bytes() const { return heap_bytes(depths_); }

 private:
  uint32_t least(StackRef stack, const Arena& arena) const {
    uint32_t least = kUnbounded;
    for (const uint32_t node : arena.nodes(stack)) least = std::min(least, depths_[node]);
    return least;
  }

  std::vector<uint32_t> depths_;  // by stack node
};

}  // namespace maskwright

// What a state that reads one of several listed texts leads to in the trie.
//
// Idea: the masks of such a state differ only in which of the texts are still allowed, as the
// member names that an object doesn't have yet. So the nodes that some of them lead to are found
// once, each with the texts that lead there; a walk with other texts allowed passes over the nodes
// that none of these leads to. They are found when a state is met for the second time.
//
// Cost: of finding them, a walk; of another walk, a few loads for each node.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

class ListedTexts {
 public:
  ListedTexts(const Vocabulary& vocabulary, Store& store)
      : vocabulary_(vocabulary), store_(store) {}

  struct Place {
    uint32_t node;
    uint32_t behind;  // the place behind those below
    std::array<ListedRange, 2> texts;
    SetId returned;  // kEmptySet: tokens end inside
  };
  // In depth-first order; null at the first time, and where the family lists nothing.
  const std::vector<Place>* places(StateId state);
  std::size_t memory_bytes() const { return heap_bytes(found_); }

 private:
  struct Found {
    bool listed = false;
    std::vector<Place> places;
    std::size_t memory_bytes() const { return heap_bytes(places); }
  };

  bool find_below(uint32_t node, StateId state, std::vector<Place>& out);

  const Vocabulary& vocabulary_;
  Store& store_;
  std::unordered_map<StateId, std::unique_ptr<Found>> found_;  // null: met once
};

}  // namespace maskwright

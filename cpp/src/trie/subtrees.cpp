// Facts about subtrees of the trie, so that a walk in a state that reads free text can allow a
// whole subtree at once. One pass from the leaves to the root, eight UTF-8 decoder states side by
// side.

#include <algorithm>

#include "maskwright/trie/trie.h"
#include "trie/utf8_steps.h"

namespace maskwright {

void Vocabulary::build_subtrees() {
  struct Facts {
    Subtree subtree;
    uint8_t valid = 0xFF;  // bit s: every text below is fine in decoder state s
  };
  std::vector<Facts> facts(num_nodes());
  subtree_index_.assign(num_nodes(), 0);
  for (uint32_t node = num_nodes(); node-- > 0;) {
    Facts& here = facts[node];
    here.subtree.text.missing = ~uint64_t{0};
    for (uint32_t child = node + 1; child < next(node); child = next(child)) {
      const uint8_t byte = this->byte(child);
      const Facts& below = facts[child];
      TextClass& text = here.subtree.text;
      text.beyond_ascii |= below.subtree.text.beyond_ascii || byte >= 0x80;
      for (std::size_t i = 0; i < 2; ++i) text.ascii[i] |= below.subtree.text.ascii[i];
      if (byte < 0x80) text.add(byte);
      text.missing &= below.subtree.text.missing;
      if (byte >= 0xC0) text.missing &= ~(uint64_t{1} << (byte - 0xC0));
      const uint32_t begins = begins_code_point(byte) ? 1 : 0;
      here.subtree.code_points =
          std::max(here.subtree.code_points, below.subtree.code_points + begins);
      for (uint8_t state = 0; state < kDeadUtf8; ++state) {
        const Utf8State next = utf8_step(static_cast<Utf8State>(state), byte);
        if (next == kDeadUtf8 || (below.valid >> next & 1) == 0) {
          here.valid = static_cast<uint8_t>(here.valid & ~(1U << state));
        }
      }
    }
    here.subtree.utf8 = (here.valid & 1) != 0;
    if (next(node) - node > kSmallSubtree) {
      subtree_index_[node] = static_cast<uint32_t>(subtrees_.size());
      subtrees_.push_back(here.subtree);
    }
  }
}

}  // namespace maskwright

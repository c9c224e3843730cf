// Facts about subtrees of the trie, so that a walk in a state that reads free text can allow a
// whole subtree at once. One pass from the leaves to the root, eight UTF-8 decoder states side by
// side.

#include <algorithm>

#include "maskwright/trie/trie.h"

namespace maskwright {

namespace {

constexpr uint32_t kSmall = 4;  // nodes below which a subtree is not described

// Decoder states: between code points; 1 to 3 continuation bytes to come; and the four lead bytes
// after which the second byte has a range of its own (RFC 3629).
enum Utf8State : uint8_t {
  kBoundary,
  kOne,
  kTwo,
  kThree,
  kAfterE0,
  kAfterED,
  kAfterF0,
  kAfterF4,
  kDeadUtf8
};

bool within(uint8_t byte, uint8_t lo, uint8_t hi) { return byte >= lo && byte <= hi; }

Utf8State after_lead(uint8_t byte) {
  if (byte < 0x80) return kBoundary;
  if (within(byte, 0xC2, 0xDF)) return kOne;
  if (byte == 0xE0) return kAfterE0;
  if (byte == 0xED) return kAfterED;
  if (within(byte, 0xE1, 0xEF)) return kTwo;
  if (byte == 0xF0) return kAfterF0;
  if (byte == 0xF4) return kAfterF4;
  return within(byte, 0xF1, 0xF3) ? kThree : kDeadUtf8;
}

Utf8State step(Utf8State state, uint8_t byte) {
  const bool continuation = within(byte, 0x80, 0xBF);
  switch (state) {
    case kBoundary: return after_lead(byte);
    case kOne: return continuation ? kBoundary : kDeadUtf8;
    case kTwo: return continuation ? kOne : kDeadUtf8;
    case kThree: return continuation ? kTwo : kDeadUtf8;
    case kAfterE0: return within(byte, 0xA0, 0xBF) ? kOne : kDeadUtf8;
    case kAfterED: return within(byte, 0x80, 0x9F) ? kOne : kDeadUtf8;
    case kAfterF0: return within(byte, 0x90, 0xBF) ? kTwo : kDeadUtf8;
    case kAfterF4: return within(byte, 0x80, 0x8F) ? kTwo : kDeadUtf8;
    case kDeadUtf8: break;
  }
  return kDeadUtf8;
}

}  // namespace

void Vocabulary::build_subtrees() {
  struct Facts {
    Subtree subtree;
    uint8_t valid = 0xFF;  // bit s: every text below is fine in decoder state s
  };
  std::vector<Facts> facts(num_nodes());
  subtree_index_.assign(num_nodes(), kNoSubtree);
  for (uint32_t node = num_nodes(); node-- > 0;) {
    Facts& here = facts[node];
    for (uint32_t child = node + 1; child < next_[node]; child = next_[child]) {
      const uint8_t byte = bytes_[child];
      const Facts& below = facts[child];
      here.subtree.beyond_ascii |= below.subtree.beyond_ascii || byte >= 0x80;
      for (std::size_t i = 0; i < 2; ++i) here.subtree.ascii[i] |= below.subtree.ascii[i];
      if (byte < 0x80) here.subtree.ascii[byte / 64] |= uint64_t{1} << byte % 64;
      const uint32_t begins = (byte & 0xC0) != 0x80 ? 1 : 0;
      here.subtree.code_points =
          std::max(here.subtree.code_points, below.subtree.code_points + begins);
      for (uint8_t state = 0; state < kDeadUtf8; ++state) {
        const Utf8State next = step(static_cast<Utf8State>(state), byte);
        if (next == kDeadUtf8 || (below.valid >> next & 1) == 0) {
          here.valid = static_cast<uint8_t>(here.valid & ~(1U << state));
        }
      }
    }
    here.subtree.utf8 = (here.valid & 1) != 0;
    if (next_[node] - node > kSmall) {
      subtree_index_[node] = static_cast<uint32_t>(subtrees_.size());
      subtrees_.push_back(here.subtree);
    }
  }
}

}  // namespace maskwright

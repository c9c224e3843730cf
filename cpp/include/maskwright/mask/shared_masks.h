// What trie walks found, shared by all grammars of a compiler.
//
// Idea: most walks of a grammar were done before for another one: the same kind of text, the same
// bounds, the same names. A key says what decides a walk in words of no grammar
// (automata/shared_key.h); a grammar asks for it before it walks, and keeps here what it walked. A
// key is compared in full; its hash, seeded anew in each process, only finds it.
//
// What is kept is immutable and self-contained. What comes after a frame has returned depends on
// where that was, so lists of such places are kept like masks, and have numbers for keys to hold,
// which are never used again.
//
// Memory: charged here once, whoever uses it, up to a limit; the least recently used goes first. An
// entry that some grammar refers to is kept, since letting it go would free nothing. What there is
// no room for belongs to the grammar that walked it. So the limit holds at every moment.
//
// Two levels: a store may lie above another one that is frozen, which keeps what it has and takes
// nothing more, so that it is read without a lock. What that one has belongs to nobody here, and
// the numbers of lists go on from its own.
//
// Locking: one mutex, taken after a grammar's, and only where that grammar has no mask of its own.
// Nothing is walked, and no entry freed, under it. Nobody waits long for it, but walks instead: in
// a forked process the thread that holds it may not be there. Cost: a hash and a comparison of the
// key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "maskwright/support/byte_ledger.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

// The first word of a key: a list of escapes, or how the walk of a mask starts. Those of the last
// two tags go on with the number of a list, its low half first.
enum SharedTag : uint32_t { kListTag, kFrameTag, kAloneTag, kChildTag, kLastTag, kSharedTags };

struct SharedMask {
  using Bitmap = std::shared_ptr<const TokenClasses::Bitmap>;

  std::vector<uint32_t> key;
  // The tokens allowed are the union of these.
  Bitmap text;   // the words of a class; the vocabulary may have it too
  Bitmap dense;  // all else, if that is much
  std::vector<uint32_t> ids;
  std::vector<uint32_t> unsure;               // trie nodes whose tokens are not decided here
  std::shared_ptr<const SharedMask> escapes;  // where the frame may have returned; a list
  // What it returned there, a set of callees each: [their number, their numbers in the key...]...
  std::vector<uint32_t> sets;
  uint64_t number = 0;  // of a list, whose key is its content

  static bool names_list(std::span<const uint32_t> key) { return key[0] >= kChildTag; }
  // The number of the list that the key names.
  static uint64_t list_in(std::span<const uint32_t> key) { return key[1] | uint64_t{key[2]} << 32; }
  // Without the text and the escapes, which others share.
  std::size_t memory_bytes() const;
};

using SharedMaskRef = std::shared_ptr<const SharedMask>;

// What a matcher needs of a grammar before it has read anything, so that no states are built for
// it.
struct StartMask {
  // The tokens that text or token symbols allow.
  std::vector<uint32_t> ids;
  TokenClasses::Bitmap dense;  // instead of the ids if that takes less; else empty
  bool completed;              // nothing is a text of the grammar

  // Writes all words of a mask.
  void render(std::span<uint32_t> row) const;
  std::size_t memory_bytes() const {
    return heap_block(sizeof(*this) + 16) + heap_bytes(ids, dense);
  }
};

// What can be stored of a grammar's masks (serialize/), in words of no machine's own.
struct StorableMask {
  // As of SharedMask, but with the index of a list where its number is there.
  std::vector<uint32_t> key;
  SharedMaskRef found;  // the tokens, and where it is unsure
  uint32_t list;        // of its escapes
  std::vector<uint32_t> sets;
};
struct StorableMasks {
  std::vector<std::vector<uint32_t>> lists;
  std::vector<StorableMask> masks;
  std::shared_ptr<const StartMask> start;  // null: not known
  bool empty() const { return masks.empty() && start == nullptr; }
};

struct SharedMaskStats {
  std::size_t entries, bytes;
  uint64_t hits, misses, evictions;
};

class SharedMasks {
 public:
  static constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

  // `ledger`: counts what is kept; null: nobody does. `below`: null or of the same vocabulary; it
  // is frozen by this. Raises std::invalid_argument.
  SharedMasks(std::shared_ptr<const Vocabulary> vocabulary, std::size_t limit_bytes,
              std::shared_ptr<ByteLedger> ledger = nullptr,
              std::shared_ptr<SharedMasks> below = nullptr);

  // For masks that were stored with a grammar, which counts them as its own. Keys may be those of
  // its rules here.
  static std::shared_ptr<SharedMasks> of_one_grammar(std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  bool belongs_to_one() const { return belongs_to_one_; }
  // Each gives null where others use the store at the moment, too.
  // Null if there is none.
  SharedMaskRef find(std::span<const uint32_t> key);
  // Keeps it, unless there is one of its key, which is returned. Null if there is no room.
  SharedMaskRef keep(std::shared_ptr<SharedMask> mask);
  // The list of a content; null if there is no room.
  SharedMaskRef list(std::span<const uint32_t> content);

  // It takes nothing more from now on.
  void freeze();

  StorableMasks all();  // of one grammar
  SharedMaskStats stats() const;
  std::size_t bytes() const { return charge_.bytes(); }

 private:
  using Order = std::list<SharedMaskRef>;
  // Entries in use that are passed over in search of one that is not, for one that is kept.
  static constexpr uint32_t kMaxPassed = 64;
  SharedMaskRef find_below(std::span<const uint32_t> key, uint64_t hash) const;
  Order::const_iterator find_place(std::span<const uint32_t> key, uint64_t hash) const;
  SharedMaskRef use(Order::const_iterator place);
  bool make_room(std::size_t bytes, std::vector<SharedMaskRef>& dropped);
  void drop(Order::iterator place);
  std::size_t added_bytes(const SharedMask& mask) const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const std::size_t limit_bytes_;
  const uint64_t seed_;
  const std::shared_ptr<const SharedMasks> below_;
  std::mutex mutex_;
  Order order_;  // least recently used first
  std::unordered_multimap<uint64_t, Order::iterator> by_hash_;
  std::unordered_map<const void*, uint32_t> texts_;  // how many entries have it
  std::size_t entry_bytes_ = 0;
  uint64_t next_number_ = 1;
  bool belongs_to_one_ = false;
  std::atomic<bool> frozen_ = false;  // neither tables nor order change any more
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<uint64_t> hits_ = 0, misses_ = 0, evictions_ = 0;
  ByteCharge charge_;
};

}  // namespace maskwright

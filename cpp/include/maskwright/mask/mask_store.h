// Token masks composed from what a token needs to read.
//
// One walk of the token trie from a frame state decides every token that ends inside the frame (and
// inside frames it calls), and finds the *escapes*: trie nodes at which the frame may have
// returned. Such an entry needs no knowledge of the stack. Escapes are continued from what the
// caller on the stack does after the return, in a child entry keyed by that return state, and so
// on: a tree of entries, only as deep as some token really pops. The mask of a configuration is the
// union along its path; the mask of a set of configurations is the union of theirs.
//
// Keys hold what Family::mask_key() says matters for texts of at most max_advance bytes, so
// counters far from their bounds share entries. A state that reads free text takes the words of the
// text as one bitmap and walks the residue only (trie/token_classes.h). What follows equal escapes
// is one entry, wherever the escapes come from. What families leave out of keys although it decides
// is put right at the end: a *guarded* configuration, or a *suspect*, refuses some trie nodes that
// its entries allow (a short walk, each time), and nodes where a walk was *unsure* are read each
// time.
//
// A repeated mask costs a few look-ups and copies; a new one a walk over the part of the trie that
// the state can read.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "maskwright/automata/run.h"
#include "maskwright/automata/way_out.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

struct MaskCounters {
  uint64_t cold_walks = 0;     // trie walks
  uint64_t visited_nodes = 0;  // trie nodes they looked at
  uint64_t entries = 0;        // masks held
  uint64_t memory_bytes = 0;   // of the entries
};

class MaskStore {
 public:
  MaskStore(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules);

  // Sets the bits of all tokens that text or token symbols allow after the closed configurations;
  // clears all others. `row` has vocabulary.mask_words() words. With `walk` false it returns false,
  // the row undefined, where a trie walk would be needed.
  bool fill(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row, bool walk);

  const MaskCounters& counters() const { return counters_; }
  // Takes constant time.
  std::size_t memory_bytes() const;

 private:
  struct Escape {
    uint32_t node;
    SetId returned;
    auto operator<=>(const Escape&) const = default;
  };
  // An escape of the parent, with what its caller does there.
  struct Start {
    uint32_t node;
    Config config;
    bool taken;
  };
  using FreeText = std::shared_ptr<const TokenClasses::Bitmap>;
  // The mask is the union of what is there of the first three.
  struct Entry {
    FreeText text;   // the words of a class; the vocabulary may have it too
    FreeText dense;  // all else, if that is much
    std::vector<uint32_t> ids;
    uint32_t escapes = 0;          // where the frame may have returned, by node (escape_lists_)
    std::vector<SetId> sets;       // the distinct sets that it returned there
    std::vector<uint32_t> unsure;  // trie nodes whose tokens are not decided here

    std::size_t memory_bytes() const {
      return heap_bytes(ids, sets, unsure);
    }  // without what is shared
  };
  // The closed configurations at one depth of the walk. A single one is kept apart with its row:
  // that is nearly every node of nearly every walk.
  struct Depth {
    bool single = false;
    bool reads_only = false;  // the single state has nothing but its row
    bool whitespace = false;
    bool loops = false;  // whitespace changes nothing but the length of its run
    Config config;
    const Row* row = nullptr;
    ConfigSet set;
  };
  // What a walk needs and nothing keeps: as large as the vocabulary, so a thread has one for all
  // grammars.
  struct Scratch {
    std::vector<uint32_t> found;
    std::vector<uint64_t> touched;
    std::vector<Depth> levels;
  };
  // An entry to apply, with the stacks below its last frame.
  struct Level {
    uint32_t entry;
    StackRef stack;
    std::vector<StackRef> more;  // stacks still to be joined
  };

  bool apply(std::vector<Level> now, Arena& arena, std::span<uint32_t> row, bool& blank, bool walk,
             std::vector<uint32_t>& unsure);
  void read_to(uint32_t node, std::span<const Config> closed, Arena& arena,
               std::span<uint32_t> row);
  void read_below(uint32_t node, ConfigSet& set, Arena& arena, std::span<uint32_t> row);
  void refused_below(uint32_t node, Target at, Arena& arena, std::vector<uint32_t>& out);
  // `narrowed`: a value was repeated on the way to the node.
  void refused_after(uint32_t node, const ConfigSet& closed, bool narrowed, Arena& arena,
                     std::vector<uint32_t>& out);
  void append_key(const Config& config, Arena& arena, KeyWords& key);
  // The entry's id, or kMissing where it needs a walk and none is wanted.
  uint32_t root_entry(const Config& config, Arena& arena, bool walk);
  uint32_t child_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk);
  uint32_t last_entry(uint32_t parent, bool walk);
  static void render(const Entry& entry, std::span<uint32_t> row, bool& blank);
  bool add_children(const Level& level, Arena& arena, std::vector<Level>& out, bool walk);
  StackRef joined(const Level& level, Arena& arena);

  // The walk; results in found_ and entry escapes.
  Config localise(const Config& config, Arena& arena);
  void swap_scratch();
  void begin_walk();
  FreeRun free_run(const Config& config, uint32_t& length);
  FreeText free_text(const Config& config, std::shared_ptr<const Residue>& residue);
  uint32_t known_entry(uint32_t key) const {
    return key < entry_of_key_.size() ? entry_of_key_[key] : kMissing;
  }
  uint32_t finish_walk(uint32_t key, std::vector<Escape> escapes, FreeText text);
  void keep_found(Entry& entry);
  void keep_escapes(std::vector<Escape>& escapes, Entry& entry);
  void take_starts(std::size_t index, ConfigSet& set);
  template <typename Path>
  void follow(Path path, uint32_t node, uint32_t base, std::vector<Escape>& escapes);
  bool follow_spaces(const Depth& depth, uint32_t node, uint32_t base,
                     std::vector<Escape>& escapes);
  bool follow_quoted(const Depth& depth, uint32_t node, std::vector<Escape>& escapes);
  // All texts below the node are a free run of the single configuration's state.
  bool runs_free(uint32_t node, const Depth& depth);
  bool step_single(const Depth& from, uint32_t node, Depth& to);
  bool enter(uint32_t node, ConfigSet& set, std::vector<Escape>& escapes);
  bool loop(const Depth& from, Depth& to);
  bool loops(const ConfigSet& set, bool alone) const;
  void settle(Depth& depth, bool alone);
  void add_token_symbols(StateId state);
  void allow(uint32_t token) {
    found_[token / 32] |= 1U << token % 32;
    touched_[token / 2048] |= uint64_t{1} << token / 32 % 64;
  }

  static constexpr uint32_t kMissing = kNone;

  const Ir& ir_;
  const Vocabulary& vocabulary_;
  Store& store_;
  RulesMachine& rules_;
  Runner runner_;
  WayOut way_out_;

  // (node, index among the sets of the entry)... Entries that return at the same nodes share what
  // follows them if their callers do the same there, whatever the sets are.
  WordInterner escape_lists_;
  WordInterner keys_;  // tag 0: root entries; tag n + 1: what follows escape list n
  std::vector<uint32_t> entry_of_key_;
  StablePool<Entry> entries_;
  std::unordered_set<const void*> texts_;  // of all entries
  MaskCounters counters_;

  // Scratch of one look-up.
  KeyWords key_words_;
  std::vector<Config> after_;

  // Scratch of one walk, empty between walks.
  std::unique_ptr<Arena> arena_;
  std::vector<uint32_t> found_;
  std::vector<uint64_t> touched_;  // a bit for each word of found_ that may not be 0
  std::vector<Depth> levels_;
  // Scratch that stays.
  std::vector<Start> starts_;  // by node
  std::vector<bool> marked_;   // stack nodes, all false between calls
  std::vector<SetId> returned_;
  std::vector<uint32_t> unsure_;
};

}  // namespace maskwright

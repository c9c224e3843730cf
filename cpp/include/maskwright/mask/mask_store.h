// Token masks composed from what a token needs to read.
//
// One walk of the token trie from a frame state decides every token that ends inside the frame (and
// inside frames it calls), and finds the *escapes*: trie nodes at which the frame may have
// returned. Such an entry needs no knowledge of the stack. Escapes are continued from what the
// caller on the stack does after the return, in a child entry keyed by that return state, and so
// on: a tree of entries, only as deep as some token really pops. The mask of a configuration is the
// union along its path; the mask of a set of configurations is the union of theirs. The walk itself
// is mask_walk.h.
//
// Keys hold what Family::mask_key() says matters for texts of at most max_advance bytes, so
// counters far from their bounds share entries, and those of repeats as far as a walk has counted
// up (mask_store_counts.cpp). A state that reads free text takes the words of the text as one
// bitmap and walks the residue only (trie/token_classes.h). What follows equal escapes is one
// entry, wherever the escapes come from. What families leave out of keys although it decides is put
// right at the end: a *guarded* configuration, or a *suspect*, refuses some trie nodes that its
// entries allow (a short walk, each time), and nodes where a walk was *unsure* are read each time.
//
// What a walk finds is taken from and given to the masks that a compiler's grammars share
// (shared_masks.h), where families can say what decides it in words of no grammar.
//
// Where a text has very many ways to be read, as in a rule that calls itself in a counted repeat,
// no two stacks may be alike, and a mask would take an entry for each way through them. So a mask
// is composed for as long as its walks take so much work; else all tokens are read as a matcher
// would.
//
// A repeated mask costs a few look-ups and copies; a new one a walk over the part of the trie that
// the state can read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "maskwright/automata/run.h"
#include "maskwright/automata/way_out.h"
#include "maskwright/mask/shared_masks.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

struct MaskCounters {
  uint64_t cold_walks = 0;     // trie walks
  uint64_t visited_nodes = 0;  // trie nodes they looked at
  uint64_t entries = 0;        // masks held
  uint64_t shared = 0;         // of those: masks that other walks had found
  uint64_t read_masks = 0;     // masks that were read and not composed
  uint64_t memory_bytes = 0;   // of the entries, without what is shared
};

class MaskWalk;

class MaskStore {
 public:
  // `shared`: null or of the same vocabulary.
  MaskStore(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules,
            std::shared_ptr<SharedMasks> shared);
  ~MaskStore();

  // Sets the bits of all tokens that text or token symbols allow after the closed configurations;
  // clears all others. `row` has vocabulary.mask_words() words. With `walk` false it returns false,
  // the row undefined, where a trie walk would be needed.
  bool fill(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row, bool walk);

  enum class Composition : uint8_t { kCold, kOwn, kShared };
  // kShared: the mask that fill() writes is decided by `key`, which stays good. kOwn: it depends on
  // more than entries. kCold (only with `walk` false): that takes a trie walk to tell.
  Composition compose(std::span<const Config> closed, Arena& arena, std::vector<uint32_t>& key,
                      bool walk);

  // What another MaskStore of the same grammar could take instead of a walk. `start`: where its
  // texts begin.
  StorableMasks storable(const Config& start);
  // The mask at the start of a text, if it was stored with the grammar; else null.
  const std::shared_ptr<const StartMask>& start_mask() const { return start_mask_; }
  // To be called before the first matcher is made.
  void use_start_mask(std::shared_ptr<const StartMask> mask) { start_mask_ = std::move(mask); }

  const std::shared_ptr<SharedMasks>& shared() const { return shared_; }
  const MaskCounters& counters() const { return counters_; }
  // Takes constant time.
  std::size_t memory_bytes() const;

 private:
  // How an entry's walk started, if that can be told later: for masks that are stored.
  struct Origin {
    uint32_t tag;      // SharedTag
    uint32_t escapes;  // of the parent, if it has one
    std::vector<Config> configs;
    std::size_t memory_bytes() const { return heap_block(sizeof(*this)) + heap_bytes(configs); }
  };
  // The mask is the union of the first three.
  struct Entry {
    const TokenClasses::Bitmap* text = nullptr;
    const TokenClasses::Bitmap* dense = nullptr;
    std::span<const uint32_t> ids;
    std::span<const uint32_t> unsure;  // trie nodes whose tokens are not decided here
    uint32_t escapes = 0;              // where the frame may have returned, by node (escape_lists_)
    std::vector<SetId> sets;           // the distinct sets that it returned there
    SharedMaskRef mask;                // has all these
    std::unique_ptr<Origin> origin;    // where the mask has no key
  };
  // An entry to apply, with the stacks below its last frame.
  struct Level {
    uint32_t entry;
    StackRef stack;
    std::vector<StackRef> more;  // stacks still to be joined
  };

  bool reads_nothing(const Config& config);
  template <typename Visit>
  bool each_entry(std::vector<Level> now, Arena& arena, bool walk, Visit visit);
  bool apply(std::vector<Level> now, Arena& arena, std::span<uint32_t> row, bool& blank, bool walk,
             std::vector<uint32_t>& unsure);
  bool find_refused(const Config& config, Arena& arena, std::vector<uint32_t>& out);
  bool apply_but(Level level, std::span<const uint32_t> refused, Arena& arena,
                 std::span<uint32_t> row, bool& blank, bool walk, std::vector<uint32_t>& unsure);
  void read_unsure(std::span<const uint32_t> nodes, std::span<const Config> closed, Arena& arena,
                   std::span<uint32_t> row);
  void scan_behind(std::span<const ConfigSet> after, std::span<const Config> closed, uint8_t byte,
                   Arena& arena, ConfigSet& set);
  // Of one mask: more is not composed.
  static constexpr uint64_t kMaxWork = 100000;  // besides some for each node of the trie
  static constexpr uint64_t kMaxWorkOfNode = 16;
  static constexpr uint32_t kMaxSteps = 16384;  // from an entry to one that follows it

  void begin_mask();
  bool may_walk() const;
  bool compose_mask(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row,
                    bool walk);
  void read_all(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row);
  void read_children(uint32_t node, const ConfigSet& set, Arena& arena, std::span<uint32_t> row);
  void read_below(uint32_t node, ConfigSet& set, Arena& arena, std::span<uint32_t> row);
  void refused_below(uint32_t node, Target at, Arena& arena, std::vector<uint32_t>& out);
  // `narrowed`: a value was repeated on the way to the node.
  void refused_after(uint32_t node, const ConfigSet& closed, bool narrowed, Arena& arena,
                     std::vector<uint32_t>& out);
  void append_key(const Config& config, Arena& arena, KeyWords& key);
  bool is_alone(const Config& config, const Arena& arena) const;
  // The entry's id, or kMissing where it needs a walk and none is wanted.
  uint32_t root_entry(const Config& config, Arena& arena, bool walk);
  uint32_t child_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk);
  uint32_t resumed_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk);
  uint32_t last_entry(uint32_t parent, bool walk);
  uint32_t far_entry(std::span<const Config> configs, uint32_t escapes, Arena& arena);
  void keep_far(uint32_t entry);
  static void render(const Entry& entry, std::span<uint32_t> row, bool& blank);
  bool add_children(const Level& level, Arena& arena, std::vector<Level>& out, bool walk);
  static StackRef joined(Level& level, Arena& arena);

  uint32_t known_entry(uint32_t key) const {
    return key < entry_of_key_.size() ? entry_of_key_[key] : kMissing;
  }
  // For walks from local configurations, after MaskWalk::begin(). The key begins with a tag.
  // `numbers`: for keys of rules; null: rules have none.
  bool append_shared_key(const Config& local, const RulesMachine::NormalNumbers* numbers);
  bool begin_child_key(uint32_t tag, uint32_t escapes);
  const SharedMask* shared_list(uint32_t escapes);
  // Instead of a walk; kMissing if nobody has walked.
  uint32_t take_shared(uint32_t key);
  bool names_callees(std::span<const uint32_t> sets) const;
  void set_entry(uint32_t key, uint32_t id);
  uint32_t add_entry(uint32_t key, SharedMaskRef mask, uint32_t escapes, std::vector<SetId> sets);
  // Keeps what the walk found as the entry of a key. `shared`: under shared_key_, too.
  uint32_t keep(uint32_t key, bool shared, Origin origin);
  std::shared_ptr<const StartMask> find_start_mask(const Config& start);
  StorableMasks storable_entries();
  bool is_storable(const Config& local) const;
  void add_storable(const Entry& entry, const RulesMachine::NormalNumbers& numbers,
                    StorableMasks& out, std::vector<uint32_t>& indices);
  uint32_t list_index(uint32_t escapes, StorableMasks& out, std::vector<uint32_t>& indices) const;
  bool number_sets(std::span<const SetId> sets, std::vector<uint32_t>& numbered) const;

  static constexpr uint32_t kMissing = kNone;

  const Vocabulary& vocabulary_;
  Store& store_;
  RulesMachine& rules_;
  Runner runner_;
  WayOut way_out_;
  std::unique_ptr<MaskWalk> walk_;

  // (node, index among the sets of the entry)..., free texts. Entries that return at the same nodes
  // share what follows them if their callers do the same there, whatever the sets are.
  WordInterner escape_lists_;
  WordInterner keys_;  // tag 0: root entries; tag n + 1: what follows escape list n; others:
                       // what follows an entry in a caller
  std::vector<uint32_t> entry_of_key_;
  // Walks in which a count went up by `rise` and met no maximum.
  struct Far {
    uint32_t entry, rise;
    std::size_t memory_bytes() const { return 0; }
  };
  WordInterner far_keys_;
  std::unordered_map<uint32_t, Far> far_;  // by key
  uint32_t far_key_ = kMissing;            // of the walk under way
  uint32_t far_count_ = 0;                 // where it began
  StablePool<Entry> entries_;
  std::unordered_set<const void*> texts_;  // of all entries that are not shared
  std::shared_ptr<SharedMasks> shared_;
  // For keys of rules, where masks are stored with the grammar; null elsewhere.
  std::unique_ptr<const RulesMachine::NormalNumbers> numbers_;
  std::shared_ptr<const StartMask> start_mask_;
  std::vector<SharedMaskRef> shared_lists_;             // by escape list; null: not asked for
  std::unordered_map<uint64_t, uint32_t> local_lists_;  // by number of the shared one
  MaskCounters counters_;
  uint32_t steps_ = 0;        // of the mask that is being composed
  uint64_t work_before_ = 0;  // it

  // Scratch of one look-up.
  KeyWords key_words_;
  SharedKey shared_key_;
  std::vector<Config> after_;
};

}  // namespace maskwright

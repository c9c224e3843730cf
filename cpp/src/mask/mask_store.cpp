#include "maskwright/mask/mask_store.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "mask/mask_walk.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

// In keys: no state's id, and no key of a child is that short.
constexpr uint32_t kNothingBelow = 0;

// The first word of shared keys: how a walk starts. 0 is for escape lists (shared_masks.cpp).
enum SharedTag : uint32_t { kFrameTag = 1, kAloneTag, kChildTag, kLastTag };

// Behind a shared pointer.
std::size_t bitmap_bytes(const TokenClasses::Bitmap& bits) {
  return heap_block(sizeof(bits) + 16) + heap_bytes(bits);
}

// Lists of escapes in words: node and number of the set for each; behind them, for each free text,
// kFreeEscape, the number of the set, the classes, and the nodes that the text comes from.
constexpr uint32_t kFreeEscape = kNone;
constexpr std::size_t kFreeHead = 13;  // words before the nodes

void append_class(const TextClass& text, KeyWords& words) {
  for (const uint64_t ascii : text.ascii) {
    words.push_back(static_cast<uint32_t>(ascii));
    words.push_back(static_cast<uint32_t>(ascii >> 32));
  }
  words.push_back(text.beyond_ascii ? 1 : 0);
}

// Of append_class().
TextClass read_class(std::span<const uint32_t> words) {
  TextClass text;
  text.ascii = {words[0] | uint64_t{words[1]} << 32, words[2] | uint64_t{words[3]} << 32};
  text.beyond_ascii = words[4] != 0;
  return text;
}

void append_free_escape(const MaskWalk::FreeText& at, uint32_t set, KeyWords& words) {
  words.push_back(kFreeEscape);
  words.push_back(set);
  append_class(at.text, words);
  append_class(at.allowed, words);
  words.push_back(static_cast<uint32_t>(at.from.size()));
  words.insert(words.end(), at.from.begin(), at.from.end());
}

template <typename Plain, typename Free>
void each_escape(std::span<const uint32_t> words, Plain plain, Free free) {
  while (!words.empty() && words[0] != kFreeEscape) {
    plain(words[0], words[1]);
    words = words.subspan(2);
  }
  while (!words.empty()) {
    MaskWalk::FreeText at;
    at.text = read_class(words.subspan(2));
    at.allowed = read_class(words.subspan(7));
    const auto from = words.subspan(kFreeHead, words[kFreeHead - 1]);
    at.from.assign(from.begin(), from.end());
    free(std::move(at), words[1]);
    words = words.subspan(kFreeHead + from.size());
  }
}

}  // namespace

MaskStore::MaskStore(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules,
                     std::shared_ptr<SharedMasks> shared)
    : vocabulary_(vocabulary),
      store_(store),
      rules_(rules),
      runner_(store, rules),
      way_out_(store, runner_),
      walk_(std::make_unique<MaskWalk>(ir, vocabulary, store, rules)),
      shared_(std::move(shared)) {}

MaskStore::~MaskStore() = default;

bool MaskStore::fill(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row,
                     bool walk) {
  bool blank = true;
  std::vector<uint32_t> unsure;
  std::vector<Level> now;
  std::vector<uint32_t> refused;
  for (const Config& config : closed) {
    const State& state = store_.state(config.state);
    if (reads_nothing(config)) continue;
    const uint32_t entry = root_entry(config, arena, walk);
    if (entry == kMissing) return false;
    if ((state.flags & (kGuarded | kSuspects)) != 0) {
      refused.clear();
      if (!find_refused(config, arena, refused)) continue;
      if (!refused.empty()) {
        if (!apply_but({entry, config.stack, {}}, refused, arena, row, blank, walk, unsure)) {
          return false;
        }
        continue;
      }
    }
    now.push_back({entry, config.stack, {}});
  }
  if (!apply(std::move(now), arena, row, blank, walk, unsure)) return false;
  if (blank) std::ranges::fill(row, 0);
  make_set(unsure);
  for (const uint32_t node : unsure) read_to(node, closed, arena, row);
  return true;
}

bool MaskStore::reads_nothing(const Config& config) {
  const State& state = store_.state(config.state);
  if (state.family == FamilyId::kDone) return true;
  return (state.flags & kWhitespace) == 0 && store_.row(config.state).edges.empty() &&
         (state.family != FamilyId::kRules || rules_.token_edges(config.state).empty());
}

MaskStore::Composition MaskStore::compose(std::span<const Config> closed, Arena& arena,
                                          std::vector<uint32_t>& key, bool walk) {
  key.clear();
  std::vector<Level> now;
  std::vector<uint32_t> refused;
  for (const Config& config : closed) {
    if (reads_nothing(config)) continue;
    const uint32_t entry = root_entry(config, arena, walk);
    if (entry == kMissing) return Composition::kCold;
    if ((store_.state(config.state).flags & (kGuarded | kSuspects)) != 0) {
      if (!find_refused(config, arena, refused)) continue;
      if (!refused.empty()) return Composition::kOwn;
    }
    now.push_back({entry, config.stack, {}});
  }
  bool decided = true;
  const bool known = each_entry(std::move(now), arena, walk, [&](uint32_t entry) {
    key.push_back(entry);
    decided = decided && entries_[entry].unsure.empty();
  });
  if (!known) return Composition::kCold;
  make_set(key);
  key.push_back(kMissing);  // no entry's id: more may follow
  return decided ? Composition::kShared : Composition::kOwn;
}

// The nodes that a guarded configuration or a suspect refuses though its entries may allow them.
// False if it can't be completed at all.
bool MaskStore::find_refused(const Config& config, Arena& arena, std::vector<uint32_t>& out) {
  if ((store_.state(config.state).flags & kSuspects) == 0) {
    refused_below(0, {config.state, config.reg}, arena, out);
    return true;
  }
  ConfigSet own;
  own.add(config, arena);
  if (!way_out_.exists(own, arena)) return false;
  refused_after(0, own, false, arena, out);
  return true;
}

// apply() without the tokens from some nodes on; what other configurations allow stays.
bool MaskStore::apply_but(Level level, std::span<const uint32_t> refused, Arena& arena,
                          std::span<uint32_t> row, bool& blank, bool walk,
                          std::vector<uint32_t>& unsure) {
  std::vector<uint32_t> own(row.size(), 0);
  bool own_blank = false;
  if (!apply({std::move(level)}, arena, own, own_blank, walk, unsure)) return false;
  for (const uint32_t node : refused) {
    for (const uint32_t token : vocabulary_.tokens_from(node)) {
      own[token / 32] &= ~(1U << token % 32);
    }
  }
  if (blank) std::ranges::fill(row, 0);
  blank = false;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] |= own[i];
  return true;
}

// Reads the tokens from a node on as the matcher would, and adds those that it accepts.
void MaskStore::read_to(uint32_t node, std::span<const Config> closed, Arena& arena,
                        std::span<uint32_t> row) {
  const std::string_view text = vocabulary_.text(vocabulary_.tokens_from(node)[0]);
  const uint32_t depth = vocabulary_.depth(node);
  ConfigSet set;
  ConfigSet next;
  for (uint32_t i = 0; i < depth; ++i) {
    next.clear();
    runner_.scan(i == 0 ? closed : set.configs(), static_cast<uint8_t>(text[i]), arena, next);
    std::swap(set, next);
    if (i + 1 < depth) runner_.close(set, arena, nullptr);
  }
  read_below(node, set, arena, row);
}

void MaskStore::read_below(uint32_t node, ConfigSet& set, Arena& arena, std::span<uint32_t> row) {
  if (set.empty()) return;
  const bool ends = !vocabulary_.tokens_at(node).empty();
  if (ends && !way_out_.exists(set, arena)) return;
  for (const uint32_t token : vocabulary_.tokens_at(node)) row[token / 32] |= 1U << token % 32;
  if (!vocabulary_.has_children(node)) return;
  runner_.close(set, arena, nullptr);
  ConfigSet next;
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    next.clear();
    runner_.scan(set.configs(), vocabulary_.byte(child), arena, next);
    read_below(child, next, arena, row);
  }
}

// Visits the entries and what follows them. False where a walk would be needed.
template <typename Visit>
bool MaskStore::each_entry(std::vector<Level> now, Arena& arena, bool walk, Visit visit) {
  while (!now.empty()) {
    std::vector<Level> next;
    for (Level& level : now) {
      level.stack = joined(level, arena);
      visit(level.entry);
      if (!entries_[level.entry].sets.empty() && !add_children(level, arena, next, walk)) {
        return false;
      }
    }
    now = std::move(next);
  }
  return true;
}

// Adds the masks of the entries and of what follows them. `blank`: nothing has been written yet.
bool MaskStore::apply(std::vector<Level> now, Arena& arena, std::span<uint32_t> row, bool& blank,
                      bool walk, std::vector<uint32_t>& unsure) {
  return each_entry(std::move(now), arena, walk, [&](uint32_t id) {
    const Entry& entry = entries_[id];
    render(entry, row, blank);
    unsure.insert(unsure.end(), entry.unsure.begin(), entry.unsure.end());
  });
}

// The nodes below that a guarded configuration refuses though its entries may allow them.
void MaskStore::refused_below(uint32_t node, Target at, Arena& arena, std::vector<uint32_t>& out) {
  const FamilyId id = store_.state(at.state).family;
  Family& family = store_.family(id);
  Guard guard;
  if (!family.guard(at.state, at.reg, arena.regs(), guard)) return;
  const Row& row = store_.row(at.state);
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    const uint8_t byte = vocabulary_.byte(child);
    if (!guard.next[byte] || (byte != guard.refused && !vocabulary_.leads_to_quote(child)))
      continue;
    const Edge* edge = row.find(byte);
    if (edge == nullptr) continue;
    Target to{edge->target, at.reg};
    if (edge->op == Op::kDynamic) {
      to = family.scan(at.state, at.reg, byte, edge->target, arena.regs());
    }
    if (to.state == kDead) {
      if (byte == guard.refused) out.push_back(child);
    } else if ((store_.state(to.state).flags & kGuarded) != 0 &&
               store_.state(to.state).family == id) {
      refused_below(child, to, arena, out);
    }
  }
}

// The nodes below that the configurations refuse though their entries may allow them. Entries take
// every value that ends for a new one. So a text is followed while it can spell a suspect, and to
// the end of all tokens once it has repeated a value: what was allowed only to an array that is out
// of the running then is refused.
void MaskStore::refused_after(uint32_t node, const ConfigSet& closed, bool narrowed, Arena& arena,
                              std::vector<uint32_t>& out) {
  std::bitset<256> next;
  for (const Config& config : closed.configs()) way_out_.suspect(config, arena, next);
  if (next.none() && !narrowed) return;
  const auto reads = [&](uint8_t byte) {
    return std::ranges::any_of(closed.configs(), [&](const Config& config) {
      return (store_.state(config.state).flags & kWhitespace) != 0 ||
             store_.row(config.state).find(byte) != nullptr;
    });
  };
  ConfigSet after;
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    const uint8_t byte = vocabulary_.byte(child);
    // Behind a byte the mask may go on from a number that ends there, if its value is none that the
    // array has: what no configuration reads then is refused, and not only absent.
    if ((!next[byte] && !narrowed) || (node == 0 && !reads(byte))) continue;
    after.clear();
    arena.regs().take_repeated();
    runner_.scan(closed.configs(), byte, arena, after);
    const bool ends = !vocabulary_.tokens_at(child).empty();
    if (after.empty() || (ends && !way_out_.exists(after, arena))) {
      out.push_back(child);
    } else if (vocabulary_.has_children(child)) {
      runner_.close(after, arena, nullptr);
      refused_after(child, after, narrowed || arena.regs().take_repeated(), arena, out);
    }
  }
}

void MaskStore::render(const Entry& entry, std::span<uint32_t> row, bool& blank) {
  for (const TokenClasses::Bitmap* text : {entry.text, entry.dense}) {
    if (text == nullptr) continue;
    const TokenClasses::Bitmap& bits = *text;
    if (blank) {
      std::ranges::copy(bits, row.begin());
    } else {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] |= bits[i];
    }
    blank = false;
  }
  if (entry.ids.empty()) return;
  if (blank) std::ranges::fill(row, 0);
  blank = false;
  for (const uint32_t token : entry.ids) row[token / 32] |= 1U << token % 32;
}

bool MaskStore::add_children(const Level& level, Arena& arena, std::vector<Level>& out, bool walk) {
  // What is interned in the arena on the way may move the nodes of a reference.
  for (std::size_t i = 0; i < arena.nodes(level.stack).size(); ++i) {
    const uint32_t id = arena.nodes(level.stack)[i];
    const Arena::Node node = id == kBottom ? Arena::Node{} : arena.node(id);
    const uint32_t child =
        id == kBottom ? last_entry(level.entry, walk) : child_entry(level.entry, node, arena, walk);
    if (child == kMissing) return false;
    const auto same = std::ranges::find(out, child, &Level::entry);
    if (same == out.end()) {
      out.push_back({child, node.below, {}});
    } else if (same->stack != node.below) {
      same->more.push_back(node.below);
    }
  }
  return true;
}

// The stacks of a level as one. Thousands of nodes may lie below an ambiguous text, most of them
// several times, so they are marked rather than joined pair by pair.
StackRef MaskStore::joined(const Level& level, Arena& arena) {
  if (level.more.empty()) return level.stack;
  std::vector<uint32_t> all;
  const auto gather = [&](StackRef stack) {
    for (const uint32_t id : arena.nodes(stack)) {
      if (id >= marked_.size()) marked_.resize(id + 1);
      if (!marked_[id]) all.push_back(id);
      marked_[id] = true;
    }
  };
  gather(level.stack);
  for (const StackRef stack : level.more) gather(stack);
  for (const uint32_t id : all) marked_[id] = false;
  std::ranges::sort(all);
  return arena.reference(all);
}

// --- entries ------------------------------------------------------------------------------------

void MaskStore::append_key(const Config& config, Arena& arena, KeyWords& key) {
  const State& state = store_.state(config.state);
  if ((state.flags & kHasRegister) != 0) {
    store_.family(state.family).mask_key(config.state, config.reg, arena.regs(), key);
  } else {
    key.push_back(config.state);
  }
  if ((state.flags & kWhitespace) != 0) {
    key.push_back(std::min(state.whitespace_limit - config.run, store_.max_advance()));
  }
}

// A frame of the rules behind which nothing comes: masks with and without what they may return
// would differ in most tokens of a free text.
bool MaskStore::is_alone(const Config& config, const Arena& arena) const {
  const FamilyId family = store_.state(config.state).family;
  if (family != FamilyId::kRules && family != FamilyId::kRepeat) return false;
  return std::ranges::all_of(arena.nodes(config.stack), [&](uint32_t id) {
    if (id == kBottom) return true;
    const Arena::Node node = arena.node(id);
    return node.below == kBottom && store_.state(node.state).family == FamilyId::kTail;
  });
}

uint32_t MaskStore::root_entry(const Config& config, Arena& arena, bool walk) {
  const bool alone = is_alone(config, arena);
  key_words_.clear();
  if (alone) key_words_.push_back(kNothingBelow);
  append_key(config, arena, key_words_);
  const uint32_t key = keys_.intern(key_words_, 0).id;
  if (const uint32_t known = known_entry(key); known != kMissing || !walk) return known;
  walk_->begin();
  const Config local = walk_->localise(config, arena);
  shared_key_.clear();
  shared_key_.add(alone ? kAloneTag : kFrameTag);
  const bool shared = append_shared_key(local);
  if (shared) {
    if (const uint32_t taken = take_shared(key); taken != kMissing) return taken;
  }
  walk_->walk_frame(local, alone);
  return keep(key, shared);
}

uint32_t MaskStore::child_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk) {
  std::vector<Config>& after = after_;
  KeyWords& words = key_words_;
  after.clear();
  words.clear();
  for (const SetId set : entries_[parent].sets) {
    Config config = runner_.resume(node, set, 0, arena);
    config.stack = kBottom;
    after.push_back(config);
    const std::size_t length_at = words.size();
    words.push_back(0);
    if (config.state != kDead) append_key(config, arena, words);
    words[length_at] = static_cast<uint32_t>(words.size() - length_at);
  }
  const uint32_t escapes_id = entries_[parent].escapes;
  const uint32_t key = keys_.intern(words, escapes_id + 1).id;
  if (const uint32_t known = known_entry(key); known != kMissing || !walk) return known;
  walk_->begin();
  bool shared = begin_child_key(kChildTag, escapes_id);
  for (Config& config : after) {
    if (config.state != kDead) config = walk_->localise(config, arena);
    shared = shared && append_shared_key(config);
  }
  if (shared) {
    if (const uint32_t taken = take_shared(key); taken != kMissing) return taken;
  }
  each_escape(
      escape_lists_.get(escapes_id),
      [&](uint32_t at, uint32_t set) {
        if (after[set].state != kDead) walk_->start_at(at, after[set]);
      },
      [&](MaskWalk::FreeText at, uint32_t set) {
        if (after[set].state != kDead) walk_->start_in(std::move(at), after[set]);
      });
  walk_->walk_starts();
  return keep(key, shared);
}

// Below the root frame nothing follows: the tokens that end exactly where it returned. Those of
// free texts are in the mask, since the texts go on.
uint32_t MaskStore::last_entry(uint32_t parent, bool walk) {
  const uint32_t escapes_id = entries_[parent].escapes;
  const uint32_t key = keys_.intern({&kNothingBelow, 1}, escapes_id + 1).id;
  if (const uint32_t known = known_entry(key); known != kMissing || !walk) return known;
  walk_->begin();
  const bool shared = begin_child_key(kLastTag, escapes_id);
  if (shared) {
    if (const uint32_t taken = take_shared(key); taken != kMissing) return taken;
  }
  each_escape(
      escape_lists_.get(escapes_id),
      [&](uint32_t at, uint32_t) {
        for (const uint32_t token : vocabulary_.tokens_at(at)) walk_->allow(token);
      },
      [](const MaskWalk::FreeText&, uint32_t) {});
  return keep(key, shared);
}

// --- what is kept --------------------------------------------------------------------------------

uint32_t MaskStore::keep(uint32_t key, bool shared) {
  MaskWalk::Result found = walk_->take();
  ++counters_.cold_walks;
  counters_.visited_nodes = walk_->visited_nodes();
  std::vector<SetId> sets;
  KeyWords words;
  words.reserve(2 * found.escapes.size());
  std::unordered_map<SetId, uint32_t> index;
  uint32_t last = 0;
  const auto number = [&](SetId returned) {
    if (sets.empty() || sets[last] != returned) {
      const auto [at, added] = index.try_emplace(returned, sets.size());
      if (added) sets.push_back(returned);
      last = at->second;
    }
    return last;
  };
  for (const auto& [node, returned] : found.escapes) {
    words.push_back(node);
    words.push_back(number(returned));
  }
  for (const auto& [at, returned] : found.free_escapes) {
    append_free_escape(at, number(returned), words);
  }
  const uint32_t escapes = escape_lists_.intern(words).id;
  auto mask = std::make_shared<SharedMask>();
  mask->text = std::move(found.text);
  mask->dense = std::move(found.dense);
  mask->ids = std::move(found.ids);
  mask->unsure = std::move(found.unsure);
  SharedMaskRef kept;
  if (shared && shared_list(escapes) != nullptr && number_sets(sets, mask->sets)) {
    const auto key_words = shared_key_.words();
    mask->key.assign(key_words.begin(), key_words.end());
    mask->escapes = shared_lists_[escapes];
    kept = shared_->keep(mask);
  }
  if (kept == nullptr) {
    mask->key = {};
    mask->sets = {};
    counters_.memory_bytes += mask->memory_bytes();
    if (mask->text != nullptr && texts_.insert(mask->text.get()).second) {
      counters_.memory_bytes += bitmap_bytes(*mask->text);
    }
    kept = std::move(mask);
  }
  return add_entry(key, std::move(kept), escapes, std::move(sets));
}

uint32_t MaskStore::add_entry(uint32_t key, SharedMaskRef mask, uint32_t escapes,
                              std::vector<SetId> sets) {
  const uint32_t id = entries_.grow();
  Entry& entry = entries_[id];
  entry.text = mask->text.get();
  entry.dense = mask->dense.get();
  entry.ids = mask->ids;
  entry.unsure = mask->unsure;
  entry.escapes = escapes;
  entry.sets = std::move(sets);
  entry.mask = std::move(mask);
  if (key >= entry_of_key_.size()) entry_of_key_.resize(keys_.size(), kMissing);
  entry_of_key_[key] = id;
  ++counters_.entries;
  counters_.memory_bytes += sizeof(Entry) + heap_bytes(entry.sets);
  return id;
}

std::size_t MaskStore::memory_bytes() const {
  const std::size_t unused = entries_.chunk_bytes() - entries_.size() * sizeof(Entry);
  return counters_.memory_bytes + unused +
         heap_bytes(escape_lists_, keys_, entry_of_key_, runner_) + heap::hash_table(texts_) +
         heap_block(shared_lists_.capacity() * sizeof(SharedMaskRef)) +
         heap_bytes(key_words_, after_, marked_, shared_key_, local_lists_) + walk_->memory_bytes();
}

}  // namespace maskwright

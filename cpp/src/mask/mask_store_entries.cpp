// The entries of a mask store: their keys, and the walks that make them.

#include <algorithm>
#include <unordered_map>

#include "mask/escape_words.h"
#include "mask/mask_walk.h"
#include "maskwright/mask/mask_store.h"

namespace maskwright {

namespace {

// The tag of keys of callers, less the entry that they follow: no escape list's.
constexpr uint32_t kCallerTag = kNone;

// In keys: no state's id, and no key of a child is that short.
constexpr uint32_t kNothingBelow = 0;

// Behind a shared pointer.
std::size_t bitmap_bytes(const TokenClasses::Bitmap& bits) {
  return heap_block(sizeof(bits) + 16) + heap_bytes(bits);
}

}  // namespace

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
  if (!may_walk()) return kMissing;
  walk_->begin();
  const Config local = walk_->localise(config, arena);
  shared_key_.clear();
  shared_key_.add(alone ? kAloneTag : kFrameTag);
  const bool shared = shared_ != nullptr && append_shared_key(local, numbers_.get());
  if (shared) {
    if (const uint32_t taken = take_shared(key); taken != kMissing) return taken;
  }
  walk_->walk_frame(local, alone);
  return keep(key, shared, {alone ? kAloneTag : kFrameTag, kNone, {local}});
}

// What follows an entry in a caller: known by the caller alone, so that what the frame may have
// returned is not handed to it each time.
uint32_t MaskStore::child_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk) {
  key_words_.clear();
  const State& caller = store_.state(node.state);
  if ((caller.flags & kHasRegister) != 0) {
    store_.family(caller.family).caller_key(node.state, node.reg, arena.regs(), key_words_);
  } else {
    key_words_.push_back(node.state);
  }
  const uint32_t key = keys_.intern(key_words_, kCallerTag - parent).id;
  uint32_t child = known_entry(key);
  if (child == kMissing) {
    child = resumed_entry(parent, node, arena, walk);
    if (child != kMissing) set_entry(key, child);
  }
  return child;
}

// The same by what becomes of the caller, which callers that differ have in common.
uint32_t MaskStore::resumed_entry(uint32_t parent, const Arena::Node& node, Arena& arena,
                                  bool walk) {
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
  if (const uint32_t known = known_entry(key); known != kMissing) return known;
  if (const uint32_t far = far_entry(after, escapes_id, arena); far != kMissing) {
    set_entry(key, far);
    return far;
  }
  if (!walk || !may_walk()) return kMissing;
  walk_->begin();
  bool shared = begin_child_key(kChildTag, escapes_id);
  for (Config& config : after) {
    if (config.state != kDead) config = walk_->localise(config, arena);
    shared = shared && append_shared_key(config, numbers_.get());
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
  const uint32_t entry = keep(key, shared, {kChildTag, escapes_id, after});
  keep_far(entry);
  return entry;
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
  return keep(key, shared, {kLastTag, escapes_id, {}});
}

// --- what is kept --------------------------------------------------------------------------------

uint32_t MaskStore::keep(uint32_t key, bool shared, Origin origin) {
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
  const bool has_key = !kept->key.empty();
  const uint32_t id = add_entry(key, std::move(kept), escapes, std::move(sets));
  if (!has_key && numbers_ == nullptr &&
      std::ranges::all_of(origin.configs, [&](const Config& c) { return is_storable(c); })) {
    entries_[id].origin = std::make_unique<Origin>(std::move(origin));
    counters_.memory_bytes += entries_[id].origin->memory_bytes();
  }
  return id;
}

void MaskStore::set_entry(uint32_t key, uint32_t id) {
  if (key >= entry_of_key_.size()) entry_of_key_.resize(keys_.size(), kMissing);
  entry_of_key_[key] = id;
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
  set_entry(key, id);
  ++counters_.entries;
  counters_.memory_bytes += sizeof(Entry) + heap_bytes(entry.sets);
  return id;
}

std::size_t MaskStore::memory_bytes() const {
  const std::size_t unused = entries_.chunk_bytes() - entries_.size() * sizeof(Entry);
  const std::size_t own = shared_ != nullptr && shared_->belongs_to_one() ? shared_->bytes() : 0;
  const std::size_t numbers =
      numbers_ == nullptr
          ? 0
          : heap_block(sizeof(*numbers_)) + heap_bytes(numbers_->positions, numbers_->ids);
  const std::size_t start = start_mask_ == nullptr ? 0 : start_mask_->memory_bytes();
  return counters_.memory_bytes + unused + own + numbers + start +
         heap_bytes(escape_lists_, keys_, entry_of_key_, far_keys_, far_, runner_) +
         heap::hash_table(texts_) + heap_block(shared_lists_.capacity() * sizeof(SharedMaskRef)) +
         heap_bytes(key_words_, after_, shared_key_, local_lists_) + walk_->memory_bytes();
}

}  // namespace maskwright

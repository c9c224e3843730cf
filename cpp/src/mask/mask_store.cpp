#include "maskwright/mask/mask_store.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace maskwright {

namespace {

// A state with one of these needs more than its row.
constexpr uint16_t kNotPlain = kAccepts | kCalls | kReturnOnly | kWhitespace;

bool is_done_at_bottom(const Config& config, const Store& store) {
  return config.stack == kBottom && store.state(config.state).family == FamilyId::kDone;
}

}  // namespace

MaskStore::MaskStore(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules)
    : ir_(ir),
      vocabulary_(vocabulary),
      store_(store),
      rules_(rules),
      runner_(store, rules),
      way_out_(store, runner_) {}

bool MaskStore::fill(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row,
                     bool walk) {
  std::ranges::fill(row, 0);
  std::vector<uint32_t> unsure;
  std::vector<Level> now;
  std::vector<uint32_t> refused;
  for (const Config& config : closed) {
    const State& state = store_.state(config.state);
    if (state.family == FamilyId::kDone) continue;
    if ((state.flags & kWhitespace) == 0 && store_.row(config.state).edges.empty() &&
        (state.family != FamilyId::kRules || rules_.token_edges(config.state).empty())) {
      continue;
    }
    const uint32_t entry = root_entry(config, arena, walk);
    if (entry == kMissing) return false;
    if ((state.flags & (kGuarded | kSuspects)) != 0) {
      refused.clear();
      if ((state.flags & kSuspects) != 0) {
        ConfigSet own;
        own.add(config, arena);
        if (!way_out_.exists(own, arena)) continue;
        refused_after(0, own, false, arena, refused);
      } else {
        refused_below(0, {config.state, config.reg}, arena, refused);
      }
      if (!refused.empty()) {
        // What the other configurations allow stays.
        std::vector<uint32_t> own(row.size(), 0);
        if (!apply({{entry, config.stack, {}}}, arena, own, walk, unsure)) return false;
        for (const uint32_t node : refused) {
          for (const uint32_t token : vocabulary_.tokens_from(node)) {
            own[token / 32] &= ~(1U << token % 32);
          }
        }
        for (std::size_t i = 0; i < row.size(); ++i) row[i] |= own[i];
        continue;
      }
    }
    now.push_back({entry, config.stack, {}});
  }
  if (!apply(std::move(now), arena, row, walk, unsure)) return false;
  std::ranges::sort(unsure);
  unsure.erase(std::unique(unsure.begin(), unsure.end()), unsure.end());
  for (const uint32_t node : unsure) read_to(node, closed, arena, row);
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

// Adds the masks of the entries and of what follows them.
bool MaskStore::apply(std::vector<Level> now, Arena& arena, std::span<uint32_t> row, bool walk,
                      std::vector<uint32_t>& unsure) {
  while (!now.empty()) {
    std::vector<Level> next;
    for (Level& level : now) {
      level.stack = joined(level, arena);
      const Entry& entry = entries_[level.entry];
      render(entry, row);
      unsure.insert(unsure.end(), entry.unsure.begin(), entry.unsure.end());
      if (!entry.escapes.empty() && !add_children(level, arena, next, walk)) return false;
    }
    now = std::move(next);
  }
  return true;
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

void MaskStore::render(const Entry& entry, std::span<uint32_t> row) const {
  if (entry.dense) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] |= entry.words[i];
  } else {
    for (const uint32_t token : entry.words) row[token / 32] |= 1U << token % 32;
  }
}

bool MaskStore::add_children(const Level& level, Arena& arena, std::vector<Level>& out, bool walk) {
  const std::vector<uint32_t> nodes(arena.nodes(level.stack).begin(),
                                    arena.nodes(level.stack).end());
  for (const uint32_t id : nodes) {
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

uint32_t MaskStore::root_entry(const Config& config, Arena& arena, bool walk) {
  KeyWords words;
  append_key(config, arena, words);
  const uint32_t key = keys_.intern(words, 0).id;
  if (const auto known = entry_of_key_.find(key); known != entry_of_key_.end()) {
    return known->second;
  }
  if (!walk) return kMissing;
  begin_walk();
  levels_[0].set.clear();
  levels_[0].set.add(localise(config, arena), *arena_);
  settle(levels_[0]);
  std::vector<Escape> escapes;
  if (store_.state(config.state).family == FamilyId::kRules) add_token_symbols(config.state);
  walk_below(0, escapes);
  return finish_walk(key, std::move(escapes));
}

uint32_t MaskStore::child_entry(uint32_t parent, const Arena::Node& node, Arena& arena, bool walk) {
  std::vector<Config> after;
  KeyWords words;
  for (const SetId set : entries_[parent].sets) {
    Config config = runner_.resume(node, set, 0, arena);
    config.stack = kBottom;
    after.push_back(config);
    const std::size_t length_at = words.size();
    words.push_back(0);
    if (config.state != kDead) append_key(config, arena, words);
    words[length_at] = static_cast<uint32_t>(words.size() - length_at);
  }
  const uint32_t key = keys_.intern(words, parent + 1).id;
  if (const auto known = entry_of_key_.find(key); known != entry_of_key_.end()) {
    return known->second;
  }
  if (!walk) return kMissing;
  begin_walk();
  const Entry& from = entries_[parent];
  for (const Escape& escape : from.escapes) {
    const auto index = std::ranges::lower_bound(from.sets, escape.returned) - from.sets.begin();
    const Config& config = after[static_cast<std::size_t>(index)];
    if (config.state == kDead) continue;
    starts_.push_back({escape.node, localise(config, arena), false});
  }
  std::vector<Escape> escapes;
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i].taken) continue;
    const uint32_t root = starts_[i].node;
    levels_[0].set.clear();
    take_starts(i, levels_[0].set);
    if (levels_[0].set.empty()) continue;
    enter(root, levels_[0].set, escapes);
    if (arena_->regs().take_unsure()) unsure_.push_back(root);
    settle(levels_[0]);
    walk_below(root, escapes);
  }
  return finish_walk(key, std::move(escapes));
}

// Adds all that starts at one node; `index` is the first of them.
void MaskStore::take_starts(std::size_t index, ConfigSet& set) {
  const uint32_t node = starts_[index].node;
  for (; index < starts_.size() && starts_[index].node == node; ++index) {
    runner_.add(starts_[index].config, *arena_, set);
    starts_[index].taken = true;
  }
}

// Below the root frame nothing follows: the tokens that end exactly where it returned.
uint32_t MaskStore::last_entry(uint32_t parent, bool walk) {
  static constexpr uint32_t kNothingBelow = 0;  // no child key is that short
  const uint32_t key = keys_.intern({&kNothingBelow, 1}, parent + 1).id;
  if (const auto known = entry_of_key_.find(key); known != entry_of_key_.end()) {
    return known->second;
  }
  if (!walk) return kMissing;
  begin_walk();
  for (const Escape& escape : entries_[parent].escapes) {
    for (const uint32_t token : vocabulary_.tokens_at(escape.node)) allow(token);
  }
  return finish_walk(key, {});
}

// The configuration with its register in the walk's own arena and an unknown stack.
Config MaskStore::localise(const Config& config, Arena& arena) {
  Config local = config;
  local.stack = kBottom;
  const State& state = store_.state(config.state);
  if ((state.flags & kPooledRegister) != 0) {
    const Target target = store_.family(state.family)
                              .localise(config.state, config.reg, arena.regs(), arena_->regs());
    local.state = target.state;
    local.reg = target.reg;
  }
  return local;
}

// Takes or gives back what the thread has.
void MaskStore::swap_scratch() {
  thread_local Scratch spare;
  found_.swap(spare.found);
  levels_.swap(spare.levels);
}

void MaskStore::begin_walk() {
  swap_scratch();
  arena_ = std::make_unique<Arena>();
  arena_->regs().set_memory(RegisterPool::Memory::kUnsure);
  unsure_.clear();
  found_.assign(vocabulary_.mask_words(), 0);
  starts_.clear();
  levels_.resize(vocabulary_.max_token_length() + 1);
  ++counters_.cold_walks;
}

uint32_t MaskStore::finish_walk(uint32_t key, std::vector<Escape> escapes) {
  const uint32_t id = entries_.grow();
  Entry& entry = entries_[id];
  std::size_t count = 0;
  for (const uint32_t word : found_) count += static_cast<std::size_t>(std::popcount(word));
  entry.dense = count > found_.size() / 2;
  if (entry.dense) {
    entry.words = found_;
  } else {
    entry.words.reserve(count);
    for (uint32_t i = 0; i < found_.size(); ++i) {
      for (uint32_t word = found_[i]; word != 0; word &= word - 1) {
        entry.words.push_back(i * 32 + static_cast<uint32_t>(std::countr_zero(word)));
      }
    }
  }
  std::ranges::sort(escapes);
  for (const Escape& escape : escapes) entry.sets.push_back(escape.returned);
  std::ranges::sort(entry.sets);
  entry.sets.erase(std::unique(entry.sets.begin(), entry.sets.end()), entry.sets.end());
  entry.unsure = unsure_;
  escapes.shrink_to_fit();
  entry.escapes = std::move(escapes);
  entry_of_key_.emplace(key, id);
  ++counters_.entries;
  counters_.memory_bytes += sizeof(Entry) + entry.memory_bytes();
  arena_ = nullptr;
  swap_scratch();
  return id;
}

std::size_t MaskStore::memory_bytes() const {
  const std::size_t unused = entries_.chunk_bytes() - entries_.size() * sizeof(Entry);
  return counters_.memory_bytes + unused + heap_bytes(keys_, entry_of_key_, runner_) +
         heap_bytes(starts_, marked_, returned_, unsure_);
}

// --- the walk -----------------------------------------------------------------------------------

// Walks the subtree below `node`; levels_[0] holds the closed configurations at it. Starts inside
// the subtree that the walk comes by join it, so that no trie node is read twice for one entry.
void MaskStore::walk_below(uint32_t node, std::vector<Escape>& escapes) {
  const uint32_t base = vocabulary_.depth(node);
  const uint32_t end = vocabulary_.next(node);
  uint64_t visited = 0;
  auto start = static_cast<std::size_t>(std::ranges::upper_bound(starts_, node, {}, &Start::node) -
                                        starts_.begin());
  for (uint32_t i = node + 1; i < end;) {
    ++visited;
    while (start < starts_.size() && starts_[start].node < i) ++start;
    const bool joined = start < starts_.size() && starts_[start].node == i;
    const uint32_t level = vocabulary_.depth(i) - base;
    const Depth& from = levels_[level - 1];
    Depth& here = levels_[level];
    if (from.single && !joined && step_single(from, i, here)) {
      if (here.config.state == kDead) {
        if (arena_->regs().take_unsure()) unsure_.push_back(i);
        i = vocabulary_.next(i);
        continue;
      }
      for (const uint32_t token : vocabulary_.tokens_at(i)) allow(token);
      if (runs_free(i, here)) {
        for (const uint32_t token : vocabulary_.tokens_below(i)) allow(token);
        i = vocabulary_.next(i);
      } else {
        ++i;
      }
      continue;
    }
    here.set.clear();
    if (from.single) {
      runner_.scan({&from.config, 1}, vocabulary_.byte(i), *arena_, here.set);
    } else {
      runner_.scan(from.set.configs(), vocabulary_.byte(i), *arena_, here.set);
    }
    if (arena_->regs().take_unsure()) unsure_.push_back(i);
    if (joined) take_starts(start, here.set);
    if (here.set.empty()) {
      i = vocabulary_.next(i);
      continue;
    }
    enter(i, here.set, escapes);
    // A frame that returned at once may have led there.
    if (arena_->regs().take_unsure()) unsure_.push_back(i);
    settle(here);
    ++i;
  }
  counters_.visited_nodes += visited;
}

bool MaskStore::runs_free(uint32_t node, const Depth& depth) {
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (below == nullptr) return false;
  const FreeRun& run = store_.free_run(depth.config.state);
  if (((below->ascii[0] & ~run.ascii[0]) | (below->ascii[1] & ~run.ascii[1])) != 0) return false;
  if (below->beyond_ascii && !(run.utf8 && below->utf8)) return false;
  const State& state = store_.state(depth.config.state);
  return below->code_points <=
         store_.family(state.family).free_length(depth.config.state, depth.config.reg);
}

// The common step: one configuration, a target that only reads. Returns false where
// the general step is needed; a refused byte gives kDead.
bool MaskStore::step_single(const Depth& from, uint32_t node, Depth& to) {
  if (from.whitespace) return false;
  const uint8_t byte = vocabulary_.byte(node);
  const Edge* edge = from.row->find(byte);
  if (edge == nullptr) {
    to.config.state = kDead;
    return true;
  }
  Target target{edge->target, from.config.reg};
  if (edge->op == Op::kDynamic) {
    Family& family = store_.family(store_.state(from.config.state).family);
    target = family.scan(from.config.state, target.reg, byte, edge->target, arena_->regs());
  }
  to.config = {target.state, target.reg, 0, from.config.stack};
  if (target.state == kDead) return true;
  if (target.state == from.config.state && from.reads_only) {
    to.row = from.row;
  } else {
    if ((store_.state(target.state).flags & kNotPlain) != 0) return false;
    // Where no token goes on, the row may never be needed.
    const bool leaf = vocabulary_.next(node) == node + 1;
    to.row = leaf ? nullptr : &store_.row(target.state);
  }
  to.single = true;
  to.reads_only = true;
  to.whitespace = false;
  return true;
}

void MaskStore::settle(Depth& depth) {
  depth.single = depth.set.size() == 1;
  if (!depth.single) return;
  depth.config = depth.set[0];
  const uint16_t flags = store_.state(depth.config.state).flags;
  depth.reads_only = (flags & kNotPlain) == 0;
  depth.whitespace = (flags & kWhitespace) != 0;
  depth.row = &store_.row(depth.config.state);
}

// Decides the tokens that end at a node, closes the configurations for its children and records
// where the walk's first frame may have returned.
void MaskStore::enter(uint32_t node, ConfigSet& set, std::vector<Escape>& escapes) {
  const auto tokens = vocabulary_.tokens_at(node);
  bool inside = false;
  bool done = false;
  for (const Config& config : set.configs()) {
    (is_done_at_bottom(config, store_) ? done : inside) = true;
  }
  if (inside) {
    for (const uint32_t token : tokens) allow(token);
  }
  const bool deeper = vocabulary_.has_children(node);
  if (!deeper && (tokens.empty() || inside || !done)) return;
  returned_.clear();
  if (deeper) {
    runner_.close(set, *arena_, &returned_);
  } else {
    for (const Config& config : set.configs()) {
      if (is_done_at_bottom(config, store_))
        returned_.push_back(store_.state(config.state).accepts);
    }
  }
  std::ranges::sort(returned_);
  returned_.erase(std::unique(returned_.begin(), returned_.end()), returned_.end());
  for (const SetId returned : returned_) escapes.push_back({node, returned});
}

void MaskStore::add_token_symbols(StateId state) {
  for (const RulesMachine::TokenEdge& edge : rules_.token_edges(state)) {
    const auto payload = ir_.expr(edge.expr);
    const auto ids = payload.subspan(2);
    if (payload[0] == 0) {
      for (const uint32_t id : ids) {
        if (id < vocabulary_.vocab_size()) allow(id);
      }
    } else {
      for (uint32_t id = 0; id < vocabulary_.vocab_size(); ++id) {
        if (std::ranges::find(ids, id) == ids.end()) allow(id);
      }
    }
  }
}

}  // namespace maskwright

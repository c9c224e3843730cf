#include "maskwright/mask/mask_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "support/unescape.h"

namespace maskwright {

namespace {

// The nodes of a walk in depth-first order, by index: all below a node, or those of a residue.
struct TriePath {
  const Vocabulary& vocabulary;
  uint32_t last;

  static uint32_t below(uint32_t node) { return node + 1; }
  static uint32_t node(uint32_t at) { return at; }
  uint32_t end() const { return last; }
  uint32_t behind(uint32_t at) const { return vocabulary.next(at); }
};

struct ResiduePath {
  const Residue& residue;

  static uint32_t below(uint32_t /*root*/) { return 0; }
  uint32_t node(uint32_t at) const { return residue.nodes[at]; }
  uint32_t end() const { return static_cast<uint32_t>(residue.nodes.size()); }
  uint32_t behind(uint32_t at) const { return residue.next[at]; }
};

// Behind a shared pointer.
std::size_t bitmap_bytes(const TokenClasses::Bitmap& bits) {
  return heap_block(sizeof(bits) + 16) + heap_bytes(bits);
}

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
  bool blank = true;
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
        bool own_blank = false;
        if (!apply({{entry, config.stack, {}}}, arena, own, own_blank, walk, unsure)) return false;
        for (const uint32_t node : refused) {
          for (const uint32_t token : vocabulary_.tokens_from(node)) {
            own[token / 32] &= ~(1U << token % 32);
          }
        }
        if (blank) std::ranges::fill(row, 0);
        blank = false;
        for (std::size_t i = 0; i < row.size(); ++i) row[i] |= own[i];
        continue;
      }
    }
    now.push_back({entry, config.stack, {}});
  }
  if (!apply(std::move(now), arena, row, blank, walk, unsure)) return false;
  if (blank) std::ranges::fill(row, 0);
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

// Adds the masks of the entries and of what follows them. `blank`: nothing has been written yet.
bool MaskStore::apply(std::vector<Level> now, Arena& arena, std::span<uint32_t> row, bool& blank,
                      bool walk, std::vector<uint32_t>& unsure) {
  while (!now.empty()) {
    std::vector<Level> next;
    for (Level& level : now) {
      level.stack = joined(level, arena);
      const Entry& entry = entries_[level.entry];
      render(entry, row, blank);
      unsure.insert(unsure.end(), entry.unsure.begin(), entry.unsure.end());
      if (!entry.sets.empty() && !add_children(level, arena, next, walk)) return false;
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

void MaskStore::render(const Entry& entry, std::span<uint32_t> row, bool& blank) {
  for (const FreeText* text : {&entry.text, &entry.dense}) {
    if (*text == nullptr) continue;
    const TokenClasses::Bitmap& bits = **text;
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

uint32_t MaskStore::root_entry(const Config& config, Arena& arena, bool walk) {
  key_words_.clear();
  append_key(config, arena, key_words_);
  const uint32_t key = keys_.intern(key_words_, 0).id;
  if (const uint32_t known = known_entry(key); known != kMissing || !walk) return known;
  begin_walk();
  const Config local = localise(config, arena);
  levels_[0].set.clear();
  levels_[0].set.add(local, *arena_);
  settle(levels_[0], (store_.state(local.state).flags & kCalls) == 0);
  std::vector<Escape> escapes;
  if (store_.state(config.state).family == FamilyId::kRules) add_token_symbols(config.state);
  std::shared_ptr<const Residue> residue;
  FreeText text = free_text(local, residue);
  if (residue != nullptr) {
    follow(ResiduePath{*residue}, 0, 0, escapes);
  } else {
    follow(TriePath{vocabulary_, vocabulary_.next(0)}, 0, 0, escapes);
  }
  return finish_walk(key, std::move(escapes), std::move(text));
}

// The words that the configuration reads whatever they are, and where to look for other tokens.
MaskStore::FreeText MaskStore::free_text(const Config& config,
                                         std::shared_ptr<const Residue>& residue) {
  uint32_t length = 0;
  const FreeRun run = free_run(config, length);
  if (!run.others_known || run.text.empty()) return nullptr;
  residue = vocabulary_.classes().residue(run.others);
  return residue == nullptr ? nullptr : vocabulary_.classes().words(run.text, length);
}

FreeRun MaskStore::free_run(const Config& config, uint32_t& length) {
  Family& family = store_.family(store_.state(config.state).family);
  FreeRun all;
  if (family.reads_all(config.state, config.reg, arena_->regs(), all, length)) return all;
  length = family.free_length(config.state, config.reg);
  return store_.free_run(config.state);
}

// Behind a quotation mark that begins a token: if any JSON text may follow, its words, and a walk
// of the tokens with another mark.
bool MaskStore::follow_quoted(const Depth& depth, uint32_t node, std::vector<Escape>& escapes) {
  const Residue* residue = vocabulary_.classes().quoted_residue(node);
  if (residue == nullptr || !depth.single || !starts_.empty()) return false;
  uint32_t length = 0;
  const FreeRun run = free_run(depth.config, length);
  if (!run.others_known || run.text != kSpelledText) return false;
  if (length < vocabulary_.max_token_length()) return false;
  for (const uint32_t token : vocabulary_.classes().quoted_words()) allow(token);
  follow(ResiduePath{*residue}, node, 0, escapes);
  return true;
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
  begin_walk();
  std::vector<Config> local;
  for (const Config& config : after) {
    local.push_back(config.state == kDead ? config : localise(config, arena));
  }
  const auto from = escape_lists_.get(escapes_id);
  for (std::size_t i = 0; i < from.size(); i += 2) {
    const Config& config = local[from[i + 1]];
    if (config.state != kDead) starts_.push_back({from[i], config, false});
  }
  std::vector<Escape> escapes;
  const Config* closed = nullptr;  // levels_[0] is that configuration, closed, and returned nothing
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i].taken) continue;
    const uint32_t root = starts_[i].node;
    const bool single = i + 1 == starts_.size() || starts_[i + 1].node != root;
    if (single && closed != nullptr && *closed == starts_[i].config) {
      for (const uint32_t token : vocabulary_.tokens_at(root)) allow(token);
    } else {
      closed = nullptr;
      levels_[0].set.clear();
      take_starts(i, levels_[0].set);
      if (levels_[0].set.empty()) continue;
      const std::size_t known = escapes.size();
      const bool alone = enter(root, levels_[0].set, escapes);
      const bool unsure = arena_->regs().take_unsure();
      if (unsure) unsure_.push_back(root);
      settle(levels_[0], alone);
      const bool again = single && !unsure && escapes.size() == known &&
                         vocabulary_.has_children(root) &&
                         !is_done_at_bottom(starts_[i].config, store_);
      closed = again ? &starts_[i].config : nullptr;
    }
    if (!vocabulary_.has_children(root)) continue;
    follow(TriePath{vocabulary_, vocabulary_.next(root)}, root, vocabulary_.depth(root), escapes);
  }
  return finish_walk(key, std::move(escapes), nullptr);
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
  const uint32_t escapes_id = entries_[parent].escapes;
  const uint32_t key = keys_.intern({&kNothingBelow, 1}, escapes_id + 1).id;
  if (const uint32_t known = known_entry(key); known != kMissing || !walk) return known;
  begin_walk();
  const auto from = escape_lists_.get(escapes_id);
  for (std::size_t i = 0; i < from.size(); i += 2) {
    for (const uint32_t token : vocabulary_.tokens_at(from[i])) allow(token);
  }
  return finish_walk(key, {}, nullptr);
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
  touched_.swap(spare.touched);
  levels_.swap(spare.levels);
}

void MaskStore::begin_walk() {
  swap_scratch();
  arena_ = std::make_unique<Arena>();
  arena_->regs().set_memory(RegisterPool::Memory::kUnsure);
  unsure_.clear();
  if (found_.size() != vocabulary_.mask_words()) {  // the thread walked for another vocabulary
    found_.assign(vocabulary_.mask_words(), 0);
    touched_.assign(found_.size() / 64 + 1, 0);
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (; touched_[i] != 0; touched_[i] &= touched_[i] - 1) {
      found_[i * 64 + static_cast<std::size_t>(std::countr_zero(touched_[i]))] = 0;
    }
  }
  starts_.clear();
  levels_.resize(vocabulary_.max_token_length() + 1);
  ++counters_.cold_walks;
}

uint32_t MaskStore::finish_walk(uint32_t key, std::vector<Escape> escapes, FreeText text) {
  const uint32_t id = entries_.grow();
  Entry& entry = entries_[id];
  entry.text = std::move(text);
  keep_found(entry);
  keep_escapes(escapes, entry);
  entry.unsure = unsure_;
  if (key >= entry_of_key_.size()) entry_of_key_.resize(keys_.size(), kMissing);
  entry_of_key_[key] = id;
  ++counters_.entries;
  counters_.memory_bytes += sizeof(Entry) + entry.memory_bytes();
  if (entry.dense != nullptr) counters_.memory_bytes += bitmap_bytes(*entry.dense);
  if (entry.text != nullptr && texts_.insert(entry.text.get()).second) {
    counters_.memory_bytes += bitmap_bytes(*entry.text);
  }
  arena_ = nullptr;
  swap_scratch();
  return id;
}

void MaskStore::keep_escapes(std::vector<Escape>& escapes, Entry& entry) {
  std::ranges::sort(escapes);
  KeyWords words;
  words.reserve(2 * escapes.size());
  std::unordered_map<SetId, uint32_t> index;
  for (const Escape& escape : escapes) {
    const auto [found, added] = index.try_emplace(escape.returned, entry.sets.size());
    if (added) entry.sets.push_back(escape.returned);
    words.push_back(escape.node);
    words.push_back(found->second);
  }
  entry.escapes = escape_lists_.intern(words).id;
}

// What the walk allowed beyond the text's words: ids if they are few.
void MaskStore::keep_found(Entry& entry) {
  std::size_t count = 0;
  const auto each = [&](auto visit) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (uint64_t words = touched_[i]; words != 0; words &= words - 1) {
        const std::size_t at = i * 64 + static_cast<std::size_t>(std::countr_zero(words));
        visit(at, entry.text == nullptr ? found_[at] : found_[at] & ~(*entry.text)[at]);
      }
    }
  };
  each([&](std::size_t, uint32_t word) { count += static_cast<std::size_t>(std::popcount(word)); });
  if (count > found_.size() / 2) {
    entry.dense = std::make_shared<const TokenClasses::Bitmap>(found_);
    return;
  }
  entry.ids.reserve(count);
  each([&](std::size_t at, uint32_t word) {
    for (; word != 0; word &= word - 1) {
      entry.ids.push_back(static_cast<uint32_t>(at * 32) +
                          static_cast<uint32_t>(std::countr_zero(word)));
    }
  });
}

std::size_t MaskStore::memory_bytes() const {
  const std::size_t unused = entries_.chunk_bytes() - entries_.size() * sizeof(Entry);
  return counters_.memory_bytes + unused +
         heap_bytes(escape_lists_, keys_, entry_of_key_, runner_) + heap::hash_table(texts_) +
         heap_bytes(key_words_, after_, starts_, marked_, returned_, unsure_);
}

// --- the walk -----------------------------------------------------------------------------------

// Behind whitespace that begins a token, if more of it changes nothing: tokens of nothing but
// whitespace, and a walk of those that go on with a byte that is read, the same behind every run.
bool MaskStore::follow_spaces(const Depth& depth, uint32_t node, uint32_t base,
                              std::vector<Escape>& escapes) {
  const Spaces* spaces = vocabulary_.classes().spaces(node);
  if (spaces == nullptr || !depth.loops || base != 0 || !starts_.empty()) return false;
  const ConfigSet from = depth.set;
  const Config& config = from[0];
  const uint32_t most = store_.state(config.state).whitespace_limit - config.run + 1;
  for (const auto [length, token] : spaces->runs) {
    if (length > most) break;
    allow(token);
  }
  ByteSet read;
  for (const Config& one : from.configs()) {
    for (const Edge& edge : store_.row(one.state).edges) {
      for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) read.add(static_cast<uint8_t>(byte));
    }
  }
  read.each([&](uint8_t byte) {
    if (is_space(byte)) return;
    const auto exits = std::ranges::equal_range(spaces->exits, byte, {}, &Spaces::Exit::byte);
    if (exits.empty()) return;
    ConfigSet after;
    runner_.scan(from.configs(), byte, *arena_, after);
    const bool unsure = arena_->regs().take_unsure();
    for (const Spaces::Exit& exit : exits) {
      const uint32_t at = vocabulary_.depth(exit.node);
      if (at - 1 > most) continue;
      if (unsure) unsure_.push_back(exit.node);
      Depth& here = levels_[at];
      here.set = after;
      if (here.set.empty()) continue;
      const bool alone = enter(exit.node, here.set, escapes);
      if (arena_->regs().take_unsure()) unsure_.push_back(exit.node);
      settle(here, alone);
      if (!vocabulary_.has_children(exit.node)) continue;
      follow(TriePath{vocabulary_, vocabulary_.next(exit.node)}, exit.node, base, escapes);
    }
  });
  return true;
}

// Walks what lies on the path below `node`; levels_[depth - base] holds the closed configurations
// at it.
// Starts inside the subtree that the walk comes by join it, so that no trie node is read twice for
// one entry.
template <typename Path>
void MaskStore::follow(Path path, uint32_t node, uint32_t base, std::vector<Escape>& escapes) {
  uint64_t visited = 0;
  auto start = static_cast<std::size_t>(std::ranges::upper_bound(starts_, node, {}, &Start::node) -
                                        starts_.begin());
  for (uint32_t at = path.below(node); at < path.end();) {
    const uint32_t i = path.node(at);
    ++visited;
    while (start < starts_.size() && starts_[start].node < i) ++start;
    const bool joined = start < starts_.size() && starts_[start].node == i;
    const uint32_t level = vocabulary_.depth(i) - base;
    const Depth& from = levels_[level - 1];
    Depth& here = levels_[level];
    if (from.single && !joined && step_single(from, i, here)) {
      if (here.config.state == kDead) {
        if (arena_->regs().take_unsure()) unsure_.push_back(i);
        at = path.behind(at);
        continue;
      }
      for (const uint32_t token : vocabulary_.tokens_at(i)) allow(token);
      if (follow_quoted(here, i, escapes)) {
        at = path.behind(at);
      } else if (runs_free(i, here)) {
        for (const uint32_t token : vocabulary_.tokens_below(i)) allow(token);
        at = path.behind(at);
      } else {
        ++at;
      }
      continue;
    }
    if (from.loops && !joined && is_space(vocabulary_.byte(i))) {
      if (!loop(from, here)) {
        at = path.behind(at);
        continue;
      }
      for (const uint32_t token : vocabulary_.tokens_at(i)) allow(token);
      ++at;
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
      at = path.behind(at);
      continue;
    }
    const bool alone = enter(i, here.set, escapes);
    // A frame that returned at once may have led there.
    if (arena_->regs().take_unsure()) unsure_.push_back(i);
    settle(here, alone);
    const bool over = (here.single && is_done_at_bottom(here.config, store_)) ||
                      follow_quoted(here, i, escapes) || follow_spaces(here, i, base, escapes);
    at = over ? path.behind(at) : at + 1;
  }
  counters_.visited_nodes += visited;
}

bool MaskStore::runs_free(uint32_t node, const Depth& depth) {
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (below == nullptr) return false;
  const FreeRun& run = store_.free_run(depth.config.state);
  if (!run.text.covers_ascii_of(below->text)) return false;
  if (below->text.beyond_ascii && !(run.text.beyond_ascii && below->utf8)) return false;
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
  to.loops = false;
  return true;
}

// One more byte of whitespace: the calls of the configuration are the same again.
bool MaskStore::loop(const Depth& from, Depth& to) {
  const Config& config = from.set[0];
  if (config.run >= store_.state(config.state).whitespace_limit) return false;
  to.set = from.set;
  to.set.set_run(0, config.run + 1);
  to.single = from.single;
  to.reads_only = from.reads_only;
  to.whitespace = from.whitespace;
  to.loops = true;
  to.config = to.set[0];
  to.row = from.row;
  return true;
}

// The first configuration reads whitespace, the others come from its calls and don't.
bool MaskStore::loops(const ConfigSet& set, bool alone) const {
  if (!alone || set.size() > ConfigSet::kLinear) return false;
  const auto reads_space = [&](const Config& config) {
    const bool loops = (store_.state(config.state).flags & kWhitespace) != 0;
    return loops || std::ranges::any_of(kSpaces, [&](uint8_t byte) {
             return store_.row(config.state).find(byte) != nullptr;
           });
  };
  const uint16_t flags = store_.state(set[0].state).flags;
  return (flags & kWhitespace) != 0 && (flags & kAccepts) == 0 &&
         std::ranges::none_of(set.configs().subspan(1), reads_space);
}

void MaskStore::settle(Depth& depth, bool alone) {
  depth.single = depth.set.size() == 1;
  depth.loops = loops(depth.set, alone);
  if (!depth.single) return;
  depth.config = depth.set[0];
  const uint16_t flags = store_.state(depth.config.state).flags;
  depth.reads_only = (flags & kNotPlain) == 0;
  depth.whitespace = (flags & kWhitespace) != 0;
  depth.row = &store_.row(depth.config.state);
}

// Decides the tokens that end at a node, closes the configurations for its children and records
// where the walk's first frame may have returned. True if a single configuration led to all others
// and the frame can't have returned.
bool MaskStore::enter(uint32_t node, ConfigSet& set, std::vector<Escape>& escapes) {
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
  const bool single = set.size() == 1;
  if (!deeper && (tokens.empty() || inside || !done)) return false;
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
  return single && returned_.empty();
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

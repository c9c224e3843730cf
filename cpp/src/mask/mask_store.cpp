#include "maskwright/mask/mask_store.h"

#include <algorithm>
#include <string_view>

#include "mask/mask_walk.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

MaskStore::MaskStore(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules,
                     std::shared_ptr<SharedMasks> shared)
    : vocabulary_(vocabulary),
      store_(store),
      rules_(rules),
      runner_(store, rules),
      way_out_(store, runner_),
      walk_(std::make_unique<MaskWalk>(ir, vocabulary, store, rules)),
      shared_(std::move(shared)) {
  if (shared_ != nullptr && shared_->belongs_to_one()) {
    numbers_ = std::make_unique<RulesMachine::NormalNumbers>(rules_.normal_numbers());
  }
}

MaskStore::~MaskStore() = default;

bool MaskStore::fill(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row,
                     bool walk) {
  begin_mask();
  if (compose_mask(closed, arena, row, walk)) return true;
  if (!walk) return false;
  read_all(closed, arena, row);
  return true;
}

void MaskStore::begin_mask() {
  steps_ = 0;
  work_before_ = walk_->work();
}

bool MaskStore::may_walk() const {
  const uint64_t nodes = vocabulary_.next(0);
  return walk_->work() - work_before_ <= kMaxWork + nodes * kMaxWorkOfNode;
}

// False where the mask takes a walk that is not wanted, or too many.
bool MaskStore::compose_mask(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row,
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
  read_unsure(unsure, closed, arena, row);
  return true;
}

bool MaskStore::reads_nothing(const Config& config) {
  const State& state = store_.state(config.state);
  if (state.family == FamilyId::kDone) return true;
  return (state.flags & (kWhitespace | kScans)) == 0 && store_.row(config.state).edges.empty() &&
         (state.family != FamilyId::kRules || rules_.token_edges(config.state).empty());
}

MaskStore::Composition MaskStore::compose(std::span<const Config> closed, Arena& arena,
                                          std::vector<uint32_t>& key, bool walk) {
  key.clear();
  begin_mask();
  // Masks that are read need no entries.
  const Composition unknown = walk ? Composition::kOwn : Composition::kCold;
  std::vector<Level> now;
  std::vector<uint32_t> refused;
  for (const Config& config : closed) {
    if (reads_nothing(config)) continue;
    const uint32_t entry = root_entry(config, arena, walk);
    if (entry == kMissing) return unknown;
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
  if (!known) return unknown;
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

// Reads the tokens from the nodes on as the matcher would, and adds those that it accepts. What
// neighbours begin with is read once.
void MaskStore::read_unsure(std::span<const uint32_t> nodes, std::span<const Config> closed,
                            Arena& arena, std::span<uint32_t> row) {
  std::vector<ConfigSet> after;  // by how much of the last text was read, less 1; closed
  std::string_view last;
  for (const uint32_t node : nodes) {
    const std::string_view token = vocabulary_.text(vocabulary_.tokens_from(node)[0]);
    const std::string_view text = token.substr(0, vocabulary_.depth(node));
    const auto differ = std::ranges::mismatch(text.substr(0, text.size() - 1), last).in1;
    after.resize(static_cast<std::size_t>(differ - text.begin()));
    last = text.substr(0, text.size() - 1);
    while (after.size() < last.size()) {
      ConfigSet set;
      scan_behind(after, closed, static_cast<uint8_t>(text[after.size()]), arena, set);
      runner_.close(set, arena, nullptr);
      after.push_back(std::move(set));
    }
    ConfigSet set;
    scan_behind(after, closed, static_cast<uint8_t>(text.back()), arena, set);
    read_below(node, set, arena, row);
  }
}

void MaskStore::scan_behind(std::span<const ConfigSet> after, std::span<const Config> closed,
                            uint8_t byte, Arena& arena, ConfigSet& set) {
  runner_.scan(after.empty() ? closed : after.back().configs(), byte, arena, set);
}

void MaskStore::read_below(uint32_t node, ConfigSet& set, Arena& arena, std::span<uint32_t> row) {
  if (set.empty()) return;
  const bool ends = !vocabulary_.tokens_at(node).empty();
  if (ends && !way_out_.exists(set, arena)) return;
  for (const uint32_t token : vocabulary_.tokens_at(node)) row[token / 32] |= 1U << token % 32;
  if (!vocabulary_.has_children(node)) return;
  runner_.close(set, arena, nullptr);
  read_children(node, set, arena, row);
}

void MaskStore::read_children(uint32_t node, const ConfigSet& set, Arena& arena,
                              std::span<uint32_t> row) {
  ConfigSet next;
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    next.clear();
    runner_.scan(set.configs(), vocabulary_.byte(child), arena, next);
    read_below(child, next, arena, row);
  }
}

// Reads all tokens as the matcher would. What is interned on the way is dropped again.
void MaskStore::read_all(std::span<const Config> closed, Arena& arena, std::span<uint32_t> row) {
  ++counters_.read_masks;
  std::ranges::fill(row, 0);
  const Arena::Size before = arena.size();
  ConfigSet set;
  set.assign(closed);
  read_children(0, set, arena, row);
  arena.truncate(before);
  for (const Config& config : closed) {
    if (store_.state(config.state).family == FamilyId::kRules) {
      walk_->each_symbol(config.state,
                         [&](uint32_t token) { row[token / 32] |= 1U << token % 32; });
    }
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
  Guard guard;
  const FamilyId id = store_.state(at.state).family;
  if (!store_.family(id).guard(at.state, at.reg, arena.regs(), guard)) return;
  // The row's bytes are asked for one by one, since a node may have hundreds of children.
  for (const Edge& edge : store_.row(at.state).edges) {
    for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) {
      if (!guard.next[byte]) continue;
      const uint32_t child = vocabulary_.child(node, static_cast<uint8_t>(byte));
      if (child == Vocabulary::kNoNode) continue;
      if (byte != guard.refused && !vocabulary_.leads_to_quote(child)) continue;
      Target to{edge.target, at.reg};
      if (edge.op == Op::kDynamic) {
        to = store_.family(id).scan(at.state, at.reg, static_cast<uint8_t>(byte), edge.target,
                                    arena.regs());
      }
      if (to.state == kDead) {
        if (byte == guard.refused) out.push_back(child);
      } else if ((store_.state(to.state).flags & kGuarded) != 0 &&
                 store_.state(to.state).family == id) {
        refused_below(child, to, arena, out);
      }
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
  for (const uint32_t id : runner_.spread(level.stack, kUnbounded, arena)) {
    if (++steps_ > kMaxSteps) return false;
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

// The stacks of a level as one.
StackRef MaskStore::joined(Level& level, Arena& arena) {
  if (level.more.empty()) return level.stack;
  level.more.push_back(level.stack);
  make_set(level.more);
  return arena.join(level.more);
}

}  // namespace maskwright

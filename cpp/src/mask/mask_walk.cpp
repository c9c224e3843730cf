#include "mask/mask_walk.h"

#include <algorithm>
#include <array>
#include <bit>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"
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

bool is_done_at_bottom(const Config& config, const Store& store) {
  return config.stack == kBottom && store.state(config.state).family == FamilyId::kDone;
}

}  // namespace

// --- a walk's life
// --------------------------------------------------------------------------------

// Takes or gives back what the thread has.
void MaskWalk::swap_scratch() {
  thread_local Scratch spare;
  found_.swap(spare.found);
  touched_.swap(spare.touched);
  levels_.swap(spare.levels);
}

void MaskWalk::begin() {
  swap_scratch();
  arena_ = std::make_unique<Arena>();
  arena_->regs().set_memory(RegisterPool::Memory::kUnsure);
  result_ = {};
  starts_.clear();
  levels_.resize(vocabulary_.max_token_length() + 1);
  if (found_.size() != vocabulary_.mask_words()) {  // the thread walked for another vocabulary
    found_.assign(vocabulary_.mask_words(), 0);
    touched_.assign(found_.size() / 64 + 1, 0);
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (; touched_[i] != 0; touched_[i] &= touched_[i] - 1) {
      found_[i * 64 + static_cast<std::size_t>(std::countr_zero(touched_[i]))] = 0;
    }
  }
}

Config MaskWalk::localise(const Config& config, Arena& arena) {
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

MaskWalk::Result MaskWalk::take() {
  keep_found(result_);
  std::ranges::sort(result_.escapes);
  arena_ = nullptr;
  swap_scratch();
  return std::exchange(result_, {});
}

// What was allowed beyond the text's words: ids if they are few.
void MaskWalk::keep_found(Result& result) {
  std::size_t count = 0;
  const auto each = [&](auto visit) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (uint64_t words = touched_[i]; words != 0; words &= words - 1) {
        const std::size_t at = i * 64 + static_cast<std::size_t>(std::countr_zero(words));
        visit(at, result.text == nullptr ? found_[at] : found_[at] & ~(*result.text)[at]);
      }
    }
  };
  each([&](std::size_t, uint32_t word) { count += static_cast<std::size_t>(std::popcount(word)); });
  if (count > found_.size() / 2) {
    result.dense = std::make_shared<const TokenClasses::Bitmap>(found_);
    return;
  }
  result.ids.reserve(count);
  each([&](std::size_t at, uint32_t word) {
    for (; word != 0; word &= word - 1) {
      result.ids.push_back(static_cast<uint32_t>(at * 32) +
                           static_cast<uint32_t>(std::countr_zero(word)));
    }
  });
}

std::size_t MaskWalk::memory_bytes() const { return heap_bytes(runner_, starts_, returned_); }

// --- where it starts
// ------------------------------------------------------------------------------

void MaskWalk::walk_frame(const Config& local) {
  const State& state = store_.state(local.state);
  levels_[0].set.clear();
  levels_[0].set.add(local, *arena_);
  settle(levels_[0], (state.flags & kCalls) == 0);
  if (state.family == FamilyId::kRules) add_token_symbols(local.state);
  if (const auto residue = take_words(local); residue != nullptr) {
    follow(ResiduePath{*residue}, 0, 0);
  } else {
    follow_subtree(0, 0);
  }
}

void MaskWalk::add_token_symbols(StateId state) {
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

// Takes the words that the configuration reads whatever they are; returns where to look for other
// tokens. Null, and nothing taken, if there are none to take.
std::shared_ptr<const Residue> MaskWalk::take_words(const Config& config) {
  if (!store_.shortcuts().token_classes) return nullptr;
  uint32_t length = 0;
  const FreeRun run = free_run(config, length);
  if (!run.others_known || run.text.empty()) return nullptr;
  auto residue = vocabulary_.classes().residue(run.others);
  if (residue != nullptr) result_.text = vocabulary_.classes().words(run.text, length);
  return residue;
}

FreeRun MaskWalk::free_run(const Config& config, uint32_t& length) {
  Family& family = store_.family(store_.state(config.state).family);
  FreeRun all;
  if (family.reads_all(config.state, config.reg, arena_->regs(), all, length)) return all;
  length = family.free_length(config.state, config.reg);
  return store_.free_run(config.state);
}

void MaskWalk::walk_starts() {
  const Config* closed = nullptr;  // levels_[0] is that configuration, closed, and returned nothing
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const auto& [node, config, taken] = starts_[i];
    if (taken) continue;
    const bool single = i + 1 == starts_.size() || starts_[i + 1].node != node;
    if (single && closed != nullptr && *closed == config) {
      allow_all(vocabulary_.tokens_at(node));
    } else {
      closed = nullptr;
      levels_[0].set.clear();
      take_starts(i, levels_[0].set);
      if (levels_[0].set.empty()) continue;
      const std::size_t escapes = result_.escapes.size();
      const bool sure = arrive(node, levels_[0]);
      if (single && sure && result_.escapes.size() == escapes && vocabulary_.has_children(node)) {
        closed = is_over(levels_[0]) ? nullptr : &config;
      }
    }
    follow_subtree(node, vocabulary_.depth(node));
  }
}

// Adds all that starts at one node; `index` is the first of them.
void MaskWalk::take_starts(std::size_t index, ConfigSet& set) {
  const uint32_t node = starts_[index].node;
  for (; index < starts_.size() && starts_[index].node == node; ++index) {
    runner_.add(starts_[index].config, *arena_, set);
    starts_[index].taken = true;
  }
}

// --- the walk
// -------------------------------------------------------------------------------------

void MaskWalk::follow_subtree(uint32_t node, uint32_t base) {
  if (vocabulary_.has_children(node)) {
    follow(TriePath{vocabulary_, vocabulary_.next(node)}, node, base);
  }
}

template <typename Path>
void MaskWalk::follow(Path path, uint32_t node, uint32_t base) {
  auto start = static_cast<std::size_t>(std::ranges::upper_bound(starts_, node, {}, &Start::node) -
                                        starts_.begin());
  for (uint32_t at = path.below(node); at < path.end();) {
    const uint32_t i = path.node(at);
    ++visited_;
    while (start < starts_.size() && starts_[start].node < i) ++start;
    const bool joined = start < starts_.size() && starts_[start].node == i;
    const uint32_t level = vocabulary_.depth(i) - base;
    const Depth& from = levels_[level - 1];
    Depth& here = levels_[level];
    bool over = false;
    if (from.single && !joined && step_single(from, i, here)) {
      if (here.config.state == kDead) {
        note_unsure(i);
        over = true;
      } else {
        allow_all(vocabulary_.tokens_at(i));
        over = follow_quoted(here, i) || take_free_run(here, i);
      }
    } else if (from.loops && !joined && is_space(vocabulary_.byte(i))) {
      over = !loop(from, here);
      if (!over) allow_all(vocabulary_.tokens_at(i));
    } else {
      here.set.clear();
      const auto configs = from.single ? std::span(&from.config, 1) : from.set.configs();
      runner_.scan(configs, vocabulary_.byte(i), *arena_, here.set);
      note_unsure(i);
      if (joined) take_starts(start, here.set);
      over = here.set.empty();
      if (!over) {
        arrive(i, here);
        over = is_over(here) || follow_quoted(here, i) || follow_spaces(here, i, base);
      }
    }
    at = over ? path.behind(at) : at + 1;
  }
}

// --- subtrees at once
// -----------------------------------------------------------------------------

// All texts below the node are a free run of the single configuration's state.
bool MaskWalk::take_free_run(const Depth& depth, uint32_t node) {
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (below == nullptr || !store_.shortcuts().token_classes) return false;
  const FreeRun& run = store_.free_run(depth.config.state);
  if (!run.text.covers_ascii_of(below->text)) return false;
  if (below->text.beyond_ascii && !(run.text.beyond_ascii && below->utf8)) return false;
  Family& family = store_.family(store_.state(depth.config.state).family);
  if (below->code_points > family.free_length(depth.config.state, depth.config.reg)) return false;
  allow_all(vocabulary_.tokens_below(node));
  return true;
}

// Behind a quotation mark that begins a token: if any JSON text may follow, its words, and a walk
// of the tokens with another mark.
bool MaskWalk::follow_quoted(const Depth& depth, uint32_t node) {
  const Residue* residue = vocabulary_.classes().quoted_residue(node);
  if (residue == nullptr || !depth.single || !starts_.empty()) return false;
  if (!store_.shortcuts().token_classes) return false;
  uint32_t length = 0;
  const FreeRun run = free_run(depth.config, length);
  if (!run.others_known || run.text != kSpelledText) return false;
  if (length < vocabulary_.max_token_length()) return false;
  allow_all(vocabulary_.classes().quoted_words());
  follow(ResiduePath{*residue}, node, 0);
  return true;
}

// Behind whitespace that begins a token, if more of it changes nothing: tokens of nothing but
// whitespace, and a walk of those that go on with a byte that is read, the same behind every run.
bool MaskWalk::follow_spaces(const Depth& depth, uint32_t node, uint32_t base) {
  const Spaces* spaces = vocabulary_.classes().spaces(node);
  if (spaces == nullptr || !depth.loops || base != 0 || !starts_.empty()) return false;
  if (!store_.shortcuts().token_classes) return false;
  const ConfigSet from = depth.set;
  const uint32_t most = store_.state(from[0].state).whitespace_limit - from[0].run + 1;
  for (const auto [length, token] : spaces->runs) {
    if (length > most) break;
    allow(token);
  }
  ByteSet read;
  for (const Config& config : from.configs()) {
    for (const Edge& edge : store_.row(config.state).edges) {
      for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) read.add(static_cast<uint8_t>(byte));
    }
  }
  read.each([&](uint8_t byte) {
    const auto exits = std::ranges::equal_range(spaces->exits, byte, {}, &Spaces::Exit::byte);
    if (is_space(byte) || exits.empty()) return;
    ConfigSet after;
    runner_.scan(from.configs(), byte, *arena_, after);
    follow_exits(exits, after, arena_->regs().take_unsure(), most, base);
  });
  return true;
}

void MaskWalk::follow_exits(std::span<const Spaces::Exit> exits, const ConfigSet& after,
                            bool unsure, uint32_t most, uint32_t base) {
  for (const Spaces::Exit& exit : exits) {
    const uint32_t depth = vocabulary_.depth(exit.node);
    if (depth - 1 > most) continue;
    ++visited_;
    if (unsure) result_.unsure.push_back(exit.node);
    if (after.empty()) continue;
    levels_[depth].set = after;
    arrive(exit.node, levels_[depth]);
    follow_subtree(exit.node, base);
  }
}

// --- one node
// -------------------------------------------------------------------------------------

// The common step: one configuration, a target that only reads. Returns false where the general
// step is needed; a refused byte gives kDead.
bool MaskWalk::step_single(const Depth& from, uint32_t node, Depth& to) {
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
bool MaskWalk::loop(const Depth& from, Depth& to) {
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
bool MaskWalk::loops(const ConfigSet& set, bool alone) const {
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

void MaskWalk::settle(Depth& depth, bool alone) {
  depth.single = depth.set.size() == 1;
  depth.loops = loops(depth.set, alone);
  if (!depth.single) return;
  depth.config = depth.set[0];
  const uint16_t flags = store_.state(depth.config.state).flags;
  depth.reads_only = (flags & kNotPlain) == 0;
  depth.whitespace = (flags & kWhitespace) != 0;
  depth.row = &store_.row(depth.config.state);
}

// The frame has returned, and nothing else goes on.
bool MaskWalk::is_over(const Depth& depth) const {
  return depth.single && is_done_at_bottom(depth.config, store_);
}

// A family could not tell, on the way to the node.
bool MaskWalk::note_unsure(uint32_t node) {
  const bool unsure = arena_->regs().take_unsure();
  if (unsure) result_.unsure.push_back(node);
  return unsure;
}

// enter() and settle() for what was read up to the node. False if that is unsure: a frame that
// returned at once may have led there.
bool MaskWalk::arrive(uint32_t node, Depth& depth) {
  const bool alone = enter(node, depth.set);
  const bool unsure = note_unsure(node);
  settle(depth, alone);
  return !unsure;
}

// Decides the tokens that end at a node, closes the configurations for its children and records
// where the walk's first frame may have returned. True if a single configuration led to all others
// and the frame can't have returned.
bool MaskWalk::enter(uint32_t node, ConfigSet& set) {
  const auto tokens = vocabulary_.tokens_at(node);
  bool inside = false;
  bool done = false;
  for (const Config& config : set.configs()) {
    (is_done_at_bottom(config, store_) ? done : inside) = true;
  }
  if (inside) allow_all(tokens);
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
  make_set(returned_);
  for (const SetId returned : returned_) result_.escapes.push_back({node, returned});
  return single && returned_.empty();
}

}  // namespace maskwright

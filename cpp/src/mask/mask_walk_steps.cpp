// The steps of a mask walk: from a node of the trie to those below it.

#include <algorithm>

#include "mask/mask_walk.h"
#include "maskwright/support/sorted_set.h"
#include "support/unescape.h"

namespace maskwright {

namespace {

bool is_done_at_bottom(const Config& config, const Store& store) {
  return config.stack == kBottom && store.state(config.state).family == FamilyId::kDone;
}

}  // namespace

// The nodes of a walk in depth-first order, by place: all of a trie, or those of a residue.
struct MaskWalk::TriePath {
  const Vocabulary& vocabulary;

  static uint32_t node(uint32_t at) { return at; }
  bool is_gate(uint32_t node) const { return node == vocabulary.space_node(); }
  uint32_t behind(uint32_t at) const { return vocabulary.next(at); }
  Below below(uint32_t at) const { return {at + 1, behind(at), vocabulary.children(at)}; }
};

struct MaskWalk::ResiduePath {
  const Residue& residue;
  uint32_t first = 0;  // the node of the whole trie that is its root

  uint32_t node(uint32_t at) const { return first + residue.nodes[at]; }
  bool is_gate(uint32_t node) const { return residue.gate != 0 && node == residue.gate; }
  uint32_t behind(uint32_t at) const { return residue.next[at]; }
  Below below(uint32_t at) const { return {at + 1, behind(at), nullptr}; }
};

void MaskWalk::follow_subtree(uint32_t node, uint32_t level) {
  const TriePath path{vocabulary_};
  follow(path, path.below(node), level);
}

void MaskWalk::follow_residue(const Residue& residue, uint32_t level, uint32_t first) {
  const auto size = static_cast<uint32_t>(residue.nodes.size());
  follow(ResiduePath{residue, first}, {0, size, nullptr}, level);
}

template <typename Path>
void MaskWalk::follow(const Path& path, Below below, uint32_t top) {
  begin_below(levels_[top], below);
  for (uint32_t level = top;;) {
    Place place;
    if (!next_place(path, levels_[level], place)) {
      if (level == top) return;
      --level;
      continue;
    }
    ++visited_;
    const uint32_t node = path.node(place.at);
    const bool joined = next_start_ < starts_.size() && joins(node);
    const Below next = path.below(place.at);
    const bool gate = path.is_gate(node);
    const bool deeper = place.edge != nullptr && !joined
                            ? step(*place.edge, node, level, next.empty() && !gate)
                            : step_set(node, level, joined);
    if (!deeper) continue;
    if (!gate) {
      if (!next.empty()) begin_below(levels_[++level], next);
    } else if (!follow_words_behind_space(levels_[level + 1], level + 1)) {
      follow_subtree(node, level + 1);
    }
  }
}

void MaskWalk::begin_below(Depth& from, Below below) {
  from.below = below;
  from.child = 0;
  from.general = !from.single || from.whitespace;
  if (below.children == nullptr) return;
  if (from.general) {
    from.read = readable(from);
  } else {
    from.edge = from.row->edges.data();
  }
}

// The next place to look at, and the edge there of a single configuration in the common case. False
// if there is none.
template <typename Path>
bool MaskWalk::next_place(const Path& path, Depth& from, Place& place) const {
  if (from.below.children != nullptr) return next_child(from, place);
  while (!from.below.empty()) {
    place.at = from.below.first;
    from.below.first = path.behind(place.at);
    if (from.general) return true;
    place.edge = from.row->find(vocabulary_.byte(path.node(place.at)));
    if (place.edge != nullptr) return true;
  }
  return false;
}

// Meets the bytes of the children with those that are read.
bool MaskWalk::next_child(Depth& from, Place& place) {
  const auto& [bytes, nodes] = *from.below.children;
  if (from.general) {
    while (from.child < bytes.size() && !from.read.has(bytes[from.child])) ++from.child;
    if (from.child == bytes.size()) return false;
    place.at = nodes[from.child++];
    return true;
  }
  const Edge* end = from.row->edges.data() + from.row->edges.size();
  for (; from.edge != end; ++from.edge) {
    const auto child = std::lower_bound(bytes.begin() + from.child, bytes.end(), from.edge->lo);
    from.child = static_cast<uint32_t>(child - bytes.begin());
    if (child == bytes.end()) return false;
    if (*child > from.edge->hi) continue;
    place.at = nodes[from.child++];
    place.edge = from.edge;
    return true;
  }
  return false;
}

ByteSet MaskWalk::readable_by(std::span<const Config> configs) {
  ByteSet read;
  for (const Config& config : configs) {
    if ((store_.state(config.state).flags & kWhitespace) != 0) {
      for (const uint8_t space : kSpaces) read.add(space);
    }
    for (const Edge& edge : store_.row(config.state).edges) {
      for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) read.add(static_cast<uint8_t>(byte));
    }
  }
  return read;
}

// --- subtrees at once ----------------------------------------------------------------------------

// All texts below the node are a free run of the single configuration's state.
bool MaskWalk::take_free_run(const Depth& depth, uint32_t node) {
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (below == nullptr || !store_.shortcuts().token_classes) return false;
  const uint8_t first = vocabulary_.byte(node + 1);
  const Edge* edge = depth.row->find(first);
  if (edge == nullptr) return false;
  Family& family = store_.family(store_.state(depth.config.state).family);
  if (first < 0x80 && family.unhindered(*edge) != depth.config.state) return false;
  const FreeRun& run = store_.free_run(depth.config.state);
  if (!run.by_leads.covers(below->text)) return false;
  if (below->text.beyond_ascii && !below->utf8) return false;
  if (below->code_points > family.free_length(depth.config.state, depth.config.reg)) return false;
  allow_range(vocabulary_.range_below(node));
  return true;
}

// Where the single configuration's state reads any text and is back in itself: the words are all
// tokens below without a mark that ends the text, and the mark leads to the same from everywhere.
bool MaskWalk::take_closings(const Depth& depth, uint32_t node) {
  if (!spelled_ || !depth.single || depth.config.stack != kBottom || !reads_back(depth))
    return false;
  const auto closings = vocabulary_.classes().closings(node + 1, vocabulary_.next(node));
  const Edge* edge = depth.row->find('"');
  if (edge == nullptr || closings.empty()) return true;
  Config after{edge->target, depth.config.reg, 0, kBottom};
  if (edge->op == Op::kDynamic) {
    Family& family = store_.family(store_.state(depth.config.state).family);
    const auto [state, reg] =
        family.scan(depth.config.state, after.reg, '"', edge->target, arena_->regs());
    after.state = state;
    after.reg = reg;
  }
  if (after.state != kDead && (store_.state(after.state).flags & kReturnOnly) == 0) return false;
  const SetId accepted = after.state == kDead ? kEmptySet : runner_.accepted(after, *arena_);
  note_unsure(closings);
  visited_ += closings.size();
  if (accepted == kEmptySet) return true;
  for (const uint32_t closing : closings) result_.escapes.push_back({closing, accepted});
  return true;
}

bool MaskWalk::reads_back(const Depth& depth) {
  Family& family = store_.family(store_.state(depth.config.state).family);
  for (const uint8_t byte : {' ', 'e', '~'}) {  // a quick look
    const Edge* edge = depth.row->find(byte);
    if (edge == nullptr || family.unhindered(*edge) != depth.config.state) return false;
  }
  const FreeRun& run = store_.free_run(depth.config.state);
  return run.others_known && run.text == kSpelledText && is_far_from_bounds(depth.config);
}

// However much of a token has been read, a count in the register changes nothing.
bool MaskWalk::is_far_from_bounds(const Config& config) {
  const State& state = store_.state(config.state);
  if ((state.flags & (kHasRegister | kPooledRegister)) != kHasRegister) return true;
  Family& family = store_.family(state.family);
  const uint32_t most = vocabulary_.max_token_length();
  if (family.free_length(config.state, config.reg) < most) return false;
  KeyWords here;
  KeyWords behind;
  family.mask_key(config.state, config.reg, arena_->regs(), here);
  family.mask_key(config.state, config.reg + most, arena_->regs(), behind);
  return here == behind;
}

// Behind a quotation mark that begins a token: if any JSON text may follow, its words, and a walk
// of the tokens with another mark.
bool MaskWalk::follow_quoted(const Depth& depth, uint32_t node, uint32_t level) {
  const Residue* residue = vocabulary_.classes().quoted_residue(node);
  if (residue == nullptr || !depth.single || !starts_.empty()) return false;
  if (!store_.shortcuts().token_classes) return false;
  uint32_t length = 0;
  const FreeRun run = free_run(depth.config, length);
  if (!run.others_known || run.text != kSpelledText) return false;
  if (length < vocabulary_.max_token_length()) return false;
  for (const uint32_t token : vocabulary_.classes().quoted_words()) allow(token);
  follow_residue(*residue, level);
  return true;
}

// Behind the space that begins a token: if free text may follow, its words and a walk of the
// others.
bool MaskWalk::follow_words_behind_space(const Depth& depth, uint32_t level) {
  if (!depth.single || !starts_.empty()) return false;
  const Words words = find_words(depth.config, vocabulary_.behind_space()->classes());
  if (words.residue == nullptr) return false;
  for (std::size_t i = 0; i < words.bitmap->size(); ++i) {
    const uint32_t word = (*words.bitmap)[i];
    if (word == 0) continue;
    found_[i] |= word;
    touched_[i / 64] |= uint64_t{1} << i % 64;
  }
  follow_residue(*words.residue, level, vocabulary_.space_node());
  return true;
}

// Behind whitespace that begins a token, if more of it changes nothing: tokens of nothing but
// whitespace, and a walk of those that go on with a byte that is read, the same behind every run.
bool MaskWalk::follow_spaces(const Depth& depth, uint32_t node) {
  if (!depth.loops || !starts_.empty() || !store_.shortcuts().token_classes) return false;
  const Spaces* spaces = vocabulary_.classes().spaces(node);
  if (spaces == nullptr) return false;
  const ConfigSet from = depth.set;
  const uint32_t most = store_.state(from[0].state).whitespace_limit - from[0].run + 1;
  for (const auto [length, token] : spaces->runs) {
    if (length > most) break;
    allow(token);
  }
  readable(depth).each([&](uint8_t byte) {
    const auto exits = std::ranges::equal_range(spaces->exits, byte, {}, &Spaces::Exit::byte);
    if (is_space(byte) || exits.empty()) return;
    ConfigSet after;
    runner_.scan(from.configs(), byte, *arena_, after);
    follow_exits(exits, after, arena_->regs().take_unsure(), most);
  });
  return true;
}

void MaskWalk::follow_exits(std::span<const Spaces::Exit> exits, const ConfigSet& after,
                            bool unsure, uint32_t most) {
  for (const Spaces::Exit& exit : exits) {
    const uint32_t depth = vocabulary_.depth(exit.node);
    if (depth - 1 > most) continue;
    ++visited_;
    if (unsure) result_.unsure.push_back(exit.node);
    if (after.empty()) continue;
    levels_[depth].set = after;
    arrive(exit.node, levels_[depth]);
    follow_subtree(exit.node, depth);
  }
}

// --- one node ------------------------------------------------------------------------------------

// The common step: of a single configuration, over an edge. False if nothing can follow.
bool MaskWalk::step(const Edge& edge, uint32_t node, uint32_t level, bool last) {
  const Depth& from = levels_[level];
  Config config{edge.target, from.config.reg, 0, from.config.stack};
  if (edge.op == Op::kDynamic) {
    Family& family = store_.family(store_.state(from.config.state).family);
    const auto [state, reg] = family.scan(from.config.state, config.reg, vocabulary_.byte(node),
                                          edge.target, arena_->regs());
    note_unsure(node);
    if (state == kDead) return false;
    config.state = state;
    config.reg = reg;
  }
  const uint16_t flags = store_.state(config.state).flags;
  if ((flags & kNotPlain) == 0) {
    allow_range(vocabulary_.range_at(node));
  } else if (config.stack != kBottom || (flags & (kCalls | kWhitespace)) != 0) {
    return step_set(node, level, false);
  } else if (!end_inside(config, flags, node)) {
    return false;
  }
  if (last) return false;  // the row may never be needed
  Depth& here = levels_[level + 1];
  here.row = config.state == from.config.state ? from.row : &store_.row(config.state);
  here.config = config;
  here.memo = SetMemo::kUnknown;
  here.single = true;
  here.whitespace = false;
  here.loops = false;
  return !follow_quoted(here, node, level + 1) && !take_closings(here, node) &&
         !take_free_run(here, node) && !take_text({&node, 1}, level + 1, {});
}

// At a node where the walk's first frame may return, and no other is on the way. False if nothing
// else can follow.
bool MaskWalk::end_inside(const Config& config, uint16_t flags, uint32_t node) {
  const bool only = (flags & kReturnOnly) != 0;
  const Vocabulary::TokenRange tokens = vocabulary_.range_at(node);
  if (!only || alone_) allow_range(tokens);
  if (alone_) return !only;
  if (vocabulary_.has_children(node) || (only && tokens.begin != tokens.end)) {
    const SetId accepted = runner_.accepted(config, *arena_);
    note_unsure(node);
    if (accepted != kEmptySet) result_.escapes.push_back({node, accepted});
  }
  return !only;
}

// The general step.
bool MaskWalk::step_set(uint32_t node, uint32_t level, bool joined) {
  Depth& from = levels_[level];
  Depth& here = levels_[level + 1];
  if (from.loops && !joined && is_space(vocabulary_.byte(node))) {
    if (!loop(from, here)) return false;
    allow_range(vocabulary_.range_at(node));
    return !follow_spaces(here, node);
  }
  const auto configs = from.single ? std::span(&from.config, 1) : from.set.configs();
  const uint8_t byte = vocabulary_.byte(node);
  SetMemo::Step asked{SetMemo::kUnknown, byte, SetMemo::kUnknown};
  if (find_memo(from, configs, joined, asked)) {
    if (const SetMemo::After* known = memo_.find(asked)) {
      if (joined) starts_[next_start_].taken = true;
      return step_known(*known, node, level);
    }
  }
  here.set.clear();
  runner_.scan(configs, byte, *arena_, here.set);
  const bool unsure = note_unsure(node);
  if (joined) take_starts(next_start_, here.set);
  if (here.set.empty()) return false;
  const bool deeper = vocabulary_.has_children(node);
  if (asked.set != SetMemo::kUnknown && deeper && !unsure) {
    SetMemo::After after;
    after.inside = alone_ || is_inside(here.set);
    const bool single = here.set.size() == 1;
    runner_.close(here.set, *arena_, &after.returned);
    if (!note_unsure(node)) {
      make_set(after.returned);
      after.alone = single && after.returned.empty();
      after.closed.assign(here.set.configs().begin(), here.set.configs().end());
      after.id = memo_.id(after.closed);
      return step_known(memo_.keep(asked, std::move(after)), node, level);
    }
  }
  arrive(node, here);
  return deeper && goes_on(node, level + 1);
}

bool MaskWalk::goes_on(uint32_t node, uint32_t level) {
  const Depth& here = levels_[level];
  return !is_over(here) && !follow_quoted(here, node, level) && !follow_spaces(here, node) &&
         !take_text({&node, 1}, level, {});
}

// The general step where it is known where it leads.
bool MaskWalk::step_known(const SetMemo::After& after, uint32_t node, uint32_t level) {
  const Vocabulary::TokenRange tokens = vocabulary_.range_at(node);
  const bool deeper = vocabulary_.has_children(node);
  if (after.inside) allow_range(tokens);
  if (!alone_ && (deeper || (!after.inside && tokens.begin != tokens.end))) {
    for (const SetId returned : after.returned) result_.escapes.push_back({node, returned});
  }
  if (!deeper) return false;
  Depth& here = levels_[level + 1];
  here.set.assign(after.closed);
  settle(here, after.alone);
  here.memo = after.id;
  return goes_on(node, level + 1);
}

// Of sets that begin with a configuration of the rules; other frames hardly ever come in sets that
// come again. False if the step can't be kept.
bool MaskWalk::find_memo(Depth& from, std::span<const Config> configs, bool joined,
                         SetMemo::Step& step) {
  const FamilyId family = store_.state(configs[0].state).family;
  if (family != FamilyId::kRules && family != FamilyId::kRepeat) return false;
  if (joined) {
    const Start& start = starts_[next_start_];
    const bool more =
        next_start_ + 1 < starts_.size() && starts_[next_start_ + 1].node == start.node;
    step.joined = more ? SetMemo::kUnknown : memo_.id({&start.config, 1});
    if (step.joined == SetMemo::kUnknown) return false;
  }
  if (from.memo == SetMemo::kUnknown) from.memo = memo_.id(configs);
  step.set = from.memo;
  return step.set != SetMemo::kUnknown;
}

// One more byte of whitespace: the calls of the configuration are the same again.
bool MaskWalk::loop(const Depth& from, Depth& to) {
  const Config& config = from.set[0];
  if (config.run >= store_.state(config.state).whitespace_limit) return false;
  to.set = from.set;
  to.set.set_run(0, config.run + 1);
  to.single = from.single;
  to.whitespace = from.whitespace;
  to.loops = true;
  to.config = to.set[0];
  to.memo = SetMemo::kUnknown;
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
  depth.memo = SetMemo::kUnknown;
  depth.single = depth.set.size() == 1;
  depth.loops = loops(depth.set, alone);
  if (!depth.single) return;
  depth.config = depth.set[0];
  const uint16_t flags = store_.state(depth.config.state).flags;
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
  if (vocabulary_.has_children(node)) settle(depth, alone);
  return !unsure;
}

// Some configuration is inside of the walk's first frame.
bool MaskWalk::is_inside(const ConfigSet& set) const {
  return std::ranges::any_of(
      set.configs(), [&](const Config& config) { return !is_done_at_bottom(config, store_); });
}

// Decides the tokens that end at a node, closes the configurations for its children and records
// where the walk's first frame may have returned. True if a single configuration led to all others
// and the frame can't have returned.
bool MaskWalk::enter(uint32_t node, ConfigSet& set) {
  const Vocabulary::TokenRange tokens = vocabulary_.range_at(node);
  const bool inside = alone_ || is_inside(set);
  if (inside) allow_range(tokens);
  const bool ends = !inside && tokens.begin != tokens.end;
  if (!ends && !vocabulary_.has_children(node)) return false;
  const bool single = set.size() == 1;
  returned_.clear();
  runner_.close(set, *arena_, &returned_);
  make_set(returned_);
  if (!alone_) {
    for (const SetId returned : returned_) result_.escapes.push_back({node, returned});
  }
  return single && returned_.empty();
}

}  // namespace maskwright

#include "maskwright/automata/returns.h"

#include <algorithm>
#include <bit>

namespace maskwright {

SetId accepted_by(Store& store, const Config& config, Arena& arena) {
  const State& state = store.state(config.state);
  if ((state.flags & kAccepts) == 0) return kEmptySet;
  if ((state.flags & kDynamicAccepts) == 0) return state.accepts;
  return store.family(state.family).accepted(config.state, config.reg, arena.regs());
}

Config resumed(Store& store, const Arena::Node& node, SetId accepted, Reg returned, Arena& arena) {
  Family& family = store.family(store.state(node.state).family);
  const Target target = family.resume(node.state, node.reg, accepted, returned, arena.regs());
  return {target.state, target.reg, 0, node.below};
}

void Returns::begin() {
  num_ways_ = 0;
  num_words_ = 0;
  num_reached_ = 0;
  index_.clear();
  bottoms_.clear();
}

void Returns::start(const Config& config, Arena& arena) {
  const uint32_t way = way_of(config, arena);
  if (way != kNone) spread(way, config.stack, arena);
}

// kNone if the frame does not return here.
uint32_t Returns::way_of(const Config& config, Arena& arena) {
  const State& state = store_.state(config.state);
  const SetId accepted = accepted_by(store_, config, arena);
  if (accepted == kEmptySet) return kNone;
  // To callers a repeat's count is nothing.
  const Reg returned = state.family == FamilyId::kRepeat ? 0 : config.reg;
  for (uint32_t i = 0; i < num_ways_; ++i) {
    if (ways_[i].accepted == accepted && ways_[i].returned == returned) return i;
  }
  if (num_ways_ == ways_.size()) ways_.emplace_back();
  ways_[num_ways_].accepted = accepted;
  ways_[num_ways_].returned = returned;
  return static_cast<uint32_t>(num_ways_++);
}

void Returns::spread(uint32_t way, StackRef stack, Arena& arena) {
  const auto nodes = arena.nodes(stack);
  work_ += nodes.size();
  const std::size_t words = nodes.back() / 64 + 1;
  std::vector<uint64_t>& bits = ways_[way].nodes;
  if (bits.size() < words) bits.resize(words);
  num_words_ = std::max(num_words_, words);
  for (const uint32_t id : nodes) bits[id / 64] |= uint64_t{1} << id % 64;
}

void Returns::run(uint16_t further, Arena& arena) {
  for (std::size_t word = num_words_; word-- > 0;) {
    // What a node leads to is below it.
    for (uint64_t open = open_in(word); open != 0; open = open_in(word)) {
      const auto bit = static_cast<uint32_t>(std::bit_width(open) - 1);
      for (uint32_t way = 0; way < num_ways_; ++way) {
        std::vector<uint64_t>& bits = ways_[way].nodes;
        if (word >= bits.size() || (bits[word] >> bit & 1) == 0) continue;
        bits[word] &= ~(uint64_t{1} << bit);
        return_to(static_cast<uint32_t>(word) * 64 + bit, way, further, arena);
      }
    }
  }
}

// The nodes of a word that something returns to.
uint64_t Returns::open_in(std::size_t word) const {
  uint64_t open = 0;
  for (std::size_t i = 0; i < num_ways_; ++i) {
    if (word < ways_[i].nodes.size()) open |= ways_[i].nodes[word];
  }
  return open;
}

void Returns::return_to(uint32_t node, uint32_t way, uint16_t further, Arena& arena) {
  if (node == kBottom) {
    bottoms_.push_back(ways_[way].accepted);
    return;
  }
  const Config after =
      resumed(store_, arena.node(node), ways_[way].accepted, ways_[way].returned, arena);
  if (after.state == kDead) return;
  const auto [index, change, before] = index_.add({after.state, after.reg, 0, kBottom}, arena);
  if (change == ConfigSet::Change::kAdded) {
    if (num_reached_ == reached_.size()) reached_.emplace_back();
    Reached& added = reached_[num_reached_++];
    added.config = after;
    added.stacks.clear();
    const bool returns = (store_.state(after.state).flags & further) != 0;
    added.way = returns ? way_of(after, arena) : kNone;
  }
  Reached& reached = reached_[index];
  if (!reached.stacks.empty() && reached.stacks.back() == after.stack) return;
  reached.stacks.push_back(after.stack);
  if (reached.way != kNone) spread(reached.way, after.stack, arena);
}

}  // namespace maskwright

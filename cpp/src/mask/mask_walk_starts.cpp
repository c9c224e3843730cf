// Walks from nodes where the frame's caller goes on (start_at()).
//
// Idea: behind equal escapes nearly all configurations are the same one, and the tokens go on in
// much the same way: `",`, `":`, `"}`. So all nodes with one configuration are a *bundle*: their
// children are grouped by byte, each byte is read once, and what it leads to holds for all children
// of the group. Cost: linear in the nodes, but a step only for each text that differs.
//
// That takes starts of which none lies below another; others are walked one by one, and those that
// a walk comes by join it.

#include <algorithm>

#include "mask/mask_walk.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/spaces.h"
#include "trie/text_paths.h"

namespace maskwright {

void MaskWalk::walk_starts() {
  if (are_apart()) {
    walk_starts_apart();
  } else {
    walk_nested_starts();
  }
  walk_free_starts();
}

void MaskWalk::walk_starts_apart() {
  next_start_ = starts_.size();
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i].taken) continue;
    const Config config = starts_[i].config;
    std::vector<uint32_t>& nodes = bundles_[0].nodes;
    nodes.clear();
    bundles_[0].allowed = {};
    for (std::size_t j = i; j < starts_.size(); ++j) {
      if (starts_[j].taken || starts_[j].config != config) continue;
      nodes.push_back(starts_[j].node);
      starts_[j].taken = true;
    }
    walk_together(config);
  }
}

// No start lies at or below another.
bool MaskWalk::are_apart() const {
  for (std::size_t i = 1; i < starts_.size(); ++i) {
    if (starts_[i].node < vocabulary_.next(starts_[i - 1].node)) return false;
  }
  return true;
}

// --- starts that may meet ------------------------------------------------------------------------

void MaskWalk::walk_nested_starts() {
  const Config* closed = nullptr;  // levels_[0] is that configuration, closed, and returned nothing
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const auto& [node, config, taken] = starts_[i];
    if (taken) continue;
    const bool single = i + 1 == starts_.size() || starts_[i + 1].node != node;
    if (single && closed != nullptr && *closed == config) {
      allow_range(vocabulary_.range_at(node));
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
    next_start_ = i + 1;
    follow_subtree(node, 0);
  }
}

// Some start is at the node that the walk has come to.
bool MaskWalk::joins(uint32_t node) {
  while (next_start_ < starts_.size() && starts_[next_start_].node < node) ++next_start_;
  return next_start_ < starts_.size() && starts_[next_start_].node == node;
}

// Adds all that starts at one node; `index` is the first of them.
void MaskWalk::take_starts(std::size_t index, ConfigSet& set) {
  const uint32_t node = starts_[index].node;
  for (; index < starts_.size() && starts_[index].node == node; ++index) {
    runner_.add(starts_[index].config, *arena_, set);
    starts_[index].taken = true;
  }
}

// --- starts side by side -------------------------------------------------------------------------

// From the nodes of the first bundle.
void MaskWalk::walk_together(const Config& config) {
  Depth& top = levels_[0];
  top.set.clear();
  runner_.add(config, *arena_, top.set);
  if (top.set.empty() || !arrive_together(bundles_[0].nodes, top)) return;
  open_bundle(0);
  follow_together(0);
}

// From the branches of a bundle.
void MaskWalk::follow_together(uint32_t top) {
  for (uint32_t level = top;;) {
    Bundle& from = bundles_[level];
    if (from.at == from.branches.size()) {
      if (level == top) return;
      --level;
      continue;
    }
    const uint8_t byte = from.branches[from.at].byte;
    std::vector<uint32_t>& nodes = bundles_[level + 1].nodes;
    nodes.clear();
    for (; from.at < from.branches.size() && from.branches[from.at].byte == byte; ++from.at) {
      nodes.push_back(from.branches[from.at].node);
    }
    ++visited_;
    const bool inside = byte < 0x80 && from.allowed.has(byte);
    bundles_[level + 1].allowed = inside ? from.allowed : TextClass{};
    if (!step_together(byte, level)) continue;
    if (take_text(nodes, level + 1, bundles_[level + 1].allowed)) continue;
    if (nodes.size() == 1 && !inside) {
      follow_subtree(nodes[0], level + 1);
    } else {
      open_bundle(++level);
    }
  }
}

// Finds the children whose bytes are read.
void MaskWalk::open_bundle(uint32_t level) {
  Bundle& bundle = bundles_[level];
  bundle.branches.clear();
  bundle.at = 0;
  const ByteSet read = readable(levels_[level]);
  for (const uint32_t node : bundle.nodes) {
    const uint32_t end = vocabulary_.next(node);
    for (uint32_t child = node + 1; child < end; child = vocabulary_.next(child)) {
      const uint8_t byte = vocabulary_.byte(child);
      if (!read.has(byte) || take_words_below(child, byte, bundle.allowed)) continue;
      bundle.branches.push_back({byte, child});
    }
  }
  std::ranges::sort(bundle.branches);
}

// All that is at and below the node, if it is nothing but text that is allowed.
bool MaskWalk::take_words_below(uint32_t node, uint8_t byte, const TextClass& allowed) {
  if (byte >= 0x80 || !allowed.has(byte) || !is_text_below(vocabulary_, node, allowed)) {
    return false;
  }
  allow_range(vocabulary_.range_at(node));
  allow_range(vocabulary_.range_below(node));
  return true;
}

// The general step, to all nodes of the next bundle. False if nothing can follow.
bool MaskWalk::step_together(uint8_t byte, uint32_t level) {
  const std::vector<uint32_t>& nodes = bundles_[level + 1].nodes;
  const Depth& from = levels_[level];
  Depth& here = levels_[level + 1];
  if (from.loops && is_space(byte)) {
    if (!loop(from, here)) return false;
    for (const uint32_t node : nodes) allow_range(vocabulary_.range_at(node));
    return true;
  }
  here.set.clear();
  const auto configs = from.single ? std::span(&from.config, 1) : from.set.configs();
  runner_.scan(configs, byte, *arena_, here.set);
  if (here.set.empty()) {
    note_unsure(nodes);
    return false;
  }
  return arrive_together(nodes, here);
}

// As arrive(). False if nothing can follow.
bool MaskWalk::arrive_together(std::span<const uint32_t> nodes, Depth& here) {
  const bool inside = is_inside(here.set);
  const bool deeper =
      std::ranges::any_of(nodes, [&](uint32_t node) { return vocabulary_.has_children(node); });
  const bool single = here.set.size() == 1;
  if (inside) {
    for (const uint32_t node : nodes) allow_range(vocabulary_.range_at(node));
  }
  returned_.clear();
  if (deeper || !inside) runner_.close(here.set, *arena_, &returned_);
  make_set(returned_);
  note_unsure(nodes);
  for (const uint32_t node : nodes) {
    const bool ends = !inside && !vocabulary_.tokens_at(node).empty();
    if (!ends && !vocabulary_.has_children(node)) continue;
    for (const SetId returned : returned_) result_.escapes.push_back({node, returned});
  }
  if (!deeper) return false;
  settle(here, single && returned_.empty());
  return !is_over(here);
}

void MaskWalk::note_unsure(std::span<const uint32_t> nodes) {
  if (!arena_->regs().take_unsure()) return;
  result_.unsure.insert(result_.unsure.end(), nodes.begin(), nodes.end());
}

}  // namespace maskwright

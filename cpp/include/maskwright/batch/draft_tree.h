// Draft trees of speculative decoding: what a verifier gives as arrays of links, and the masks of
// all nodes.
//
// A tree is two arrays of n links: the first child of each node and its next sibling, -1 for none.
// It is checked once and becomes a list of visits in preorder, so that the walk follows no links.
// Cost of the checks: linear. Of the walk: one accepted token and one mask for each node.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "maskwright/batch/bitmask_rows.h"
#include "maskwright/matcher/held.h"

namespace maskwright {

class DraftTree {
 public:
  // What raises kDraftTree: arrays of different lengths; a link outside -1..n-1; links that lead
  // back to where they began, anywhere; a root outside the tree; a node that two links below the
  // root lead to. `what` stands in front of the messages of one of several trees.
  DraftTree(std::span<const int64_t> next_token, std::span<const int64_t> next_sibling,
            int64_t root, const std::string& what = "");

  uint32_t num_nodes() const { return num_nodes_; }

  struct Visit {
    uint32_t node;
    uint32_t depth;  // 0: the root
  };
  // The nodes at and below the root, parents before children, siblings in their order.
  std::span<const Visit> visits() const { return visits_; }
  // All others.
  std::span<const uint32_t> unreached() const { return unreached_; }

 private:
  void list_visits(std::span<const int64_t> next_token, std::span<const int64_t> next_sibling,
                   uint32_t root, const std::string& what);

  uint32_t num_nodes_;
  std::vector<Visit> visits_;
  std::vector<uint32_t> unreached_;
};

// When a walk gives up, but not before the root's mask; no value: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

// Row `first` + j of the bitmask: the mask after the tokens on the way from the root to node j, the
// root's own left out, since the matcher has accepted it. Rows behind a refused token or after a
// stop token are all zero, as are those that are not reached. The matcher is as before in the end,
// whatever happens. `reached`: one for each node, set to 1 where some token can follow; or empty.
// The grammar's mutex is held. False if the deadline passed: rows not reached until then are zero.
bool traverse(const HeldMatcher& matcher, const DraftTree& tree, std::span<const int64_t> tokens,
              const BitmaskRows& bitmask, int64_t first, const Deadline& deadline = {},
              std::span<uint8_t> reached = {});
// The same for a matcher whose mutex is not held. Raises kMatcher if it is terminated.
bool traverse_draft_tree(Matcher& matcher, const DraftTree& tree, std::span<const int64_t> tokens,
                         const BitmaskRows& bitmask, const Deadline& deadline,
                         std::span<uint8_t> reached);

}  // namespace maskwright

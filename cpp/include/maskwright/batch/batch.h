// One call for many matchers: what an engine does at each step for all its requests.
//
// Idea: matchers of one grammar share its mutex, so they are one item of work: the mutex is taken
// once, and no two threads wait for each other. The calling thread begins alone; workers join when
// there is a mask to compute that was not needed before, or when what is left will take much longer
// than waking them. A batch of little work thus never pays for threads.
//
// Everything is checked before anything is done: a call that raises kBatch, kMatcher or kDraftTree
// has changed nothing. What the work itself raises, which is want of memory, reaches the caller
// after all of it has ended; the matchers are then as before, and the rows of that grammar
// undefined.
//
// Nobody else uses the matchers during a call. Several calls may run at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/batch/bitmask_rows.h"
#include "maskwright/batch/draft_tree.h"
#include "maskwright/matcher/matcher.h"
#include "maskwright/pool/worker_pool.h"

namespace maskwright {

using Matchers = std::span<Matcher* const>;

// Raises kBatch if a matcher is named twice, which every call for many matchers does.
void check_distinct(Matchers matchers);

// One answer for each matcher, 1: accepted.
std::vector<uint8_t> accept_tokens(Matchers matchers, std::span<const int64_t> tokens);
// A text without data is in no language.
std::vector<uint8_t> accept_texts(Matchers matchers, std::span<const std::string_view> texts);
// Raises kMatcher if one of them has taken fewer steps, or a number is negative.
void roll_back(Matchers matchers, std::span<const int64_t> steps);

// Raises kBatch for a row outside 0..count-1, or one that is named twice. `what` has the rows.
void check_rows(std::span<const int64_t> rows, int64_t count, const char* what);

class Batch {
 public:
  // The calling thread is one of them, so there is one at least.
  explicit Batch(uint32_t max_threads) : max_threads_(std::max(1U, max_threads)) { renew(); }

  uint32_t max_threads() const { return max_threads_; }

  // Writes the mask of each matcher into its row. The rows are checked ones of the bitmask, which
  // is wide enough. Raises kMatcher if one of the matchers is terminated.
  void fill(Matchers matchers, std::span<const int64_t> rows, const BitmaskRows& bitmask);

  // The id of each matcher's mask in the table, kNoMaskId where its grammar has another one. null:
  // that of all of them. Raises kMatcher if one of the matchers is terminated, kBatch if there is
  // no table given and they have several.
  std::vector<MaskId> mask_ids(Matchers matchers, const MaskTable* table);

  // A draft tree of one matcher.
  struct Draft {
    const DraftTree* tree;
    std::span<const int64_t> tokens;  // of its nodes
    int64_t row;                      // of the bitmask, of node 0
  };
  // traverse() for each matcher. Raises kMatcher if one of them is terminated.
  std::vector<uint8_t> traverse(Matchers matchers, std::span<const Draft> drafts,
                                const BitmaskRows& bitmask);

  // For a child after fork(): the threads of the parent are not there.
  void renew();

 private:
  uint32_t max_threads_;
  std::unique_ptr<WorkerPool> pool_;
};

}  // namespace maskwright

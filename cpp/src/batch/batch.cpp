#include "maskwright/batch/batch.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "maskwright/matcher/held.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

using Clock = std::chrono::steady_clock;

// Work of so much time is shared: waking a thread costs some microseconds, up to ten on a busy
// machine, where it may also be slow to end its part.
constexpr std::chrono::microseconds kWorthThreads{500};

std::string nth(std::size_t index) { return "matcher " + std::to_string(index); }

// Matchers by grammar, in the order in which the grammars first appear. Linear.
class Groups {
 public:
  explicit Groups(Matchers matchers) : order_(matchers.size()), begins_{0} {
    check_distinct(matchers);
    std::unordered_map<const CompiledGrammar*, std::size_t> group_of;
    const CompiledGrammar* last = nullptr;
    std::size_t group = 0;
    std::vector<std::size_t> groups(matchers.size());
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      const CompiledGrammar* grammar = &matchers[i]->grammar();
      if (grammar != last) group = group_of.try_emplace(grammar, group_of.size()).first->second;
      last = grammar;
      groups[i] = group;
      if (group + 1 == begins_.size()) begins_.push_back(0);
      ++begins_[group + 1];  // the size, for now
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<std::size_t> next = begins_;
    for (std::size_t i = 0; i < matchers.size(); ++i) order_[next[groups[i]]++] = i;
  }

  std::size_t size() const { return begins_.size() - 1; }
  std::span<const std::size_t> operator[](std::size_t group) const {
    return std::span(order_).subspan(begins_[group], begins_[group + 1] - begins_[group]);
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::size_t> begins_;  // in it, and its end
};

// Calls work(index, matcher) for the matchers of a group, under their grammar's mutex.
template <typename Work>
void for_each_held(std::span<const std::size_t> group, Matchers matchers, const Work& work) {
  GrammarMutex& mutex = matchers[group.front()]->grammar().mutex();
  std::unique_lock lock(mutex);
  for (const std::size_t i : group) {
    if (mutex.is_awaited()) {  // by somebody who has less to do
      lock.unlock();
      lock.lock();
    }
    work(i, HeldMatcher(*matchers[i]));
  }
}

template <typename Work>
void for_each_held(const Groups& groups, Matchers matchers, const Work& work) {
  for (std::size_t g = 0; g < groups.size(); ++g) for_each_held(groups[g], matchers, work);
}

// If memory is short, all are as before.
template <typename Accept>
std::vector<uint8_t> accept_each(Matchers matchers, const Accept& accept) {
  const Groups groups(matchers);
  std::vector<uint8_t> accepted(matchers.size());
  try {
    for_each_held(groups, matchers, [&](std::size_t i, const HeldMatcher& matcher) {
      accepted[i] = accept(i, matcher);
    });
  } catch (...) {
    for_each_held(groups, matchers, [&](std::size_t i, const HeldMatcher& matcher) {
      if (accepted[i] != 0) matcher.rollback(1);
    });
    throw;
  }
  return accepted;
}

void check_can_go_on(const Groups& groups, Matchers matchers) {
  for_each_held(groups, matchers, [](std::size_t i, const HeldMatcher& matcher) {
    if (matcher.can_go_on()) return;
    throw Error(ErrorKind::kMatcher, "matcher-terminated",
                nth(i) +
                    " is terminated, so no token can follow; leave it out, or roll back or "
                    "reset it");
  });
}

// The table of all matchers; null if there are none.
const MaskTable* table_of(Matchers matchers) {
  const MaskTable* table = nullptr;
  for (std::size_t i = 0; i < matchers.size(); ++i) {
    const MaskTable* own = matchers[i]->grammar().mask_table().get();
    if (table == nullptr) table = own;
    if (table == own) continue;
    throw Error(ErrorKind::kBatch, "batch-mask-tables",
                "matcher 0 and " + nth(i) +
                    " have different mask tables, as grammars from before and after clear_cache() "
                    "have; pass mask_table, and matchers of other tables get -1");
  }
  return table;
}

// Has workers join if the rest of the items will take long enough, to judge by those done.
void enlist_if_worth(WorkerPool::Crew& crew, Clock::time_point began, std::size_t done,
                     std::size_t items) {
  if ((Clock::now() - began) * (items - done) > kWorthThreads * done) crew.enlist();
}

// Rows of a group that were computed, each by the hash of its place; a newer one may take the slot
// of an older one.
class KnownRows {
 public:
  explicit KnownRows(std::size_t size) : slots_(size == 1 ? 0 : std::bit_ceil(2 * size)) {}

  // Copies the row of a matcher with the same mask, if one is known.
  bool copy(const HeldMatcher& matcher, std::span<uint32_t> row) const {
    if (slots_.empty()) return false;
    const Slot& slot = slots_[matcher.place_hash() & (slots_.size() - 1)];
    if (!slot.matcher.has_value() || !slot.matcher->same_mask(matcher)) return false;
    std::ranges::copy(slot.row, row.begin());
    return true;
  }
  void add(const HeldMatcher& matcher, std::span<const uint32_t> row) {
    if (slots_.empty()) return;
    slots_[matcher.place_hash() & (slots_.size() - 1)] = {matcher, row};
  }

 private:
  struct Slot {
    std::optional<HeldMatcher> matcher;
    std::span<const uint32_t> row;
  };
  std::vector<Slot> slots_;
};

}  // namespace

void check_distinct(Matchers matchers) {
  constexpr std::size_t kFree = 0;
  std::vector<std::size_t> slots(std::bit_ceil(2 * matchers.size() + 1), kFree);  // index + 1
  for (std::size_t i = 0; i < matchers.size(); ++i) {
    std::size_t slot = std::hash<const Matcher*>()(matchers[i]) / alignof(Matcher);
    for (;; ++slot) {
      std::size_t& held = slots[slot & (slots.size() - 1)];
      if (held == kFree) {
        held = i + 1;
        break;
      }
      if (matchers[held - 1] != matchers[i]) continue;
      throw Error(ErrorKind::kBatch, "batch-same-matcher",
                  "matchers " + std::to_string(held - 1) + " and " + std::to_string(i) +
                      " are the same one; name each only once, or pass a fork() of it");
    }
  }
}

std::vector<uint8_t> accept_tokens(Matchers matchers, std::span<const int64_t> tokens) {
  return accept_each(matchers, [&](std::size_t i, const HeldMatcher& matcher) {
    return matcher.accept_token(tokens[i]);
  });
}

std::vector<uint8_t> accept_texts(Matchers matchers, std::span<const std::string_view> texts) {
  return accept_each(matchers, [&](std::size_t i, const HeldMatcher& matcher) {
    return texts[i].data() != nullptr && matcher.accept_bytes(texts[i]);
  });
}

void roll_back(Matchers matchers, std::span<const int64_t> steps) {
  const Groups groups(matchers);
  for_each_held(groups, matchers, [&](std::size_t i, const HeldMatcher& matcher) {
    if (steps[i] < 0) {
      throw Error(ErrorKind::kMatcher, "matcher-rollback-negative",
                  "cannot roll back " + nth(i) + " by " + std::to_string(steps[i]) +
                      " steps: the number must be 0 or more");
    }
    const uint64_t taken = matcher.num_steps();
    if (static_cast<uint64_t>(steps[i]) <= taken) return;
    throw Error(ErrorKind::kMatcher, "matcher-rollback-too-far",
                "cannot roll back " + nth(i) + " by " + std::to_string(steps[i]) + " steps: only " +
                    std::to_string(taken) + " were taken");
  });
  for_each_held(groups, matchers, [&](std::size_t i, const HeldMatcher& matcher) {
    matcher.rollback(static_cast<uint64_t>(steps[i]));
  });
}

void check_rows(std::span<const int64_t> rows, int64_t count, const char* what) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= count) {
      throw Error(ErrorKind::kBatch, "batch-index",
                  "index " + std::to_string(rows[i]) + " of " + nth(i) +
                      " does not exist: " + what + " " +
                      (count == 0 ? "0 rows"
                                  : std::to_string(count) + (count == 1 ? " row" : " rows") +
                                        "; pass indices from 0 to " + std::to_string(count - 1)));
    }
  }
  if (std::ranges::is_sorted(rows, std::ranges::less_equal{})) return;
  // Not a flag for each row, of which there may be any number if they have no words.
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rows[i]; });
  std::size_t twice = rows.size();  // the first that comes again
  std::size_t before = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (rows[order[k - 1]] != rows[order[k]] || order[k] > twice) continue;
    before = order[k - 1];
    twice = order[k];
  }
  if (twice == rows.size()) return;
  throw Error(ErrorKind::kBatch, "batch-index-twice",
              "index " + std::to_string(rows[twice]) + " is given for " + nth(before) + " and " +
                  nth(twice) + "; each needs a row of its own");
}

void Batch::renew() {
  static_cast<void>(pool_.release());  // its threads and locks are the parent's
  pool_ = std::make_unique<WorkerPool>(max_threads_ - 1);
}

void Batch::fill(Matchers matchers, std::span<const int64_t> rows, const BitmaskRows& bitmask) {
  const Groups groups(matchers);
  check_can_go_on(groups, matchers);
  const auto began = Clock::now();
  pool_->execute(groups.size(), [&](std::size_t g, WorkerPool::Crew& crew) {
    KnownRows known(groups[g].size());
    for_each_held(groups[g], matchers, [&](std::size_t i, const HeldMatcher& matcher) {
      const auto row = bitmask.row(rows[i]);
      if (known.copy(matcher, row)) return;
      if (matcher.fill(row, false) == Matcher::Fill::kCold) {
        crew.enlist();
        matcher.fill(row, true);
      }
      known.add(matcher, row);
    });
    enlist_if_worth(crew, began, g + 1, groups.size());
  });
}

std::vector<MaskId> Batch::mask_ids(Matchers matchers, const MaskTable* table) {
  const Groups groups(matchers);
  if (table == nullptr) table = table_of(matchers);
  check_can_go_on(groups, matchers);
  std::vector<MaskId> ids(matchers.size(), kNoMaskId);
  const auto began = Clock::now();
  pool_->execute(groups.size(), [&](std::size_t g, WorkerPool::Crew& crew) {
    if (matchers[groups[g].front()]->grammar().mask_table().get() != table) return;
    for_each_held(groups[g], matchers, [&](std::size_t i, const HeldMatcher& matcher) {
      auto id = matcher.mask_id(false);
      if (!id.has_value()) {
        crew.enlist();
        id = matcher.mask_id(true);
      }
      ids[i] = *id;
    });
    enlist_if_worth(crew, began, g + 1, groups.size());
  });
  return ids;
}

std::vector<uint8_t> Batch::traverse(Matchers matchers, std::span<const Draft> drafts,
                                     const BitmaskRows& bitmask) {
  const Groups groups(matchers);
  check_can_go_on(groups, matchers);
  std::vector<uint8_t> complete(matchers.size());
  const auto began = Clock::now();
  pool_->execute(groups.size(), [&](std::size_t g, WorkerPool::Crew& crew) {
    for_each_held(groups[g], matchers, [&](std::size_t i, const HeldMatcher& matcher) {
      const Draft& draft = drafts[i];
      complete[i] = maskwright::traverse(matcher, *draft.tree, draft.tokens, bitmask, draft.row);
    });
    enlist_if_worth(crew, began, g + 1, groups.size());
  });
  return complete;
}

}  // namespace maskwright

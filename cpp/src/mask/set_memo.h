// What sets of configurations do on a byte, for the length of one walk.
//
// Idea: in ambiguous rules nearly every trie node is read by a set of configurations, and the same
// few sets come again and again. So a walk is a lazy subset construction: a set is read and closed
// once for each byte, and looked up after that.
//
// Cost: a look-up for a node; up to kMaxKept results are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "maskwright/automata/run.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class SetMemo {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;

  struct After {
    std::vector<Config> closed;   // nothing if the byte is not read
    std::vector<SetId> returned;  // by the walk's first frame
    bool inside = false;          // some configuration is inside of it
    bool alone = false;           // one led to all others, and the first frame can't have returned
    uint32_t id = kUnknown;       // of the closed set
  };

  // The set's number; kUnknown if nothing more is kept.
  uint32_t id(std::span<const Config> closed) {
    if (kept_.size() >= kMaxKept) return kUnknown;
    words_.clear();
    for (const Config& config : closed) {
      words_.insert(words_.end(), {config.state, config.reg, config.run, config.stack});
    }
    return sets_.intern(words_).id;
  }
  // What is asked: a set, the byte that it reads, and the set that joins it behind the byte.
  struct Step {
    uint32_t set;
    uint8_t byte;
    uint32_t joined;  // kUnknown: none

    uint64_t key() const { return uint64_t{set} << 40 | uint64_t{joined & 0xFFFFFFFU} << 8 | byte; }
  };
  const After* find(const Step& step) const {
    const auto found = index_.find(step.key());
    return found == index_.end() ? nullptr : &kept_[found->second];
  }
  const After& keep(const Step& step, After after) {
    index_.emplace(step.key(), static_cast<uint32_t>(kept_.size()));
    return kept_.emplace_back(std::move(after));
  }
  void clear() {
    if (sets_.size() == 0) return;
    sets_.truncate(0);
    index_.clear();
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMaxKept = 4096;

  WordInterner sets_;
  std::unordered_map<uint64_t, uint32_t> index_;  // by Step::key(), into kept_
  std::deque<After> kept_;
  std::vector<uint32_t> words_;
};

}  // namespace maskwright

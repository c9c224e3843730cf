// What a compiled grammar keeps about completions, for all its matchers.
//
// There is one Completions for each set of tokens that stop, of which there are few. One that has
// become too large is begun anew: matchers then read their texts once more, and find out again what
// they need. All of it runs under the grammar's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "matcher/completions.h"

namespace maskwright {

class CompletionStore {
 public:
  static constexpr std::size_t kMaxKinds = 4;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;  // of each set

  explicit CompletionStore(std::size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // Stays as it is until the next call.
  Completions& completions(CompiledGrammar& grammar, const TokenReader& tokens);

  // Done so far, whatever was dropped since.
  uint64_t searches() const;
  uint64_t walks() const;
  // The most work of one walk.
  uint32_t most_work() const;
  // For tests: another bound than Completions::kMaxWork. Drops what is known.
  void bound_work(uint32_t max_work);
  void forget();
  // How often one was begun.
  uint64_t generations() const { return generations_; }
  // Changes whenever more is known.
  uint64_t revision() const;
  // Nearly: measured whenever there is a part more.
  std::size_t memory_bytes();

 private:
  struct Kind {
    std::unique_ptr<Completions> completions;
    std::size_t measured_size = 0;
    std::size_t measured_bytes = 0;
    std::size_t memory_bytes() const { return heap_bytes(completions); }
  };

  static void measure(Kind& kind);
  void drop(Kind& kind);

  std::size_t max_bytes_;
  uint32_t max_work_ = Completions::kMaxWork;
  uint32_t dropped_most_work_ = 0;
  std::vector<Kind> kinds_;  // the newest last
  uint64_t generations_ = 0;
  uint64_t dropped_searches_ = 0;
  uint64_t dropped_walks_ = 0;
  uint64_t dropped_size_ = 0;
};

}  // namespace maskwright

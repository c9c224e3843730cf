// A grammar compiled for one vocabulary. Immutable for its users; the states and masks that it
// builds on demand are shared by all its matchers and guarded by one mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "maskwright/automata/rules.h"
#include "maskwright/automata/run.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/machine.h"
#include "maskwright/mask/mask_store.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

struct CompileLimits {
  RuleLimits rules;
  JsonLimits json;
};

struct CompiledCounters {
  uint64_t states = 0;
  uint64_t rows = 0;
  uint64_t positions = 0;
  uint64_t searched_places = 0;  // by searches for completions (finish.cpp)
  MaskCounters masks;
};

class CompiledGrammar {
 public:
  // Raises kMalformed, kUnsatisfiable, kUnsupported and kLimit errors.
  CompiledGrammar(std::span<const std::byte> ir, std::shared_ptr<const Vocabulary> vocabulary,
                  const CompileLimits& limits);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  std::size_t memory_bytes() const;
  CompiledCounters counters() const;

  // For matchers; everything below is used under mutex().
  std::mutex& mutex() const { return mutex_; }
  Config start() const { return {start_, 0, 0, kBottom}; }
  const Ir& ir() const { return ir_; }
  Store& store() { return store_; }
  RulesMachine& rules() { return *rules_; }
  MaskStore& masks() { return *masks_; }
  void count_searched_place() { ++searched_places_; }
  // Some array of unique items met so far may run out of values.
  bool has_few_values() const { return json_ != nullptr && json_->has_few_values(); }
  bool has_token_symbols() const { return has_token_symbols_; }
  // A text may get to where only bytes lead on that are no tokens of their own, or no token has.
  bool may_need_unspellable() const { return may_need_unspellable_; }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  Ir ir_;
  Store store_;
  std::unique_ptr<JsonMachine> json_;
  std::unique_ptr<RulesMachine> rules_;
  std::unique_ptr<MaskStore> masks_;
  StateId start_ = kDead;
  uint64_t searched_places_ = 0;
  bool may_need_unspellable_ = false;
  bool has_token_symbols_ = false;
};

}  // namespace maskwright

// A grammar compiled for one vocabulary. Immutable for its users; the states and masks that it
// builds on demand are shared by all its matchers and guarded by one mutex.
#pragma once

#include <atomic>
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
#include "maskwright/matcher/mask_table.h"
#include "maskwright/support/byte_ledger.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

struct CompileLimits {
  RuleLimits rules;
  JsonLimits json;
  Shortcuts shortcuts;
};

struct CompiledCounters {
  uint64_t frames = 0;  // rules, and targets of JSON values
  uint64_t states = 0;
  uint64_t rows = 0;
  uint64_t positions = 0;
  uint64_t searched_places = 0;  // by searches for completions (finish.cpp)
  uint64_t budget_searches = 0;  // for texts and tokens that complete a place (completions.h)
  uint64_t budget_walks = 0;     // for masks under a budget
  uint64_t budget_work = 0;      // the most that searches for one of them took (budget_walk.h)
  uint64_t mask_drops = 0;       // of all masks, since a limit did not allow them
  MaskCounters masks;
};

class CompiledGrammar;
class Completions;
class CompletionStore;
class TokenReader;

// Guards what a compiled grammar computes on demand. Unlocking brings its charge up to date, and
// drops its masks where a limit does not allow them: what was found there is of no use after that.
class GrammarMutex {
 public:
  explicit GrammarMutex(CompiledGrammar& grammar) : grammar_(grammar) {}
  void lock() {
    if (mutex_.try_lock()) return;
    ++waiting_;
    wait(mutex_);
    --waiting_;
  }
  // How a thread waits; whoever holds something that others need while it does can set another way.
  static inline void (*wait)(std::mutex&) = [](std::mutex& mutex) { mutex.lock(); };
  // Some thread waits for it: what can wait should let that go first.
  bool is_awaited() const { return waiting_ != 0; }
  bool try_lock() { return mutex_.try_lock(); }
  // At this moment; by any thread.
  bool is_taken() {
    if (!mutex_.try_lock()) return true;
    mutex_.unlock();
    return false;
  }
  void unlock();

 private:
  CompiledGrammar& grammar_;
  std::mutex mutex_;
  std::atomic<uint32_t> waiting_ = 0;
};

class CompiledGrammar {
 public:
  // Raises kMalformed, kUnsatisfiable, kUnsupported and kLimit errors. `shared`: of the same
  // vocabulary, or null.
  CompiledGrammar(std::span<const std::byte> ir, std::shared_ptr<const Vocabulary> vocabulary,
                  const CompileLimits& limits, std::shared_ptr<SharedMasks> shared = nullptr);
  // From rules that were lowered before (serialize/), checked against the IR and the vocabulary.
  // Raises kStoredFormat where no compiled grammar has such rules, and the others as above.
  CompiledGrammar(Ir ir, std::shared_ptr<const Vocabulary> vocabulary, const CompileLimits& limits,
                  const RuleTables& tables, std::shared_ptr<SharedMasks> shared = nullptr);

  CompiledGrammar(const CompiledGrammar&) = delete;
  CompiledGrammar& operator=(const CompiledGrammar&) = delete;
  ~CompiledGrammar();

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const CompileLimits& limits() const { return limits_; }
  // As of the last call that computed something. Waits for nothing.
  std::size_t memory_bytes() const { return charge_.bytes(); }
  // Adds what its owner needs for it.
  void set_around_bytes(std::size_t bytes);
  std::size_t around_bytes() const { return around_bytes_; }
  // Has the ledger count this grammar from now on; null: nobody. Where that has a limit and there
  // is no room, masks and completions that were computed on demand are dropped, and computed again.
  void charge_to(std::shared_ptr<ByteLedger> ledger) { charge_.charge_to(std::move(ledger)); }
  // As of when last nothing was being computed, if something is: waits for nothing.
  CompiledCounters counters() const;
  // The masks computed so far that another machine of the same rules can use.
  StorableMasks storable_masks() const;
  // The table that gives masks their ids, of the same vocabulary; one of its own until it gets
  // another, which it must before any id was asked for.
  std::shared_ptr<MaskTable> mask_table() const { return mask_ids_->table(); }
  void use_mask_table(std::shared_ptr<MaskTable> table);
  // For tests: the work that a mask under a budget may take at most (budget_walk.h).
  void bound_budget_work(uint32_t max_work);

  // For matchers; everything below is used under mutex().
  GrammarMutex& mutex() const { return mutex_; }
  Config start() const { return {start_, 0, 0, kBottom}; }
  const Ir& ir() const { return ir_; }
  // The rules as compiled, whatever was asked for since; waits for nothing.
  RuleTables tables() const { return rules_->tables(); }
  Store& store() { return store_; }
  RulesMachine& rules() { return *rules_; }
  MaskStore& masks() { return *masks_; }
  MaskIds& mask_ids() { return *mask_ids_; }
  // What is known about completions if these tokens stop. Stays as it is until the next call.
  Completions& completions(const TokenReader& tokens);
  void count_searched_place() { ++searched_places_; }
  // The undeclared names of some object met so far may run out (json/machine.h).
  bool has_few_names(bool endless) const {
    return json_ != nullptr && json_->has_few_names(endless);
  }
  // Some array of unique items met so far may run out of values.
  bool has_few_values() const { return json_ != nullptr && json_->has_few_values(); }
  bool has_token_symbols() const { return has_token_symbols_; }
  // A text may get to where only bytes lead on that are no tokens of their own, or no token has.
  bool may_need_unspellable() const { return may_need_unspellable_; }
  // Some text may be the only one behind its beginning that has an end, and have the byte in it.
  bool may_need(uint8_t byte) const;

 private:
  friend class GrammarMutex;
  // Everything but rules_ and what comes after it.
  CompiledGrammar(Ir ir, std::shared_ptr<const Vocabulary> vocabulary, const CompileLimits& limits);
  JsonHooks json_hooks() const;
  void lower_rules();
  void finish(std::shared_ptr<SharedMasks> shared);
  void update_charge();
  void drop_masks();
  CompiledCounters count() const;
  std::size_t measure() const;
  std::size_t measure_rest() const;
  std::size_t measure_masks() const;
  std::size_t measure_tables() const;

  mutable GrammarMutex mutex_{*this};
  mutable ByteCharge charge_;
  mutable std::mutex counters_mutex_;  // never held for long
  mutable CompiledCounters last_counters_;
  // The charge is up to date if there are so many states, rows and masks.
  uint64_t charged_items_ = 0;
  uint64_t charged_completions_ = 0;  // CompletionStore::revision()
  // What takes time to measure, and the number of those at which to do so again.
  std::size_t table_bytes_ = 0;
  uint64_t measure_at_ = 0;
  std::size_t around_bytes_ = 0;
  std::shared_ptr<const Vocabulary> vocabulary_;
  CompileLimits limits_;
  Ir ir_;
  Store store_;
  std::unique_ptr<JsonMachine> json_;
  std::unique_ptr<RulesMachine> rules_;
  std::unique_ptr<MaskStore> masks_;
  MaskCounters dropped_;  // of those before
  std::unique_ptr<MaskIds> mask_ids_;
  std::unique_ptr<CompletionStore> completions_;
  StateId start_ = kDead;
  uint64_t searched_places_ = 0;
  uint64_t mask_drops_ = 0;
  bool may_need_unspellable_ = false;
  bool has_token_symbols_ = false;
};

}  // namespace maskwright

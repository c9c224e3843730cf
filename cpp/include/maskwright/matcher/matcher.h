// Follows a sequence of tokens through a compiled grammar.
//
// A matcher and its forks share one arena of stacks, registers and steps. A step is immutable and
// knows its parent, so accepting appends one, rolling back goes to a parent, and a fork copies the
// current step's index. Everything runs under the compiled grammar's mutex: matchers of one grammar
// may be used from several threads, one matcher from one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "maskwright/matcher/compiled.h"

namespace maskwright {

class Matcher {
 public:
  // stop_token_ids: replaces the vocabulary's. Raises kMatcher if there is no stop token and the
  // text alone doesn't terminate.
  Matcher(std::shared_ptr<CompiledGrammar> grammar,
          std::optional<std::vector<uint32_t>> stop_token_ids, bool terminate_without_stop_token);

  // False, and nothing changed, for everything the mask refuses, out-of-range ids included.
  bool accept_token(int64_t token);
  // One step for the whole text, or nothing.
  bool accept_bytes(std::string_view text);
  enum class Fill : uint8_t { kCold, kSome, kAll };
  // Writes vocabulary.mask_words() words. kSome: some bit below vocab_size is 0; kAll: none is;
  // kCold (only with `walk` false): nothing usable was written, since a trie walk is needed. Raises
  // kMatcher after termination.
  Fill fill_bitmask(std::span<uint32_t> row, bool walk);
  // Raises kMatcher if fewer steps were taken.
  void rollback(uint64_t steps);
  void reset();
  Matcher fork() const { return *this; }

  bool is_terminated() const;
  // The text so far is complete.
  bool is_completed() const;
  uint64_t num_steps() const;
  const std::vector<uint32_t>& stop_token_ids() const { return stop_token_ids_; }
  const CompiledGrammar& grammar() const { return *grammar_; }

 private:
  struct Step {
    uint32_t parent;
    uint32_t configs;  // interned words of the closed configurations
    uint32_t depth;
    bool completed;
    bool stopped;  // by a stop token
  };
  struct Family {
    explicit Family(CompiledGrammar& grammar) : runner(grammar.store(), grammar.rules()) {}
    Arena arena;
    WordInterner configs;
    StablePool<Step> steps;
    Runner runner;
    ConfigSet now, next;
    std::vector<SetId> returned;
    std::unordered_map<uint32_t, bool> finishable;  // by interned configurations (finish.cpp)
  };

  void start();
  std::span<const Config> configs() const { return configs(family_->steps[step_].configs); }
  std::span<const Config> configs(uint32_t id) const;
  // Appends the step of the configurations in `set`, not yet closed.
  void push_step(ConfigSet& set);
  bool read(std::string_view text, ConfigSet& out);
  void add_token_symbols(std::span<const Config> from, uint32_t token, ConfigSet& out);
  // The configurations after a token, not closed; empty if it is refused.
  void read_token(uint32_t token, ConfigSet& out);
  bool is_stop(uint32_t token) const;

  // Where the vocabulary cannot spell every text, see finish.cpp.
  class Search;
  bool needs_search() const;
  bool readable(uint32_t node) const;
  struct Closed {
    uint32_t configs;
    bool completed;
  };
  Closed close_and_intern(ConfigSet& set);
  bool finishable(ConfigSet set);
  bool search_completion(uint32_t configs);
  void drop_unfinishable(std::span<uint32_t> row);

  std::shared_ptr<CompiledGrammar> grammar_;
  std::shared_ptr<Family> family_;
  std::vector<uint32_t> stop_token_ids_;
  bool terminate_without_stop_token_;
  bool needs_search_ = false;
  uint32_t step_ = 0;
};

// Compiles, and checks once that the vocabulary's tokens can spell a text. Raises what the
// constructors of both do.
std::shared_ptr<CompiledGrammar> compile(std::span<const std::byte> ir,
                                         std::shared_ptr<const Vocabulary> vocabulary,
                                         const CompileLimits& limits);

}  // namespace maskwright

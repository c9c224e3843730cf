// Follows a sequence of tokens through a compiled grammar.
//
// A matcher and its forks share one arena of stacks, registers and steps. A step is immutable and
// knows its parent, so accepting appends one, rolling back goes to a parent, and a fork copies the
// current step's index. What was taken back is dropped as soon as the arena has one owner, so that
// accepting and rolling back for ever needs no more memory than the longest text did; while forks
// are alive it stays. Everything runs under the compiled grammar's mutex: matchers of one grammar
// may be used from several threads, one matcher from one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "maskwright/matcher/compiled.h"
#include "maskwright/matcher/stack_depths.h"
#include "maskwright/matcher/token_reader.h"

namespace maskwright {

class HeldMatcher;

class Matcher {
 public:
  // stop_token_ids: replaces the vocabulary's. Raises kMatcher if there is no stop token and the
  // text alone doesn't terminate.
  // token_budget: the most tokens that may be accepted, a stop token among them; none: no bound.
  // Raises kMatcher if it is below min_tokens_to_finish().
  Matcher(std::shared_ptr<CompiledGrammar> grammar,
          std::optional<std::vector<uint32_t>> stop_token_ids, bool terminate_without_stop_token,
          std::optional<uint64_t> token_budget = std::nullopt);

  // False, and nothing changed, for everything the mask refuses, out-of-range ids included.
  bool accept_token(int64_t token);
  // One step for the whole text, or nothing. It takes nothing off a budget, but is refused if what
  // is left would not do for the rest.
  bool accept_bytes(std::string_view text);
  // How many of the tokens accept_token would accept one after the other. Changes nothing.
  std::size_t validate_tokens(std::span<const int64_t> tokens);
  enum class Fill : uint8_t { kCold, kNone, kSome, kAll };
  // Writes vocabulary.mask_words() words. kSome: some bit below vocab_size is 0; kAll: none is;
  // kCold (only with `walk` false): nothing usable was written, since that needs a trie walk, a
  // search or a wait for another thread. Raises kMatcher after termination, and never returns
  // kNone, which says that no token can follow.
  Fill fill_bitmask(std::span<uint32_t> row, bool walk);
  // The id, in the grammar's table, of the mask that fill_bitmask() writes (mask_id.cpp); kNoMaskId
  // if the table has no room for it. None (only with `walk` false) where fill_bitmask() says kCold.
  // Raises kMatcher as it does.
  std::optional<MaskId> mask_id(bool walk);
  // Raises kMatcher if fewer steps were taken.
  void rollback(uint64_t steps);
  void reset();
  Matcher fork() const { return *this; }

  // Budgets (budget.cpp).
  // So many tokens complete the text for sure, a stop token among them if there is one. Raises
  // kMatcher if none are known.
  uint64_t min_tokens_to_finish();
  // What is left of the budget; none without one.
  std::optional<uint64_t> remaining_tokens() const;
  // From this step on; steps before it keep theirs. Raises kMatcher if it is below
  // min_tokens_to_finish().
  void set_remaining_tokens(std::optional<uint64_t> tokens);

  bool is_terminated() const;
  // The text so far is complete.
  bool is_completed() const;
  uint64_t num_steps() const;
  // Of the steps, stacks and registers that this matcher and its forks hold.
  std::size_t memory_bytes() const;

  // For precompute.h: the states that the text has got to and those of the frames around them,
  // without counts and members; and the characters of which any text may come next.
  std::vector<StateId> place() const;
  bool is_in_number() const;
  TextClass free_text() const;
  std::vector<std::string> likely_texts() const;

  // Looking ahead (jump.cpp). Nothing changes.
  // The bytes that every completion goes on with, at most `limit`; it ends where the text may end
  // or a token may come that is no text.
  // Nothing if another thread has the grammar and `wait` is false.
  std::optional<std::string> forced_bytes(std::size_t limit, bool wait = true);
  // `ahead` can be read. The offsets in it, ascending, at which a token may begin that reads the
  // rest of `ahead` and more; its size among them if anything but a stop token may follow it. With
  // an offset inside a code point also those of the tokens that may end there.
  std::vector<uint32_t> open_tokens(std::string_view ahead);
  // The longest token at each place, until the text or the tokens are at an end.
  std::vector<uint32_t> longest_tokens(std::string_view ahead) const;
  // The last bytes accepted, none from before a token that is no text.
  std::string recent_text(std::size_t max_bytes) const;

  // For people (explain.cpp). Nothing changes.
  // The last token if accept_token() refused it, here.
  std::optional<int64_t> refused_token() const { return refused_; }
  // What the text is in, the innermost first: names of rules, and kinds of JSON values in words
  // with spaces, which no rule has in its name. Of an ambiguous text not all.
  std::vector<std::string> surroundings() const;
  // The bytes that may come next, ascending, whatever the budget and the tokens are.
  std::vector<uint8_t> next_bytes() const;
  // How many bytes of the text may come next, likewise.
  std::size_t num_readable(std::string_view text);
  // A token may come next that is no text.
  bool may_read_symbol() const;

  const std::vector<uint32_t>& stop_token_ids() const { return tokens_.stop_ids(); }
  const CompiledGrammar& grammar() const { return *grammar_; }

 private:
  friend class HeldMatcher;

  struct Step {
    uint32_t parent = 0;
    uint32_t depth = 0;
    uint32_t token = kText;
    uint32_t interned = kLone;  // words of the closed configurations
    Config lone;                // the only one, if kLone
    bool completed = false;
    bool stopped = false;  // by a stop token
    uint32_t text = 0;     // of family.texts, if `token` is kText
    // Of the budget.
    uint32_t left = kUnbounded;
    // The tokens of family.plans[plan] from plan_at on complete the text; kNone: as Completions has
    // it.
    uint32_t plan = kNone;
    uint32_t plan_at = 0;
    // In the Completions of this generation; 0: in none yet.
    uint32_t place = 0;
    uint64_t generation = 0;
    // What the family held after this step. All that the step and those before it refer to.
    Arena::Size arena_size{};
    uint32_t num_configs = 0;
    uint32_t num_texts = 0;
    uint32_t num_plans = 0;
  };
  static constexpr uint32_t kText = 0xFFFFFFFF;  // no token, but a text
  static constexpr uint32_t kLone = 0xFFFFFFFF;
  using Plan = std::vector<uint32_t>;  // tokens that complete a text
  // Made for each request, so below 1 kB: to serve more, an allocator first tidies up what was
  // freed, which takes longer than all else here.
  struct Family {
    explicit Family(CompiledGrammar& grammar) : runner(grammar.store(), grammar.rules()) {}
    Arena arena;
    WordInterner configs;
    StablePool<Step> steps;  // parents before children
    std::vector<std::string> texts;
    std::vector<Plan> plans;  // that steps follow
    Runner runner;
    bool is_open = false;  // the first step has its configurations
    ConfigSet after;       // of the step that is being taken
    std::vector<SetId> returned;
    // What searches know (finish.cpp).
    struct Searched {
      std::unordered_map<uint32_t, bool> finishable, finishable_exactly;  // interned configurations
      StackDepths depths;
    };
    std::unique_ptr<Searched> searched;  // null before the first

    // Appends a step that has all but its sizes.
    uint32_t append(Step step);
    void set_sizes(Step& step) const;
    // Drops what came after the step, once it is worth the while.
    void truncate(uint32_t step);
  };
  static constexpr uint32_t kRoot = 1;  // the first step; 0 stands before it

  void start();
  void open() const;
  void reclaim();
  // The last step, and the same where its configurations do not matter: those of the first step
  // may not be known yet.
  const Step& now() const {
    if (!family_->is_open) open();
    return last();
  }
  const Step& last() const { return family_->steps[step_]; }
  std::span<const Config> configs() const {
    const Step& last = now();
    return last.interned == kLone ? std::span(&last.lone, 1) : configs(last.interned);
  }
  std::span<const Config> configs(uint32_t id) const;
  uint32_t intern(std::span<const Config> configs) const;
  void set_configs(Step& step, const ConfigSet& set) const;
  // Appends the step of the configurations in `set`, not yet closed.
  // `cost`: what it leaves of the budget, and the plan that it follows.
  void push_step(ConfigSet& set, uint32_t token, const Step& cost);
  // Writes what the text goes on with; false (only with `walk` false) if that takes a walk.
  bool fill_texts(std::span<uint32_t> row, bool walk);
  // What the public calls do under the mutex. fill: kNone after termination, where they raise.
  bool accept(int64_t token);
  bool accept_or_note(int64_t token);
  bool accept_text(std::string_view text);
  Fill fill(std::span<uint32_t> row, bool walk);
  void take_back(uint64_t steps);
  bool has_ended() const;
  bool read(std::string_view text, ConfigSet& out);
  // The configurations after a token, not closed; empty if it is refused.
  void read_token(uint32_t token, ConfigSet& out);
  // The mask is what the mask store composes of entries, and the stop tokens, and nothing else, as
  // far as can be said at once.
  bool is_composed(bool walk) {
    return !tokens_.needs_search() && (now().left == kUnbounded || is_far_from_end(walk));
  }
  bool is_far_from_end(bool walk);
  std::optional<MaskId> find_mask_id(bool walk);
  void append_stops(std::vector<uint32_t>& key) const;
  [[noreturn]] static void terminated();

  // Where the vocabulary cannot spell every text, see finish.cpp.
  class Search;
  struct Closed {
    uint32_t configs;
    bool completed;
  };
  // Whether the text is complete.
  bool close(ConfigSet& set) const;
  Closed close_and_intern(ConfigSet& set);
  bool finishable(ConfigSet set);
  bool lives(const ConfigSet& set);
  // From a place inside tokens that end below the nodes; of configurations that aren't complete.
  using Memory = RegisterPool::Memory;
  bool search_completion(uint32_t configs, std::span<const uint32_t> nodes, Memory memory);
  ConfigSet forget(const ConfigSet& set);
  bool expand(Search& search, uint32_t index);
  void drop_unfinishable(std::span<uint32_t> row);
  void drop_below(uint32_t node, uint32_t configs, std::span<uint32_t> row);

  // Budgets, see budget.cpp.
  uint32_t place_of(uint32_t step, Completions& facts) const;
  std::optional<uint32_t> text_tokens(uint32_t left) const;
  uint32_t least_tokens();
  std::span<const uint32_t> plan_of(const Step& step, Completions& facts);
  bool leaves_enough(Completions& facts, uint32_t from, uint32_t token, uint32_t to, uint32_t left);
  const std::vector<uint32_t>& fitting(Completions& facts, uint32_t at, uint32_t left);
  bool fits_after(uint32_t token, Step& cost);
  bool fits_behind(std::string_view text, Step& cost);
  bool fill_within_budget(std::span<uint32_t> row, bool walk);
  void check_budget(uint64_t tokens, const char* name);

  struct Ahead;
  bool advance(const Ahead& from, uint8_t byte, Ahead& to);
  bool find_forced(const Ahead& from, uint8_t& byte, Ahead& to);
  void add_beginnings_before(std::string_view ahead, std::vector<uint32_t>& offsets) const;
  bool reads_token_below(uint32_t node, std::span<const Config> from);

  std::shared_ptr<CompiledGrammar> grammar_;
  std::shared_ptr<Family> family_;
  TokenReader tokens_;
  bool terminate_without_stop_token_;
  uint32_t token_budget_ = kUnbounded;
  bool endless_names_ = true;  // TokenReader::spells_endless_names(), where it matters
  uint32_t step_ = 0;
  std::optional<int64_t> refused_;  // since the last step
};

// Compiles, and checks once that the vocabulary's tokens can spell a text. Raises what the
// constructors of both do.
std::shared_ptr<CompiledGrammar> compile(std::span<const std::byte> ir,
                                         std::shared_ptr<const Vocabulary> vocabulary,
                                         const CompileLimits& limits,
                                         std::shared_ptr<SharedMasks> shared = nullptr);

// Raises kUnsatisfiable if they can't. For grammars that were not made by compile().
void check_completable(const std::shared_ptr<CompiledGrammar>& grammar);

}  // namespace maskwright

// What is known about the tokens that complete the texts of a grammar (completions.cpp).
//
// It depends on the grammar, the vocabulary and the tokens that stop, and on nothing else, so it
// belongs to the compiled grammar, and all matchers have it from there (CompletionStore). A matcher
// knows the *place* of each of its steps here: closed configurations in an arena of their own, that
// outlive it. Places of different texts are equal where their configurations are.
//
// Numbers of tokens are without one that stops. Everything runs under the grammar's mutex.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "maskwright/matcher/stack_depths.h"
#include "maskwright/matcher/token_reader.h"
#include "matcher/shortest_texts.h"
#include "matcher/speller.h"

namespace maskwright {

class LevelSearch;

class Completions {
 public:
  using Place = uint32_t;
  using Plan = std::vector<uint32_t>;  // tokens that complete a text
  static constexpr Place kNoPlace = 0xFFFFFFFF;
  static constexpr uint32_t kMaxWork = 20'000;

  // `generation`: the places of another one mean nothing here.
  // max_work: of each mask, see budget_walk.h.
  Completions(CompiledGrammar& grammar, const TokenReader& tokens, uint64_t generation,
              uint32_t max_work = kMaxWork);

  uint64_t generation() const { return generation_; }
  const std::vector<uint32_t>& stop_ids() const { return tokens_.stop_ids(); }

  // --- places
  Place start();
  // What a token, or a text, leads to; kNoPlace if it is refused.
  Place read(Place from, uint32_t token);
  Place read_text(Place from, std::string_view text);

  // --- how many tokens
  // So many complete it for sure; kUnbounded if none are known.
  uint32_t least_tokens(Place at) { return least(at).tokens; }
  // So many do, the first of them first; empty if none are known.
  const Plan& plan(Place at);
  bool fits(Place at, uint32_t left) {
    return clearly_fits(at, left).value_or(false) || least_tokens(at) <= left;
  }
  // Known to be: `left` fits behind any token.
  bool all_fit(Place at, uint32_t left);
  // Whether `left` fits, if that can be said without a search for this place; none if it takes one.
  std::optional<bool> clearly_fits(Place at, uint32_t left);

  // --- masks (completion_masks.cpp)
  // The row that drop_beyond() made of the place's mask; null if that was not asked for.
  const std::vector<uint32_t>* mask(Place at, uint32_t left) const;
  // Clears the tokens behind which so many do not fit.
  void drop_beyond(Place at, uint32_t left, std::span<uint32_t> row);

  // --- what it takes
  // For texts, and for tokens that need be no shortest text.
  uint64_t searches() const { return searches_ + texts_.searches(); }
  // For masks.
  uint64_t walks() const { return walks_; }
  // The most work of a walk, as BudgetWalk counts it.
  uint32_t most_work() const { return most_work_; }
  // Grows with what is known.
  std::size_t size() const;
  std::size_t memory_bytes() const;

 private:
  friend class BudgetWalk;
  friend class TextSearch;
  friend class TokenSearch;
  friend class LevelSearch;
  using Memory = RegisterPool::Memory;
  static constexpr uint32_t kMaxPlaces = 30000;
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static constexpr std::string_view kDigits = "123456789";  // zeros may lead elsewhere
  static constexpr uint32_t kMostLetters = 6;               // of a name in which they are counted
  static constexpr uint32_t kShort = 8;  // tokens for which fewer are looked for among all texts
  static constexpr uint32_t kSmallVocabulary = 4096;  // trie nodes: there, whatever their number
  // Trie nodes that are read: among short texts, among all, in a small vocabulary, and to find out
  // how an array goes on from item to item.
  static constexpr uint32_t kNodesShort = 2'000;
  static constexpr uint32_t kNodesAll = 2'000;
  static constexpr uint32_t kNodesSmall = 20'000;
  static constexpr uint32_t kNodesToTurn = 4'000;
  static constexpr uint32_t kLastTurns = 2;  // of an array, that are not repeated

  // Tokens that complete a place.
  struct Known {
    uint32_t tokens = kUnbounded;
    std::optional<Plan> plan;  // none yet where it spells the shortest text, with longer names
    bool padded = false;       // they spell the padded text (completion_names.cpp)
    uint32_t work = 0;         // that it took to find them: bytes and nodes that were read
    Place calm = kNoPlace;     // beside that of this one, where they were found
    std::size_t memory_bytes() const { return heap_bytes(plan); }
  };
  // Letters, or digits, that lead back to where they are read, but for a count.
  struct Letters {
    std::string letters;
    uint32_t room = 0;  // for so many of them; kUnbounded for any number
    std::size_t memory_bytes() const { return heap_bytes(letters); }
  };
  // Where they make a name or an item another one than those that are there.
  struct Pad {
    uint32_t at = 0;      // in the text
    uint32_t end = 0;     // where the text goes on
    std::string enter;    // comes before them
    std::string leave;    // and behind
    Letters letters;      // digits: of whole numbers
    uint32_t doubts = 1;  // one behind the other, that all are over if the letters are new ones
    std::size_t memory_bytes() const { return heap_bytes(enter, leave, letters); }
  };
  struct Padding {
    bool possible = false;
    std::vector<Pad> pads;         // of the doubts, but for those that are none
    uint32_t tokens = kUnbounded;  // that spell the text but for what the pads add
    std::size_t memory_bytes() const { return heap_bytes(pads); }
  };
  // A padding of the text of a place.
  struct Named {
    const Padding* padding;
    uint32_t before;   // so many names are there before the first of its pads
    uint32_t skipped;  // doubts before that
  };
  // Of loosened configurations.
  struct Loose {
    uint32_t tokens = kUnbounded;  // that spell the shortest text, which has these doubts
    Doubts doubts;
    std::optional<Plan> better;  // of fewer tokens
    bool searched = false;
    uint32_t work = 0;                              // of that
    std::array<std::optional<Padding>, 2> padding;  // [1]: the first name needs none
    std::size_t memory_bytes() const { return heap_bytes(doubts, better, padding); }
  };
  // What holds after any one token.
  struct Most {
    Reg from;  // for registers from here on
    uint32_t tokens;
  };
  // What is remembered of a place by, and the register from which on it holds.
  struct Reach {
    uint64_t key;
    Reg reg;
  };

  std::span<const Config> configs(Place at) const;
  Place intern(std::span<const Config> closed);
  Place close_and_intern(ConfigSet& set);
  // Whether the text is complete.
  bool close(ConfigSet& set);
  bool completes(Place at, const Plan& plan);

  Known& least(Place at);
  Known find_least(Place at);
  Place loose_place(Place at);
  Loose& loose(Place loose_at);
  const std::optional<Plan>& better_plan(Place loose_at, Loose& loose);
  std::optional<Plan> turning_plan(Place loose_at, const LevelSearch& search, uint32_t& work);
  // A search might find one.
  static bool may_be_better(const Loose& loose) { return loose.tokens > 1; }
  void search_exactly(Place at, Known& known);
  bool take_from_calm(Place at, Known& known);
  // The shortest text, which is known.
  ShortestTexts::Text loose_text(Place loose_at);
  Plan spelled_plan(Place at);
  // In bytes, of a text without doubts; and of the text that may do. kUnbounded if there is none.
  uint32_t sure_bytes(Place at);
  uint32_t bytes_left(Place at) { return shortest(at).bytes; }
  ShortestTexts::Length shortest(Place at);
  // So many do for sure, as far as can be said without a search for this place. Not below
  // least_tokens(), and the same if `least`.
  struct Quick {
    uint32_t tokens;
    bool least;
  };
  Quick quick(Place at);

  // Of names that must not come again (completion_names.cpp).
  void note_stacks();
  uint32_t names_in(Target at);
  uint32_t remembered(Place at);
  bool follow(ConfigSet& set, std::string_view text);
  std::optional<Letters> letters_at(const ConfigSet& set, char behind);
  bool reads_digits(const ConfigSet& set);
  std::optional<Letters> enter_letters(ConfigSet& set, std::string& enter);
  std::optional<Pad> pad_name(ConfigSet& set, const Repeat& name);
  std::optional<Pad> pad_item(ConfigSet& set, std::string_view text, uint32_t begin,
                              const Repeat& item);
  std::optional<Pad> pad_in_string(ConfigSet& set, std::string_view text, uint32_t at,
                                   const Repeat& item);
  std::optional<Pad> find_pad(ConfigSet& set, std::string_view text, uint32_t& at,
                              const Repeat& repeat);
  const Padding& padding(Place loose_at, Loose& loose, bool first_is_new);
  bool add_pad(ConfigSet& set, std::string_view text, uint32_t& at, const Repeat& repeat,
               std::vector<Pad>& pads);
  uint32_t count_parts(std::string_view text, std::span<const Pad> pads);
  bool may_be_padded(const Loose& loose) const;
  std::optional<Named> named(Place at);
  std::optional<Named> named_alone(Place at);
  bool reads_first(Place at, std::string_view text, uint32_t end);
  uint32_t padded_tokens(const Named& named) const;
  std::optional<Plan> padded_plan(Place at, const Named& named);
  std::optional<std::string> new_letters(const ConfigSet& set, const Pad& pad, uint32_t names,
                                         std::string_view rest);

  // Masks (completion_masks.cpp).
  Reach reach_key(Place at);
  std::optional<uint64_t> loose_reach(Place at);
  bool has_register(StateId state) const { return (store_.state(state).flags & kHasRegister) != 0; }
  bool counts(StateId state) const;
  const TextClass* loop_text(std::span<const Config> closed) const;
  bool depends_on_names_alone(Place at);
  bool has_doubts(Place at) { return !loose(loose_place(at)).doubts.none(); }
  Place move(Place at, uint8_t byte);
  Place without_names(Place at);

  CompiledGrammar& grammar_;
  Store& store_;
  const Vocabulary& vocabulary_;
  TokenReader tokens_;
  uint64_t generation_;
  bool bytes_suffice_;  // any bytes that complete a text are tokens that do
  Arena arena_;
  Runner runner_;
  std::vector<SetId> returned_;
  StackDepths depths_;
  WordInterner places_;

  Speller speller_;
  ShortestTexts texts_;  // Memory::kIgnored
  std::unordered_map<Place, Place> loose_places_;
  std::unordered_map<Place, Loose> loose_;  // by loosened places
  std::unordered_map<Place, Known> known_;
  std::unordered_map<uint64_t, Most> most_;
  std::unordered_map<uint64_t, Place> moves_;                  // by place and byte
  std::unordered_map<uint64_t, std::vector<uint32_t>> masks_;  // by place and what is left
  // By stack node: itself without the names that it remembers, and how many these are at most in it
  // and those below.
  std::vector<uint32_t> forgotten_;
  std::vector<uint32_t> names_;
  uint64_t searches_ = 0;
  uint64_t walks_ = 0;
  uint32_t max_work_;
  uint32_t most_work_ = 0;
};

}  // namespace maskwright

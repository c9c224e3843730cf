// Frames inside JSON string values: a list of alternatives {language, length bounds} read behind
// the unescape transducer (unescape.h), all in one state.
//
// State: [spelling, value, clipped counts, items]. `value` is kDecided when every item has already
// moved over the code point whose bytes are still being read. Items are sorted by {lang, lang
// state, min, max}, equal ones are one item with a set of callee ids.
//
// A language that counts characters of one class, as [a-z]{1,200}, is read as the language of all
// texts of the class, and the counts become bounds.
//
// Register: the number of code points whose spelling has begun, 0 while no item has bounds. An item
// lives while some completion has a length within its bounds; dead items leave the state. A lower
// bound that is reached is set to 0, so a string with minLength 1 becomes a plain one after its
// first code point. Hence for every bounded item: count <= max, and count < min unless min is 0.
//
// Mask keys: {state, count}, and the count only if it decides anything. Let K = max_advance and P
// the length horizon of an item's language. While min - count >= K + P (or min = 0) and max - count
// >= K + P, a text of K bytes begins at most K code points, so every question asked on the way is
// can_finish(s, a, h) with a >= P or a = 0, and h >= P. For a >= P the answer is the same for every
// count, by the definition of the horizon (h - a = max - min is fixed). For a = 0 it is true: were
// the shortest completion of s longer than P, all lengths >= P would have to be possible (horizon
// with h = a), P among them. So counts for which all items are that far from their bounds share one
// key; others have their own. That equals clipping min - count and max - count to K + P item by
// item, since one unclipped difference tells the count.
//
// Dead ends: a byte is offered iff a code point that is still spellable that way is a live move.
// "Spellable" means with all 256 bytes: the family is not told which bytes the vocabulary has, so
// with a vocabulary that lacks, say, 'u' a half-spelled escape may have no way on.
//
// Cost: a row is linear in the arcs of the items plus the targets given out; a step under bounds is
// one comparison while all items live for sure, else one can_finish per item.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "json/text_region.h"
#include "json/unescape_branch.h"
#include "maskwright/json/strings.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class StringFrames final : public StringFamily {
 public:
  using Langs = std::function<Lang&(LangId)>;
  using Counted = std::function<LangTable::Counted(LangId)>;

  // `counted`: LangTable::counted; null: no language is.
  StringFrames(Store& store, Langs langs, Counted counted = nullptr);

  StateId start(std::span<const StringItem> items) override;
  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  StateId unhindered(const Edge& edge) override;
  uint32_t free_length(StateId state, Reg reg) override;
  bool only_counts(StateId state) override { return view(state).size() == 1; }
  bool may_accept(StateId state, std::vector<uint32_t>& ids) override;
  bool reads_escapes(StateId state) override;
  bool reads_all(StateId state, Reg reg, const RegisterPool& regs, FreeRun& run,
                 uint32_t& length) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) +
           heap_bytes(moves_, move_ids_, horizons_, last_counts_, regions_, lang_states_);
  }

 private:
  static constexpr uint32_t kDecided = 0xFFFFFFFF;
  static constexpr uint32_t kHeaderWords = 3;
  static constexpr uint32_t kItemWords = 5;

  struct Item {
    LangId lang;
    uint32_t state;  // of the language
    uint32_t min, max;
    SetId accepts;  // or kItsLabel

    bool bounded() const { return min > 0 || max != kUnbounded; }
  };
  struct View {  // of a state's content
    Spelling spelling;
    uint32_t value;
    uint32_t clipped;                 // counts below it share one mask key
    std::span<const uint32_t> words;  // of the items

    uint32_t size() const { return static_cast<uint32_t>(words.size() / kItemWords); }
    Item item(uint32_t i) const {
      const auto w = words.subspan(i * kItemWords, kItemWords);
      return {w[0], w[1], w[2], w[3], w[4]};
    }
    bool bounded() const;
    // All items stand behind the code point being spelled (or between two).
    bool moved() const { return spelling == Spelling::kBetween || value == kDecided; }
  };
  // The target of a dynamic edge. It holds as it is for counts below `sure`.
  struct Move {
    StateId target;
    uint32_t advance;  // code points begun by the byte: 0 or 1
    uint32_t sure;
    bool bounded;
    bool probed;  // `sure` is known
  };

  struct Region {  // what reads_all() says
    TextRegion text;
    bool bounded = false;  // the item that it is of
    uint32_t last_count = kUnbounded;
    // Instead, near the upper bound, where there is no such count.
    TextRegion near;
    uint32_t near_last_count = kUnbounded;
    std::size_t memory_bytes() const { return heap_bytes(text, near); }
  };

  static View view(std::span<const uint32_t> content);
  View view(StateId state) const { return view(store_.content(state)); }
  StateId intern(Spelling spelling, uint32_t value, std::vector<Item>& items);
  void merge_equal(std::vector<Item>& items);
  uint32_t clipped_counts(std::span<const Item> items);
  uint32_t horizon(LangId lang);
  void append_bounds(const Item& item, uint32_t count, bool far, SharedKey& key);

  void expand_decided(const View& from, RowBuilder& row);
  void expand_quote(const View& from, RowBuilder& row);
  StateId branch_target(const View& from, const SpellingBranch& branch);
  uint32_t move_id(StateId target, uint32_t advance);
  SetId closing_set(const View& from, uint32_t count);

  static Region any_text();
  Region find_region(const View& at);
  uint32_t last_count(const Item& item, const TextRegion& region);
  Target settle(StateId target, uint32_t count);
  std::span<const uint32_t> lang_states(const View& at, const Item& item);
  bool alive(const View& at, const Item& item, uint32_t count);
  uint32_t sure_counts(const View& at);
  uint32_t sure_counts(const Item& item, uint32_t state);
  uint32_t shortest(const Item& item, uint32_t state);

  Store& store_;
  Langs langs_;
  Counted counted_;
  std::vector<Move> moves_;  // 0 = the closing quote
  std::unordered_map<uint64_t, uint32_t> move_ids_;
  std::unordered_map<LangId, uint32_t> horizons_;  // length_horizon() may cost
  // The last counts at which states live, kUnbounded if there is none, where what is read leads
  // back.
  std::unordered_map<StateId, uint32_t> last_counts_;
  std::unordered_map<StateId, Region> regions_;
  std::vector<uint32_t> lang_states_;  // scratch of lang_states()
};

}  // namespace maskwright

// Frames of member names: which label a spelled name has (key_lang.h), behind the unescape
// transducer.
//
// State: [spelling, value, key list, position in its KeyLang, the listed names that are still
// possible as one or two ranges of the list, the Ahead of unlisted ones]. Ranges and Ahead follow
// from the rest; they are there so that a step is a few word operations on the register.
// kBeforeQuote in the place of the spelling is the state before the opening quote. `value` is
// kDecided when the position is the one behind the code point whose bytes are still being read.
//
// Register (pooled, never changed here): [doubts, a bit per allowed label]. A state is alive iff an
// allowed label lies in its ranges or in its Ahead. An edge is dynamic iff one of them changes
// or unlisted names can run out.
//
// Mask key: {state, doubts, what is allowed of that which lies ahead}; all later questions are
// about subsets of it. Where only one thing lies ahead it is allowed. Where unlisted names of one
// class may come, every text goes on, and the key has but the listed names that some token can read
// to their end (*near* names). Where there is none, no token can tell the state from one in which
// no listed name is possible, and that one is taken for it.
//
// Names that are not listed and must not come again are told apart by *exact* states: [kExactMark,
// state as above], with the register [register as above, names still possible that are refused
// (name_set.h), name so far, partial spelling of its next code point (2 words)]. Mask key: that of
// the state inside. The names that are refused beyond that are a guard; once none of them begins as
// the name so far, there is none. Where names can run out, an exact state counts those that are
// left; a mask walk, which does not know the refused ones, has their number in the doubts (rounded
// up, as part of the key) and is unsure where so many could use up what lies ahead. Texts are read
// by exact states, walks by those inside: so accepting a name for the first time makes no rows
// (kScans), and rows are made for walks.
//
// As in string_family.h, "can be spelled" means with all 256 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/key_lang.h"
#include "json/unescape_branch.h"
#include "maskwright/json/strings.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class KeyFrames final : public KeyFamily {
 public:
  // `text`: the arcs of a state of "any text".
  KeyFrames(Store& store, std::span<const Lang::Arc> text)
      : store_(store), text_(text.begin(), text.end()) {}

  uint32_t key_list(std::span<const std::string> keys,
                    std::span<const NameClasses* const> classes) override;
  StateId start(uint32_t key_list) override;
  Target start_refusing(StateId start, Reg reg, Reg names, RegisterPool& regs) override;
  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  bool reads_escapes(StateId state) override;
  bool reads_all(StateId state, Reg reg, const RegisterPool& regs, FreeRun& run,
                 uint32_t& length) override;
  uint32_t listed(StateId state, std::array<ListedRange, 2>& texts) override;
  bool listed_below(StateId state, Reg reg, const RegisterPool& regs,
                    std::vector<uint32_t>& count) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;
  bool append_other_names(StateId start, Reg reg, const RegisterPool& regs,
                          SharedKey& key) override;
  Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) override;
  Target forget(StateId state, Reg reg, RegisterPool& regs) override;
  bool guard(StateId state, Reg reg, const RegisterPool& regs, Guard& out) override;
  void likely(StateId state, Reg reg, const RegisterPool& regs,
              std::vector<std::string>& out) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(text_, near_names_, list_ids_, lists_,
                                                  region_ids_, regions_, allowed_classes_);
  }

 private:
  static constexpr uint32_t kExactMark = 0xFFFFFFFF;
  static constexpr uint32_t kDecided = 0xFFFFFFFF;
  static constexpr uint32_t kBeforeQuote = static_cast<uint32_t>(Spelling::kCount);

  struct View {  // of a state's content
    uint32_t spelling;
    uint32_t value;
    uint32_t list;
    uint32_t position;
    KeyRange first, second;
    uint32_t ahead;
  };

  static View view(std::span<const uint32_t> content);
  StateId intern(const View& view);
  StateId moved(Spelling spelling, uint32_t list, uint32_t position);
  StateId branch_target(const View& from, const SpellingBranch& branch);
  Op op_between(const View& from, StateId target) const;
  void expand_decided(const View& from, RowBuilder& row);
  void expand_quote(const View& from, RowBuilder& row);
  KeyRange reached(KeyLang& lang, uint32_t position, CodeRange range);
  bool is_alive(const View& at, std::span<const uint32_t> words, RegisterPool& regs);
  bool is_exact(StateId state) const { return store_.content(state)[0] == kExactMark; }
  StateId exact(StateId inside);
  Target scan_exact(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs);
  Target read(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs);
  StateId ended(const View& at);
  bool expand_listed(const View& from, RowBuilder& row);
  bool names_left(const View& at, std::span<const uint32_t> exact, const RegisterPool& regs);
  static uint64_t used_names(KeyLang& lang, uint32_t label,
                             std::span<const std::pair<Reg, uint32_t>> sets,
                             const RegisterPool& regs);
  uint32_t doubts(StateId inside, Reg names, const RegisterPool& regs);
  bool reads_any(const View& at, std::span<const uint32_t> words) const;
  bool find_region(const View& at, std::span<const uint32_t> words, FreeRun& run);
  const FreeRun& region_of_classes(const NameClasses& names, uint32_t place,
                                   std::span<const uint32_t> classes);
  std::span<const uint32_t> near_names(StateId inside);
  StateId same_for_tokens(StateId inside, std::span<const uint32_t> words);
  bool append_others(const View& at, std::span<const uint32_t> words, SharedKey& key,
                     bool& open) const;
  void append_key(StateId inside, std::span<const uint32_t> words, uint32_t doubts, KeyWords& key);

  Store& store_;
  std::vector<Lang::Arc> text_;
  std::unordered_map<StateId, std::vector<uint32_t>> near_names_;
  WordInterner list_ids_;  // ids of the classes, code units of the keys
  std::vector<std::unique_ptr<KeyLang>> lists_;
  WordInterner region_ids_;  // {id of NameClasses, place there, the allowed classes...}
  std::vector<FreeRun> regions_;
  std::vector<uint32_t> allowed_classes_;  // scratch
};

}  // namespace maskwright

// Frames of member names: which declared key a spelled name is, behind the unescape transducer.
//
// State: [spelling, value, key list, position in its KeyLang, the declared keys that are still
// possible as one or two ranges of the list]. The ranges follow from the rest; they are there so
// that a step is a few word operations on the register. kBeforeQuote in the place of the spelling
// is the state before the opening quote. `value` is kDecided when the position is the one behind
// the code point whose bytes are still being read.
//
// Register (pooled, never changed here): [open, allowed bits]. A state is alive iff open, or some
// allowed bit lies in its ranges: with open = 1 every name so far can go on to a name that is not
// declared, since the declared ones are finitely many. An edge is dynamic iff the ranges shrink.
//
// Mask key: {state, open, the allowed bits in its ranges}; all later questions are about subsets
// of these ranges. Off the trie the state alone, as it is only reached with open = 1.
//
// Names that are not declared are told apart by *exact* states: [kExactMark, state as above], with
// the register [register as above, names still possible that are refused (name_set.h), name so far,
// partial spelling of its next code point (2 words)]. Mask key: that of the state inside. The names
// that are refused beyond that are a guard; once none of them begins as the name so far, there is
// none.
//
// As in string_family.h, "can be spelled" means with all 256 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "json/key_lang.h"
#include "json/unescape_branch.h"
#include "maskwright/json/strings.h"

namespace maskwright {

class KeyFrames final : public KeyFamily {
 public:
  // `text`: the arcs of a state of "any text".
  KeyFrames(Store& store, std::span<const Lang::Arc> text)
      : store_(store), text_(text.begin(), text.end()) {}

  uint32_t key_list(std::span<const std::string> keys) override;
  StateId start(uint32_t key_list) override;
  Target start_refusing(StateId start, Reg reg, Reg names, RegisterPool& regs) override;
  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) override;
  Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) override;
  bool guard(StateId state, Reg reg, const RegisterPool& regs, Guard& out) override;

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
  };

  static View view(std::span<const uint32_t> content);
  StateId intern(const View& view);
  StateId moved(Spelling spelling, uint32_t list, uint32_t position);
  StateId branch_target(const View& from, const SpellingBranch& branch);
  void add_edge(const View& from, uint8_t byte, StateId target, RowBuilder& row);
  void expand_decided(const View& from, RowBuilder& row);
  void expand_quote(const View& from, RowBuilder& row);
  KeyRange reached(KeyLang& lang, uint32_t position, CodeRange range);
  bool is_exact(StateId state) const { return store_.content(state)[0] == kExactMark; }
  StateId exact(StateId inside);
  Target scan_exact(StateId inside, Reg reg, uint8_t byte, RegisterPool& regs);
  // One byte of a partial spelling; kBetween with the code point when that ends it.
  std::pair<Spelling, uint32_t> spell(Spelling spelling, uint32_t value, uint8_t byte);

  Store& store_;
  std::vector<Lang::Arc> text_;
  std::vector<SpellingStep> steps_;  // scratch
  WordInterner list_ids_;            // code units of the keys, each key behind its length
  std::vector<std::unique_ptr<KeyLang>> lists_;
};

}  // namespace maskwright

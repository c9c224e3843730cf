// Frames inside true, false and null: [word, position, set of callee ids to return].
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "maskwright/automata/store.h"

namespace maskwright {

class KeywordFamily final : public Family {
 public:
  enum Word : uint32_t { kNullWord, kFalseWord, kTrueWord };

  explicit KeywordFamily(Store& store) : store_(store) {}

  static std::string_view text(uint32_t word);
  // The state after the first letter.
  StateId start(Word word, SetId accepts);

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) override;

 private:
  Store& store_;
};

}  // namespace maskwright

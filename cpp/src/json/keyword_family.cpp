#include "json/keyword_family.h"

#include <array>

namespace maskwright {

std::string_view KeywordFamily::text(uint32_t word) {
  static constexpr std::array<std::string_view, 3> kTexts{"null", "false", "true"};
  return kTexts[word];
}

StateId KeywordFamily::start(Word word, SetId accepts) {
  const std::array<uint32_t, 3> content{word, 1, accepts};
  return store_.intern(FamilyId::kKeyword, content);
}

void KeywordFamily::describe(std::span<const uint32_t> /*content*/, State& /*state*/) {}

void KeywordFamily::expand(StateId state, RowBuilder& row) {
  const auto content = store_.content(state);
  const std::string_view word = text(content[0]);
  const uint32_t position = content[1];
  const auto letter = static_cast<uint8_t>(word[position]);
  if (position + 1 == word.size()) {
    row.add(letter, letter, store_.done(content[2]));
    return;
  }
  const std::array<uint32_t, 3> next{content[0], position + 1, content[2]};
  row.add(letter, letter, store_.intern(FamilyId::kKeyword, next));
}

bool KeywordFamily::append_shared_key(StateId state, Reg /*reg*/, RegisterPool& /*regs*/,
                                      SharedKey& key) {
  const auto content = store_.content(state);
  key.add(content.first(2));
  key.add_callees(store_.set(content[2]));
  return true;
}

}  // namespace maskwright

#include "json/keyword_family.h"

#include <array>
#include <string_view>

namespace maskwright {

namespace {
constexpr std::array<std::string_view, 3> kTexts{"null", "false", "true"};
}  // namespace

StateId KeywordFamily::start(Word word, SetId accepts) {
  const std::array<uint32_t, 3> content{word, 1, accepts};
  return store_.intern(FamilyId::kKeyword, content);
}

void KeywordFamily::describe(std::span<const uint32_t> /*content*/, State& /*state*/) {}

void KeywordFamily::expand(StateId state, RowBuilder& row) {
  const auto content = store_.content(state);
  const std::string_view text = kTexts[content[0]];
  const uint32_t position = content[1];
  const auto letter = static_cast<uint8_t>(text[position]);
  if (position + 1 == text.size()) {
    row.add(letter, letter, store_.done(content[2]));
    return;
  }
  const std::array<uint32_t, 3> next{content[0], position + 1, content[2]};
  row.add(letter, letter, store_.intern(FamilyId::kKeyword, next));
}

}  // namespace maskwright

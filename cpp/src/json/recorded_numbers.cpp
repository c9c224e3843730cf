#include "json/recorded_numbers.h"

#include <algorithm>

namespace maskwright {

namespace {

constexpr std::size_t kMaxKept = 256;

// The suspects that the text may go on to.
std::vector<ValueId> possible(std::span<const uint32_t> reg, const NumberReader& reader,
                              const RegisterPool& regs) {
  std::vector<ValueId> out;
  for (Reg at = reg[RecordedNumbers::kSuspects]; at != 0; at = regs.get(at)[0]) {
    const ValueId value = regs.get(at)[1];
    if (reader.may_become(value, regs)) out.push_back(value);
  }
  return out;
}

// Zero, whatever the exponent.
bool is_zero_with_exponent(const NumberReader& reader) {
  return reader.part == NumberReader::kExponent && reader.digits == 0;
}

std::vector<std::string> texts_of(std::span<const ValueId> values, const RegisterPool& regs) {
  std::vector<std::string> texts;
  for (const ValueId value : values) {
    // Numbers with longer exponents are in no language but that of all numbers.
    if (auto text = number_text(value, regs)) texts.push_back(std::move(*text));
  }
  std::ranges::sort(texts);
  return texts;
}

}  // namespace

bool RecordedNumbers::suspect(StateId state, std::span<const uint32_t> reg,
                              const RegisterPool& regs, std::bitset<256>& next) {
  const NumberReader reader = NumberReader::decode(reg.subspan(kReader));
  const std::vector<ValueId> suspects = possible(reg, reader, regs);
  if (suspects.empty()) return false;
  next.set();
  return !may_differ(state, reader, suspects, regs);
}

// Whether the text can go on to a number that is none of the suspects.
bool RecordedNumbers::may_differ(StateId state, const NumberReader& reader,
                                 std::span<const ValueId> suspects, const RegisterPool& regs) {
  if (reader.part != NumberReader::kExponent) {
    for (uint32_t digit = 0; digit < 10; ++digit) {
      if (tables_.store.row(state).find(static_cast<uint8_t>('0' + digit)) == nullptr) continue;
      const auto stays = [&](ValueId value) { return reader.may_become(value, regs, digit); };
      if (std::ranges::none_of(suspects, stays)) return true;
    }
  }
  const std::string text = reader.characters(regs);
  return std::ranges::any_of(tables_.numbers->items(state), [&](const NumberItem& item) {
    // Any digits may follow, in the exponent too.
    if (tables_.langs.is_any_number(item.lang)) return !is_zero_with_exponent(reader);
    return goes_on(item.lang, Part::kWithout, texts_of(suspects, regs), text);
  });
}

void RecordedNumbers::completions(StateId state, std::span<const uint32_t> reg, RegisterPool& regs,
                                  std::vector<Completion>& out) {
  const NumberReader reader = NumberReader::decode(reg.subspan(kReader));
  const std::string text = reader.characters(regs);
  for (const ValueId value : possible(reg, reader, regs)) {
    const std::vector<ValueId> alone{value};
    std::vector<uint32_t> accepts;
    for (const NumberItem& item : tables_.numbers->items(state)) {
      const bool any = tables_.langs.is_any_number(item.lang);
      if (any || goes_on(item.lang, Part::kAmong, texts_of(alone, regs), text)) {
        accepts.push_back(item.accept);
      }
    }
    if (accepts.empty()) continue;
    make_set(accepts);
    out.push_back({tables_.store.intern_set(accepts), value});
  }
}

// Whether a text of the language without (or among) some values begins so.
bool RecordedNumbers::goes_on(LangId number, Part part, std::vector<std::string> values,
                              const std::string& text) {
  if (kept_.size() >= kMaxKept) kept_.clear();
  const auto [entry, added] = kept_.try_emplace({number, {part, std::move(values)}}, nullptr);
  if (added) {
    const std::vector<std::string>& listed = entry->first.second.second;
    entry->second = part == Part::kWithout ? tables_.langs.number_without(number, listed)
                                           : tables_.langs.number_among(number, listed);
  }
  Lang& lang = *entry->second;
  uint32_t state = lang.start();
  for (std::size_t i = 0; i < text.size() && state != kDeadLang; ++i) {
    state = lang.move(state, static_cast<uint8_t>(text[i]));
  }
  return state != kDeadLang;
}

}  // namespace maskwright

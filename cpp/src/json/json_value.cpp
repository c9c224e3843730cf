#include "json/json_value.h"

#include <algorithm>
#include <array>

#include "json/name_set.h"

namespace maskwright {

namespace {

using Words = std::span<const uint32_t>;

enum Tag : uint32_t { kLiteralTag = 0xFFFFFF00, kStringTag, kNumberTag, kArrayTag, kObjectTag };

bool has_tag(ValueId value, Tag tag, const RegisterPool& regs) {
  const Words words = regs.get(value);
  return !words.empty() && words[0] == tag;
}

ValueId tagged(Tag tag, uint32_t word, RegisterPool& regs) {
  const std::array<uint32_t, 2> content{tag, word};
  return regs.intern(content);
}

// The code points of a name, from the end.
std::vector<uint32_t> backwards(Reg name, RegisterPool& regs) {
  const Reg empty = empty_name(regs);
  std::vector<uint32_t> text;
  while (name != empty) {
    const Words link = regs.get(name);
    text.push_back(link[1]);
    name = link[0];
  }
  return text;
}

}  // namespace

Reg append_to_chain(Reg chain, uint32_t link, RegisterPool& regs) {
  const std::array<uint32_t, 2> content{chain, link};
  return regs.intern(content);
}

std::vector<uint32_t> chain_links(Reg chain, const RegisterPool& regs) {
  std::vector<uint32_t> links;
  for (; chain != 0; chain = regs.get(chain)[0]) links.push_back(regs.get(chain)[1]);
  std::ranges::reverse(links);
  return links;
}

ValueId literal_value(uint32_t word, RegisterPool& regs) { return tagged(kLiteralTag, word, regs); }
ValueId string_value(Reg text, RegisterPool& regs) { return tagged(kStringTag, text, regs); }
ValueId array_value(Reg items, RegisterPool& regs) { return tagged(kArrayTag, items, regs); }

ValueId number_value(bool negative, Reg digits, std::string_view exponent, RegisterPool& regs) {
  std::vector<uint32_t> content{kNumberTag, digits};
  if (digits != 0) {
    content.push_back(negative ? 1 : 0);
    for (const char c : exponent) content.push_back(static_cast<uint8_t>(c));
  }
  return regs.intern(content);
}

ValueId object_value(std::vector<MemberValue> members, RegisterPool& regs) {
  std::ranges::sort(members);
  std::vector<uint32_t> content{kObjectTag};
  for (const MemberValue& member : members) {
    content.push_back(member.name);
    content.push_back(member.value);
  }
  return regs.intern(content);
}

bool is_string(ValueId value, const RegisterPool& regs) { return has_tag(value, kStringTag, regs); }
bool is_number(ValueId value, const RegisterPool& regs) { return has_tag(value, kNumberTag, regs); }
bool is_array(ValueId value, const RegisterPool& regs) { return has_tag(value, kArrayTag, regs); }
bool is_object(ValueId value, const RegisterPool& regs) { return has_tag(value, kObjectTag, regs); }

Reg text_of(ValueId string, const RegisterPool& regs) { return regs.get(string)[1]; }
Reg digits_of(ValueId number, const RegisterPool& regs) { return regs.get(number)[1]; }
bool is_negative(ValueId number, const RegisterPool& regs) {
  const Words words = regs.get(number);
  return words.size() > 2 && words[2] != 0;
}

std::optional<std::string> number_text(ValueId number, const RegisterPool& regs) {
  const Words words = regs.get(number);
  if (words.size() < 3) return "0";
  std::string text = words[2] != 0 ? "-" : "";
  const std::vector<uint32_t> digits = chain_links(words[1], regs);
  for (const uint32_t digit : digits) text.push_back(static_cast<char>('0' + digit));
  // More characters than a number has digits on which schemas depend.
  constexpr std::size_t kLongestExponent = 9;
  if (words.size() - 3 > kLongestExponent) return std::nullopt;
  std::string exponent;
  for (const uint32_t c : words.subspan(3)) exponent.push_back(static_cast<char>(c));
  return text + "e" + std::to_string(std::stoll(exponent) - static_cast<int64_t>(digits.size()));
}

std::vector<ValueId> items_of(ValueId array, const RegisterPool& regs) {
  return chain_links(regs.get(array)[1], regs);
}

std::vector<MemberValue> members_of(ValueId object, const RegisterPool& regs) {
  const Words words = regs.get(object);
  std::vector<MemberValue> members;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) members.push_back({words[i], words[i + 1]});
  return members;
}

ValueId member_of(ValueId object, Reg name, const RegisterPool& regs) {
  const Words words = regs.get(object);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    if (words[i] == name) return words[i + 1];
  }
  return kNoValue;
}

// --- sets ---------------------------------------------------------------------------------------

Reg strings_in(Reg set, const RegisterPool& regs) { return set == 0 ? 0 : regs.get(set)[0]; }

Reg others_of(Reg set, const RegisterPool& regs) { return set == 0 ? 0 : regs.get(set)[1]; }

std::vector<ValueId> others_in(Reg set, const RegisterPool& regs) {
  return chain_links(others_of(set, regs), regs);
}

Reg add_value(Reg set, ValueId value, RegisterPool& regs) {
  std::array<uint32_t, 2> content{0, 0};
  if (set != 0) content = {regs.get(set)[0], regs.get(set)[1]};
  if (is_string(value, regs)) {
    content[0] = add_name(content[0], text_of(value, regs), regs);
  } else {
    content[1] = append_to_chain(content[1], value, regs);
  }
  return regs.intern(content);
}

bool holds_value(Reg set, ValueId value, RegisterPool& regs) {
  if (set == 0) return false;
  if (!is_string(value, regs)) {
    for (Reg chain = regs.get(set)[1]; chain != 0; chain = regs.get(chain)[0]) {
      if (regs.get(chain)[1] == value) return true;
    }
    return false;
  }
  Reg names = strings_in(set, regs);
  const std::vector<uint32_t> text = backwards(text_of(value, regs), regs);
  for (std::size_t i = text.size(); i-- > 0 && names != 0;) {
    names = names_behind(names, text[i], regs);
  }
  return holds_empty_name(names, regs);
}

}  // namespace maskwright

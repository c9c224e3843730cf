#include "json/name_set.h"

#include <algorithm>
#include <array>
#include <vector>

namespace maskwright {

namespace {

using Words = std::span<const uint32_t>;

// No set: a set with a name has an odd number of words.
constexpr std::array<uint32_t, 2> kEmptyName{kUnbounded, kUnbounded};

// The index of the code point's entry, or of the one behind it.
std::size_t find(Words set, uint32_t code_point) {
  std::size_t lo = 0;
  std::size_t hi = set.size() / 2;
  while (lo < hi) {
    const std::size_t middle = (lo + hi) / 2;
    if (set[1 + 2 * middle] < code_point) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return 1 + 2 * lo;
}

bool has(Words set, std::size_t index, uint32_t code_point) {
  return index < set.size() && set[index] == code_point;
}

}  // namespace

Reg empty_name(RegisterPool& regs) { return regs.intern(kEmptyName); }

Reg append_to_name(Reg name, uint32_t code_point, RegisterPool& regs) {
  const std::array<uint32_t, 2> content{name, code_point};
  return regs.intern(content);
}

Reg add_name(Reg set, Reg name, RegisterPool& regs) {
  std::vector<uint32_t> text;  // from the end
  const Reg empty = empty_name(regs);
  while (name != empty) {
    const Words link = regs.get(name);
    text.push_back(link[1]);
    name = link[0];
  }
  std::vector<Reg> path{set};
  for (std::size_t i = text.size(); i-- > 0;) {
    path.push_back(names_behind(path.back(), text[i], regs));
  }
  Reg below = 0;
  for (std::size_t i = path.size(); i-- > 0;) {
    const Words old = regs.get(path[i]);
    std::vector<uint32_t> node(old.begin(), old.end());
    if (node.empty()) node.push_back(0);
    node[0] += 2;
    if (i + 1 == path.size()) {
      node[0] |= 1;
    } else {
      const uint32_t code_point = text[text.size() - 1 - i];
      const std::size_t at = find(node, code_point);
      if (has(node, at, code_point)) {
        node[at + 1] = below;
      } else {
        const std::array<uint32_t, 2> entry{code_point, below};
        node.insert(node.begin() + static_cast<std::ptrdiff_t>(at), entry.begin(), entry.end());
      }
    }
    below = regs.intern(node);
  }
  return below;
}

bool holds_empty_name(Reg set, const RegisterPool& regs) {
  const Words words = regs.get(set);
  return !words.empty() && (words[0] & 1) != 0;
}

uint32_t count_names(Reg set, const RegisterPool& regs) {
  const Words words = regs.get(set);
  return words.empty() ? 0 : words[0] / 2;
}

Words name_entries(Reg set, const RegisterPool& regs) {
  const Words words = regs.get(set);
  return words.empty() ? words : words.subspan(1);
}

Reg names_behind(Reg set, uint32_t code_point, const RegisterPool& regs) {
  const Words words = regs.get(set);
  const std::size_t at = find(words, code_point);
  return has(words, at, code_point) ? words[at + 1] : 0;
}

std::bitset<256> first_bytes(Reg set, const RegisterPool& regs) {
  std::bitset<256> out;
  const Words words = regs.get(set);
  if (holds_empty_name(set, regs)) out.set('"');
  if (words.size() > 1) out.set('\\');
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (words[i] < 0x80) {
      out.set(words[i]);
      continue;
    }
    for (std::size_t lead = 0xC2; lead <= 0xF4; ++lead) out.set(lead);
    break;
  }
  return out;
}

}  // namespace maskwright

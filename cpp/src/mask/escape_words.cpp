#include "mask/escape_words.h"

#include <algorithm>

namespace maskwright {

namespace {

constexpr std::size_t kClassWords = 7;

void append_class(const TextClass& text, std::vector<uint32_t>& words) {
  for (const uint64_t bits : {text.ascii[0], text.ascii[1], text.missing}) {
    words.push_back(static_cast<uint32_t>(bits));
    words.push_back(static_cast<uint32_t>(bits >> 32));
  }
  words.push_back(text.beyond_ascii ? 1 : 0);
}

// Of append_class().
TextClass read_class(std::span<const uint32_t> words) {
  TextClass text;
  const auto bits = [&](std::size_t at) { return words[at] | uint64_t{words[at + 1]} << 32; };
  text.ascii = {bits(0), bits(2)};
  text.missing = bits(4);
  text.beyond_ascii = words[6] != 0;
  return text;
}

bool is_class(std::span<const uint32_t> words) { return words[kClassWords - 1] <= 1; }

// Sorted and unique, and not empty.
bool are_nodes(std::span<const uint32_t> nodes, uint32_t num_nodes) {
  return !nodes.empty() && nodes.back() < num_nodes &&
         std::ranges::adjacent_find(nodes, std::ranges::greater_equal{}) == nodes.end();
}

}  // namespace

void append_free_escape(const MaskWalk::FreeText& at, uint32_t set, std::vector<uint32_t>& words) {
  words.push_back(kFreeEscape);
  words.push_back(set);
  append_class(at.text, words);
  append_class(at.allowed, words);
  words.push_back(static_cast<uint32_t>(at.from.size()));
  words.insert(words.end(), at.from.begin(), at.from.end());
}

MaskWalk::FreeText read_free_text(std::span<const uint32_t> words) {
  MaskWalk::FreeText at;
  at.text = read_class(words.subspan(2));
  at.allowed = read_class(words.subspan(2 + kClassWords));
  const auto from = words.subspan(kFreeHead, words[kFreeHead - 1]);
  at.from.assign(from.begin(), from.end());
  return at;
}

std::optional<uint32_t> count_sets(std::span<const uint32_t> words, uint32_t num_nodes) {
  uint32_t sets = 0;
  const auto note = [&](uint32_t set) {
    sets = std::max(sets, set + 1);
    return set < kNone - 1;
  };
  for (uint32_t last = 0; !words.empty() && words[0] != kFreeEscape; words = words.subspan(2)) {
    if (words.size() < 2 || words[0] >= num_nodes || words[0] < last || !note(words[1])) {
      return std::nullopt;
    }
    last = words[0];
  }
  while (!words.empty()) {
    if (words.size() < kFreeHead || words[0] != kFreeEscape || !note(words[1])) return std::nullopt;
    const uint32_t size = words[kFreeHead - 1];
    if (size > words.size() - kFreeHead || !is_class(words.subspan(2)) ||
        !is_class(words.subspan(2 + kClassWords)) ||
        !are_nodes(words.subspan(kFreeHead, size), num_nodes)) {
      return std::nullopt;
    }
    words = words.subspan(kFreeHead + size);
  }
  return sets;
}

}  // namespace maskwright

#include "trie/code_classes.h"

#include <algorithm>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

uint32_t CodeClasses::intern(std::span<const CodeRange> ranges) {
  std::vector<uint32_t> words;
  words.reserve(ranges.size() * 2);
  for (const CodeRange range : ranges) words.insert(words.end(), {range.lo, range.hi});
  const uint32_t known = classes_.find(words);
  if (known != WordInterner::kMissing) return known + 1;
  if (classes_.size() >= kMaxClasses || num_ranges_ + ranges.size() > kMaxRanges) return 0;
  num_ranges_ += ranges.size();
  return classes_.intern(words).id + 1;
}

CodeClasses::Figures& CodeClasses::figures(uint32_t id) {
  const auto found = std::ranges::find(kept_, id, &Figures::id);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    kept_.push_front({id, find_inside(id), {}, false});
    if (kept_.size() > kMaxKept) kept_.pop_back();
  }
  return kept_.front();
}

const std::vector<uint32_t>& CodeClasses::ways(uint32_t id) {
  Figures& known = figures(id);
  if (!known.has_ways) {
    known.ways = find_ways(id);
    known.has_ways = true;
  }
  return known.ways;
}

// One of [lo, hi] is of the class.
bool CodeClasses::meets(uint32_t id, const Partial& code) const {
  const uint32_t lo = std::max(code.lo, code.least);
  const auto words = classes_.get(id - 1);
  std::size_t first = 0;  // the first range that ends at lo or behind it
  for (std::size_t size = words.size() / 2; size > 0;) {
    const std::size_t half = size / 2;
    if (words[2 * (first + half) + 1] < lo) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return 2 * first < words.size() && words[2 * first] <= code.hi;
}

// Reads a byte at or inside a code point; false if the byte can't be there. Passes over overlong
// forms and surrogates.
bool CodeClasses::read(Partial& code, uint8_t byte) {
  if (code.missing == 0) {
    if (byte < 0x80) {
      code = {byte, byte, 0, 0};
      return true;
    }
    if (byte < 0xC2 || byte > 0xF4) return false;
    code.missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    code.least = code.missing == 1 ? 0x80 : code.missing == 2 ? 0x800 : 0x10000;
    code.lo = byte & (0x3FU >> code.missing);
  } else {
    if ((byte & 0xC0) != 0x80) return false;
    code.lo = (code.lo >> (6 * code.missing)) << 6 | (byte & 0x3FU);
    --code.missing;
  }
  code.lo <<= 6 * code.missing;
  code.hi = code.lo + (1U << 6 * code.missing) - 1;
  return true;
}

CodeClasses::Bitmap CodeClasses::find_inside(uint32_t id) const {
  Bitmap found(vocabulary_.mask_words(), 0);
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    Partial code;
    bool beyond = false;
    bool all = true;
    for (const char unit : vocabulary_.text(token)) {
      all = read(code, static_cast<uint8_t>(unit));
      if (all && code.hi >= 0x80) {
        beyond = true;
        all = meets(id, code);
      }
      if (!all) break;
    }
    if (beyond && all) found[token / 32] |= 1U << token % 32;
  }
  return found;
}

std::vector<uint32_t> CodeClasses::find_ways(uint32_t id) const {
  const uint32_t nodes = vocabulary_.num_nodes();
  std::vector<bool> on_way(nodes, false);
  std::vector<Partial> path(vocabulary_.max_token_length() + 1);
  std::vector<uint32_t> above(path.size(), 0);
  constexpr uint32_t kBroken = 0xFF;  // `missing` behind bytes that are no UTF-8
  for (uint32_t node = 1; node < nodes; ++node) {
    const uint32_t depth = vocabulary_.depth(node);
    above[depth] = node;
    path[depth] = path[depth - 1];
    Partial& code = path[depth];
    if (code.missing == kBroken || !read(code, vocabulary_.byte(node))) {
      code.missing = kBroken;
      continue;
    }
    const bool ends = code.missing == 0 || !vocabulary_.tokens_at(node).empty();
    if (code.hi < 0x80 || !ends || !meets(id, code)) continue;
    for (uint32_t at = depth; at > 0 && !on_way[above[at]]; --at) on_way[above[at]] = true;
    if (code.missing != 0) continue;
    std::fill(on_way.begin() + node, on_way.begin() + vocabulary_.next(node), true);
    node = vocabulary_.next(node) - 1;
  }
  std::vector<uint32_t> ways;
  for (uint32_t node = 1; node < nodes; ++node) {
    if (on_way[node]) ways.push_back(node);
  }
  return ways;
}

std::size_t CodeClasses::memory_bytes() const {
  std::size_t bytes = heap_bytes(classes_);
  for (const Figures& known : kept_) bytes += heap_bytes(known.inside, known.ways);
  return bytes;
}

}  // namespace maskwright

#include "trie/code_classes.h"

#include <algorithm>
#include <iterator>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

namespace {

// A code point whose first bytes have been read: it is one of [lo, hi].
struct Partial {
  uint32_t lo = 0, hi = 0;
  uint32_t missing = 0;  // bytes
  uint32_t least = 0;    // of so many bytes
};

// Reads a byte at or inside a code point; false if the byte can't be there. Passes over overlong
// forms and surrogates.
bool read(Partial& code, uint8_t byte) {
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

}  // namespace

CodeClasses::CodeClasses(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  constexpr uint32_t kBroken = 0xFF;  // `missing` behind bytes that are no UTF-8
  std::vector<Partial> path(vocabulary.max_token_length() + 1);
  for (uint32_t node = 1; node < vocabulary.num_nodes(); ++node) {
    const uint32_t depth = vocabulary.depth(node);
    path[depth] = path[depth - 1];
    Partial& code = path[depth];
    if (code.missing == kBroken) continue;
    if (!read(code, vocabulary.byte(node))) {
      code.missing = kBroken;
      places_.push_back({node, 1, 0});
    } else if (code.hi >= 0x80 && (code.missing == 0 || !vocabulary.tokens_at(node).empty())) {
      places_.push_back({node, std::max(code.lo, code.least), code.hi});
    }
  }
  places_.shrink_to_fit();
}

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

// The code points of the class.
CodeClasses::CodeSet CodeClasses::code_set(uint32_t id) const {
  CodeSet set(kMaxCodePoint / 64 + 1, 0);
  const auto words = classes_.get(id - 1);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    for (uint32_t code = words[i]; code <= words[i + 1];) {
      const uint32_t last = std::min(words[i + 1], code | 63);
      set[code / 64] |= (~uint64_t{0} >> (63 - (last - code))) << code % 64;
      code = last + 1;
    }
  }
  return set;
}

// One of the place's code points is of the set.
bool CodeClasses::meets(const CodeSet& set, const Place& place) {
  const auto begin = std::min<std::size_t>(place.lo / 64, set.size());
  if (place.whole()) {
    return place.lo == place.hi && begin < set.size() && (set[begin] >> place.lo % 64 & 1) != 0;
  }
  const auto end = std::min<std::size_t>(place.hi / 64 + 1, set.size());
  return std::any_of(set.begin() + static_cast<std::ptrdiff_t>(begin),
                     set.begin() + static_cast<std::ptrdiff_t>(end),
                     [](uint64_t word) { return word != 0; });
}

CodeClasses::Bitmap CodeClasses::find_inside(uint32_t id) const {
  const CodeSet set = code_set(id);
  Bitmap found(vocabulary_.mask_words(), 0);
  const auto add = [&](std::span<const uint32_t> tokens) {
    for (const uint32_t token : tokens) found[token / 32] |= 1U << token % 32;
  };
  const auto remove = [&](std::span<const uint32_t> tokens) {
    for (const uint32_t token : tokens) found[token / 32] &= ~(1U << token % 32);
  };
  uint32_t added = 0;    // tokens from nodes before are there already
  uint32_t removed = 0;  // nodes before are below one that is not of the class
  for (const Place& place : places_) {
    if (place.node < removed) continue;
    const bool of_class = meets(set, place);
    if (!place.whole()) {
      of_class ? add(vocabulary_.tokens_at(place.node)) : remove(vocabulary_.tokens_at(place.node));
    } else if (!of_class) {
      remove(vocabulary_.tokens_from(place.node));
      removed = vocabulary_.next(place.node);
    } else if (place.node >= added) {
      add(vocabulary_.tokens_from(place.node));
      added = vocabulary_.next(place.node);
    }
  }
  return found;
}

std::vector<uint32_t> CodeClasses::find_ways(uint32_t id) const {
  const CodeSet set = code_set(id);
  std::vector<Place> met;
  std::ranges::copy_if(places_, std::back_inserter(met),
                       [&](const Place& place) { return meets(set, place); });
  std::vector<uint32_t> ways;
  auto place = met.begin();
  for (uint32_t node = 1; place != met.end();) {
    const uint32_t next = vocabulary_.next(node);
    if (place->node >= next) {
      node = next;
      continue;
    }
    if (place->node != node || !place->whole()) {
      if (place->node == node) ++place;
      ways.push_back(node++);
      continue;
    }
    for (; node < next; ++node) ways.push_back(node);
    while (place != met.end() && place->node < next) ++place;
  }
  return ways;
}

std::size_t CodeClasses::memory_bytes() const {
  std::size_t bytes = heap_bytes(classes_, places_);
  for (const Figures& known : kept_) bytes += heap_bytes(known.inside, known.ways);
  return bytes;
}

}  // namespace maskwright

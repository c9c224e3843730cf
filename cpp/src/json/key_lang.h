// The declared member names of an object as a trie over code points, and "any other name".
//
// Keys are sorted, so the keys that share what has been read are a range [lo, hi) and a trie node
// is {lo, hi, depth}; no trie is stored. Position kOff means that no declared key is possible any
// more. Arcs are made on first use by galloping over the range: O(children * log keys) each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maskwright/json/lang.h"
#include "maskwright/support/interner.h"

namespace maskwright {

struct KeyRange {
  uint32_t lo = 0;
  uint32_t hi = 0;  // exclusive

  bool empty() const { return lo >= hi; }
  bool operator==(const KeyRange&) const = default;
};

class KeyLang {
 public:
  static constexpr uint32_t kOff = 0;

  // `text`: the arcs of "any text", from which other names are made. `keys`: UTF-8, sorted, unique;
  // Error(kMalformed) if not.
  KeyLang(std::span<const std::string> keys, std::span<const Lang::Arc> text);

  uint32_t start();
  std::span<const Lang::Arc> arcs(uint32_t position);
  // The keys that are possible at the position; empty for kOff.
  KeyRange keys(uint32_t position) const;
  // True iff what has been read is a declared key, namely keys(position).lo.
  bool ends(uint32_t position) const;
  uint32_t size() const { return static_cast<uint32_t>(begin_.size() - 1); }

 private:
  uint32_t length(uint32_t key) const { return begin_[key + 1] - begin_[key]; }
  uint32_t at(uint32_t key, uint32_t depth) const { return code_points_[begin_[key] + depth]; }
  std::vector<Lang::Arc> children(uint32_t lo, uint32_t hi, uint32_t depth);

  std::vector<uint32_t> code_points_;  // of all keys
  std::vector<uint32_t> begin_;        // per key, and the end
  std::vector<Lang::Arc> text_;
  WordInterner positions_;  // {lo, hi, depth}; kOff has no words
  std::vector<std::unique_ptr<std::vector<Lang::Arc>>> arcs_;
};

}  // namespace maskwright

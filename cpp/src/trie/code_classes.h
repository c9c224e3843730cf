// Which tokens are made of the code points of a class beyond ASCII, for any class.
//
// Idea: a large Unicode class meets tens of thousands of tokens, so it is judged once, not in every
// state that reads it. The places of the trie where such a code point ends are listed beforehand,
// so that judging is a look-up in a bitmap of the class for each of them. Classes are numbered when
// they are first asked for; a class's figures are made when they are needed, and those used last
// are kept.
//
// Cost: a pass over the trie at first, and then one over the list for each of the two figures of a
// class. Not synchronised.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "maskwright/support/code_points.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class Vocabulary;

class CodeClasses {
 public:
  using Bitmap = std::vector<uint32_t>;

  explicit CodeClasses(const Vocabulary& vocabulary);

  // From 1 on; 0 if there are too many classes already.
  uint32_t intern(std::span<const CodeRange> ranges);
  // The tokens with bytes beyond ASCII, all of them in code points of the class. Of one that ends
  // inside a code point some end must be of the class.
  const Bitmap& inside(uint32_t id) { return figures(id).inside; }
  // The nodes at, above and below code points of the class, in order; those inside which a token
  // ends count if some end of theirs is of the class.
  const std::vector<uint32_t>& ways(uint32_t id);
  std::size_t memory_bytes() const;

 private:
  static constexpr uint32_t kMaxClasses = 1024;
  static constexpr std::size_t kMaxRanges = std::size_t{1} << 18;
  static constexpr std::size_t kMaxKept = 64;

  struct Figures {
    uint32_t id;
    Bitmap inside;
    std::vector<uint32_t> ways;
    bool has_ways = false;
  };
  // A node at which a code point beyond ASCII ends, or a token inside of one: it is one of
  // [lo, hi], none if the bytes are no UTF-8.
  struct Place {
    uint32_t node, lo, hi;  // multiples of 64 and one less, if several
    bool whole() const { return lo >= hi; }
  };
  using CodeSet = std::vector<uint64_t>;  // a bit for each code point

  Figures& figures(uint32_t id);
  CodeSet code_set(uint32_t id) const;
  static bool meets(const CodeSet& set, const Place& place);
  Bitmap find_inside(uint32_t id) const;
  std::vector<uint32_t> find_ways(uint32_t id) const;

  const Vocabulary& vocabulary_;
  std::vector<Place> places_;  // by node
  WordInterner classes_;
  std::size_t num_ranges_ = 0;
  std::list<Figures> kept_;  // the last used first
};

}  // namespace maskwright

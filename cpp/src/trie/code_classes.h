// Which tokens are made of the code points of a class beyond ASCII, for any class.
//
// Idea: a large Unicode class meets tens of thousands of tokens, so it is judged once, not in every
// state that reads it. Classes are numbered when they are first asked for; a class's figures are
// made when they are needed, and those used last are kept.
//
// Cost: one pass over the trie for each of the two figures of a class. Not synchronised.
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

  explicit CodeClasses(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

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
  // A code point whose first bytes have been read: it is one of [lo, hi].
  struct Partial {
    uint32_t lo = 0, hi = 0;
    uint32_t missing = 0;  // bytes
    uint32_t least = 0;    // of so many bytes
  };

  Figures& figures(uint32_t id);
  Bitmap find_inside(uint32_t id) const;
  std::vector<uint32_t> find_ways(uint32_t id) const;
  bool meets(uint32_t id, const Partial& code) const;
  static bool read(Partial& code, uint8_t byte);

  const Vocabulary& vocabulary_;
  WordInterner classes_;
  std::size_t num_ranges_ = 0;
  std::list<Figures> kept_;  // the last used first
};

}  // namespace maskwright

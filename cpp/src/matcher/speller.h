// The fewest tokens that spell a text.
//
// From the end to the beginning: how many tokens spell what follows a byte does not depend on what
// is before it. Texts that complete the places of one walk end alike, so what was found out for the
// last text is kept as far as the next one has the same end.
//
// Cost: for each byte that is new, as many look-ups as the longest token from there has bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/matcher/token_reader.h"

namespace maskwright {

class Speller {
 public:
  Speller(const Vocabulary& vocabulary, const TokenReader& tokens)
      : vocabulary_(vocabulary), tokens_(tokens) {}

  // kUnbounded if none do.
  uint32_t count(std::string_view text);
  std::optional<std::vector<uint32_t>> spell(std::string_view text);
  std::size_t memory_bytes() const { return heap_bytes(rests_, text_); }

 private:
  // What follows before the end of the text.
  struct Rest {
    uint32_t count = 0;   // of tokens
    uint32_t length = 0;  // of the first one
    uint32_t token = 0;
  };

  Rest best(std::string_view rest) const;

  const Vocabulary& vocabulary_;
  const TokenReader& tokens_;
  std::string text_;            // the last one
  std::vector<Rest> rests_{1};  // by their number of bytes
};

}  // namespace maskwright

// What the tokens of a vocabulary are to the texts of a grammar, some of them ending the text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/automata/run.h"
#include "maskwright/matcher/compiled.h"
#include "maskwright/support/byte_set.h"

namespace maskwright {

class TokenReader {
 public:
  // `stop_ids`: ascending, below the vocabulary's size. The grammar outlives the reader.
  TokenReader(CompiledGrammar& grammar, std::vector<uint32_t> stop_ids);

  const std::vector<uint32_t>& stop_ids() const { return stop_ids_; }
  bool is_stop(uint32_t token) const;
  // Some token that does not stop ends at the trie node.
  bool readable(uint32_t node) const;
  // Such a token, of which there is one.
  uint32_t token_at(uint32_t node) const;
  // Live in bytes does not mean that the tokens can spell the rest (finish.cpp).
  bool needs_search() const { return needs_search_; }
  // The tokens spell endlessly many names, so that a search need not tell them apart.
  bool spells_endless_names() const;

  // Of closed configurations. Some token may be read that is no text.
  bool may_read_symbol(std::span<const Config> closed) const;
  // Adds what a token leads to by being itself, not by its text.
  void add_symbols(std::span<const Config> closed, uint32_t token, Runner& runner, Arena& arena,
                   ConfigSet& out) const;
  // What a token leads to, not closed; empty if it is refused.
  void read(std::span<const Config> closed, uint32_t token, Runner& runner, Arena& arena,
            ConfigSet& out) const;
  // The bytes that the configurations have edges for: not fewer than can be read.
  ByteSet readable_bytes(std::span<const Config> closed) const;
  std::size_t memory_bytes() const { return heap_bytes(stop_ids_); }

 private:
  bool find_whether_search_is_needed() const;

  CompiledGrammar* grammar_;  // so that it can be assigned
  std::vector<uint32_t> stop_ids_;
  bool needs_search_;
};

}  // namespace maskwright

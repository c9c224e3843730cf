// Which tokens are made of a class of characters, for any class, and where to look for the others.
//
// Idea: in a state that reads free text, a token that is made of its characters alone needs no walk
// (*words*), and a token with another byte matters only if the state reads that byte. So a mask is
// one bitmap and a walk over the *residue*: the part of the trie on the way to tokens with one of a
// few bytes. For JSON strings that is every token with a quotation mark, a hundredth of the trie.
//
// Bitmaps over tokens: a segment tree over the ASCII bytes, each block the tokens that contain one
// of its bytes; the tokens beyond ASCII; those that are UTF-8 as far as they go; for small n, those
// that begin at most n code points. Words are some ten blocks taken out of these. Residues are
// merged from a list of nodes for each byte that is not too common.
//
// Size: 290 bitmaps of the vocabulary and the lists. Building is linear in the trie times the
// distinct bytes of a token. Results are kept, up to a number; safe to use from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "maskwright/support/byte_set.h"
#include "maskwright/support/code_points.h"
#include "maskwright/support/text_class.h"

namespace maskwright {

class CodeClasses;
class Vocabulary;

// Part of a trie: all nodes at, above and below those of some bytes, in depth-first order.
struct Residue {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> next;  // index of the first node behind the subtree of nodes[i]
  // Vocabulary::space_node() if all below that is part of it, but not among the nodes; else the
  // root, which is never among them.
  uint32_t gate = 0;
};

// What is below a node whose byte is JSON whitespace.
struct Spaces {
  struct Run {
    uint32_t length, token;  // bytes from the root
  };
  struct Exit {
    uint8_t byte;
    uint32_t node;
  };
  std::vector<Run> runs;    // the tokens of nothing but whitespace, at the node too; by length
  std::vector<Exit> exits;  // the first other byte behind it; by byte and node
};

class TokenClasses {
 public:
  using Bitmap = std::vector<uint32_t>;

  explicit TokenClasses(const Vocabulary& vocabulary);
  ~TokenClasses();
  TokenClasses(const TokenClasses&) = delete;
  TokenClasses& operator=(const TokenClasses&) = delete;

  // The tokens made of characters of the class that begin at most so many. One that ends inside a
  // code point, or inside the escape of one, is among them if it can be continued. Null where the
  // tokens that the class misses beyond ASCII are too many.
  std::shared_ptr<const Bitmap> words(const TextClass& text, uint32_t max_code_points) const;
  // The way to all tokens with one of the bytes, or one of the code points of a code_class();
  // nothing if that is so much of the trie that a walk of the whole is as good. If the space is
  // one of them, tokens that begin with it are behind the gate.
  std::shared_ptr<const Residue> residue(const ByteSet& bytes, uint32_t codes) const;
  // TokenTexts.
  uint32_t code_class(std::span<const CodeRange> ranges) const;

  // Of the tokens that begin with a quotation mark those that go on as JSON spells the text between
  // two marks, and the way to those with another mark: null unless `node` is the first mark's.
  std::span<const uint32_t> quoted_words() const { return quoted_words_; }
  const Residue* quoted_residue(uint32_t node) const {
    return node == quote_node_ ? &quoted_residue_ : nullptr;
  }

  // The nodes from first to last, exclusive, whose byte is the quotation mark that ends a text as
  // JSON spells it, begun at the root.
  std::span<const uint32_t> closings(uint32_t first, uint32_t last) const;

  // Null unless the node is below the root and its byte whitespace.
  const Spaces* spaces(uint32_t node) const {
    const auto found = spaces_.find(node);
    return found == spaces_.end() ? nullptr : &found->second;
  }

  std::size_t memory_bytes() const;

 private:
  struct Words {
    TextClass text;
    uint32_t max_code_points;
    std::shared_ptr<const Bitmap> bitmap;
  };
  struct Way {
    ByteSet bytes;
    uint32_t codes;
    std::shared_ptr<const Residue> residue;
  };

  static constexpr uint32_t kShort = 32;

  void build_bitmaps();
  void build_ways();
  void build_quoted();
  void build_closings();
  void build_spaces();
  Residue with_next(std::vector<uint32_t> nodes) const;
  bool is_behind_gate(uint32_t node) const;
  std::span<uint32_t> block(std::size_t index) {
    return std::span(blocks_).subspan(index * words_, words_);
  }
  std::span<const uint32_t> block(std::size_t index) const {
    return std::span(blocks_).subspan(index * words_, words_);
  }
  void take_out(std::size_t index, uint32_t first, uint32_t size, const TextClass& text,
                Bitmap& out) const;
  void take_out_below(uint8_t byte, Bitmap& out) const;
  Bitmap make_words(const TextClass& text, uint32_t max_code_points) const;
  std::shared_ptr<const Residue> make_residue(const ByteSet& bytes, uint32_t codes) const;

  const Vocabulary& vocabulary_;
  std::size_t words_;  // of a bitmap
  // Blocks: 0 the tokens beyond ASCII; 1 the root, 2i and 2i + 1 below block i, 128 leaves.
  std::vector<uint32_t> blocks_;
  Bitmap utf8_;                // UTF-8 as far as they go
  std::vector<Bitmap> up_to_;  // for n < kShort those that begin at most n code points
  std::vector<std::pair<uint32_t, uint32_t>> long_;  // others: code points, id; the longest first
  std::vector<std::pair<uint32_t, uint32_t>> escaped_;  // code points, id; the shortest first
  uint32_t quote_node_ = 0xFFFFFFFF;
  std::vector<uint32_t> quoted_words_;
  Residue quoted_residue_;
  std::vector<uint32_t> closings_;
  std::map<uint32_t, Spaces> spaces_;
  std::vector<uint32_t> ways_;       // nodes of each byte's residue
  std::vector<uint32_t> way_begin_;  // per byte, and the end
  ByteSet common_;                   // bytes without a list

  mutable std::mutex mutex_;
  mutable std::list<Words> known_words_;  // the last used first
  mutable std::list<Way> known_ways_;
  std::unique_ptr<CodeClasses> code_classes_;
};

}  // namespace maskwright

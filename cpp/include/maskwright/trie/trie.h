// The vocabulary as a token trie in flat depth-first arrays.
//
// Node 0 is the root (the empty text); the subtree of node n is the contiguous range
// [n + 1, next(n)), so skipping a subtree is one assignment. Tokens with equal bytes end at one
// node. Tokens without bytes, special tokens and stop tokens are not in the trie: text never
// matches them. Knows how JSON spells text, but no grammar. Building: one sort of the tokens, then
// linear.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/support/byte_set.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/text_class.h"
#include "maskwright/support/token_texts.h"
#include "maskwright/trie/token_classes.h"

namespace maskwright {

class Vocabulary final : public TokenTexts {
 public:
  // tokens[i] = bytes of id i. vocab_size >= tokens.size() pads with ids that no text matches.
  // Raises Error(kTokenizer) for an id out of range or no usable token at all.
  Vocabulary(std::vector<std::string> tokens, uint32_t vocab_size,
             std::vector<uint32_t> special_token_ids, std::vector<uint32_t> stop_token_ids);
  Vocabulary(const Vocabulary&) = delete;  // its classes refer to it
  Vocabulary& operator=(const Vocabulary&) = delete;

  uint32_t vocab_size() const { return vocab_size_; }
  uint32_t mask_words() const { return (vocab_size_ + 31) / 32; }
  std::span<const uint32_t> stop_token_ids() const { return stop_token_ids_; }
  uint32_t max_token_length() const { return max_token_length_; }
  const std::array<bool, 256>& spellable() const { return spellable_; }
  // Every byte that occurs in a token is a token of its own, so whatever bytes can complete a text,
  // tokens can. True for byte-level and byte-fallback vocabularies.
  bool byte_closed() const { return byte_closed_; }
  // Bytes of an ordinary token; empty for ids that text never matches (special, padding, stop).
  std::string_view text(uint32_t id) const {
    if (id >= ordinary_.size() || !ordinary_[id]) return {};
    return whole_ == nullptr ? std::string_view(tokens_[id]) : whole_->text(id).substr(1);
  }

  uint32_t num_nodes() const { return static_cast<uint32_t>(depths_.size()); }
  uint8_t byte(uint32_t node) const { return nodes_[node].byte; }
  uint32_t depth(uint32_t node) const { return depths_[node]; }
  uint32_t next(uint32_t node) const { return nodes_[node].next; }
  bool has_children(uint32_t node) const { return nodes_[node].next > node + 1; }
  // Some token at or below the node has a quotation mark (0x22) at or below it.
  bool leads_to_quote(uint32_t node) const { return nodes_[node].leads_to_quote; }

  // A range of token_order(): tokens by their bytes, so that those of a subtree are neighbours.
  struct TokenRange {
    uint32_t begin, end;
  };
  TokenRange range_at(uint32_t node) const {
    return {nodes_[node].tokens, nodes_[node + 1].tokens};
  }
  TokenRange range_below(uint32_t node) const {
    return {nodes_[node + 1].tokens, nodes_[nodes_[node].next].tokens};
  }
  std::span<const uint32_t> token_order() const { return token_ids_; }
  std::span<const uint32_t> tokens_at(uint32_t node) const { return tokens_in(range_at(node)); }
  // All tokens that end below a node (not at it).
  std::span<const uint32_t> tokens_below(uint32_t node) const {
    return tokens_in(range_below(node));
  }

  // The children of a node that has many, in order; null for others, for which looking at each is
  // as cheap as looking for some.
  struct Children {
    std::vector<uint8_t> bytes;
    std::vector<uint32_t> nodes;
    std::size_t memory_bytes() const { return heap_bytes(bytes, nodes); }
  };
  const Children* children(uint32_t node) const {
    const uint16_t wide = nodes_[node].wide;
    return wide == 0 ? nullptr : &children_[wide - 1U];
  }

  static constexpr uint32_t kNoNode = 0xFFFFFFFF;
  // The child of a node with that byte, or kNoNode.
  uint32_t child(uint32_t node, uint8_t byte) const;

  // What the texts below a node are made of, read from a code point boundary at the node.
  struct Subtree {
    TextClass text;            // the bytes that occur; `missing`, but for continuation bytes
    uint32_t code_points = 0;  // the most that one text begins
    bool utf8 = false;         // every text is valid UTF-8 or can be continued to it
  };
  static constexpr uint32_t kSmallSubtree = 4;  // nodes below which a subtree is not described
  // Null for small subtrees, for which looking is as cheap as walking.
  const Subtree* subtree(uint32_t node) const {
    if (nodes_[node].next - node <= kSmallSubtree) return nullptr;
    return &subtrees_[subtree_index_[node]];
  }
  // The tokens at the node and below.
  std::span<const uint32_t> tokens_from(uint32_t node) const {
    return tokens_in({nodes_[node].tokens, nodes_[nodes_[node].next].tokens});
  }
  bool end_name(std::string_view text) const override;
  bool quote(std::string_view text) const override;
  uint32_t code_class(std::span<const CodeRange> ranges) const override {
    return classes().code_class(ranges);
  }
  bool reach_name(std::string_view text) const override { return next_names_.may_be(text); }
  bool begin_name(std::string_view text) const override { return first_names_.may_be(text); }
  bool pass_names() const override { return pass_names_; }
  const TokenClasses& classes() const { return *classes_; }

  // Half of a vocabulary are words behind a space. Where so many tokens begin with one: its node,
  // and what follows it as a vocabulary of its own: its trie and its classes, and nothing else.
  // That one has the same ids, and its node n is node space_node() + n here. Else kNoNode and null.
  uint32_t space_node() const { return space_node_; }
  const Vocabulary* behind_space() const { return behind_space_.get(); }
  std::size_t memory_bytes() const;

 private:
  Vocabulary(const Vocabulary& whole, uint32_t space_node);  // behind_space()
  static constexpr uint32_t kManyWords = 16;  // of so many nodes more than one is behind a space

  // What a walk reads of every node it comes by.
  struct Node {
    uint32_t next;
    uint32_t tokens;  // where those that end here or behind begin in token_ids_
    uint8_t byte;
    bool leads_to_quote;
    uint16_t wide;  // 1 + the index of its Children, or 0
  };

  std::span<const uint32_t> tokens_in(TokenRange range) const {
    return {token_ids_.data() + range.begin, range.end - range.begin};
  }
  void build_trie();
  void find_space();
  void build_children();
  void build_subtrees();
  void find_names();
  // How names begin in tokens that go on from another text to a name.
  struct Beginnings {
    ByteSet bytes;         // the first ones, quotation marks included
    bool escaped = false;  // ... or more of an escape than its first byte

    void find(std::string_view token, char before);
    bool may_be(std::string_view name) const;
  };
  static bool passes_name(std::string_view token);

  const Vocabulary* whole_ = nullptr;  // of a behind_space()
  std::vector<std::string> tokens_;
  std::vector<bool> ordinary_;
  uint32_t vocab_size_;
  std::vector<uint32_t> stop_token_ids_;
  uint32_t max_token_length_ = 0;
  std::array<bool, 256> spellable_{};
  bool byte_closed_ = true;

  std::vector<Node> nodes_;  // and one behind the last
  std::vector<uint32_t> depths_;
  std::vector<uint32_t> token_ids_;
  std::vector<Children> children_;
  std::vector<uint32_t> subtree_index_;  // of nodes whose subtree is not small
  std::vector<Subtree> subtrees_;
  std::vector<std::string> quoted_;        // sorted
  std::vector<std::string> escaped_ends_;  // sorted; of end_name() those with an escape
  Beginnings next_names_;                  // behind a comma
  Beginnings first_names_;                 // behind a brace
  bool pass_names_ = false;
  uint32_t space_node_ = kNoNode;
  std::unique_ptr<const Vocabulary> behind_space_;
  std::unique_ptr<const TokenClasses> classes_;
};

}  // namespace maskwright

// Writes an IR buffer: word pool, byte pool, and the offsets of expressions, nodes and rules.
//
// A record goes straight into the word pool and nothing is kept as an object; equal short records
// and equal byte strings share one place, found by hash tables over what is already written. Ids
// and kinds that come from outside are checked with std::invalid_argument, which is a programming
// error of a front-end; `Ir::parse` validates the finished buffer in full.
// Cost: amortised constant per word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maskwright/ir/fragment.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

class IrBuilder {
 public:
  struct Ref {
    uint32_t offset;
    uint32_t length;
  };
  struct Member {
    Ref key;
    uint32_t node;
  };
  struct KeyPattern {
    uint32_t expr;
    uint32_t node;
  };

  IrBuilder();

  // The place of a byte string, shared with equal ones.
  Ref bytes_ref(std::string_view bytes);
  // Places of texts, each one once; those of a long list are not looked for among others.
  std::vector<Ref> texts(std::span<const std::string_view> texts);

  // Append a record [kind, payload...] and return its id; `share_` returns that of an equal one.
  uint32_t add_expr(std::span<const uint32_t> record) { return append(exprs_, record); }
  uint32_t share_expr(std::span<const uint32_t> record) { return share(exprs_, record); }
  uint32_t add_node(std::span<const uint32_t> record) { return append(nodes_, record); }
  uint32_t share_node(std::span<const uint32_t> record) { return share(nodes_, record); }
  uint32_t num_exprs() const { return static_cast<uint32_t>(exprs_.offsets.size()); }
  uint32_t num_nodes() const { return static_cast<uint32_t>(nodes_.offsets.size()); }

  // Copies expressions; returns the id of the one that stands for all of them.
  uint32_t add_fragment(const IrFragment& fragment);

  // A JSON value; flags are of JsonFlag, and `max_whitespace` may be kNone.
  uint32_t json(uint32_t node, uint32_t flags, uint32_t max_whitespace,
                std::string_view item_separator, std::string_view key_separator);

  // Schema nodes; see `maskwright.ir.Builder` for what they mean.
  uint32_t any() { return simple(NodeKind::kAny); }
  uint32_t never() { return simple(NodeKind::kNever); }
  uint32_t types(uint32_t mask);
  // kStringLength, kItemCount, kMemberCount; `high` may be kNone.
  uint32_t bounds(NodeKind kind, uint32_t low, uint32_t high);
  uint32_t all_of(std::span<const uint32_t> nodes);
  uint32_t any_of(std::span<const uint32_t> nodes) { return either(NodeKind::kAnyOf, nodes); }
  uint32_t one_of(std::span<const uint32_t> nodes) { return either(NodeKind::kOneOf, nodes); }
  uint32_t array(std::span<const uint32_t> prefix, uint32_t rest);
  uint32_t object(std::span<const Member> members, std::span<const KeyPattern> patterns,
                  uint32_t additional);
  uint32_t required(std::span<const std::string_view> keys);
  uint32_t enumeration(uint32_t literals, std::span<const std::string_view> numbers,
                       std::span<const std::string_view> strings, std::span<const uint32_t> nodes);
  uint32_t reserve_node();
  void define_node(uint32_t node, uint32_t target);

  uint32_t add_rule(std::string_view name);
  void define_rule(uint32_t rule, uint32_t expr);
  uint32_t num_rules() const { return static_cast<uint32_t>(rules_.size()); }

  void check_exprs(std::span<const uint32_t> ids) const;
  void check_nodes(std::span<const uint32_t> ids) const;
  void check_rule(uint32_t rule) const;

  // The size of the buffer that `finish` writes for the rule at which the grammar starts.
  std::size_t finished_size(uint32_t root);
  void finish(uint32_t root, std::byte* out) const;

 private:
  // Finds what is equal by hash; slots hold 1 + the number of an entry, 0 is free.
  struct Table {
    std::vector<uint32_t> slots;
    struct Entry {
      uint32_t hash;
      uint32_t offset;  // of the content
      uint32_t length;
      uint32_t id;
    };
    std::vector<Entry> entries;

    // The entry for which `equal` holds, or a new one with the given offset, length and id.
    template <typename Equal>
    std::pair<uint32_t, bool> find_or_add(const Entry& wanted, Equal equal);
    void grow();
  };
  struct Records {
    std::vector<uint32_t> offsets;
    Table shared;
  };
  struct Rule {
    std::string name;
    uint32_t expr;
    Ref ref;
  };

  uint32_t append(Records& records, std::span<const uint32_t> record);
  uint32_t share(Records& records, std::span<const uint32_t> record);
  uint32_t simple(NodeKind kind);
  uint32_t either(NodeKind kind, std::span<const uint32_t> nodes);
  uint32_t begin_node(NodeKind kind);
  void put_refs(std::span<const Ref> refs);
  void put(std::span<const uint32_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  std::vector<uint32_t> words_;
  std::vector<uint32_t> scratch_;
  std::string bytes_;
  Table byte_refs_;
  Records exprs_;
  Records nodes_;
  std::vector<Rule> rules_;
  Table rule_names_;
};

}  // namespace maskwright

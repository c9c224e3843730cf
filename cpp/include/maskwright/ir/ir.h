// The intermediate representation as the engine reads it: one validated flat buffer.
//
// Format (little-endian words): header[12] = magic, version, n_exprs, n_rules, n_nodes, n_words,
// n_bytes, root_rule, 0...; expr_offset[n_exprs]; node_offset[n_nodes]; rules (expr, name ref);
// word pool; byte pool. A record is [kind, payload...] at its offset in the word pool. parse()
// checks every count, id, reference and bound, so the rest of the engine reads without checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

inline constexpr uint32_t kIrMagic = 0x5249574D;
inline constexpr uint32_t kIrVersion = 2;
inline constexpr std::size_t kIrHeaderWords = 12;
inline constexpr uint32_t kNone = 0xFFFFFFFF;

enum class ExprKind : uint32_t {
  kEmpty,
  kLiteral,
  kClass,
  kSequence,
  kChoice,
  kRepeat,
  kRef,
  kLiteralSet,
  kIntersect,
  kComplement,
  kTextUntil,
  kTokenSet,
  kJson,
  kCount,
};

enum class NodeKind : uint32_t {
  kAny,
  kNever,
  kTypes,
  kNumber,
  kStringLength,
  kStringLanguage,
  kEnum,
  kArray,
  kItemCount,
  kObject,
  kRequired,
  kMemberCount,
  kAllOf,
  kAnyOf,
  kOneOf,
  kNot,
  kMultipleOf,
  kContains,
  kUniqueItems,
  kMemberNames,
  kDependentRequired,
  kCount,
};

enum TypeBit : uint32_t {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumberType = 8,
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAllTypes = 127,
};

enum JsonFlag : uint32_t {
  kAnyOrder = 1,
  kAnyWhitespace = 2,
  kStrict = 4,
  kDecimalNumbers = 8,
  kPlainNumbers = 16
};
enum NumberFlag : uint32_t { kHasLo = 1, kHasHi = 2, kLoExclusive = 4, kHiExclusive = 8 };
enum EnumLiteral : uint32_t { kEnumNull = 1, kEnumFalse = 2, kEnumTrue = 4 };

// Walks the payload of a record.
class WordReader {
 public:
  explicit WordReader(std::span<const uint32_t> words) : words_(words) {}
  uint32_t next() { return words_[position_++]; }
  std::span<const uint32_t> take(std::size_t count) {
    const auto part = words_.subspan(position_, count);
    position_ += count;
    return part;
  }

 private:
  std::span<const uint32_t> words_;
  std::size_t position_ = 0;
};

class Ir {
 public:
  // Raises Error(kMalformed, "ir-malformed") that names the record and what is wrong.
  static Ir parse(std::span<const std::byte> buffer);

  uint32_t num_exprs() const { return static_cast<uint32_t>(expr_spans_.size()); }
  uint32_t num_nodes() const { return static_cast<uint32_t>(node_spans_.size()); }
  uint32_t num_rules() const { return static_cast<uint32_t>(rules_.size()); }
  uint32_t root_rule() const { return root_rule_; }

  ExprKind expr_kind(uint32_t id) const {
    return static_cast<ExprKind>(words_[expr_spans_[id].at]);
  }
  // The payload, without the kind.
  std::span<const uint32_t> expr(uint32_t id) const { return payload(expr_spans_[id]); }
  NodeKind node_kind(uint32_t id) const {
    return static_cast<NodeKind>(words_[node_spans_[id].at]);
  }
  std::span<const uint32_t> node(uint32_t id) const { return payload(node_spans_[id]); }

  uint32_t rule_expr(uint32_t rule) const { return rules_[rule].expr; }
  std::string_view rule_name(uint32_t rule) const {
    return bytes(rules_[rule].name_offset, rules_[rule].name_length);
  }
  std::string_view bytes(uint32_t offset, uint32_t length) const {
    return {bytes_.data() + offset, length};
  }
  std::size_t memory_bytes() const {
    return heap_bytes(words_, bytes_, expr_spans_, node_spans_, rules_);
  }

 private:
  struct Span {
    uint32_t at;
    uint32_t length;
  };  // length includes the kind
  struct Rule {
    uint32_t expr;
    uint32_t name_offset;
    uint32_t name_length;
  };

  std::span<const uint32_t> payload(Span span) const {
    return {words_.data() + span.at + 1, span.length - 1};
  }

  std::vector<uint32_t> words_;
  std::vector<char> bytes_;
  std::vector<Span> expr_spans_;
  std::vector<Span> node_spans_;
  std::vector<Rule> rules_;
  uint32_t root_rule_ = 0;

  friend class IrParser;
};

}  // namespace maskwright

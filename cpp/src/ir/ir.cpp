// Reading and validating the flat IR buffer. Linear in its size; nothing is allocated by a count
// that the buffer's length does not cover.

#include "maskwright/ir/ir.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include "maskwright/support/code_points.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

// Texts may be shared by references; more than this beyond one reference to each is no grammar that
// anyone wrote, and would take time that its bytes don't show.
constexpr uint64_t kMaxSharedText = 64U << 20;

[[noreturn]] void malformed(const std::string& what, std::size_t byte_offset = 0) {
  throw Error::malformed("ir-malformed",
                         "malformed IR buffer: " + what + "; build it with maskwright.ir.Builder",
                         byte_offset);
}

bool plain_decimal(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[first] == '0')) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 || text[i - 1] == '0') return false;
  }
  return i == text.size() && text != "-0";
}

}  // namespace

// Validates records one by one; every check names the record.
class IrParser {
 public:
  explicit IrParser(std::span<const std::byte> buffer) : buffer_(buffer) {}

  Ir parse() {
    read_layout();
    for (uint32_t id = 0; id < ir_.expr_spans_.size(); ++id) {
      where_ = {"expression", id};
      limit_ = end_of_record(expr_offset(id));
      at_ = expr_offset(id);
      check_expr();
      ir_.expr_spans_[id] = record_at(expr_offset(id));
    }
    for (uint32_t id = 0; id < ir_.node_spans_.size(); ++id) {
      where_ = {"schema node", id};
      limit_ = end_of_record(node_offset(id));
      at_ = node_offset(id);
      check_node();
      ir_.node_spans_[id] = record_at(node_offset(id));
    }
    check_acyclic();
    return std::move(ir_);
  }

 private:
  void read_layout() {
    if (buffer_.size() < kIrHeaderWords * 4) malformed("shorter than its header");
    std::array<uint32_t, kIrHeaderWords> header{};
    read_words(0, header);
    if (header[0] != kIrMagic) malformed("wrong magic number");
    if (header[1] != kIrVersion) {
      malformed("format version " + std::to_string(header[1]) + ", this library reads version " +
                std::to_string(kIrVersion));
    }
    if (std::any_of(header.begin() + 8, header.end(), [](uint32_t word) { return word != 0; })) {
      malformed("its reserved header words are not 0");
    }
    const uint64_t exprs = header[2], rules = header[3], nodes = header[4], words = header[5],
                   bytes = header[6];
    const uint64_t expected = (kIrHeaderWords + exprs + nodes + rules * 3 + words) * 4 + bytes;
    if (expected != buffer_.size()) malformed("its length differs from what the header says");
    std::size_t at = kIrHeaderWords;
    offsets_.resize(exprs + nodes);
    read_words(at, offsets_);
    at += offsets_.size();
    std::vector<uint32_t> rule_words(rules * 3);
    read_words(at, rule_words);
    at += rule_words.size();
    ir_.words_.resize(words);
    read_words(at, ir_.words_);
    at += words;
    ir_.bytes_.resize(bytes);
    if (bytes != 0) std::memcpy(ir_.bytes_.data(), buffer_.data() + at * 4, bytes);
    ir_.expr_spans_.resize(exprs);
    ir_.node_spans_.resize(nodes);
    read_rules(rule_words);
    ir_.root_rule_ = header[7];
    if (ir_.root_rule_ >= rules) malformed("the root rule does not exist");
  }

  void read_words(std::size_t at, std::span<uint32_t> out) const {
    if (out.empty()) return;
    std::memcpy(out.data(), buffer_.data() + at * 4, out.size_bytes());
    if constexpr (std::endian::native == std::endian::big) {
      for (uint32_t& word : out) {
        word = word >> 24 | (word >> 8 & 0xFF00) | (word << 8 & 0xFF0000) | word << 24;
      }
    }
  }

  void read_rules(std::span<const uint32_t> words) {
    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i + 2 < words.size(); i += 3) {
      where_ = {"rule", static_cast<uint32_t>(i / 3)};
      if (words[i] >= ir_.expr_spans_.size()) fail("its expression does not exist");
      const std::string_view name = text_at(words[i + 1], words[i + 2]);
      if (name.empty() || !names.insert(name).second) fail("its name is empty or taken");
      ir_.rules_.push_back({words[i], words[i + 1], words[i + 2]});
    }
  }

  uint32_t expr_offset(uint32_t id) const { return offsets_[id]; }
  uint32_t node_offset(uint32_t id) const { return offsets_[ir_.expr_spans_.size() + id]; }
  // The record that ends here. Records that share words would take time that the words don't show.
  Ir::Span record_at(uint32_t offset) {
    words_read_ += at_ - offset;
    if (words_read_ > ir_.words_.size()) fail("it overlaps another record");
    return {offset, at_ - offset};
  }
  uint32_t end_of_record(uint32_t offset) const {
    if (offset >= ir_.words_.size()) fail("its offset lies outside the word pool");
    return static_cast<uint32_t>(ir_.words_.size());
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::size_t before = kIrHeaderWords + offsets_.size() + ir_.rules_.size() * 3;
    malformed(std::string(where_.kind) + " " + std::to_string(where_.id) + ": " + what,
              (before + at_) * 4);
  }

  uint32_t next() {
    if (at_ >= limit_) fail("it is cut off");
    return ir_.words_[at_++];
  }
  uint32_t count(uint32_t words_each) {
    const uint32_t n = next();
    if (uint64_t{n} * words_each > limit_ - at_) fail("its count exceeds the word pool");
    return n;
  }
  void check_ref(uint32_t offset, uint32_t length) const {
    if (uint64_t{offset} + length > ir_.bytes_.size()) fail("a byte reference exceeds the pool");
  }
  std::string_view ref() {
    const uint32_t offset = next();
    const uint32_t length = next();
    return bytes_at(offset, length);
  }
  std::string_view text() {
    const uint32_t offset = next();
    const uint32_t length = next();
    return text_at(offset, length);
  }
  std::string_view bytes_at(uint32_t offset, uint32_t length) {
    check_ref(offset, length);
    text_read_ += length;
    if (text_read_ > ir_.bytes_.size() + kMaxSharedText) fail("its texts are shared too often");
    return ir_.bytes(offset, length);
  }
  std::string_view text_at(uint32_t offset, uint32_t length) {
    const auto value = bytes_at(offset, length);
    if (!valid_utf8(value)) fail("a text is not valid UTF-8");
    return value;
  }
  void decimal() {
    if (!plain_decimal(ref())) fail("a number is no normalised plain decimal");
  }
  void expr_id() {
    if (next() >= ir_.expr_spans_.size()) fail("it names an expression that does not exist");
  }
  void check_node_id(uint32_t id) const {
    if (id >= ir_.node_spans_.size()) fail("it names a schema node that does not exist");
  }
  void node_id() { check_node_id(next()); }
  void optional_node_id() {
    const uint32_t id = next();
    if (id != kNone) check_node_id(id);
  }
  void bounds() {
    const uint32_t lo = next();
    const uint32_t hi = next();
    if (lo > hi) fail("its minimum exceeds its maximum");
  }
  void many(uint32_t least, void (IrParser::*item)(), uint32_t words_each) {
    const uint32_t n = count(words_each);
    if (n < least) fail("it has too few parts");
    for (uint32_t i = 0; i < n; ++i) (this->*item)();
  }
  void text_item() { text(); }
  void key_pattern() {
    expr_id();
    node_id();
  }
  void bytes_item() {
    if (ref().empty()) fail("an empty literal");
  }
  void any_bytes_item() { ref(); }

  void check_expr() {
    switch (static_cast<ExprKind>(next())) {
      case ExprKind::kEmpty: break;
      case ExprKind::kLiteral: bytes_item(); break;
      case ExprKind::kClass: check_class(); break;
      case ExprKind::kSequence:
      case ExprKind::kChoice: many(2, &IrParser::expr_id, 1); break;
      case ExprKind::kRepeat:
        expr_id();
        bounds();
        break;
      case ExprKind::kRef:
        if (next() >= ir_.rules_.size()) fail("it names a rule that does not exist");
        break;
      case ExprKind::kLiteralSet: many(0, &IrParser::any_bytes_item, 2); break;
      case ExprKind::kIntersect: many(1, &IrParser::expr_id, 1); break;
      case ExprKind::kComplement: expr_id(); break;
      case ExprKind::kTextUntil:
        many(1, &IrParser::bytes_item, 2);
        many(0, &IrParser::bytes_item, 2);
        break;
      case ExprKind::kTokenSet:
        if (next() > 1) fail("its exclude flag is neither 0 nor 1");
        many(0, &IrParser::token_id, 1);
        break;
      case ExprKind::kJson: check_json(); break;
      default: fail("unknown kind");
    }
  }
  void token_id() { next(); }

  void check_class() {
    const uint32_t n = count(2);
    uint32_t previous = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t lo = next();
      const uint32_t hi = next();
      if (lo > hi || hi > kMaxCodePoint || (i > 0 && lo <= previous + 1)) {
        fail("its ranges are not sorted, disjoint and within the code points");
      }
      if (lo < 0xE000 && hi >= 0xD800) fail("its ranges contain surrogates");
      previous = hi;
    }
  }

  void check_json() {
    node_id();
    const uint32_t flags = next();
    if (flags > 31) fail("unknown JSON flags");
    if ((flags & kDecimalNumbers) != 0 && (flags & kPlainNumbers) != 0) {
      fail("two spellings of numbers");
    }
    next();
    if (ref().empty() || ref().empty()) fail("an empty JSON separator");
  }

  void check_node() {
    switch (static_cast<NodeKind>(next())) {
      case NodeKind::kAny:
      case NodeKind::kNever: break;
      case NodeKind::kTypes:
        if (next() > kAllTypes) fail("unknown types");
        break;
      case NodeKind::kNumber: check_number(); break;
      case NodeKind::kStringLength:
      case NodeKind::kItemCount:
      case NodeKind::kMemberCount: bounds(); break;
      case NodeKind::kStringLanguage: expr_id(); break;
      case NodeKind::kEnum:
        if (next() > 7) fail("unknown literals");
        many(0, &IrParser::decimal, 2);
        many(0, &IrParser::text_item, 2);
        many(0, &IrParser::node_id, 1);
        break;
      case NodeKind::kArray:
        many(0, &IrParser::node_id, 1);
        optional_node_id();
        break;
      case NodeKind::kObject: {
        const uint32_t n = count(3);
        for (uint32_t i = 0; i < n; ++i) {
          text();
          node_id();
        }
        many(0, &IrParser::key_pattern, 2);
        optional_node_id();
        break;
      }
      case NodeKind::kRequired: many(0, &IrParser::text_item, 2); break;
      case NodeKind::kAllOf:
      case NodeKind::kAnyOf:
      case NodeKind::kOneOf: many(1, &IrParser::node_id, 1); break;
      case NodeKind::kNot:
      case NodeKind::kMemberNames: node_id(); break;
      case NodeKind::kMultipleOf: check_divisor(); break;
      case NodeKind::kContains:
        node_id();
        bounds();
        break;
      case NodeKind::kUniqueItems: break;
      case NodeKind::kDependentRequired:
        text();
        many(0, &IrParser::text_item, 2);
        break;
      default: fail("unknown kind");
    }
  }

  void check_divisor() {
    const std::string_view divisor = ref();
    if (!plain_decimal(divisor) || divisor[0] == '-' || divisor == "0") {
      fail("its divisor is no positive normalised plain decimal");
    }
  }

  void check_number() {
    const uint32_t flags = next();
    if (flags > 15) fail("unknown number flags");
    for (const uint32_t flag : {uint32_t{kHasLo}, uint32_t{kHasHi}}) {
      if ((flags & flag) != 0)
        decimal();
      else
        ref();
    }
  }

  // Expressions refer to expressions built before them, so that no chain of them can be cyclic.
  void check_acyclic() {
    for (uint32_t id = 0; id < ir_.num_exprs(); ++id) {
      where_ = {"expression", id};
      const auto payload = ir_.expr(id);
      switch (ir_.expr_kind(id)) {
        case ExprKind::kSequence:
        case ExprKind::kChoice:
        case ExprKind::kIntersect:
          for (const uint32_t child : payload.subspan(1)) check_before(child, id);
          break;
        case ExprKind::kRepeat:
        case ExprKind::kComplement: check_before(payload[0], id); break;
        default: break;
      }
    }
  }
  void check_before(uint32_t child, uint32_t id) const {
    if (child >= id) fail("it refers to an expression that is not built before it");
  }

  std::span<const std::byte> buffer_;
  std::vector<uint32_t> offsets_;
  Ir ir_;
  struct Where {
    const char* kind;
    uint32_t id;
  };
  Where where_{"expression", 0};  // the record at hand
  uint32_t at_ = 0;
  uint32_t limit_ = 0;
  uint64_t words_read_ = 0;
  uint64_t text_read_ = 0;
};

Ir Ir::parse(std::span<const std::byte> buffer) { return IrParser(buffer).parse(); }

}  // namespace maskwright

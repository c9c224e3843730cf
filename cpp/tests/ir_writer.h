// A small writer of IR buffers for tests: expressions and rules, no schema nodes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "maskwright/ir/ir.h"
#include "maskwright/support/code_points.h"

namespace maskwright::test {

class IrWriter {
 public:
  using Ids = std::vector<uint32_t>;

  uint32_t add(ExprKind kind, const std::vector<uint32_t>& payload) {
    offsets_.push_back(static_cast<uint32_t>(words_.size()));
    words_.push_back(static_cast<uint32_t>(kind));
    words_.insert(words_.end(), payload.begin(), payload.end());
    return static_cast<uint32_t>(offsets_.size() - 1);
  }
  uint32_t empty() { return add(ExprKind::kEmpty, {}); }
  uint32_t literal(const std::string& text) { return add(ExprKind::kLiteral, refs({text})); }
  uint32_t char_class(const std::vector<std::pair<uint32_t, uint32_t>>& ranges) {
    std::vector<uint32_t> payload{static_cast<uint32_t>(ranges.size())};
    for (const auto& [lo, hi] : ranges) {
      payload.push_back(lo);
      payload.push_back(hi);
    }
    return add(ExprKind::kClass, payload);
  }
  uint32_t any() { return char_class({{0, 0xD7FF}, {0xE000, kMaxCodePoint}}); }
  uint32_t list(ExprKind kind, const Ids& ids) {
    std::vector<uint32_t> payload{static_cast<uint32_t>(ids.size())};
    payload.insert(payload.end(), ids.begin(), ids.end());
    return add(kind, payload);
  }
  uint32_t sequence(const Ids& ids) { return list(ExprKind::kSequence, ids); }
  uint32_t choice(const Ids& ids) { return list(ExprKind::kChoice, ids); }
  uint32_t intersect(const Ids& ids) { return list(ExprKind::kIntersect, ids); }
  uint32_t complement(uint32_t id) { return add(ExprKind::kComplement, {id}); }
  uint32_t repeat(uint32_t body, uint32_t min, uint32_t max) {
    return add(ExprKind::kRepeat, {body, min, max});
  }
  uint32_t ref(uint32_t rule) { return add(ExprKind::kRef, {rule}); }
  uint32_t literal_set(const std::vector<std::string>& texts) {
    return add(ExprKind::kLiteralSet, counted(texts));
  }
  uint32_t text_until(const std::vector<std::string>& stops,
                      const std::vector<std::string>& excludes) {
    std::vector<uint32_t> payload = counted(stops);
    const std::vector<uint32_t> more = counted(excludes);
    payload.insert(payload.end(), more.begin(), more.end());
    return add(ExprKind::kTextUntil, payload);
  }
  // Declares the next rule; returns its id.
  uint32_t rule(const std::string& name, uint32_t expr) {
    const auto ref = refs({name});
    rules_.insert(rules_.end(), {expr, ref[0], ref[1]});
    return static_cast<uint32_t>(rules_.size() / 3 - 1);
  }

  // With a root rule for the last expression.
  Ir finish() {
    return Ir::parse(buffer(rule("root", static_cast<uint32_t>(offsets_.size() - 1))));
  }

  std::vector<std::byte> buffer(uint32_t root) const {
    std::vector<uint32_t> out{kIrMagic,
                              kIrVersion,
                              static_cast<uint32_t>(offsets_.size()),
                              static_cast<uint32_t>(rules_.size() / 3),
                              0,
                              static_cast<uint32_t>(words_.size()),
                              static_cast<uint32_t>(bytes_.size()),
                              root,
                              0,
                              0,
                              0,
                              0};
    out.insert(out.end(), offsets_.begin(), offsets_.end());
    out.insert(out.end(), rules_.begin(), rules_.end());
    out.insert(out.end(), words_.begin(), words_.end());
    std::vector<std::byte> buffer(out.size() * 4 + bytes_.size());
    std::memcpy(buffer.data(), out.data(), out.size() * 4);
    if (!bytes_.empty()) std::memcpy(buffer.data() + out.size() * 4, bytes_.data(), bytes_.size());
    return buffer;
  }

 private:
  std::vector<uint32_t> refs(const std::vector<std::string>& texts) {
    std::vector<uint32_t> out;
    for (const std::string& text : texts) {
      out.push_back(static_cast<uint32_t>(bytes_.size()));
      out.push_back(static_cast<uint32_t>(text.size()));
      bytes_ += text;
    }
    return out;
  }
  std::vector<uint32_t> counted(const std::vector<std::string>& texts) {
    std::vector<uint32_t> out = refs(texts);
    out.insert(out.begin(), static_cast<uint32_t>(texts.size()));
    return out;
  }

  std::vector<uint32_t> words_, offsets_, rules_;
  std::string bytes_;
};

}  // namespace maskwright::test

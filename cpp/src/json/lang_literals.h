// A finite set of texts as an implicit automaton, and repetitions of one class.
//
// LiteralsLang: the sorted texts are the automaton. A state is (lo, hi, depth): the texts lo..hi-1
// share their first `depth` code points. States are interned on first use, so that 50,000 texts
// cost a sort. RunLang: C{m,n}; a state is the count so far, nothing is stored.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright::langs {

class LiteralsLang final : public TableLang {
 public:
  // Texts as (length, code points...) one after the other: sorted, unique, at least one.
  // `labels`: of each text; none: it has none.
  explicit LiteralsLang(std::vector<uint32_t> packed, std::vector<uint32_t> labels = {});

  uint32_t start() override { return 0; }
  std::span<const Arc> arcs(uint32_t state) override;
  uint32_t move(uint32_t state, uint32_t code_point) override;
  bool accepts(uint32_t state) override;
  // Where a text ends it is the first of those that go on.
  uint32_t label(uint32_t state) override { return labels_[states_.get(state)[0]]; }
  bool labels_ahead(uint32_t state, std::vector<uint32_t>& out) override;
  bool can_finish(uint32_t state, uint32_t min, uint32_t max) override;
  uint32_t length_horizon() override { return longest_ + 1; }
  uint64_t work() const override { return states_.size(); }

  uint32_t size() const { return static_cast<uint32_t>(offsets_.size()); }
  std::span<const uint32_t> text(uint32_t index) const {
    const std::size_t at = offsets_[index];
    return std::span(packed_).subspan(at + 1, packed_[at]);
  }
  bool append_rest(uint32_t state, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) +
           heap_bytes(packed_, labels_, offsets_, states_, arcs_, lengths_);
  }

 private:
  uint32_t intern(uint32_t lo, uint32_t hi, uint32_t depth);
  uint32_t bound(uint32_t lo, uint32_t hi, uint32_t depth, uint32_t code_point) const;
  const std::vector<uint32_t>& lengths(uint32_t lo, uint32_t hi);

  std::vector<uint32_t> packed_, labels_;
  std::vector<std::size_t> offsets_;
  uint32_t longest_ = 0;
  WordInterner states_;  // [lo, hi, depth]
  std::vector<std::unique_ptr<std::vector<Arc>>> arcs_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> lengths_;  // of a range, sorted
};

class RunLang final : public TableLang {
 public:
  // max kUnbounded = any number.
  RunLang(CodeRanges ranges, uint32_t min, uint32_t max);

  uint32_t start() override { return 0; }
  std::span<const Arc> arcs(uint32_t state) override;
  uint32_t move(uint32_t state, uint32_t code_point) override;
  bool accepts(uint32_t state) override { return state >= min_; }
  bool can_finish(uint32_t state, uint32_t min, uint32_t max) override;
  uint32_t length_horizon() override;
  bool append_rest(uint32_t state, SharedKey& key) override;
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(ranges_, arcs_);
  }

 private:
  uint32_t next(uint32_t state) const;

  CodeRanges ranges_;
  uint32_t min_, max_;
  std::vector<Arc> arcs_;  // all with the same target
};

}  // namespace maskwright::langs

#include "json/lang_literals.h"

#include <algorithm>
#include <array>

#include "maskwright/automata/store.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright::langs {

LiteralsLang::LiteralsLang(std::vector<uint32_t> packed, std::vector<uint32_t> labels)
    : packed_(std::move(packed)), labels_(std::move(labels)) {
  for (std::size_t at = 0; at < packed_.size(); at += packed_[at] + 1) {
    offsets_.push_back(at);
    longest_ = std::max(longest_, packed_[at]);
  }
  intern(0, size(), 0);
}

uint32_t LiteralsLang::intern(uint32_t lo, uint32_t hi, uint32_t depth) {
  const std::array<uint32_t, 3> content{lo, hi, depth};
  const auto [id, inserted] = states_.intern(content);
  if (inserted) arcs_.emplace_back();
  return id;
}

bool LiteralsLang::accepts(uint32_t state) {
  const auto content = states_.get(state);
  return text(content[0]).size() == content[2];
}

bool LiteralsLang::labels_ahead(uint32_t state, std::vector<uint32_t>& out) {
  const auto content = states_.get(state);
  if (labels_.empty() || content[1] - content[0] > kFewAhead) return false;
  out.insert(out.end(), labels_.begin() + content[0], labels_.begin() + content[1]);
  return true;
}

// The first of the texts lo..hi-1 (all longer than depth) whose code point at `depth` is not less.
uint32_t LiteralsLang::bound(uint32_t lo, uint32_t hi, uint32_t depth, uint32_t code_point) const {
  while (lo < hi) {
    const uint32_t middle = lo + (hi - lo) / 2;
    if (text(middle)[depth] < code_point)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

uint32_t LiteralsLang::move(uint32_t state, uint32_t code_point) {
  const auto content = states_.get(state);
  const uint32_t depth = content[2];
  const uint32_t lo = content[0] + (accepts(state) ? 1 : 0);
  const uint32_t first = bound(lo, content[1], depth, code_point);
  const uint32_t last = bound(first, content[1], depth, code_point + 1);
  return first == last ? kDeadLang : intern(first, last, depth + 1);
}

std::span<const Lang::Arc> LiteralsLang::arcs(uint32_t state) {
  if (arcs_[state] == nullptr) {
    const auto content = states_.get(state);
    const uint32_t depth = content[2];
    std::vector<Arc> arcs;
    for (uint32_t lo = content[0] + (accepts(state) ? 1 : 0); lo < content[1];) {
      const uint32_t code_point = text(lo)[depth];
      // Gallop: most children are small.
      uint32_t step = 1;
      while (step < content[1] - lo && text(lo + step)[depth] == code_point) step *= 2;
      const uint32_t end = std::min(content[1], lo + step);
      const uint32_t hi = bound(lo + step / 2, end, depth, code_point + 1);
      arcs.push_back({code_point, code_point, intern(lo, hi, depth + 1)});
      lo = hi;
    }
    arcs_[state] = std::make_unique<std::vector<Arc>>(std::move(arcs));
  }
  return *arcs_[state];
}

const std::vector<uint32_t>& LiteralsLang::lengths(uint32_t lo, uint32_t hi) {
  const auto [place, inserted] = lengths_.try_emplace({lo, hi});
  std::vector<uint32_t>& lengths = place->second;
  if (inserted) {
    for (uint32_t i = lo; i < hi; ++i) lengths.push_back(static_cast<uint32_t>(text(i).size()));
    make_set(lengths);
    lengths.shrink_to_fit();
  }
  return lengths;
}

bool LiteralsLang::can_finish(uint32_t state, uint32_t min, uint32_t max) {
  const auto content = states_.get(state);
  const auto& all = lengths(content[0], content[1]);
  const auto first = std::lower_bound(all.begin(), all.end(), uint64_t{min} + content[2]);
  return first != all.end() && (max == kUnbounded || *first <= uint64_t{max} + content[2]);
}

RunLang::RunLang(CodeRanges ranges, uint32_t min, uint32_t max)
    : ranges_(std::move(ranges)), min_(min), max_(max) {
  for (const CodeRange& range : ranges_) arcs_.push_back({range.lo, range.hi, 0});
}

uint32_t RunLang::next(uint32_t state) const {
  return max_ == kUnbounded ? std::min(state + 1, min_) : state + 1;
}

std::span<const Lang::Arc> RunLang::arcs(uint32_t state) {
  if (state == max_) return {};
  const uint32_t target = next(state);
  if (!arcs_.empty() && arcs_.front().target != target) {
    for (Arc& arc : arcs_) arc.target = target;
  }
  return arcs_;
}

uint32_t RunLang::move(uint32_t state, uint32_t code_point) {
  return state == max_ || !contains(ranges_, code_point) ? kDeadLang : next(state);
}

bool RunLang::can_finish(uint32_t state, uint32_t min, uint32_t max) {
  const uint32_t shortest = min_ > state ? min_ - state : 0;
  uint32_t longest = max_ == kUnbounded ? kUnbounded : max_ - state;
  if (ranges_.empty()) longest = 0;
  return min <= max && shortest <= max && longest >= min;
}

uint32_t RunLang::length_horizon() {
  if (ranges_.empty()) return 1;
  return max_ == kUnbounded ? min_ : max_ + 1;
}

}  // namespace maskwright::langs

#include "json/exponent_set.h"

#include <algorithm>

namespace maskwright::langs {

bool ExponentSet::meets(int64_t lo, int64_t hi) const {
  return std::any_of(spans_.begin(), spans_.end(),
                     [&](const Span& span) { return span.lo <= hi && lo <= span.hi; });
}

void ExponentSet::append(int64_t lo, int64_t hi) {
  if (hi < lo) return;
  if (!spans_.empty() && spans_.back().hi + 1 == lo) {
    spans_.back().hi = static_cast<int32_t>(hi);
  } else {
    spans_.push_back({static_cast<int32_t>(lo), static_cast<int32_t>(hi)});
  }
}

void ExponentSet::remove(int64_t lo, int64_t hi) {
  ExponentSet kept;
  for (const Span& span : spans_) {
    kept.append(span.lo, std::min<int64_t>(span.hi, lo - 1));
    kept.append(std::max<int64_t>(span.lo, hi + 1), span.hi);
  }
  *this = std::move(kept);
}

void ExponentSet::clip(int64_t lo, int64_t hi) {
  ExponentSet kept;
  for (const Span& span : spans_) {
    kept.append(std::max<int64_t>(span.lo, lo), std::min<int64_t>(span.hi, hi));
  }
  *this = std::move(kept);
}

ExponentSet ExponentSet::meet(const ExponentSet& other) const {
  ExponentSet common;
  for (const Span& span : spans_) {
    for (const Span& among : other.spans_) {
      common.append(std::max(span.lo, among.lo), std::min(span.hi, among.hi));
    }
  }
  return common;
}

ExponentSet ExponentSet::negated() const {
  ExponentSet out;
  for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
    out.append(-int64_t{span->hi}, -int64_t{span->lo});
  }
  return out;
}

}  // namespace maskwright::langs

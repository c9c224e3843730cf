#include "matcher/speller.h"

#include <algorithm>

namespace maskwright {

uint32_t Speller::count(std::string_view text) {
  const auto [end, last_end] =
      std::mismatch(text.rbegin(), text.rend(), text_.rbegin(), text_.rend());
  const auto same = static_cast<std::size_t>(end - text.rbegin());
  rests_.resize(same + 1);
  rests_.reserve(text.size() + 1);
  for (std::size_t bytes = same + 1; bytes <= text.size(); ++bytes) {
    rests_.push_back(best(text.substr(text.size() - bytes)));
  }
  text_ = text;
  return rests_.back().count;
}

// Of equally good tokens the longest.
Speller::Rest Speller::best(std::string_view rest) const {
  Rest least{kUnbounded};
  uint32_t node = 0;
  for (std::size_t end = 0; end < rest.size(); ++end) {
    node = vocabulary_.child(node, static_cast<uint8_t>(rest[end]));
    if (node == Vocabulary::kNoNode) break;
    const uint32_t after = rests_[rest.size() - end - 1].count;
    if (after == kUnbounded || after + 1 > least.count || !tokens_.readable(node)) continue;
    least = {after + 1, static_cast<uint32_t>(end + 1), tokens_.token_at(node)};
  }
  return least;
}

std::optional<std::vector<uint32_t>> Speller::spell(std::string_view text) {
  if (count(text) == kUnbounded) return std::nullopt;
  std::vector<uint32_t> plan;
  for (std::size_t bytes = text.size(); bytes != 0; bytes -= rests_[bytes].length) {
    plan.push_back(rests_[bytes].token);
  }
  return plan;
}

}  // namespace maskwright

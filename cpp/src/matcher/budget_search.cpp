#include "matcher/budget_search.h"

#include <algorithm>

#include "matcher/budget_facts.h"

namespace maskwright {

std::optional<Matcher::Plan> Matcher::TokenSearch::find(std::span<const Config> closed,
                                                        uint32_t bound) {
  bound_ = bound;
  nodes_left_ = bound == kUnbounded ? kMaxNodesToFind : kMaxNodes;
  visit(closed, 0, 0);
  while (!waiting_.empty() && nodes_left_ != 0) {
    const uint32_t place = std::get<1>(waiting_.top());
    waiting_.pop();
    if (places_[place].tokens + 1 < bound_) expand(place);
  }
  return std::move(best_);
}

void Matcher::TokenSearch::visit(std::span<const Config> closed, uint32_t from, uint32_t token) {
  std::vector<Config> shape(closed.begin(), closed.end());
  for (Config& config : shape) config.run = 0;
  const std::span words{reinterpret_cast<const uint32_t*>(shape.data()), shape.size() * 4};
  const auto index = static_cast<uint32_t>(places_.size());
  const uint32_t tokens = index == 0 ? 0 : places_[from].tokens + 1;
  const auto [id, inserted] = seen_.intern(words);
  if (inserted) fewest_.push_back(kUnbounded);
  if (fewest_[id] <= tokens) return;
  fewest_[id] = tokens;
  places_.push_back({matcher_.intern(closed), from, token, tokens});
  waiting_.push({tokens + bytes_left(closed), index});
}

// Of the text, or far more than that where there is none.
uint32_t Matcher::TokenSearch::bytes_left(std::span<const Config> closed) {
  constexpr uint32_t kFar = 1U << 20;
  const uint32_t bytes = matcher_.bytes_left(closed);
  if (bytes != kUnbounded) return bytes;
  uint32_t frames = kFar;
  for (const Config& config : closed) frames = std::min(frames, family_.depth(config.stack));
  return kFar + frames;
}

void Matcher::TokenSearch::expand(uint32_t place) {
  const std::vector<Config> closed(matcher_.configs(places_[place].configs).begin(),
                                   matcher_.configs(places_[place].configs).end());
  if (matcher_.may_read_symbol(closed)) expand_symbols(closed, place);
  expand_below(0, closed, place);
}

void Matcher::TokenSearch::expand_symbols(std::span<const Config> closed, uint32_t place) {
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (matcher_.is_stop(token)) continue;
    ConfigSet after;
    matcher_.add_token_symbols(closed, token, after);
    if (!after.empty()) reach(after, place, token);
  }
}

void Matcher::TokenSearch::expand_below(uint32_t node, std::span<const Config> closed,
                                        uint32_t place) {
  const TextClass* free = matcher_.loop_text(closed);
  const bool loops = free != nullptr && !matcher_.has_register(closed[0].state);
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (loops && below != nullptr && !below->text.beyond_ascii &&
      free->covers_ascii_of(below->text)) {
    const auto tokens = vocabulary_.tokens_below(node);
    const auto token = std::ranges::find_if_not(
        tokens, [&](uint32_t candidate) { return matcher_.is_stop(candidate); });
    if (node != 0 && token != tokens.end()) visit(closed, place, *token);
    return;
  }
  const std::bitset<256> reads = matcher_.readable_bytes(closed);
  ConfigSet after;
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    if (!reads[vocabulary_.byte(child)]) continue;
    if (nodes_left_ == 0) return;
    --nodes_left_;
    after.clear();
    family_.runner.scan(closed, vocabulary_.byte(child), family_.arena, after);
    if (after.empty()) continue;
    if (matcher_.readable(child)) {
      ConfigSet whole = after;
      reach(whole, place, matcher_.token_at(child));
    }
    if (!vocabulary_.has_children(child)) continue;
    family_.runner.close(after, family_.arena, nullptr);
    expand_below(child, after.configs(), place);
  }
}

// What a token leads to: an end, or a place from which a better one may be found.
void Matcher::TokenSearch::reach(ConfigSet& after, uint32_t place, uint32_t token) {
  const uint32_t tokens = places_[place].tokens + 1;
  if (matcher_.close(after)) {
    if (tokens >= bound_) return;
    best_ = plan_to(place);
    best_->push_back(token);
    bound_ = tokens;
    nodes_left_ = std::min(nodes_left_, kMaxNodesToImprove);
  } else if (tokens + 1 < bound_) {
    visit(after.configs(), place, token);
  }
}

Matcher::Plan Matcher::TokenSearch::plan_to(uint32_t place) const {
  Plan plan;
  for (; place != 0; place = places_[place].from) plan.push_back(places_[place].token);
  std::ranges::reverse(plan);
  return plan;
}

}  // namespace maskwright

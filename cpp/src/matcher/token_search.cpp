#include "matcher/token_search.h"

#include <algorithm>

namespace maskwright {

std::optional<Completions::Plan> TokenSearch::find(Completions::Place at, uint32_t bound) {
  bound_ = bound;
  if (tokens_at_least(at) >= bound) return std::nullopt;
  ++known_.searches_;
  nodes_left_ = bound == kUnbounded ? kMaxNodesToFind : kMaxNodes;
  visit(known_.configs(at), 0, 0);
  while (!waiting_.empty() && nodes_left_ != 0) {
    const uint32_t index = std::get<1>(waiting_.top());
    waiting_.pop();
    if (visits_[index].tokens + 1 < bound_) expand(index);
  }
  return std::move(best_);
}

void TokenSearch::visit(std::span<const Config> closed, uint32_t from, uint32_t token) {
  std::vector<Config> shape(closed.begin(), closed.end());
  for (Config& config : shape) config.run = 0;
  const std::span words{reinterpret_cast<const uint32_t*>(shape.data()), shape.size() * 4};
  const auto index = static_cast<uint32_t>(visits_.size());
  const uint32_t tokens = index == 0 ? 0 : visits_[from].tokens + 1;
  const auto [id, inserted] = seen_.intern(words);
  if (inserted) fewest_.push_back(kUnbounded);
  if (fewest_[id] <= tokens) return;
  fewest_[id] = tokens;
  const Completions::Place place = known_.intern(closed);
  charge(known_.shortest(place).vain / kPlacesOfNode);
  if (index != 0 && tokens + tokens_at_least(place) >= bound_) return;
  visits_.push_back({place, from, token, tokens});
  waiting_.push({tokens + bytes_left(place), index});
}

void TokenSearch::charge(uint32_t nodes) {
  nodes_left_ -= std::min(nodes_left_, nodes);
  nodes_ += nodes;
}

// That spell the shortest text, each of them as long as tokens can be.
uint32_t TokenSearch::tokens_at_least(Completions::Place place) {
  const uint32_t bytes = known_.bytes_left(place);
  const uint32_t longest = vocabulary_.max_token_length();
  return bytes == kUnbounded ? 0 : (bytes + longest - 1) / longest;
}

// Of the text, or far more than that where there is none.
uint32_t TokenSearch::bytes_left(Completions::Place place) {
  constexpr uint32_t kFar = 1U << 20;
  const uint32_t bytes = known_.bytes_left(place);
  if (bytes != kUnbounded) return bytes;
  uint32_t frames = kFar;
  for (const Config& config : known_.configs(place)) {
    frames = std::min(frames, known_.depths_.depth(config.stack, known_.arena_));
  }
  return kFar + frames;
}

void TokenSearch::expand(uint32_t index) {
  const auto closed = known_.configs(visits_[index].place);
  if (tokens_.may_read_symbol(closed)) expand_symbols(closed, index);
  expand_below(0, closed, index);
}

void TokenSearch::expand_symbols(std::span<const Config> closed, uint32_t index) {
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (tokens_.is_stop(token)) continue;
    ConfigSet after;
    tokens_.add_symbols(closed, token, known_.runner_, known_.arena_, after);
    if (!after.empty()) reach(after, index, token);
  }
}

void TokenSearch::expand_below(uint32_t node, std::span<const Config> closed, uint32_t index) {
  const TextClass* free = known_.loop_text(closed);
  const bool loops = free != nullptr && !known_.has_register(closed[0].state);
  const Vocabulary::Subtree* below = vocabulary_.subtree(node);
  if (loops && below != nullptr && !below->text.beyond_ascii &&
      free->covers_ascii_of(below->text)) {
    const auto tokens = vocabulary_.tokens_below(node);
    const auto token = std::ranges::find_if_not(
        tokens, [&](uint32_t candidate) { return tokens_.is_stop(candidate); });
    if (node != 0 && token != tokens.end()) visit(closed, index, *token);
    return;
  }
  const ByteSet reads = tokens_.readable_bytes(closed);
  ConfigSet after;
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    if (!reads.has(vocabulary_.byte(child))) continue;
    if (nodes_left_ == 0) return;
    charge(1);
    after.clear();
    known_.runner_.scan(closed, vocabulary_.byte(child), known_.arena_, after);
    if (after.empty()) continue;
    if (tokens_.readable(child)) {
      ConfigSet whole = after;
      reach(whole, index, tokens_.token_at(child));
    }
    if (!vocabulary_.has_children(child)) continue;
    known_.runner_.close(after, known_.arena_, nullptr);
    expand_below(child, after.configs(), index);
  }
}

// What a token leads to: an end, or a place from which a better one may be found.
void TokenSearch::reach(ConfigSet& after, uint32_t index, uint32_t token) {
  const uint32_t tokens = visits_[index].tokens + 1;
  if (known_.close(after)) {
    if (tokens >= bound_) return;
    best_ = plan_to(index);
    best_->push_back(token);
    bound_ = tokens;
    nodes_left_ = std::min(nodes_left_, kMaxNodesToImprove);
  } else if (tokens + 1 < bound_) {
    visit(after.configs(), index, token);
  }
}

TokenSearch::Plan TokenSearch::plan_to(uint32_t index) const {
  Plan plan;
  for (; index != 0; index = visits_[index].from) plan.push_back(visits_[index].token);
  std::ranges::reverse(plan);
  return plan;
}

}  // namespace maskwright

#include "matcher/budget_search.h"

#include <algorithm>

namespace maskwright {

std::optional<Matcher::Plan> Matcher::TokenSearch::find(std::span<const Config> closed,
                                                        uint32_t bound) {
  if (bound != kUnbounded) return run(closed, bound, false, kMaxNodes);
  std::optional<Plan> plan = run(closed, bound, false, kMaxNodesToFind);
  if (!plan.has_value() && given_up_) plan = run(closed, bound, true, kMaxNodesToFind);
  return plan;
}

std::optional<Matcher::Plan> Matcher::TokenSearch::run(std::span<const Config> closed,
                                                       uint32_t bound, bool dive,
                                                       uint32_t max_nodes) {
  dive_ = dive;
  bound_ = bound;
  nodes_ = 0;
  max_nodes_ = max_nodes;
  given_up_ = false;
  places_.clear();
  seen_ = {};
  waiting_ = {};
  visit(closed, 0, 0);
  while (!waiting_.empty() && !given_up_) {
    const uint32_t place = std::get<1>(waiting_.top());
    waiting_.pop();
    if (places_[place].tokens + 1 < bound_ && expand(place)) {
      return plan_to(static_cast<uint32_t>(places_.size() - 1));
    }
  }
  return std::nullopt;
}

void Matcher::TokenSearch::visit(std::span<const Config> closed, uint32_t from, uint32_t token) {
  std::vector<Config> shape(closed.begin(), closed.end());
  for (Config& config : shape) config.run = 0;
  const std::span words{reinterpret_cast<const uint32_t*>(shape.data()), shape.size() * 4};
  if (!places_.empty() && !seen_.intern(words).inserted) return;
  if (places_.empty()) seen_.intern(words);
  const auto index = static_cast<uint32_t>(places_.size());
  const uint32_t tokens = index == 0 ? 0 : places_[from].tokens + 1;
  places_.push_back({matcher_.intern(closed), from, token, tokens});
  uint32_t rank = tokens;
  if (dive_) {
    rank = kUnbounded;
    for (const Config& config : closed) rank = std::min(rank, family_.depth(config.stack));
  }
  waiting_.push({rank, index});
}

// True if one of the tokens leads to an end, which is the last place then.
bool Matcher::TokenSearch::expand(uint32_t place) {
  if (matcher_.grammar_->has_token_symbols() && expand_symbols(place)) return true;
  const std::vector<Config> closed(matcher_.configs(places_[place].configs).begin(),
                                   matcher_.configs(places_[place].configs).end());
  return expand_below(0, closed, place);
}

bool Matcher::TokenSearch::expand_symbols(uint32_t place) {
  const std::vector<Config> closed(matcher_.configs(places_[place].configs).begin(),
                                   matcher_.configs(places_[place].configs).end());
  if (!matcher_.may_read_symbol(closed)) return false;
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (matcher_.is_stop(token)) continue;
    ConfigSet after;
    matcher_.add_token_symbols(closed, token, after);
    if (!after.empty() && reach(after, place, token)) return true;
  }
  return false;
}

bool Matcher::TokenSearch::expand_below(uint32_t node, std::span<const Config> closed,
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
    return false;
  }
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    if (given_up_ || ++nodes_ > max_nodes_) {
      given_up_ = true;
      return false;
    }
    ConfigSet after;
    family_.runner.scan(closed, vocabulary_.byte(child), family_.arena, after);
    if (after.empty()) continue;
    if (matcher_.readable(child)) {
      ConfigSet whole = after;
      if (reach(whole, place, matcher_.token_at(child))) return true;
    }
    if (!vocabulary_.has_children(child)) continue;
    family_.runner.close(after, family_.arena, nullptr);
    if (expand_below(child, after.configs(), place)) return true;
  }
  return false;
}

bool Matcher::TokenSearch::reach(ConfigSet& after, uint32_t place, uint32_t token) {
  const bool last = places_[place].tokens + 2 >= bound_;
  if (!matcher_.close(after)) {
    if (!last) visit(after.configs(), place, token);
    return false;
  }
  places_.push_back({0, place, token, places_[place].tokens + 1});
  return true;
}

Matcher::Plan Matcher::TokenSearch::plan_to(uint32_t place) const {
  Plan plan;
  for (; place != 0; place = places_[place].from) plan.push_back(places_[place].token);
  std::ranges::reverse(plan);
  return plan;
}

}  // namespace maskwright

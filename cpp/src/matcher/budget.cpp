// What a matcher does about its token budget. What completes a text: completions.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "maskwright/matcher/matcher.h"
#include "maskwright/support/error.h"
#include "matcher/completions.h"

namespace maskwright {

// The step's place in the facts: the texts of those steps are read again that have none there.
uint32_t Matcher::place_of(uint32_t step, Completions& facts) const {
  std::vector<uint32_t> unread;
  const auto& steps = family_->steps;
  for (; steps[step].generation != facts.generation(); step = steps[step].parent) {
    unread.push_back(step);
    if (steps[step].depth == 0) break;
  }
  uint32_t place = steps[step].place;
  for (; !unread.empty(); unread.pop_back()) {
    Step& next = steps[unread.back()];
    if (next.depth == 0) {
      place = facts.start();
    } else if (next.token == kText) {
      place = facts.read_text(place, family_->texts[next.text]);
    } else {
      place = facts.read(place, next.token);
    }
    next.place = place;
    next.generation = facts.generation();
  }
  return place;
}

// Of so many tokens those that are left for the text; none if not even the stop token is.
std::optional<uint32_t> Matcher::text_tokens(uint32_t left) const {
  if (terminate_without_stop_token_) return left;
  return left == 0 ? std::nullopt : std::optional(left - 1);
}

// The tokens that the step keeps in reserve.
std::span<const uint32_t> Matcher::plan_of(const Step& step, Completions& facts) {
  if (step.plan != kNone) return std::span(family_->plans[step.plan]).subspan(step.plan_at);
  return facts.plan(place_of(step_, facts));
}

// Whether so many fit behind a token that leads from one place to the next. Where that takes a
// search, the mask says it: its walk has a bound for all tokens.
bool Matcher::leaves_enough(Completions& facts, uint32_t from, uint32_t token, uint32_t to,
                            uint32_t left) {
  if (facts.all_fit(from, left)) return true;
  if (const auto clear = facts.clearly_fits(to, left)) return *clear;
  const std::vector<uint32_t>& row = fitting(facts, from, left);
  return (row[token / 32] >> token % 32 & 1U) != 0;
}

// The tokens behind which so many fit for sure, as far as the walk for them gets.
const std::vector<uint32_t>& Matcher::fitting(Completions& facts, uint32_t at, uint32_t left) {
  if (const auto* known = facts.mask(at, left)) return *known;
  std::vector<uint32_t> row(grammar_->vocabulary().mask_words());
  fill_texts(row, true);
  facts.drop_beyond(at, left, row);
  return *facts.mask(at, left);
}

// Whether the budget allows a token that can be read; and what is left then.
bool Matcher::fits_after(uint32_t token, Step& cost) {
  const Step& from = now();
  if (from.left == 0) return false;
  Completions& facts = grammar_->completions(tokens_);
  const uint32_t at = place_of(step_, facts);
  cost.left = from.left - 1;
  cost.place = facts.read(at, token);
  cost.generation = facts.generation();
  const auto left = text_tokens(cost.left);
  if (left.has_value() && leaves_enough(facts, at, token, cost.place, *left)) return true;
  const auto plan = plan_of(from, facts);
  if (plan.empty() || plan[0] != token) return false;
  cost.plan = from.plan;
  cost.plan_at = from.plan_at + 1;
  if (from.plan == kNone) {
    cost.plan = static_cast<uint32_t>(family_->plans.size());
    family_->plans.emplace_back(plan.begin(), plan.end());
  }
  return true;
}

// The same for a text, which costs nothing.
bool Matcher::fits_behind(std::string_view text, Step& cost) {
  Completions& facts = grammar_->completions(tokens_);
  cost.left = now().left;
  cost.place = facts.read_text(place_of(step_, facts), text);
  cost.generation = facts.generation();
  const auto left = text_tokens(cost.left);
  return left.has_value() && facts.fits(cost.place, *left);
}

// What is left is known to fit behind any token. With `walk` false no text is read for that.
bool Matcher::is_far_from_end(bool walk) {
  const Step& step = now();
  const auto left = step.left == 0 ? std::nullopt : text_tokens(step.left - 1);
  if (!left.has_value()) return false;
  Completions& facts = grammar_->completions(tokens_);
  if (!walk && step.generation != facts.generation()) return false;
  return facts.all_fit(place_of(step_, facts), *left);
}

// As fill_texts().
bool Matcher::fill_within_budget(std::span<uint32_t> row, bool walk) {
  const Step& step = now();
  const auto left = step.left == 0 ? std::nullopt : text_tokens(step.left - 1);
  if (!left.has_value()) {
    std::ranges::fill(row, 0U);
    return true;
  }
  Completions& facts = grammar_->completions(tokens_);
  if (!walk && step.generation != facts.generation()) return false;
  const uint32_t at = place_of(step_, facts);
  if (facts.all_fit(at, *left)) return fill_texts(row, walk);
  if (!walk && facts.mask(at, *left) == nullptr) return false;
  std::ranges::copy(fitting(facts, at, *left), row.begin());
  // What completes the text is in the mask without a budget.
  const auto plan = plan_of(step, facts);
  if (!plan.empty()) row[plan[0] / 32] |= 1U << plan[0] % 32;
  return true;
}

// --- what is left -------------------------------------------------------------------------------

// With a stop token; kUnbounded if none are known.
uint32_t Matcher::least_tokens() {
  Completions& facts = grammar_->completions(tokens_);
  const uint32_t tokens = facts.least_tokens(place_of(step_, facts));
  return tokens == kUnbounded || terminate_without_stop_token_ ? tokens : tokens + 1;
}

uint64_t Matcher::min_tokens_to_finish() {
  const std::lock_guard lock(grammar_->mutex());
  const Step& step = now();
  if (step.stopped) return 0;
  if (step.plan != kNone) {
    const std::size_t rest = family_->plans[step.plan].size() - step.plan_at;
    return terminate_without_stop_token_ ? rest : rest + 1;
  }
  const uint32_t tokens = least_tokens();
  if (tokens == kUnbounded) {
    throw Error(ErrorKind::kMatcher, "matcher-no-known-end",
                "no tokens are known that complete the text, though there may be some: the search "
                "for them has a bound; use a tokenizer in which every byte is a token, shorter "
                "least lengths, fewer unique items, or no token budget");
  }
  return tokens;
}

void Matcher::check_budget(uint64_t tokens, const char* name) {
  const uint64_t least = min_tokens_to_finish();
  if (tokens >= least) return;
  throw Error(ErrorKind::kMatcher, "matcher-budget-too-small",
              std::string(name) + " is " + std::to_string(tokens) + ", but the text takes " +
                  std::to_string(least) + " more tokens to be complete" +
                  (!terminate_without_stop_token_ ? " (with the stop token)" : "") +
                  "; pass at least " + std::to_string(least) +
                  ", or make the grammar's shortest text shorter");
}

std::optional<uint64_t> Matcher::remaining_tokens() const {
  const std::lock_guard lock(grammar_->mutex());
  const uint32_t left = now().left;
  return left == kUnbounded ? std::nullopt : std::optional<uint64_t>(left);
}

void Matcher::set_remaining_tokens(std::optional<uint64_t> tokens) {
  if (tokens.has_value()) check_budget(*tokens, "remaining_tokens");
  const std::lock_guard lock(grammar_->mutex());
  reclaim();
  Step step = now();
  if (!tokens.has_value() || (!step.stopped && least_tokens() <= *tokens)) {
    step.plan = kNone;
    step.plan_at = 0;
  }
  const uint64_t left = std::min<uint64_t>(tokens.value_or(kUnbounded), kUnbounded - 1);
  step.left = tokens.has_value() ? static_cast<uint32_t>(left) : kUnbounded;
  step_ = family_->append(step);
}

}  // namespace maskwright

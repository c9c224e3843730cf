// Budgets: texts that are always complete within a number of tokens.
//
// A token is allowed if what is left behind it is at least T, the tokens that complete the text
// from there, a stop token among them. T is the length of a *plan*, a list of tokens that do: the
// best way to spell the shortest text that is known (budget_texts.h), or a shorter plan that a
// search over tokens finds (budget_search.h). It depends on the configurations alone. Since
// neither need be the best, the plan for the place behind a token could be longer than the rest of
// the plan that began with it. Then the text keeps to the plan: its next token is always allowed,
// and T is what is left of it. So a plan that fits goes on to fit until the text is complete.
//
// Where every byte is a token, T is at most the number of bytes of the text, which takes a few
// look-ups. The largest such number after any one token is remembered for each place, so that far
// from the end a mask and a token cost one look-up more. Strings of any characters share it
// whatever their length so far.
//
// Names that must not come again: budget_names.cpp. Masks: budget_mask.cpp.
//
// Cost: a walk over the tokens that a place reads when it is met for the first time, within free
// text over those that leave it; near the end each time, and a search for each set of
// configurations that some token leads to and that does not clearly fit.

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "maskwright/support/error.h"
#include "matcher/budget_facts.h"
#include "matcher/budget_search.h"

namespace maskwright {

namespace {

uint32_t plus(uint32_t tokens, uint32_t more) {
  return tokens >= kUnbounded - more ? kUnbounded : tokens + more;
}

}  // namespace

Matcher::Budget& Matcher::budget() {
  if (family_->budget == nullptr) family_->budget = std::make_shared<Budget>(*grammar_);
  return *family_->budget;
}

// Any bytes that complete a text are tokens that do.
bool Matcher::bytes_suffice() const {
  return grammar_->vocabulary().byte_closed() && !needs_search_;
}

uint32_t Matcher::stop_cost() const { return terminate_without_stop_token_ ? 0 : 1; }

// A token that ends at the trie node and does not stop.
uint32_t Matcher::token_at(uint32_t node) const {
  const auto tokens = grammar_->vocabulary().tokens_at(node);
  return *std::ranges::find_if_not(tokens, [&](uint32_t token) { return is_stop(token); });
}

// --- how many tokens ----------------------------------------------------------------------------

// The fewest tokens that spell the text, none of them across one of the ascending cuts.
std::optional<Matcher::Plan> Matcher::spell(std::string_view text,
                                            std::span<const uint32_t> cuts) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<uint32_t> least(text.size() + 1, kUnbounded);
  std::vector<uint32_t> ends(text.size(), 0);
  std::vector<uint32_t> tokens(text.size(), 0);
  least[text.size()] = 0;
  std::size_t limit = text.size();
  for (std::size_t at = text.size(); at-- > 0;) {
    if (!cuts.empty() && cuts.back() == at + 1) {
      limit = at + 1;
      cuts = cuts.first(cuts.size() - 1);
    }
    uint32_t node = 0;
    for (std::size_t end = at; end < limit; ++end) {
      node = vocabulary.child(node, static_cast<uint8_t>(text[end]));
      if (node == Vocabulary::kNoNode) break;
      if (!readable(node) || plus(least[end + 1], 1) > least[at]) continue;
      least[at] = plus(least[end + 1], 1);
      ends[at] = static_cast<uint32_t>(end + 1);
      tokens[at] = token_at(node);
    }
  }
  if (least[0] == kUnbounded) return std::nullopt;
  Plan plan;
  for (std::size_t at = 0; at < text.size(); at = ends[at]) plan.push_back(tokens[at]);
  return plan;
}

// Whether the configurations can read the tokens and are complete then.
bool Matcher::completes(std::span<const Config> closed, const Plan& plan) {
  ConfigSet set;
  set.assign(closed);
  ConfigSet after;
  for (const uint32_t token : plan) {
    const std::string_view text = grammar_->vocabulary().text(token);
    after.clear();
    if (!text.empty()) family_->runner.read(set.configs(), text, family_->arena, after);
    add_token_symbols(set.configs(), token, after);
    if (after.empty()) return false;
    close(after);
    std::swap(set, after);
  }
  return close(set);
}

Matcher::Loose& Matcher::loose(std::span<const Config> closed, uint32_t& id) {
  id = intern(loosened(closed).configs());
  const auto [found, added] = budget().loose.try_emplace(id);
  Loose& loose = found->second;
  if (!added) return loose;
  Arena& arena = family_->arena;
  arena.regs().set_memory(Memory::kIgnored);
  if (budget().texts.length(configs(id), arena).bytes != kUnbounded) {
    ShortestTexts::Text text = budget().texts.text(configs(id), arena);
    loose.known = true;
    loose.text = std::move(text.bytes);
    loose.doubts = std::move(text.doubts);
    loose.plan = spell(loose.text, {});
  }
  arena.regs().set_memory(Memory::kExact);
  return loose;
}

// Fewer tokens than those that spell the text, where these are few; or any where none do.
const std::optional<Matcher::Plan>& Matcher::better_plan(uint32_t id, Loose& loose) {
  if (std::exchange(loose.searched, true)) return loose.better;
  const std::size_t tokens = loose.plan.has_value() ? loose.plan->size() : kUnbounded;
  if (loose.plan.has_value() && (tokens <= 1 || tokens > kShort)) return loose.better;
  family_->arena.regs().set_memory(Memory::kIgnored);
  loose.better = TokenSearch(*this).find(configs(id), static_cast<uint32_t>(tokens));
  family_->arena.regs().set_memory(Memory::kExact);
  return loose.better;
}

Matcher::Known Matcher::find_least(std::span<const Config> closed) {
  uint32_t id = 0;
  Loose& found = loose(closed, id);
  if (found.plan && found.doubts.others == 0 && !found.doubts.names.empty() && bytes_suffice()) {
    const uint32_t names = remembered(closed);
    const Padding& longer = padding(configs(id), found, names == 0);
    if (longer.possible) return {padded_tokens(found, longer, names), std::nullopt, true};
  }
  const auto known = [](const Plan& plan) {
    return Known{static_cast<uint32_t>(plan.size()), plan, false};
  };
  const auto& better = better_plan(id, found);
  if (better && completes(closed, *better)) return known(*better);
  if (found.plan && completes(closed, *found.plan)) return known(*found.plan);
  ShortestTexts& texts = budget().exact_texts;
  if (texts.length(closed, family_->arena).bytes != kUnbounded) {
    const auto plan = spell(texts.text(closed, family_->arena).bytes, {});
    if (plan && completes(closed, *plan)) return known(*plan);
  }
  if (const auto plan = TokenSearch(*this).find(closed, kUnbounded)) return known(*plan);
  return {};
}

Matcher::Known& Matcher::least(std::span<const Config> closed) {
  const uint32_t id = intern(closed);
  if (const auto known = budget().exact.find(id); known != budget().exact.end()) {
    return known->second;
  }
  Known known = find_least(configs(id));
  return budget().exact.emplace(id, std::move(known)).first->second;
}

uint32_t Matcher::least_tokens(std::span<const Config> closed) {
  return plus(least(closed).tokens, stop_cost());
}

// In bytes, of a text without doubts; kUnbounded if there is none.
uint32_t Matcher::sure_bytes(std::span<const Config> closed) {
  Arena& arena = family_->arena;
  const Memory memory = arena.regs().memory();
  arena.regs().set_memory(Memory::kIgnored);
  const auto [bytes, sure] = budget().texts.length(closed, arena);
  arena.regs().set_memory(memory);
  return sure ? bytes : kUnbounded;
}

uint32_t Matcher::most_tokens(std::span<const Config> closed) {
  if (bytes_suffice()) {
    if (const uint32_t bytes = sure_bytes(closed); bytes != kUnbounded) {
      return plus(bytes, stop_cost());
    }
  }
  return least_tokens(closed);
}

// In bytes, of the text that may do; kUnbounded if there is none.
uint32_t Matcher::bytes_left(std::span<const Config> closed) {
  Arena& arena = family_->arena;
  const Memory memory = arena.regs().memory();
  arena.regs().set_memory(Memory::kIgnored);
  const uint32_t bytes = budget().texts.length(closed, arena).bytes;
  arena.regs().set_memory(memory);
  return bytes;
}

bool Matcher::fits(std::span<const Config> closed, uint32_t left) {
  if (most_tokens(closed) <= left) return true;
  uint32_t id = 0;
  const Loose& found = loose(closed, id);
  if (found.plan && found.doubts.none() && found.plan->size() + stop_cost() <= left) return true;
  return least_tokens(closed) <= left;
}

// --- steps --------------------------------------------------------------------------------------

// The tokens that the step keeps in reserve.
std::span<const uint32_t> Matcher::plan_of(const Step& step) {
  if (step.plan != kNone) return std::span(family_->plans[step.plan]).subspan(step.plan_at);
  const auto closed = configs();
  Known& known = least(closed);
  if (!known.plan.has_value()) {
    known.plan.emplace();
    if (known.by_names) {
      uint32_t id = 0;
      Loose& found = loose(closed, id);
      const uint32_t names = remembered(closed);
      auto plan = padded_plan(closed, found, padding(configs(id), found, names == 0), names);
      if (plan.has_value()) known.plan = std::move(plan);
    }
  }
  return *known.plan;
}

// Whether the budget allows a token that leads to configurations, not yet closed; and what is left
// then.
bool Matcher::fits_after(uint32_t token, const ConfigSet& after, Step& cost) {
  const Step& from = now();
  if (from.left == 0) return false;
  cost.left = from.left - 1;
  if (is_far_from_budget()) return true;
  ConfigSet closed = after;
  close(closed);
  if (fits(closed.configs(), cost.left)) return true;
  const auto plan = plan_of(from);
  if (plan.empty() || plan[0] != token) return false;
  cost.plan = from.plan;
  cost.plan_at = from.plan_at + 1;
  if (from.plan == kNone) {
    const Plan whole(plan.begin(), plan.end());
    cost.plan = family_->plans.grow();
    family_->plans[cost.plan] = whole;
  }
  return true;
}

uint64_t Matcher::min_tokens_to_finish() {
  const std::lock_guard lock(grammar_->mutex());
  const Step& step = now();
  if (step.stopped) return 0;
  if (step.plan != kNone) return plan_of(step).size() + stop_cost();
  const uint32_t tokens = least_tokens(configs());
  if (tokens == kUnbounded) {
    throw Error(ErrorKind::kMatcher, "matcher-no-known-end",
                "no tokens are known that complete the text, though there may be some: the search "
                "for them has a bound; use a tokenizer in which every byte is a token, shorter "
                "least lengths, or no token budget");
  }
  return tokens;
}

void Matcher::check_budget(uint64_t tokens, const char* name) {
  const uint64_t least = min_tokens_to_finish();
  if (tokens >= least) return;
  throw Error(ErrorKind::kMatcher, "matcher-budget-too-small",
              std::string(name) + " is " + std::to_string(tokens) + ", but the text takes " +
                  std::to_string(least) + " more tokens to be complete" +
                  (stop_cost() != 0 ? " (with the stop token)" : "") + "; pass at least " +
                  std::to_string(least) + ", or make the grammar's shortest text shorter");
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
  if (!tokens.has_value() || least_tokens(configs()) <= *tokens) step.plan = kNone;
  const uint64_t left = std::min<uint64_t>(tokens.value_or(kUnbounded), kUnbounded - 1);
  step.left = tokens.has_value() ? static_cast<uint32_t>(left) : kUnbounded;
  step_ = family_->append(step);
}

}  // namespace maskwright

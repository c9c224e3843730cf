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
// Not cheap yet: objects that must have several members of any name. Near the end each of the names
// that a token begins is looked at by itself, with a search.
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

// Bytes that complete a code point of which a token ends inside.
constexpr uint32_t kRestOfCodePoint = 3;

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

// The fewest tokens that spell the text.
std::optional<Matcher::Plan> Matcher::spell(std::string_view text) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<uint32_t> least(text.size() + 1, kUnbounded);
  std::vector<uint32_t> ends(text.size(), 0);
  std::vector<uint32_t> tokens(text.size(), 0);
  least[text.size()] = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    uint32_t node = 0;
    for (std::size_t end = at; end < text.size(); ++end) {
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

// The plan of configurations that remember nothing without bound, nor how much whitespace was read.
const Matcher::Known& Matcher::loose_plan(std::span<const Config> closed) {
  const uint32_t id = intern(loosened(closed).configs());
  Budget& facts = budget();
  if (const auto known = facts.loose.find(id); known != facts.loose.end()) return known->second;
  Arena& arena = family_->arena;
  arena.regs().set_memory(Memory::kIgnored);
  std::optional<Plan> plan;
  if (facts.texts.length(configs(id), arena).bytes != kUnbounded) {
    plan = spell(facts.texts.text(configs(id), arena));
  }
  const uint32_t tokens = plan.has_value() ? static_cast<uint32_t>(plan->size()) : kUnbounded;
  if (tokens > 1) {
    if (auto better = TokenSearch(*this).find(configs(id), tokens)) plan = std::move(better);
  }
  arena.regs().set_memory(Memory::kExact);
  Known known;
  if (plan.has_value()) known = {static_cast<uint32_t>(plan->size()), std::move(*plan)};
  return facts.loose.emplace(id, std::move(known)).first->second;
}

// The same text spelled best, should the plan be none because of what is remembered; or another.
std::optional<Matcher::Plan> Matcher::exact_plan(std::span<const Config> closed) {
  const Known& loose = loose_plan(closed);
  if (loose.tokens == kUnbounded) return std::nullopt;
  if (completes(closed, loose.plan)) return loose.plan;
  if (auto plan = spell(loose_text(closed)); plan && completes(closed, *plan)) return plan;
  ShortestTexts& texts = budget().exact_texts;
  if (texts.length(closed, family_->arena).bytes != kUnbounded) {
    auto plan = spell(texts.text(closed, family_->arena));
    if (plan.has_value() && completes(closed, *plan)) return plan;
  }
  return TokenSearch(*this).find(closed, kUnbounded);
}

// Configurations that differ in what they remember without bound share their texts.
ConfigSet Matcher::loosened(std::span<const Config> closed) {
  ConfigSet set;
  for (Config config : closed) {
    config.run = 0;
    set.add(config, family_->arena);
  }
  return forget(set);
}

Matcher::Length Matcher::loose_length(std::span<const Config> closed) {
  Arena& arena = family_->arena;
  ShortestTexts& texts = budget().texts;
  const Memory memory = arena.regs().memory();
  arena.regs().set_memory(Memory::kIgnored);
  const bool plain = std::ranges::none_of(closed, [&](const Config& config) {
    return (grammar_->store().state(config.state).flags & kPooledRegister) != 0;
  });
  Length length;
  if (plain) {
    length = {texts.length(closed, arena)};
  } else {
    length = {texts.length(loosened(closed).configs(), arena)};
    length.sure = length.sure && std::ranges::all_of(closed, [&](const Config& config) {
                    return texts.is_sure({config.state, config.reg}, arena);
                  });
  }
  arena.regs().set_memory(memory);
  return length;
}

std::string Matcher::loose_text(std::span<const Config> closed) {
  if (loose_length(closed).bytes == kUnbounded) return {};
  family_->arena.regs().set_memory(Memory::kIgnored);
  std::string text = budget().texts.text(loosened(closed).configs(), family_->arena);
  family_->arena.regs().set_memory(Memory::kExact);
  return text;
}

const Matcher::Known& Matcher::least(std::span<const Config> closed) {
  const uint32_t id = intern(closed);
  Budget& facts = budget();
  if (const auto known = facts.exact.find(id); known != facts.exact.end()) return known->second;
  Known known;
  if (auto plan = exact_plan(configs(id))) {
    const uint32_t tokens = static_cast<uint32_t>(plan->size());
    known = {std::max(tokens, loose_plan(configs(id)).tokens), std::move(*plan)};
  }
  return facts.exact.emplace(id, std::move(known)).first->second;
}

uint32_t Matcher::least_tokens(std::span<const Config> closed) {
  return plus(least(closed).tokens, stop_cost());
}

uint32_t Matcher::most_tokens(std::span<const Config> closed) {
  if (!bytes_suffice()) return least_tokens(closed);
  const auto [bytes, sure] = loose_length(closed);
  if (sure) return plus(bytes, stop_cost());
  const auto [known, added] = budget().bytes.try_emplace(intern(closed), kUnbounded);
  if (added) {
    const auto plan = spell(loose_text(closed));
    known->second = plan && completes(closed, *plan) ? bytes : least(closed).tokens;
  }
  return plus(known->second, stop_cost());
}

bool Matcher::fits(std::span<const Config> closed, uint32_t left) {
  if (most_tokens(closed) <= left) return true;
  return plus(loose_plan(closed).tokens, stop_cost()) <= left && least_tokens(closed) <= left;
}

// --- steps --------------------------------------------------------------------------------------

// The tokens that the step keeps in reserve.
std::span<const uint32_t> Matcher::plan_of(const Step& step) {
  if (step.plan != kNone) return std::span(family_->plans[step.plan]).subspan(step.plan_at);
  return least(configs()).plan;
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
  const uint64_t left = std::min<uint64_t>(tokens.value_or(kUnbounded), kUnbounded - 1);
  step.left = tokens.has_value() ? static_cast<uint32_t>(left) : kUnbounded;
  step_ = family_->append(step);
}

// --- masks --------------------------------------------------------------------------------------

// Of a place in free text.
struct Matcher::Loop {
  const TextClass* text = nullptr;  // null if it is none
  uint32_t most = 0;                // most_tokens() behind any of the text
  bool fits = true;
  bool parts = false;  // the same holds behind a part of a code point

  bool covers(const Vocabulary::Subtree& below) const {
    if (!text->covers_ascii_of(below.text)) return false;
    return !below.text.beyond_ascii ||
           (parts && below.utf8 && text->beyond_ascii && text->missing == 0);
  }
};

// What is remembered of the place by, and the register from which on it holds.
struct Matcher::Reach {
  uint32_t key;
  Reg reg;
};

Matcher::Reach Matcher::reach_key() {
  const auto closed = configs();
  // In a string of any characters a larger count allows less, and what it allows leads to the same.
  if (closed.size() == 1 && has_register(closed[0].state)) {
    Store& store = grammar_->store();
    auto& family = store.family(store.state(closed[0].state).family);
    if (family.only_counts(closed[0].state) && store.free_run(closed[0].state).text.escapes) {
      const Config shape{closed[0].state, 0, 0, closed[0].stack};
      return {intern({&shape, 1}), closed[0].reg};
    }
  }
  return {intern(closed), 0};
}

// Known to be: whatever token comes next, what is left will do.
bool Matcher::is_far_from_budget() {
  if (family_->budget == nullptr || now().left == 0) return false;
  const Reach reach = reach_key();
  const auto known = budget().most.find(reach.key);
  return known != budget().most.end() && known->second.from <= reach.reg &&
         known->second.tokens <= now().left - 1;
}

// The characters that lead the configurations back to themselves, but for a count; null if nothing
// is known.
const TextClass* Matcher::loop_text(std::span<const Config> closed) const {
  if (closed.size() != 1) return nullptr;
  Store& store = grammar_->store();
  const StateId id = closed[0].state;
  const State& state = store.state(id);
  // One that accepts has no callers that read anything, or they were here too.
  constexpr uint16_t kOther = (kNotPlain & ~kAccepts) | kPooledRegister | kSuspects;
  if ((state.flags & kOther) != 0) return nullptr;
  const TextClass& text = store.free_run(id).text;
  if ((state.flags & kHasRegister) == 0) return &text;
  return store.family(state.family).only_counts(id) && text.escapes ? &text : nullptr;
}

void Matcher::drop_beyond_budget(std::span<uint32_t> row) {
  if (is_far_from_budget()) return;
  const Step& step = now();
  if (step.left == 0) {
    std::ranges::fill(row, 0U);
    return;
  }
  const auto plan = plan_of(step);
  const bool planned = !plan.empty() && (row[plan[0] / 32] >> plan[0] % 32 & 1U) != 0;
  uint32_t most = 0;
  const std::vector<Config> closed(configs().begin(), configs().end());
  if (may_read_symbol(closed)) {
    drop_symbols_beyond(row, most);
  } else {
    drop_beyond(0, closed, row, most);
  }
  const Reach reach = reach_key();
  budget().most[reach.key] = {reach.reg, most};
  if (planned) row[plan[0] / 32] |= 1U << plan[0] % 32;
}

void Matcher::drop(std::span<const uint32_t> tokens, std::span<uint32_t> row) {
  for (const uint32_t token : tokens) row[token / 32] &= ~(1U << token % 32);
}

void Matcher::drop_symbols_beyond(std::span<uint32_t> row, uint32_t& most) {
  for (uint32_t token = 0; token < grammar_->vocabulary().vocab_size(); ++token) {
    if ((row[token / 32] >> token % 32 & 1U) == 0 || is_stop(token)) continue;
    ConfigSet after;
    read_token(token, after);
    close(after);
    most = std::max(most, most_tokens(after.configs()));
    if (!fits(after.configs(), now().left - 1)) row[token / 32] &= ~(1U << token % 32);
  }
}

// Clears the tokens below a trie node, to which the configurations have read, that don't fit.
void Matcher::drop_beyond(uint32_t node, std::span<const Config> closed, std::span<uint32_t> row,
                          uint32_t& most) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const uint32_t left = now().left - 1;
  const Loop loop = loop_at(closed, left);
  if (loop.text != nullptr) {
    most = std::max(most, loop.most);
    const Vocabulary::Subtree* below = vocabulary.subtree(node);
    if (below != nullptr && loop.covers(*below)) {
      if (!loop.fits) drop(vocabulary.tokens_below(node), row);
      return;
    }
  }
  const std::bitset<256> reads = readable_bytes(closed);
  ConfigSet after;
  for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
    const uint8_t byte = vocabulary.byte(child);
    if (!reads[byte]) continue;
    const auto tokens = vocabulary.tokens_at(child);
    const bool loops = loop.text != nullptr && byte < 0x80 && loop.text->has(byte);
    if (loops && !loop.fits) drop(tokens, row);
    if (loops && !vocabulary.has_children(child)) continue;
    after.clear();
    family_->runner.scan(closed, byte, family_->arena, after);
    if (after.empty()) continue;
    close(after);
    const bool allowed = std::ranges::any_of(
        tokens, [&](uint32_t token) { return (row[token / 32] >> token % 32 & 1U) != 0; });
    if (allowed && !loops) {
      most = std::max(most, most_tokens(after.configs()));
      if (!fits(after.configs(), left)) drop(tokens, row);
    }
    if (vocabulary.has_children(child)) drop_beyond(child, after.configs(), row, most);
  }
}

// Where characters lead the configurations back to themselves: a count may grow, which is all the
// same if so many tokens as there are bytes fit.
Matcher::Loop Matcher::loop_at(std::span<const Config> closed, uint32_t left) {
  Loop loop;
  loop.text = loop_text(closed);
  if (loop.text == nullptr) return loop;
  const uint32_t own = most_tokens(closed);
  loop.most = plus(own, kRestOfCodePoint);
  if (loop.most <= left) {
    loop.parts = true;
  } else if (has_register(closed[0].state)) {
    loop.text = nullptr;
  } else {
    loop.most = own;
    loop.fits = fits(closed, left);
  }
  return loop;
}

}  // namespace maskwright

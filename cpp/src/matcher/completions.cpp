// Budgets: texts that are always complete within a number of tokens.
//
// A token is allowed if what is left behind it is at least T, the tokens that complete the text
// from there, a stop token among them. T is the length of a *plan*, a list of tokens that do: the
// best way to spell the shortest text that is known (shortest_texts.h), or a shorter plan that a
// search finds: by levels of so many tokens (level_search.h), round and round in an array, or,
// where no tokens spell the text or that gives up in a small vocabulary, towards short texts
// (token_search.h). It depends on the configurations alone. Since
// neither need be the best, the plan for the place behind a token could be longer than the rest of
// the plan that began with it. Then the text keeps to the plan: its next token is always allowed,
// and T is what is left of it (budget.cpp). So a plan that fits goes on to fit until the text is
// complete.
//
// Where every byte is a token, T is at most the number of bytes of the text, which takes a few
// look-ups. The largest such number after any one token is remembered for each place, so that far
// from the end a mask and a token cost one look-up more. Strings of any characters share it
// whatever their length so far.
//
// Invariant: at each step T is at most what is left, and its plan, or the rest of the one before,
// is allowed. Whether another token is depends on the place, on what is left and on the token
// alone: most are decided by what is known of all places that are alike (clearly_fits()); the
// others by the walk for the mask (budget_walk.h), whoever asks, since that has a bound for all of
// them together. What it has no work left for is refused, by the mask and by accept_token.
//
// Names and items that must not come again: completion_names.cpp, completion_pads.cpp; where that
// says nothing, text_search.h. Masks: completion_masks.cpp.
//
// Cost: a walk over the tokens that a place reads when it is met for the first time, within free
// text over those that leave it; near the end one for each number of tokens left, and kMaxWork
// bytes and trie nodes in searches for places that are like no others, and those of one place more.
// Beside that the shortest text of each frame state that is new (shortest_texts.h). All of it is
// done once for all matchers.
#include "matcher/completions.h"

#include <algorithm>
#include <utility>

#include "matcher/level_search.h"
#include "matcher/text_search.h"
#include "matcher/token_search.h"

namespace maskwright {

Completions::Completions(CompiledGrammar& grammar, const TokenReader& tokens, uint64_t generation,
                         uint32_t max_work)
    : grammar_(grammar),
      store_(grammar.store()),
      vocabulary_(grammar.vocabulary()),
      tokens_(tokens),
      generation_(generation),
      bytes_suffice_(vocabulary_.byte_closed() && !tokens.needs_search()),
      runner_(store_, grammar.rules()),
      speller_(vocabulary_, tokens_),
      texts_(store_, grammar.rules(), vocabulary_.spellable(), Memory::kIgnored, kMaxPlaces),
      max_work_(max_work) {}

// --- places -------------------------------------------------------------------------------------

std::span<const Config> Completions::configs(Place at) const {
  const auto words = places_.get(at);
  // Config is four words without padding; the interner keeps them aligned as words.
  return {reinterpret_cast<const Config*>(words.data()), words.size() / 4};
}

Completions::Place Completions::intern(std::span<const Config> closed) {
  return places_.intern({reinterpret_cast<const uint32_t*>(closed.data()), closed.size() * 4}).id;
}

bool Completions::close(ConfigSet& set) {
  returned_.clear();
  runner_.close(set, arena_, &returned_);
  return !returned_.empty();
}

Completions::Place Completions::close_and_intern(ConfigSet& set) {
  if (set.empty()) return kNoPlace;
  close(set);
  return intern(set.configs());
}

Completions::Place Completions::start() {
  ConfigSet set;
  runner_.add(grammar_.start(), arena_, set);
  return close_and_intern(set);
}

Completions::Place Completions::read(Place from, uint32_t token) {
  ConfigSet after;
  tokens_.read(configs(from), token, runner_, arena_, after);
  return close_and_intern(after);
}

Completions::Place Completions::read_text(Place from, std::string_view text) {
  if (text.empty()) return from;
  ConfigSet after;
  runner_.read(configs(from), text, arena_, after);
  return close_and_intern(after);
}

std::size_t Completions::size() const {
  constexpr std::size_t kWords = 16;  // about what other things take
  return arena_.size().total() + places_.size() + loose_places_.size() + loose_.size() +
         known_.size() + most_.size() + moves_.size() + texts_.size() +
         masks_.size() * (vocabulary_.mask_words() / kWords + 1);
}

std::size_t Completions::memory_bytes() const {
  return heap_bytes(tokens_, arena_, runner_, depths_, places_, speller_, texts_) +
         heap_bytes(loose_places_, loose_, known_, most_, moves_, masks_, forgotten_, names_);
}

// --- how many tokens ----------------------------------------------------------------------------

// Whether the place can read the tokens and is complete then.
bool Completions::completes(Place at, const Plan& plan) {
  ConfigSet set;
  set.assign(configs(at));
  ConfigSet after;
  for (const uint32_t token : plan) {
    tokens_.read(set.configs(), token, runner_, arena_, after);
    if (after.empty()) return false;
    close(after);
    std::swap(set, after);
  }
  return close(set);
}

Completions::Loose& Completions::loose(Place loose_at) {
  const auto [found, added] = loose_.try_emplace(loose_at);
  Loose& loose = found->second;
  if (!added || bytes_left(loose_at) == kUnbounded) return loose;
  ShortestTexts::Text text = loose_text(loose_at);
  loose.tokens = speller_.count(text.bytes);
  loose.doubts = std::move(text.doubts);
  return loose;
}

ShortestTexts::Text Completions::loose_text(Place loose_at) {
  arena_.regs().set_memory(Memory::kIgnored);
  ShortestTexts::Text text = texts_.text(configs(loose_at), arena_);
  arena_.regs().set_memory(Memory::kExact);
  return text;
}

// Fewer tokens than those that spell the text, or any where none do: among the short texts, then
// among all where these are few, or where the vocabulary is small.
const std::optional<Completions::Plan>& Completions::better_plan(Place loose_at, Loose& loose) {
  if (std::exchange(loose.searched, true) || !may_be_better(loose)) return loose.better;
  arena_.regs().set_memory(Memory::kIgnored);
  uint32_t least = loose.tokens;
  const auto take = [&](std::optional<Plan> plan, uint32_t work) {
    loose.work += work;
    if (!plan.has_value()) return;
    least = static_cast<uint32_t>(plan->size());
    loose.better = std::move(plan);
  };
  using Texts = LevelSearch::Texts;
  const auto search_levels = [&](Texts texts, uint32_t max_nodes) {
    LevelSearch search(*this, texts, max_nodes);
    std::optional<Plan> plan = search.find(loose_at, least);
    take(std::move(plan), search.work());
    return search;
  };
  if (least != kUnbounded) {
    const LevelSearch search = search_levels(Texts::kShort, kNodesShort);
    if (search.gave_up() && search.turn().has_value()) {
      const LevelSearch longer = search_levels(Texts::kShort, kNodesToTurn);
      uint32_t work = 0;
      auto plan = turning_plan(loose_at, longer, work);
      if (plan.has_value() && plan->size() >= least) plan.reset();
      take(std::move(plan), work);
    }
  }
  const bool small = vocabulary_.num_nodes() <= kSmallVocabulary;
  bool gave_up = true;
  if (small || least <= kShort) {
    gave_up = search_levels(Texts::kAll, small ? kNodesSmall : kNodesAll).gave_up();
  }
  if (least == kUnbounded || (small && gave_up)) {
    TokenSearch search(*this);
    std::optional<Plan> plan = search.find(loose_at, least);
    take(std::move(plan), search.nodes());
  }
  arena_.regs().set_memory(Memory::kExact);
  return loose.better;
}

// Goes round from one item of an array to the next as the search has, until few items are left.
std::optional<Completions::Plan> Completions::turning_plan(Place loose_at,
                                                           const LevelSearch& search,
                                                           uint32_t& work) {
  const auto turn = search.turn();
  if (!turn.has_value()) return std::nullopt;
  ConfigSet set;
  set.assign(configs(loose_at));
  Plan plan;
  const auto take = [&](const Plan& tokens) {
    ConfigSet after;
    for (const uint32_t token : tokens) {
      tokens_.read(set.configs(), token, runner_, arena_, after);
      close(after);
      std::swap(set, after);
    }
    plan.insert(plan.end(), tokens.begin(), tokens.end());
    work += static_cast<uint32_t>(tokens.size());
  };
  const auto bytes_from_here = [&] {
    return set.empty() ? kUnbounded : bytes_left(intern(set.configs()));
  };
  take(turn->before);
  const uint32_t before = bytes_from_here();
  take(turn->tokens);
  const uint32_t behind = bytes_from_here();
  if (before == kUnbounded || behind >= before) return std::nullopt;
  for (uint32_t left = before / (before - behind); left > kLastTurns + 1; --left) {
    take(turn->tokens);
  }
  if (bytes_from_here() == kUnbounded) return std::nullopt;
  const Place last = intern(set.configs());
  const auto spelled = speller_.spell(texts_.text(configs(last), arena_).bytes);
  LevelSearch levels(*this, LevelSearch::Texts::kShort, kNodesToTurn);
  auto rest = levels.find(last, spelled ? static_cast<uint32_t>(spelled->size()) : kUnbounded);
  work += levels.work();
  if (!rest.has_value()) rest = spelled;
  if (!rest.has_value()) return std::nullopt;
  plan.insert(plan.end(), rest->begin(), rest->end());
  return plan;
}

Completions::Known Completions::find_least(Place at) {
  if (const auto padded = named(at)) return {padded_tokens(*padded), std::nullopt, true, 0};
  const Place loose_at = loose_place(at);
  Loose& found = loose(loose_at);
  Known known;
  const auto leads = [&](const Plan& plan) {
    known.work += static_cast<uint32_t>(plan.size());
    return completes(at, plan);
  };
  if (const auto& better = better_plan(loose_at, found); better && leads(*better)) {
    known.tokens = static_cast<uint32_t>(better->size());
    known.plan = better;
  } else if (found.tokens != kUnbounded && (found.doubts.none() || leads(spelled_plan(at)))) {
    known.tokens = found.tokens;
  } else {
    search_exactly(at, known);
  }
  return known;
}

// What completes the text without the whitespace that was read last does for it, too, and there are
// as many places with it as it may be long.
bool Completions::take_from_calm(Place at, Known& known) {
  std::vector<Config> calm(configs(at).begin(), configs(at).end());
  for (Config& config : calm) config.run = 0;
  known.calm = intern(calm);
  if (known.calm == at || least(known.calm).tokens == kUnbounded) return false;
  const Plan& plan = this->plan(known.calm);
  known.work += static_cast<uint32_t>(plan.size());
  if (!completes(at, plan)) return false;
  known.tokens = static_cast<uint32_t>(plan.size());
  known.plan = plan;
  return true;
}

// Where no text that forgets what was read is known to lead to an end.
void Completions::search_exactly(Place at, Known& known) {
  if (take_from_calm(at, known)) return;
  known.calm = kNoPlace;
  const auto take = [&](std::optional<Plan> plan) {
    if (!plan.has_value() || !completes(at, *plan)) return;
    known.tokens = static_cast<uint32_t>(plan->size());
    known.work += known.tokens;
    known.plan = std::move(plan);
  };
  ++searches_;
  TextSearch texts(*this);
  const auto text = texts.find(at);
  known.work += texts.reads();
  if (text.has_value()) take(speller_.spell(*text));
  if (known.tokens != kUnbounded || bytes_suffice_) return;
  TokenSearch tokens(*this);
  take(tokens.find(at, kUnbounded));
  known.work += tokens.nodes();
}

Completions::Known& Completions::least(Place at) {
  if (const auto known = known_.find(at); known != known_.end()) return known->second;
  Known known = find_least(at);
  return known_.emplace(at, std::move(known)).first->second;
}

const Completions::Plan& Completions::plan(Place at) {
  Known& known = least(at);
  if (known.plan.has_value()) return *known.plan;
  if (known.padded) {
    known.plan = padded_plan(at, *named(at));
  } else if (known.tokens != kUnbounded) {
    known.plan = spelled_plan(at);
  }
  if (!known.plan.has_value()) known.plan.emplace();
  return *known.plan;
}

// Spells the shortest text, which is known.
Completions::Plan Completions::spelled_plan(Place at) {
  return *speller_.spell(loose_text(loose_place(at)).bytes);
}

ShortestTexts::Length Completions::shortest(Place at) {
  const Memory memory = arena_.regs().memory();
  arena_.regs().set_memory(Memory::kIgnored);
  const ShortestTexts::Length length = texts_.length(configs(at), arena_);
  arena_.regs().set_memory(memory);
  return length;
}

uint32_t Completions::sure_bytes(Place at) {
  const ShortestTexts::Length length = shortest(at);
  return length.sure ? length.bytes : kUnbounded;
}

Completions::Quick Completions::quick(Place at) {
  if (const auto padded = named(at)) return {padded_tokens(*padded), true};
  const Loose& found = loose(loose_place(at));
  if (!found.doubts.none() || found.tokens == kUnbounded) return {kUnbounded, false};
  return {found.tokens, !may_be_better(found)};
}

std::optional<bool> Completions::clearly_fits(Place at, uint32_t left) {
  if (bytes_suffice_ && sure_bytes(at) <= left) return true;
  const Quick most = quick(at);
  if (most.tokens <= left) return true;
  return most.least ? std::optional(false) : std::nullopt;
}

}  // namespace maskwright

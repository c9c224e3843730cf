// Completions that the tokens of the vocabulary can spell.
//
// The states of a frame are live in bytes: some bytes complete the text. With a vocabulary in which
// every byte is a token of its own that is all there is to ask. With others (small test
// vocabularies, word lists, stop tokens that carry text) a text may need bytes that occur only
// inside longer tokens, or that no token has; then a token counts as allowed only if a search over
// *places*, {configurations, trie node}, finds a sequence of tokens that completes the text.
//
// Nearly every search has an end close by that closes the open frames one after the other, while
// the texts that could be written instead are endless. So the search is best first, by two orders
// in turns: places with the fewest open frames, and places without escapes and between tokens, each
// then by the other's measure, the newest first and lower bytes before higher ones. It is complete:
// only what is dead is answered "no".
//
// What keeps the number of places small:
// - they don't remember what was read (RegisterPool::Memory::kIgnored): no undeclared member names,
//   which are endless, no values of items; what was used counts as usable again;
// - one that differs from a place seen before only in longer whitespace runs is skipped: whatever
//   follows the longer run may follow the shorter one;
// - verdicts are remembered by configurations, for the places on the way to an end too, and end
//   the next search early.
//
// Where the values of unique items may run out, or the names of members, a second search remembers
// what was read. It gives up after kMaxExactPlaces: within the items texts may be endless too.
// Names don't run out where one token is a quotation mark and another one text.
//
// Cost: nothing where no search is needed; else a few places for each distinct set of
// configurations that some token leads to. A search that has met kMaxPlaces without an end is
// answered "can be finished": that keeps masks bounded in time, and is, with what is forgotten,
// where a dead end could remain. It takes values that need so many bytes, an endless nesting that
// none of the tokens can close, or names that run out for want of tokens.

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "maskwright/automata/way_out.h"
#include "maskwright/matcher/matcher.h"
#include "matcher/frame_search.h"

namespace maskwright {

namespace {

constexpr std::size_t kMaxPlaces = 50000;
constexpr std::size_t kMaxExactPlaces = 500;
constexpr std::size_t kConfigWords = 4;
constexpr std::size_t kRunWord = 2;

}  // namespace

// The places of a search, best first. A place is known by its configurations without their
// whitespace runs.
class Matcher::Search {
 public:
  struct Place {
    uint32_t configs;
    uint32_t node;  // of the trie; 0 between tokens
    uint32_t from;  // the place before it; its own index if it is the first
    uint32_t escapes;
    bool left = false;
  };

  using Verdicts = std::unordered_map<uint32_t, bool>;

  Search(Family& family, Verdicts& verdicts) : family_(family), verdicts_(verdicts) {}

  void visit(const Place& place) {
    const auto words = family_.configs.get(place.configs);
    std::vector<uint32_t> shape(words.begin(), words.end());
    std::vector<uint32_t> runs;
    for (std::size_t at = kRunWord; at < shape.size(); at += kConfigWords) {
      runs.push_back(std::exchange(shape[at], 0));
    }
    const auto next = static_cast<uint32_t>(places_.size());
    const std::pair key{family_.configs.intern(shape).id, place.node};
    const auto [seen, added] = seen_.try_emplace(key, next, runs);
    auto& [index, least] = seen->second;
    if (!added && std::ranges::equal(least, runs, std::less_equal<>())) {
      // It may be better now: what is newer comes first.
      if (places_[index].left || places_[index].escapes < place.escapes) return;
      places_[index] = place;
    } else {
      seen->second = {next, std::move(runs)};
      places_.push_back(place);
    }
    const uint32_t frames = depth(words);
    const uint32_t inside = place.node == 0 ? 0 : 1;
    waiting_[0].push({frames, place.escapes, inside, ~visits_, index});
    waiting_[1].push({place.escapes, inside, frames, ~visits_, index});
    ++visits_;
  }

  // Leaves the best place that waits, by one order and the other in turns; false if none does.
  bool next(uint32_t& index) {
    auto& waiting = waiting_[turn_ = 1 - turn_];
    while (!waiting.empty()) {
      index = std::get<4>(waiting.top());
      waiting.pop();
      if (!std::exchange(places_[index].left, true)) return true;
    }
    return false;
  }
  const std::vector<Place>& places() const { return places_; }

  // What is known of configurations between tokens.
  std::optional<bool> verdict(uint32_t configs) const {
    const auto known = verdicts_.find(configs);
    return known == verdicts_.end() ? std::nullopt : std::optional(known->second);
  }
  // An end follows the place, and so those before it.
  void note_way_to(uint32_t index) {
    for (uint32_t last = kNone; index != last;) {
      const Place& place = places_[index];
      if (place.node == 0) verdicts_.emplace(place.configs, true);
      last = std::exchange(index, place.from);
    }
  }
  // No end follows any of the places.
  void note_dead_end() {
    for (const Place& place : places_) {
      if (place.node == 0) verdicts_.emplace(place.configs, false);
    }
  }

 private:
  // Of the configuration with the fewest open frames.
  uint32_t depth(std::span<const uint32_t> words) {
    uint32_t least = kUnbounded;
    for (std::size_t at = 0; at < words.size(); at += kConfigWords) {
      const StackRef stack = words[at + kConfigWords - 1];
      least = std::min(least, family_.searched->depths.depth(stack, family_.arena));
    }
    return least;
  }

  using Rank = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  Family& family_;
  Verdicts& verdicts_;
  // The place of each, and its whitespace runs.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, std::vector<uint32_t>>> seen_;
  std::vector<Place> places_;
  std::array<std::priority_queue<Rank, std::vector<Rank>, std::greater<>>, 2> waiting_;
  std::size_t turn_ = 0;
  uint32_t visits_ = 0;
};

bool Matcher::finishable(ConfigSet set) {
  if (!WayOut(grammar_->store(), family_->runner).exists(set, family_->arena)) return false;
  if (!tokens_.needs_search()) return true;
  family_->returned.clear();
  family_->runner.close(set, family_->arena, &family_->returned);
  if (!family_->returned.empty()) return true;
  static constexpr uint32_t kBetweenTokens = 0;
  return search_completion(intern(forget(set).configs()), {&kBetweenTokens, 1}, Memory::kIgnored) &&
         ((!grammar_->has_few_values() && !grammar_->has_few_names(endless_names_)) ||
          search_completion(intern(set.configs()), {&kBetweenTokens, 1}, Memory::kExact));
}

// The closed configurations as a search goes on from them.
ConfigSet Matcher::forget(const ConfigSet& set) {
  ConfigSet forgotten;
  for (Config config : set.configs()) {
    const Target target =
        maskwright::forgotten(grammar_->store(), {config.state, config.reg}, family_->arena);
    config.state = target.state;
    config.reg = target.reg;
    forgotten.add(config, family_->arena);
  }
  return forgotten;
}

// Whether an end follows one of the places; notes what that says about the places that led to it.
bool Matcher::search_completion(uint32_t configs_id, std::span<const uint32_t> nodes,
                                Memory memory) {
  const bool exact = memory == Memory::kExact;
  if (family_->searched == nullptr) family_->searched = std::make_unique<Family::Searched>();
  auto& verdicts = exact ? family_->searched->finishable_exactly : family_->searched->finishable;
  const bool between = nodes.size() == 1 && nodes[0] == 0;
  if (const auto known = verdicts.find(configs_id); between && known != verdicts.end()) {
    return known->second;
  }
  Search search(*family_, verdicts);
  for (const uint32_t node : nodes) {
    search.visit({configs_id, node, static_cast<uint32_t>(search.places().size()), 0});
  }
  const std::size_t limit = exact ? kMaxExactPlaces : kMaxPlaces;
  family_->arena.regs().set_memory(memory);
  bool found = false;
  bool given_up = false;
  uint32_t at = 0;
  while (!found && !given_up && search.next(at)) {
    grammar_->count_searched_place();
    found = expand(search, at);
    given_up = search.places().size() > limit;
  }
  family_->arena.regs().set_memory(Memory::kExact);
  if (found) {
    search.note_way_to(at);
  } else if (!given_up) {
    search.note_dead_end();
  } else if (between) {
    verdicts.emplace(configs_id, true);
  }
  return found || given_up;
}

// Visits what follows a place. True at an end, or where one is known to follow.
bool Matcher::expand(Search& search, uint32_t index) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const Search::Place place = search.places()[index];
  const auto reach = [&](ConfigSet& after, uint32_t escapes) {
    const Closed closed = close_and_intern(after);
    if (closed.completed) return true;
    if (const auto known = search.verdict(closed.configs)) return *known;
    search.visit({closed.configs, 0, index, escapes});
    return false;
  };
  if (place.node == 0 && grammar_->has_token_symbols()) {
    for (uint32_t token = 0; token < vocabulary.vocab_size(); ++token) {
      if (tokens_.is_stop(token)) continue;
      ConfigSet after;
      tokens_.add_symbols(configs(place.configs), token, family_->runner, family_->arena, after);
      if (!after.empty() && reach(after, place.escapes)) return true;
    }
  }
  std::vector<uint32_t> children;
  for (uint32_t child = place.node + 1; child < vocabulary.next(place.node);
       child = vocabulary.next(child)) {
    children.push_back(child);
  }
  for (const uint32_t child : std::views::reverse(children)) {
    const uint8_t byte = vocabulary.byte(child);
    ConfigSet after;
    family_->runner.scan(configs(place.configs), byte, family_->arena, after);
    if (after.empty()) continue;
    const uint32_t escapes = place.escapes + (byte == '\\' ? 1 : 0);
    if (tokens_.readable(child)) {
      ConfigSet whole = after;
      if (reach(whole, escapes)) return true;
    }
    if (vocabulary.has_children(child)) {
      search.visit({close_and_intern(after).configs, child, index, escapes});
    }
  }
  return false;
}

void Matcher::drop_unfinishable(std::span<uint32_t> row) {
  if (!grammar_->has_token_symbols()) {
    drop_below(0, intern(configs()), row);
    return;
  }
  for (uint32_t token = 0; token < grammar_->vocabulary().vocab_size(); ++token) {
    if ((row[token / 32] >> token % 32 & 1U) == 0) continue;
    ConfigSet after;
    read_token(token, after);
    if (!finishable(after)) row[token / 32] &= ~(1U << token % 32);
  }
}

// Clears the tokens below a trie node, at which the configurations are, that can't be finished.
void Matcher::drop_below(uint32_t node, uint32_t configs_id, std::span<uint32_t> row) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
    ConfigSet after;
    family_->runner.scan(configs(configs_id), vocabulary.byte(child), family_->arena, after);
    if (after.empty()) continue;
    const auto tokens = vocabulary.tokens_at(child);
    const bool allowed = std::ranges::any_of(
        tokens, [&](uint32_t token) { return (row[token / 32] >> token % 32 & 1U) != 0; });
    if (allowed && !finishable(after)) {
      for (const uint32_t token : tokens) row[token / 32] &= ~(1U << token % 32);
    }
    if (vocabulary.has_children(child)) drop_below(child, close_and_intern(after).configs, row);
  }
}

}  // namespace maskwright

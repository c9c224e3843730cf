// Completions that the tokens of the vocabulary can spell.
//
// The states of a frame are live in bytes: some bytes complete the text. With a vocabulary in which
// every byte is a token of its own that is all there is to ask. With others (small test
// vocabularies, word lists, stop tokens that carry text) a text may need bytes that occur only
// inside longer tokens, or that no token has; then a token counts as allowed only if a
// breadth-first search over {configurations, trie node} finds a sequence of tokens that completes
// the text.
//
// A place is skipped if one that differs only in shorter whitespace runs was seen before: whatever
// follows the longer run may follow the shorter one. Else a bound of 256 spaces would make 256
// places of each.
//
// Cost: nothing where no search is needed. Else one search for each distinct set of configurations
// that some token leads to, remembered, dead places on the way included; a search that has seen
// kMaxVisited places without an end is answered "can be finished", which keeps the masks bounded in
// time and is the one place where a dead end could remain. The search doesn't remember undeclared
// member names, which are endless: a name that was used counts as usable again.

#include <algorithm>
#include <map>
#include <utility>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

namespace {

constexpr std::size_t kMaxVisited = 50000;
constexpr std::size_t kConfigWords = 4;
constexpr std::size_t kRunWord = 2;

}  // namespace

// The places of a search. A place is known by its configurations without their whitespace runs.
class Matcher::Search {
 public:
  explicit Search(Family& family) : family_(family) {}

  void visit(uint32_t id, uint32_t node) {
    const auto words = family_.configs.get(id);
    std::vector<uint32_t> shape(words.begin(), words.end());
    std::vector<uint32_t> runs;
    for (std::size_t at = kRunWord; at < shape.size(); at += kConfigWords) {
      runs.push_back(std::exchange(shape[at], 0));
    }
    const auto [place, added] = seen_.try_emplace({family_.configs.intern(shape).id, node}, runs);
    if (!added) {
      if (std::ranges::equal(place->second, runs, std::less_equal<>())) return;
      place->second = std::move(runs);
    }
    places_.emplace_back(id, node);
  }
  const std::vector<std::pair<uint32_t, uint32_t>>& places() const { return places_; }

 private:
  Family& family_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> seen_;
  std::vector<std::pair<uint32_t, uint32_t>> places_;
};

// Whether live in bytes does not mean that the tokens can spell the rest.
bool Matcher::needs_search() const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (grammar_->may_need_unspellable()) return true;
  for (const uint32_t id : stop_token_ids_) {
    if (vocabulary.text(id).size() != 1) continue;
    for (uint32_t node = 1; node < vocabulary.num_nodes(); node = vocabulary.next(node)) {
      if (vocabulary.byte(node) == static_cast<uint8_t>(vocabulary.text(id)[0]) &&
          !readable(node)) {
        return true;
      }
    }
  }
  const Ir& ir = grammar_->ir();
  for (uint32_t expr = 0; grammar_->has_token_symbols() && expr < ir.num_exprs(); ++expr) {
    if (ir.expr_kind(expr) != ExprKind::kTokenSet) continue;
    const auto ids = ir.expr(expr).subspan(2);
    const bool listed = ir.expr(expr)[0] == 0;
    bool usable = false;
    for (uint32_t id = 0; id < vocabulary.vocab_size() && !usable; ++id) {
      usable = !is_stop(id) && (std::ranges::find(ids, id) != ids.end()) == listed;
    }
    if (!usable) return true;
  }
  return false;
}

// Whether some token that does not stop ends at the trie node.
bool Matcher::readable(uint32_t node) const {
  return std::ranges::any_of(grammar_->vocabulary().tokens_at(node),
                             [&](uint32_t token) { return !is_stop(token); });
}

bool Matcher::finishable(ConfigSet set) {
  if (!needs_search_) return true;
  const Closed closed = close_and_intern(set);
  if (closed.completed) return true;
  const auto known = family_->finishable.find(closed.configs);
  if (known != family_->finishable.end()) return known->second;
  RegisterPool& regs = family_->arena.regs();
  regs.set_memory(RegisterPool::Memory::kIgnored);
  static constexpr uint32_t kBetweenTokens = 0;
  const bool found = search_completion(closed.configs, {&kBetweenTokens, 1});
  regs.set_memory(RegisterPool::Memory::kExact);
  family_->finishable.insert_or_assign(closed.configs, found);
  return found;
}

bool Matcher::search_completion(uint32_t configs_id, std::span<const uint32_t> nodes) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  Search search(*family_);
  for (const uint32_t node : nodes) search.visit(configs_id, node);
  // Returns true at an end, or where one is known to follow.
  const auto reach = [&](ConfigSet& after) {
    const Closed closed = close_and_intern(after);
    if (closed.completed) return true;
    const auto known = family_->finishable.find(closed.configs);
    if (known == family_->finishable.end()) search.visit(closed.configs, 0);
    return known != family_->finishable.end() && known->second;
  };
  for (std::size_t i = 0; i < search.places().size(); ++i) {
    if (search.places().size() > kMaxVisited) return true;
    const auto [id, node] = search.places()[i];
    if (node == 0 && grammar_->has_token_symbols()) {
      for (uint32_t token = 0; token < vocabulary.vocab_size(); ++token) {
        if (is_stop(token)) continue;
        ConfigSet after;
        add_token_symbols(configs(id), token, after);
        if (!after.empty() && reach(after)) return true;
      }
    }
    for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
      ConfigSet after;
      family_->runner.scan(configs(id), vocabulary.byte(child), family_->arena, after);
      if (after.empty()) continue;
      if (readable(child)) {
        ConfigSet whole = after;
        if (reach(whole)) return true;
      }
      if (vocabulary.has_children(child)) search.visit(close_and_intern(after).configs, child);
    }
  }
  for (const auto& [id, node] : search.places()) {
    if (node == 0) family_->finishable.emplace(id, false);
  }
  return false;
}

void Matcher::drop_unfinishable(std::span<uint32_t> row) {
  for (uint32_t token = 0; token < grammar_->vocabulary().vocab_size(); ++token) {
    if ((row[token / 32] >> token % 32 & 1U) == 0) continue;
    ConfigSet after;
    read_token(token, after);
    if (!finishable(after)) row[token / 32] &= ~(1U << token % 32);
  }
}

}  // namespace maskwright

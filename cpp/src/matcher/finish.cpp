// Completions that the tokens of the vocabulary can spell.
//
// The states of a frame are live in bytes: some bytes complete the text. With a byte-closed
// vocabulary that is all there is to ask. With others (small test vocabularies, word lists) a text
// may need bytes that occur only inside longer tokens; then a token counts as allowed only if a
// breadth-first search over {configurations, trie node} finds a sequence of tokens that completes
// the text.
//
// Cost: nothing for byte-closed vocabularies. Else one search for each distinct set of
// configurations that some token leads to, remembered; a search that has seen kMaxVisited places
// without an end is answered "can be finished", which keeps the masks bounded in time and is the
// one place where a dead end could remain. The search doesn't remember undeclared member names,
// which are endless: a name that was used counts as usable again.

#include <set>
#include <utility>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

namespace {

constexpr std::size_t kMaxVisited = 50000;

}  // namespace

bool Matcher::finishable(ConfigSet set) {
  if (grammar_->vocabulary().byte_closed()) return true;
  const Closed closed = close_and_intern(set);
  if (closed.completed) return true;
  const auto known = family_->finishable.find(closed.configs);
  if (known != family_->finishable.end()) return known->second;
  RegisterPool& regs = family_->arena.regs();
  regs.set_memory(RegisterPool::Memory::kIgnored);
  const bool found = search_completion(closed.configs);
  regs.set_memory(RegisterPool::Memory::kExact);
  family_->finishable.emplace(closed.configs, found);
  return found;
}

bool Matcher::search_completion(uint32_t configs_id) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<std::pair<uint32_t, uint32_t>> queue{{configs_id, 0}};
  std::set<std::pair<uint32_t, uint32_t>> seen(queue.begin(), queue.end());
  const auto visit = [&](uint32_t id, uint32_t node) {
    if (seen.emplace(id, node).second) queue.emplace_back(id, node);
  };
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (queue.size() > kMaxVisited) return true;
    const auto [id, node] = queue[i];
    if (node == 0 && grammar_->has_token_symbols()) {
      for (uint32_t token = 0; token < vocabulary.vocab_size(); ++token) {
        ConfigSet after;
        add_token_symbols(configs(id), token, after);
        if (after.empty()) continue;
        const Closed closed = close_and_intern(after);
        if (closed.completed) return true;
        visit(closed.configs, 0);
      }
    }
    for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
      ConfigSet after;
      family_->runner.scan(configs(id), vocabulary.byte(child), family_->arena, after);
      if (after.empty()) continue;
      const Closed closed = close_and_intern(after);
      if (!vocabulary.tokens_at(child).empty()) {
        if (closed.completed) return true;
        visit(closed.configs, 0);
      }
      if (vocabulary.has_children(child)) visit(closed.configs, child);
    }
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

// Masks under a budget: a walk over the tokens that a place reads, and what is known of it then.
//
// Places are told apart by their configurations, and what a byte leads to is looked up if it was
// read before, so the walk costs little where most of the text is free. Within a name that must not
// come again it reads on without the names that are there, but on the way to a quotation mark.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "matcher/budget_facts.h"

namespace maskwright {

namespace {

// Bytes that complete a code point of which a token ends inside.
constexpr uint32_t kRestOfCodePoint = 3;

bool holds(std::span<const uint32_t> row, uint32_t token) {
  return (row[token / 32] >> token % 32 & 1U) != 0;
}

void drop(std::span<const uint32_t> tokens, std::span<uint32_t> row) {
  for (const uint32_t token : tokens) row[token / 32] &= ~(1U << token % 32);
}

}  // namespace

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

struct Matcher::BudgetWalk {
  Matcher& matcher;
  std::span<uint32_t> row;
  uint32_t left;
  uint32_t most = 0;     // most_tokens() behind any token
  bool by_names = true;  // it depends on the number of names, and not on what they are
  std::unordered_map<uint64_t, uint32_t> moves = {};
  std::unordered_map<uint32_t, bool> verdicts = {};

  struct Place {
    uint32_t plain;  // without_names()
    Loop loop;
    std::bitset<256> reads;
    bool by_names;
  };
  std::unordered_map<uint64_t, Place> places = {};

  const Place& place_of(uint32_t id, bool forgetful);
};

// --- what is known of places --------------------------------------------------------------------

// What is remembered of the place by, and the register from which on it holds.
struct Matcher::Reach {
  uint64_t key;
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

// The place, whatever the name under way is and how much whitespace was read. None where names are
// remembered: which tokens may end the name depends on them.
std::optional<uint64_t> Matcher::loose_reach() {
  constexpr uint64_t kLoose = uint64_t{1} << 32;
  if (remembered(configs()) != 0) return std::nullopt;
  return kLoose | intern(loosened(configs()).configs());
}

// Known to be: whatever token comes next, what is left will do.
bool Matcher::is_far_from_budget() {
  if (family_->budget == nullptr || now().left == 0) return false;
  const auto& facts = budget().most;
  const auto enough = [&](uint64_t key, Reg reg) {
    const auto known = facts.find(key);
    return known != facts.end() && known->second.from <= reg &&
           known->second.tokens <= now().left - 1;
  };
  const Reach reach = reach_key();
  if (enough(reach.key, reach.reg)) return true;
  const auto loose = loose_reach();
  return loose.has_value() && enough(*loose, 0);
}

void Matcher::note_reach(const BudgetWalk& walk) {
  const Reach reach = reach_key();
  budget().most[reach.key] = {reach.reg, walk.most};
  const auto loose = loose_reach();
  if (walk.by_names && loose.has_value()) budget().most[*loose] = {0, walk.most};
}

// The characters that lead the configurations back to themselves, but for a count; null if nothing
// is known.
const TextClass* Matcher::loop_text(std::span<const Config> closed) const {
  if (closed.size() != 1) return nullptr;
  Store& store = grammar_->store();
  const StateId id = closed[0].state;
  const State& state = store.state(id);
  // One that accepts has no callers that read anything, or they were here too.
  constexpr uint16_t kOther = (kNotPlain & ~kAccepts) | kSuspects;
  if ((state.flags & kOther) != 0) return nullptr;
  const TextClass& text = store.free_run(id).text;
  if (state.family == FamilyId::kKey) {
    const bool plain = std::ranges::none_of(store.row(id).edges, [&](const Edge& edge) {
      return edge.op == Op::kDynamic && edge.target == id;
    });
    return plain && (state.flags & kGuarded) == 0 ? &text : nullptr;
  }
  if ((state.flags & kPooledRegister) != 0) return nullptr;
  if ((state.flags & kHasRegister) == 0) return &text;
  return store.family(state.family).only_counts(id) && text.escapes ? &text : nullptr;
}

bool Matcher::counts(StateId state) const {
  return has_register(state) && grammar_->store().state(state).family != FamilyId::kKey;
}

// --- the walk -----------------------------------------------------------------------------------

void Matcher::drop_beyond_budget(std::span<uint32_t> row) {
  if (is_far_from_budget()) return;
  const Step& step = now();
  if (step.left == 0) {
    std::ranges::fill(row, 0U);
    return;
  }
  const auto plan = plan_of(step);
  const bool planned = !plan.empty() && holds(row, plan[0]);
  BudgetWalk walk{*this, row, step.left - 1};
  const uint32_t id = intern(configs());
  if (may_read_symbol(configs(id))) {
    drop_symbols_beyond(walk);
  } else {
    drop_beyond(walk, 0, id, false);
  }
  note_reach(walk);
  if (planned) row[plan[0] / 32] |= 1U << plan[0] % 32;
}

void Matcher::drop_symbols_beyond(BudgetWalk& walk) {
  for (uint32_t token = 0; token < grammar_->vocabulary().vocab_size(); ++token) {
    if (!holds(walk.row, token) || is_stop(token)) continue;
    ConfigSet after;
    read_token(token, after);
    close(after);
    if (!judge(walk, intern(after.configs()))) drop({&token, 1}, walk.row);
  }
}

// Whether the configurations that a token leads to fit.
bool Matcher::judge(BudgetWalk& walk, uint32_t id) {
  const auto [known, added] = walk.verdicts.try_emplace(id, false);
  if (!added) return known->second;
  walk.most = std::max(walk.most, most_tokens(configs(id)));
  walk.by_names = walk.by_names && depends_on_names_alone(id);
  return known->second = fits(configs(id), walk.left);
}

// The most tokens are the same whatever the names are.
bool Matcher::depends_on_names_alone(uint32_t id) {
  if (bytes_suffice() && sure_bytes(configs(id)) != kUnbounded) return true;
  return least(configs(id)).by_names;
}

// What a byte leads to, closed; kNone for nothing.
uint32_t Matcher::move(BudgetWalk& walk, uint32_t id, uint8_t byte) {
  const auto [known, added] = walk.moves.try_emplace(uint64_t{id} << 8 | byte, kNone);
  if (!added) return known->second;
  ConfigSet after;
  family_->runner.scan(configs(id), byte, family_->arena, after);
  if (after.empty()) return kNone;
  close(after);
  return known->second = intern(after.configs());
}

// The same place without the names that must not come again, where these make no difference to
// what is needed; else the place itself.
uint32_t Matcher::without_names(uint32_t id) {
  const auto closed = configs(id);
  if (closed.size() != 1) return id;
  if ((grammar_->store().state(closed[0].state).flags & kGuarded) == 0) return id;
  ConfigSet set;
  set.assign(closed);
  const uint32_t plain = intern(forget(set).configs());
  return least(configs(plain)).by_names ? plain : id;
}

// Clears the tokens below a trie node, to which the configurations have read, that don't fit.
// `forgetful`: they are without_names().
void Matcher::drop_beyond(BudgetWalk& walk, uint32_t node, uint32_t id, bool forgetful) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const BudgetWalk::Place& place = walk.place_of(id, forgetful);
  const auto& [plain, loop, reads, by_names] = place;
  if (loop.text != nullptr) {
    walk.most = std::max(walk.most, loop.most);
    const Vocabulary::Subtree* below = vocabulary.subtree(node);
    if (below != nullptr && loop.covers(*below)) {
      if (!loop.fits) drop(vocabulary.tokens_below(node), walk.row);
      return;
    }
  }
  for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
    const uint8_t byte = vocabulary.byte(child);
    if (!reads[byte]) continue;
    const auto tokens = vocabulary.tokens_at(child);
    const bool loops = loop.text != nullptr && byte < 0x80 && loop.text->has(byte);
    if (loops && !loop.fits) drop(tokens, walk.row);
    if (loops && !vocabulary.has_children(child)) continue;
    const bool in_name = plain != id && byte != '"' && !vocabulary.leads_to_quote(child);
    const bool forgets = forgetful || in_name;
    const uint32_t after = move(walk, forgets ? plain : id, byte);
    if (after == kNone) continue;
    const auto allowed =
        std::ranges::find_if(tokens, [&](uint32_t token) { return holds(walk.row, token); });
    if (allowed != tokens.end() && !loops) {
      const bool other = forgets && !walk.place_of(after, true).by_names;
      const uint32_t whole = other ? read_and_intern(*allowed) : after;
      if (!judge(walk, whole)) drop(tokens, walk.row);
    }
    if (vocabulary.has_children(child)) drop_beyond(walk, child, after, forgets);
  }
}

// What is looked up of a place in the walk. It stays where it is.
const Matcher::BudgetWalk::Place& Matcher::BudgetWalk::place_of(uint32_t id, bool forgetful) {
  const uint64_t key = uint64_t{id} << 1 | (forgetful ? 1 : 0);
  if (const auto known = places.find(key); known != places.end()) return known->second;
  Place place;
  place.plain = forgetful ? id : matcher.without_names(id);
  place.loop = matcher.loop_at(matcher.configs(place.plain), left);
  place.reads = matcher.readable_bytes(matcher.configs(id));
  place.by_names = forgetful && matcher.least(matcher.configs(id)).by_names;
  return places.emplace(key, place).first->second;
}

uint32_t Matcher::read_and_intern(uint32_t token) {
  ConfigSet after;
  read_token(token, after);
  close(after);
  return intern(after.configs());
}

// Where characters lead the configurations back to themselves: a count may grow, which is all the
// same if so many tokens as there are bytes fit.
Matcher::Loop Matcher::loop_at(std::span<const Config> closed, uint32_t left) {
  Loop loop;
  loop.text = loop_text(closed);
  if (loop.text == nullptr) return loop;
  const uint32_t own = most_tokens(closed);
  loop.most = own >= kUnbounded - kRestOfCodePoint ? kUnbounded : own + kRestOfCodePoint;
  if (loop.most <= left) {
    loop.parts = true;
  } else if (counts(closed[0].state)) {
    loop.text = nullptr;
  } else {
    loop.most = own;
    loop.fits = fits(closed, left);
  }
  return loop;
}

}  // namespace maskwright

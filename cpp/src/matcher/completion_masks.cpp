// Masks under a budget: a walk over the tokens that a place reads, and what is known of it then.
//
// Places are told apart by their configurations, and what a byte leads to is looked up if it was
// read before, so the walk costs little where most of the text is free. Within a name that must not
// come again it reads on without the names that are there, but on the way to a quotation mark.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "matcher/completions.h"

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
struct Completions::Loop {
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

struct Completions::Walk {
  Completions& known;
  Place origin;
  std::span<uint32_t> row;
  uint32_t left;
  uint32_t most = 0;     // most_tokens() behind any token
  bool by_names = true;  // it depends on the number of names, and not on what they are
  std::unordered_map<Place, bool> verdicts = {};

  struct Look {
    Place plain;  // without_names()
    Loop loop;
    std::bitset<256> reads;
    bool by_names;
  };
  std::unordered_map<uint64_t, Look> looks = {};

  const Look& look_at(Place at, bool forgetful);
};

// --- what is known of places --------------------------------------------------------------------

// What is remembered of the place by, and the register from which on it holds.
struct Completions::Reach {
  uint64_t key;
  Reg reg;
};

Completions::Reach Completions::reach_key(Place at) {
  const auto closed = configs(at);
  // In a string of any characters a larger count allows less, and what it allows leads to the same.
  if (closed.size() == 1 && has_register(closed[0].state)) {
    auto& family = store_.family(store_.state(closed[0].state).family);
    if (family.only_counts(closed[0].state) && store_.free_run(closed[0].state).text.escapes) {
      const Config shape{closed[0].state, 0, 0, closed[0].stack};
      return {intern({&shape, 1}), closed[0].reg};
    }
  }
  return {at, 0};
}

// The place, whatever the name under way is and how much whitespace was read. None where names are
// remembered: which tokens may end the name depends on them.
std::optional<uint64_t> Completions::loose_reach(Place at) {
  constexpr uint64_t kLoose = uint64_t{1} << 32;
  if (remembered(at) != 0) return std::nullopt;
  return kLoose | loose_place(at);
}

bool Completions::all_fit(Place at, uint32_t left) {
  const auto enough = [&](uint64_t key, Reg reg) {
    const auto known = most_.find(key);
    return known != most_.end() && known->second.from <= reg && known->second.tokens <= left;
  };
  const Reach reach = reach_key(at);
  if (enough(reach.key, reach.reg)) return true;
  const auto loose = loose_reach(at);
  return loose.has_value() && enough(*loose, 0);
}

void Completions::note_reach(const Walk& walk) {
  const Reach reach = reach_key(walk.origin);
  most_[reach.key] = {reach.reg, walk.most};
  const auto loose = loose_reach(walk.origin);
  if (walk.by_names && loose.has_value()) most_[*loose] = {0, walk.most};
}

// The characters that lead the configurations back to themselves, but for a count; null if nothing
// is known.
const TextClass* Completions::loop_text(std::span<const Config> closed) const {
  if (closed.size() != 1) return nullptr;
  const StateId id = closed[0].state;
  const State& state = store_.state(id);
  // One that accepts has no callers that read anything, or they were here too.
  constexpr uint16_t kOther = (kNotPlain & ~kAccepts) | kSuspects;
  if ((state.flags & kOther) != 0) return nullptr;
  const TextClass& text = store_.free_run(id).text;
  if (state.family == FamilyId::kKey) {
    const bool plain = std::ranges::none_of(store_.row(id).edges, [&](const Edge& edge) {
      return edge.op == Op::kDynamic && edge.target == id;
    });
    return plain && (state.flags & kGuarded) == 0 ? &text : nullptr;
  }
  if ((state.flags & kPooledRegister) != 0) return nullptr;
  if ((state.flags & kHasRegister) == 0) return &text;
  return store_.family(state.family).only_counts(id) && text.escapes ? &text : nullptr;
}

bool Completions::counts(StateId state) const {
  return has_register(state) && store_.state(state).family != FamilyId::kKey;
}

// --- the walk -----------------------------------------------------------------------------------

bool Completions::copy_mask(Place at, uint32_t left, std::span<uint32_t> row) const {
  const auto known = masks_.find(uint64_t{at} << 32 | left);
  if (known == masks_.end()) return false;
  std::ranges::copy(known->second, row.begin());
  return true;
}

void Completions::drop_beyond(Place at, uint32_t left, std::span<uint32_t> row) {
  ++walks_;
  Walk walk{*this, at, row, left};
  if (tokens_.may_read_symbol(configs(at))) {
    drop_symbols(walk, at);
  } else {
    drop_below(walk, 0, at, false);
  }
  note_reach(walk);
  masks_.try_emplace(uint64_t{at} << 32 | left, row.begin(), row.end());
}

void Completions::drop_symbols(Walk& walk, Place at) {
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (!holds(walk.row, token) || tokens_.is_stop(token)) continue;
    if (!judge(walk, read(at, token))) drop({&token, 1}, walk.row);
  }
}

// Whether the place that a token leads to fits.
bool Completions::judge(Walk& walk, Place at) {
  const auto [known, added] = walk.verdicts.try_emplace(at, false);
  if (!added) return known->second;
  walk.most = std::max(walk.most, most_tokens(at));
  walk.by_names = walk.by_names && depends_on_names_alone(at);
  return known->second = fits(at, walk.left);
}

// The most tokens are the same whatever the names are.
bool Completions::depends_on_names_alone(Place at) {
  if (bytes_suffice_ && sure_bytes(at) != kUnbounded) return true;
  return least(at).by_names;
}

// What a byte leads to; kNoPlace for nothing.
Completions::Place Completions::move(Place at, uint8_t byte) {
  const auto [known, added] = moves_.try_emplace(uint64_t{at} << 8 | byte, kNoPlace);
  if (!added) return known->second;
  ConfigSet after;
  runner_.scan(configs(at), byte, arena_, after);
  return known->second = close_and_intern(after);
}

// The same place without the names that must not come again, where these make no difference to
// what is needed; else the place itself.
Completions::Place Completions::without_names(Place at) {
  const auto closed = configs(at);
  if (closed.size() != 1) return at;
  const State& state = store_.state(closed[0].state);
  if ((state.flags & kGuarded) == 0) return at;
  Config config = closed[0];
  const Target plain = forgotten(store_, {config.state, config.reg}, arena_);
  config.state = plain.state;
  config.reg = plain.reg;
  const Place without = intern({&config, 1});
  return least(without).by_names ? without : at;
}

// Clears the tokens below a trie node, to which the place has read, that don't fit.
// `forgetful`: it is without_names().
void Completions::drop_below(Walk& walk, uint32_t node, Place at, bool forgetful) {
  const Walk::Look& look = walk.look_at(at, forgetful);
  const auto& [plain, loop, reads, by_names] = look;
  if (loop.text != nullptr) {
    walk.most = std::max(walk.most, loop.most);
    const Vocabulary::Subtree* below = vocabulary_.subtree(node);
    if (below != nullptr && loop.covers(*below)) {
      if (!loop.fits) drop(vocabulary_.tokens_below(node), walk.row);
      return;
    }
  }
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    const uint8_t byte = vocabulary_.byte(child);
    if (!reads[byte]) continue;
    const auto tokens = vocabulary_.tokens_at(child);
    const bool loops = loop.text != nullptr && byte < 0x80 && loop.text->has(byte);
    if (loops && !loop.fits) drop(tokens, walk.row);
    if (loops && !vocabulary_.has_children(child)) continue;
    const bool in_name = plain != at && byte != '"' && !vocabulary_.leads_to_quote(child);
    const bool forgets = forgetful || in_name;
    const Place after = move(forgets ? plain : at, byte);
    if (after == kNoPlace) continue;
    const auto allowed =
        std::ranges::find_if(tokens, [&](uint32_t token) { return holds(walk.row, token); });
    if (allowed != tokens.end() && !loops) {
      const bool other = forgets && !walk.look_at(after, true).by_names;
      const Place whole = other ? read(walk.origin, *allowed) : after;
      if (!judge(walk, whole)) drop(tokens, walk.row);
    }
    if (vocabulary_.has_children(child)) drop_below(walk, child, after, forgets);
  }
}

// It stays where it is.
const Completions::Walk::Look& Completions::Walk::look_at(Place at, bool forgetful) {
  const uint64_t key = uint64_t{at} << 1 | (forgetful ? 1 : 0);
  if (const auto found = looks.find(key); found != looks.end()) return found->second;
  Look look;
  look.plain = forgetful ? at : known.without_names(at);
  look.loop = known.loop_at(look.plain, left);
  look.reads = known.tokens_.readable_bytes(known.configs(at));
  look.by_names = forgetful && known.least(at).by_names;
  return looks.emplace(key, look).first->second;
}

// Where characters lead the place back to itself: a count may grow, which is all the same if so
// many tokens as there are bytes fit.
Completions::Loop Completions::loop_at(Place at, uint32_t left) {
  Loop loop;
  const auto closed = configs(at);
  loop.text = loop_text(closed);
  if (loop.text == nullptr) return loop;
  const uint32_t own = most_tokens(at);
  loop.most = own >= kUnbounded - kRestOfCodePoint ? kUnbounded : own + kRestOfCodePoint;
  if (loop.most <= left) {
    loop.parts = true;
  } else if (counts(closed[0].state)) {
    loop.text = nullptr;
  } else {
    loop.most = own;
    loop.fits = fits(at, left);
  }
  return loop;
}

}  // namespace maskwright

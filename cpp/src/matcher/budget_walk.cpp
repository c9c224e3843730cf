#include "matcher/budget_walk.h"

#include <algorithm>
#include <string_view>

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

void BudgetWalk::run() {
  if (known_.tokens_.may_read_symbol(known_.configs(origin_))) {
    drop_symbols();
  } else {
    drop_below(0, look_at(origin_, false));
  }
}

void BudgetWalk::drop_symbols() {
  for (uint32_t token = 0; token < vocabulary_.vocab_size(); ++token) {
    if (!holds(row_, token) || known_.tokens_.is_stop(token)) continue;
    if (!judge(known_.read(origin_, token)).fits) drop({&token, 1}, row_);
  }
}

// Clears the tokens below a trie node, to which the place has read, that don't fit.
void BudgetWalk::drop_below(uint32_t node, Look& look) {
  open(look);
  const Loop& loop = look.loop;
  if (loop.text != nullptr) {
    most_ = std::max(most_, loop.most);
    const Vocabulary::Subtree* below = vocabulary_.subtree(node);
    if (below != nullptr && loop.covers(*below)) {
      if (!loop.fits) drop(vocabulary_.tokens_below(node), row_);
      return;
    }
  }
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    const uint8_t byte = vocabulary_.byte(child);
    by_names_ = by_names_ && !refused_for_names(look, byte);
    if (!look.reads.has(byte)) continue;
    const auto tokens = vocabulary_.tokens_at(child);
    const bool loops = loop.text != nullptr && byte < 0x80 && loop.text->has(byte);
    if (loops && !loop.fits) drop(tokens, row_);
    if (loops && !vocabulary_.has_children(child)) continue;
    const bool plain = look.plain != nullptr && byte != '"' && !vocabulary_.leads_to_quote(child);
    Look& after = follow(plain ? *look.plain : look, byte);
    if (&after == &nothing_) continue;
    const auto allowed =
        std::ranges::find_if(tokens, [&](uint32_t token) { return holds(row_, token); });
    if (allowed != tokens.end() && !loops && !fits(after, *allowed)) drop(tokens, row_);
    if (vocabulary_.has_children(child)) drop_below(child, after);
  }
}

// Whether the place that a token leads to fits.
bool BudgetWalk::fits(Look& look, uint32_t token) {
  if (!look.judged) {
    look.judged = true;
    look.by_names = look.forgetful && known_.named_alone(look.place).has_value();
    if (!look.forgetful || look.by_names) look.fits = judge(look.place).fits;
  }
  return look.forgetful && !look.by_names ? judge(known_.read(origin_, token)).fits : look.fits;
}

// Whether the byte could be read with other names. Whitespace is refused for other reasons.
bool BudgetWalk::refused_for_names(const Look& look, uint8_t byte) const {
  constexpr std::string_view kSpaces = " \t\n\r";
  if (look.loose == look.place || kSpaces.find(static_cast<char>(byte)) != kSpaces.npos)
    return false;
  return known_.move(look.place, byte) == Completions::kNoPlace &&
         known_.move(look.loose, byte) != Completions::kNoPlace;
}

const BudgetWalk::Verdict& BudgetWalk::judge(Place place) {
  if (const auto known = judged_.find(place); known != judged_.end()) return known->second;
  by_names_ = by_names_ && known_.depends_on_names_alone(place);
  const Verdict verdict = find_verdict(place);
  most_ = std::max(most_, verdict.most);
  return judged_.emplace(place, verdict).first->second;
}

BudgetWalk::Verdict BudgetWalk::find_verdict(Place place) {
  // Bytes rather than tokens: a count that is larger leaves no more of them (Completions::Reach).
  const uint32_t bytes = known_.bytes_suffice_ ? known_.sure_bytes(place) : kUnbounded;
  if (bytes <= left_) return {true, bytes};
  const Completions::Quick quick = known_.quick(place);
  const uint32_t most = bytes != kUnbounded ? bytes : quick.tokens;
  if (quick.tokens <= left_ || quick.least) return {quick.tokens <= left_, most};
  Verdict found = search(place);
  if (bytes != kUnbounded && found.most != kUnbounded) found.most = bytes;
  return found;
}

// Refuses what takes a search when there has been enough of that.
BudgetWalk::Verdict BudgetWalk::search(Place place) {
  if (work_ >= known_.max_work_) return {false, kUnbounded};
  const Completions::Known& found = known_.least(place);
  work_ += found.work;
  if (found.calm != Completions::kNoPlace) judge(found.calm);  // its work counts once
  const Place loose = known_.loose_place(place);
  if (charged_.insert(loose).second) work_ += known_.loose(loose).work;
  return {found.tokens <= left_, found.tokens};
}

// --- what is known of places in this walk -------------------------------------------------------

// It stays where it is.
BudgetWalk::Look& BudgetWalk::look_at(Place place, bool forgetful) {
  const uint64_t key = uint64_t{place} << 1 | (forgetful ? 1 : 0);
  const auto [found, added] = looks_.try_emplace(key);
  if (added) {
    found->second.place = place;
    found->second.forgetful = forgetful;
  }
  return found->second;
}

void BudgetWalk::open(Look& look) {
  if (look.opened) return;
  look.opened = true;
  const Place plain = look.forgetful ? look.place : known_.without_names(look.place);
  if (plain != look.place) look.plain = &look_at(plain, true);
  // A text of which nothing is recorded is not read to its end.
  if (!look.forgetful || known_.named_alone(plain).has_value()) look.loop = loop_at(plain);
  look.reads = known_.tokens_.readable_bytes(known_.configs(look.place));
  look.loose = look.forgetful ? look.place : known_.loose_place(look.place);
}

BudgetWalk::Look& BudgetWalk::follow(Look& look, uint8_t byte) {
  if (look.next == nullptr) look.next = std::make_unique<std::array<Look*, 256>>();
  Look*& next = (*look.next)[byte];
  if (next == nullptr) {
    const Place after = known_.move(look.place, byte);
    next = after == Completions::kNoPlace ? &nothing_ : &look_at(after, look.forgetful);
  }
  return *next;
}

bool BudgetWalk::Loop::covers(const Vocabulary::Subtree& below) const {
  if (!text->covers_ascii_of(below.text)) return false;
  return !below.text.beyond_ascii ||
         (parts && below.utf8 && text->beyond_ascii && text->missing == 0);
}

// Where characters lead the place back to itself: a count may grow, which is all the same if so
// many tokens as there are bytes fit.
BudgetWalk::Loop BudgetWalk::loop_at(Place place) {
  Loop loop;
  const auto closed = known_.configs(place);
  loop.text = known_.loop_text(closed);
  // A larger count leaves less room for letters that make a name another one.
  if (known_.counts(closed[0].state) && known_.has_doubts(place)) loop.text = nullptr;
  if (loop.text == nullptr) return loop;
  const auto [fits, own] = judge(place);
  loop.most = own >= kUnbounded - kRestOfCodePoint ? kUnbounded : own + kRestOfCodePoint;
  if (loop.most <= left_) {
    loop.parts = true;
  } else if (known_.counts(closed[0].state)) {
    loop.text = nullptr;
  } else {
    loop.most = own;
    loop.fits = fits;
  }
  return loop;
}

}  // namespace maskwright

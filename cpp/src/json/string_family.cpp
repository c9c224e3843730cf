#include "json/string_family.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

constexpr uint32_t kQuoteMove = 0;

void append_set(const Store& store, SetId set, std::vector<uint32_t>& ids) {
  const auto words = store.set(set);
  ids.insert(ids.end(), words.begin(), words.end());
}

SetId intern_ids(Store& store, std::vector<uint32_t>& ids) {
  make_set(ids);
  return store.intern_set(ids);
}

bool reads_one_letter(std::span<const Lang::Arc> row) {
  return row.empty() || (row.size() == 1 && row[0].lo == row[0].hi);
}

}  // namespace

StringFrames::StringFrames(Store& store, Langs langs, Counted counted)
    : store_(store), langs_(std::move(langs)), counted_(std::move(counted)) {
  moves_.push_back({kDead, 0, 0, false, true});
}

StringFrames::View StringFrames::view(std::span<const uint32_t> content) {
  return {static_cast<Spelling>(content[0]), content[1], content[2], content.subspan(kHeaderWords)};
}

bool StringFrames::View::bounded() const {
  for (uint32_t i = 0; i < size(); ++i) {
    if (item(i).bounded()) return true;
  }
  return false;
}

StateId StringFrames::start(std::span<const StringItem> items) {
  std::vector<Item> live;
  for (const StringItem& item : items) {
    const auto [each, least, most] =
        counted_ ? counted_(item.lang) : LangTable::Counted{item.lang, 0, kUnbounded};
    const uint32_t min = std::max(item.min, least);
    const uint32_t max = std::min(item.max, most);
    if (min > max) continue;
    Lang& lang = langs_(each);
    const uint32_t state = lang.start();
    if (state == kDeadLang || !lang.can_finish(state, min, max)) continue;
    const std::array<uint32_t, 1> id{item.accept};
    const SetId accepts = item.accept == kItsLabel ? kItsLabel : store_.intern_set(id);
    live.push_back({each, state, min, max, accepts});
  }
  return live.empty() ? kDead : intern(Spelling::kBetween, 0, live);
}

// --- states -------------------------------------------------------------------------------------

StateId StringFrames::intern(Spelling spelling, uint32_t value, std::vector<Item>& items) {
  merge_equal(items);
  std::vector<uint32_t> content{static_cast<uint32_t>(spelling), value, clipped_counts(items)};
  content.reserve(kHeaderWords + items.size() * kItemWords);
  for (const Item& item : items) {
    content.insert(content.end(), {item.lang, item.state, item.min, item.max, item.accepts});
  }
  return store_.intern(FamilyId::kString, content);
}

void StringFrames::merge_equal(std::vector<Item>& items) {
  const auto key = [](const Item& item) {
    return std::tuple(item.lang, item.state, item.min, item.max);
  };
  if (!std::ranges::is_sorted(items, {}, key)) std::ranges::sort(items, {}, key);
  std::size_t kept = 0;
  std::vector<uint32_t> ids;
  for (std::size_t i = 0; i < items.size();) {
    std::size_t end = i + 1;
    while (end < items.size() && key(items[end]) == key(items[i])) ++end;
    Item merged = items[i];
    if (end - i > 1) {
      ids.clear();
      for (std::size_t j = i; j < end; ++j) append_set(store_, items[j].accepts, ids);
      merged.accepts = intern_ids(store_, ids);
    }
    items[kept++] = merged;
    i = end;
  }
  items.resize(kept);
}

uint32_t StringFrames::clipped_counts(std::span<const Item> items) {
  uint32_t clipped = kUnbounded;
  for (const Item& item : items) {
    if (!item.bounded()) continue;
    const uint32_t known = horizon(item.lang);
    const uint64_t window = uint64_t{store_.max_advance()} + known;
    for (const uint32_t bound : {item.min == 0 ? kUnbounded : item.min, item.max}) {
      if (bound == kUnbounded) continue;
      const bool far = known != kUnbounded && bound >= window;
      clipped = std::min(clipped, far ? static_cast<uint32_t>(bound - window) + 1 : 0);
    }
  }
  return clipped;
}

uint32_t StringFrames::horizon(LangId lang) {
  const auto [entry, added] = horizons_.try_emplace(lang, 0);
  if (added) entry->second = langs_(lang).length_horizon();
  return entry->second;
}

void StringFrames::describe(std::span<const uint32_t> content, State& state) {
  if (view(content).bounded()) state.flags = kHasRegister;
}

void StringFrames::mask_key(StateId state, Reg reg, const RegisterPool& /*regs*/, KeyWords& key) {
  key.push_back(state);
  key.push_back(reg < view(state).clipped ? kUnbounded : reg);
}

// Where all bounds are far, only what mask keys are not told matters: whether there is a lower one,
// and the distance to the upper one, up to the horizon (string_family.h).
void StringFrames::append_bounds(const Item& item, uint32_t count, bool far, SharedKey& key) {
  if (!item.bounded() || (far && item.min == 0)) {
    key.add(0);
  } else if (far) {
    const uint32_t distance = item.max == kUnbounded ? kUnbounded : item.max - item.min;
    key.add(1);
    key.add(std::min(distance, horizon(item.lang)));
  } else {
    key.add(2);
    key.add(item.min == 0 ? 0 : item.min - count);
    key.add(item.max == kUnbounded ? kUnbounded : item.max - count);
  }
}

bool StringFrames::append_shared_key(StateId state, Reg reg, RegisterPool& /*regs*/,
                                     SharedKey& key) {
  const View at = view(state);
  key.add(static_cast<uint32_t>(at.spelling));
  key.add(at.value);
  key.add(at.size());
  for (uint32_t i = 0; i < at.size(); ++i) {
    const Item item = at.item(i);
    append_bounds(item, reg, reg < at.clipped, key);
    if (item.accepts == kItsLabel) return false;
    key.add_callees(store_.set(item.accepts));
    if (!langs_(item.lang).append_rest(item.state, key)) return false;
  }
  return key.fits();
}

// --- rows ---------------------------------------------------------------------------------------

void StringFrames::expand(StateId state, RowBuilder& row) {
  const View from = view(state);
  const bool between = from.spelling == Spelling::kBetween;
  if (from.moved() && !between) {
    expand_decided(from, row);
    return;
  }
  const bool dynamic = from.bounded();
  const auto branches = spelling_branches(from.spelling, from.value, from.size(), [&](uint32_t i) {
    const Item item = from.item(i);
    return langs_(item.lang).arcs(item.state);
  });
  for (const SpellingBranch& branch : branches) {
    const StateId target = branch_target(from, branch);
    const uint32_t to = dynamic ? move_id(target, between ? 1 : 0) : target;
    for (const auto [lo, hi] : branch.bytes)
      row.add(lo, hi, to, dynamic ? Op::kDynamic : Op::kPlain);
  }
  if (between) expand_quote(from, row);
}

StateId StringFrames::branch_target(const View& from, const SpellingBranch& branch) {
  std::vector<Item> items;
  items.reserve(branch.hits.size());
  for (const SpellingHit& hit : branch.hits) {
    items.push_back(from.item(hit.item));
    if (branch.decided) items.back().state = hit.target;
  }
  const bool between = branch.next == Spelling::kBetween;
  return intern(branch.next, between ? 0 : branch.decided ? kDecided : branch.value, items);
}

// The items have moved and been counted already: only the rest of the spelling is left to read.
void StringFrames::expand_decided(const View& from, RowBuilder& row) {
  std::vector<SpellingStep> steps;
  spelling_steps(from.spelling, 0, steps);
  std::vector<Item> items;
  for (uint32_t i = 0; i < from.size(); ++i) items.push_back(from.item(i));
  std::array<StateId, static_cast<std::size_t>(Spelling::kCount)> targets{};
  for (const SpellingStep& step : steps) {
    StateId& target = targets[static_cast<std::size_t>(step.next)];
    if (target == kDead) {
      target = intern(step.next, step.next == Spelling::kBetween ? 0 : kDecided, items);
    }
    row.add(step.byte, step.byte, target);
    if (step.twin != 0) row.add(step.twin, step.twin, target);
  }
}

void StringFrames::expand_quote(const View& from, RowBuilder& row) {
  bool accepting = false;
  for (uint32_t i = 0; i < from.size() && !accepting; ++i) {
    const Item item = from.item(i);
    accepting = langs_(item.lang).accepts(item.state);
  }
  if (!accepting) return;
  if (from.bounded()) {
    row.add('"', '"', kQuoteMove, Op::kDynamic);
  } else {
    row.add('"', '"', store_.done(closing_set(from, 0)));
  }
}

SetId StringFrames::closing_set(const View& from, uint32_t count) {
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < from.size(); ++i) {
    const Item item = from.item(i);
    if (count < item.min || count > item.max) continue;
    Lang& lang = langs_(item.lang);
    if (!lang.accepts(item.state)) continue;
    if (item.accepts == kItsLabel) {
      ids.push_back(lang.label(item.state));
    } else {
      append_set(store_, item.accepts, ids);
    }
  }
  return intern_ids(store_, ids);
}

// --- steps under bounds -------------------------------------------------------------------------

uint32_t StringFrames::move_id(StateId target, uint32_t advance) {
  const uint64_t key = uint64_t{target} * 2 + advance;
  const auto [entry, added] = move_ids_.try_emplace(key, static_cast<uint32_t>(moves_.size()));
  if (added) {
    const bool bounded = (store_.state(target).flags & kHasRegister) != 0;
    moves_.push_back({target, advance, bounded ? 0 : kUnbounded, bounded, !bounded});
  }
  return entry->second;
}

Target StringFrames::scan(StateId state, Reg reg, uint8_t /*byte*/, StateId edge_target,
                          RegisterPool& /*regs*/) {
  if (edge_target == kQuoteMove) {
    const SetId set = closing_set(view(state), reg);
    return {set == kEmptySet ? kDead : store_.done(set), 0};
  }
  Move& move = moves_[edge_target];
  const uint32_t count = reg + move.advance;
  if (!move.probed) {
    move.sure = sure_counts(view(move.target));
    move.probed = true;
  }
  if (count < move.sure) return {move.target, move.bounded ? count : 0};
  return settle(move.target, count);
}

StateId StringFrames::unhindered(const Edge& edge) {
  if (edge.op == Op::kPlain) return edge.target;
  return edge.target == kQuoteMove ? kDead : moves_[edge.target].target;
}

// An item whose language stays in its state lives as long as its shortest completion fits; that the
// text gets too long for a lower bound can't happen.
uint32_t StringFrames::free_length(StateId state, Reg reg) {
  const auto [entry, added] = last_counts_.try_emplace(state, 0);
  if (added) {
    const View at = view(state);
    for (uint32_t i = 0; i < at.size() && entry->second != kUnbounded; ++i) {
      const Item item = at.item(i);
      const uint32_t least = item.max == kUnbounded ? 0 : shortest(item, item.state);
      const uint32_t last = item.max == kUnbounded ? kUnbounded : item.max - least;
      if (least <= item.max) entry->second = std::max(entry->second, last);
    }
  }
  if (entry->second == kUnbounded) return kUnbounded;
  return entry->second > reg ? entry->second - reg : 0;
}

// Of lists with labels alone.
bool StringFrames::may_accept(StateId state, std::vector<uint32_t>& ids) {
  const View at = view(state);
  for (uint32_t i = 0; i < at.size(); ++i) {
    const Item item = at.item(i);
    if (item.accepts != kItsLabel || !langs_(item.lang).labels_ahead(item.state, ids)) return false;
  }
  return true;
}

bool StringFrames::reads_escapes(StateId state) {
  const View at = view(state);
  if (at.spelling != Spelling::kBetween) return false;
  for (uint32_t i = 0; i < at.size(); ++i) {
    const Item item = at.item(i);
    if (!all_lead_to(item.state, langs_(item.lang).arcs(item.state))) return false;
  }
  return true;
}

// --- texts that can be read whatever they are ----------------------------------------------------

bool StringFrames::reads_all(StateId state, Reg reg, const RegisterPool& /*regs*/, FreeRun& run,
                             uint32_t& length) {
  const auto [entry, added] = regions_.try_emplace(state);
  const View at = view(state);
  if (added) entry->second = find_region(at);
  const Region& known = entry->second;
  run = known.text.run;
  length = known.text.length;
  if (length == 0 || !known.bounded) return length != 0;
  // No token comes near the upper bound, so the item is alive wherever it is; or it is until the
  // same count in all of the region.
  if (length == kUnbounded && reg < at.clipped) return true;
  uint32_t last = known.last_count;
  if (length == kUnbounded && last == kUnbounded) {
    run = known.near.run;
    length = known.near.length;
    last = known.near_last_count;
  }
  if (length != kUnbounded || last == kUnbounded) return false;
  length = last - std::min(reg, last);
  return length != 0;
}

StringFrames::Region StringFrames::any_text() {
  Region all;
  all.text.length = kUnbounded;
  all.text.run.text = kSpelledText;
  all.text.run.others_known = true;
  all.text.run.others.add('"');
  return all;
}

// Of one item that no lower bound hinders; if there are others, of one that reads any text.
StringFrames::Region StringFrames::find_region(const View& at) {
  if (at.spelling != Spelling::kBetween) return {};
  for (uint32_t i = 0; i < at.size(); ++i) {
    const Item item = at.item(i);
    const bool hindered = item.min != 0 && horizon(item.lang) != 0;
    if (hindered || (at.size() > 1 && item.max != kUnbounded)) continue;
    Lang& lang = langs_(item.lang);
    if (!item.bounded() && lang.reads_everything()) return any_text();
    if (at.size() > 1 && reads_one_letter(lang.arcs(item.state))) continue;  // of thousands, maybe
    const RegionArcs arcs = [&](uint32_t state) { return lang.arcs(state); };
    const CodeClassOf code_class = [&](auto ranges) { return store_.code_class(ranges); };
    Region found;
    found.text = find_text_region(arcs, code_class, item.state, store_.max_advance());
    found.bounded = item.max != kUnbounded;
    const bool any = found.text.length == kUnbounded && found.text.run.text == kSpelledText;
    if (at.size() > 1 && !any) continue;
    if (found.bounded) found.last_count = last_count(item, found.text);
    if (found.bounded && found.last_count == kUnbounded) {
      found.near = find_own_region(arcs, code_class, item.state);
      found.near_last_count = last_count(item, found.near);
    }
    return found;
  }
  return {};
}

// Up to which count the item is alive in all states of the region, and behind which in none;
// kUnbounded if there is no such count.
uint32_t StringFrames::last_count(const Item& item, const TextRegion& region) {
  uint32_t last = kUnbounded;
  for (const uint32_t state : region.states) {
    const uint32_t least = shortest(item, state);
    if (least > item.max || (last != kUnbounded && last != item.max - least)) return kUnbounded;
    last = item.max - least;
  }
  return last;
}

// Removes the items that cannot finish after `count` code points and lower bounds that are met.
Target StringFrames::settle(StateId target, uint32_t count) {
  const View at = view(target);
  std::vector<Item> items;
  bool changed = false;
  bool bounded = false;
  for (uint32_t i = 0; i < at.size(); ++i) {
    Item item = at.item(i);
    if (!alive(at, item, count)) {
      changed = true;
      continue;
    }
    if (item.min != 0 && count >= item.min) {
      item.min = 0;
      changed = true;
    }
    bounded = bounded || item.bounded();
    items.push_back(item);
  }
  if (items.empty()) return {};
  return {changed ? intern(at.spelling, at.value, items) : target, bounded ? count : 0};
}

// The states in which the item may be once the code point under way is complete.
std::span<const uint32_t> StringFrames::lang_states(const View& at, const Item& item) {
  lang_states_.clear();
  if (at.moved()) {
    lang_states_.push_back(item.state);
    return lang_states_;
  }
  const auto arcs = langs_(item.lang).arcs(item.state);
  const Reach possible = reach(at.spelling, at.value);
  for (const CodeRange range : {possible.first, possible.second}) {
    for (const Lang::Arc& arc : arcs_within(arcs, range)) lang_states_.push_back(arc.target);
  }
  make_set(lang_states_);
  return lang_states_;
}

bool StringFrames::alive(const View& at, const Item& item, uint32_t count) {
  if (!item.bounded()) return true;
  if (count > item.max) return false;
  Lang& lang = langs_(item.lang);
  const uint32_t least = item.min > count ? item.min - count : 0;
  const uint32_t most = item.max == kUnbounded ? kUnbounded : item.max - count;
  return std::ranges::any_of(lang_states(at, item),
                             [&](uint32_t state) { return lang.can_finish(state, least, most); });
}

// --- the cheap test -----------------------------------------------------------------------------

// A number of counts 0, 1, ... for which the state holds as it is: all items alive, no lower bound
// met. May be smaller than it could be.
uint32_t StringFrames::sure_counts(const View& at) {
  uint32_t sure = kUnbounded;
  for (uint32_t i = 0; i < at.size() && sure > 0; ++i) {
    const Item item = at.item(i);
    if (item.bounded()) sure = std::min(sure, sure_counts(item, lang_states(at, item).front()));
  }
  return sure;
}

uint32_t StringFrames::sure_counts(const Item& item, uint32_t state) {
  if (item.min == 0) {
    const uint32_t least = shortest(item, state);
    return least > item.max ? 0 : item.max - least + 1;
  }
  if (!langs_(item.lang).can_finish(state, item.min, item.max)) return 0;
  // Without an upper bound a long enough text stays long enough. With one, the answer is the same
  // as long as the lower bound is not nearer than the horizon.
  if (item.max == kUnbounded) return item.min;
  const uint32_t near = std::max<uint32_t>(horizon(item.lang), 1);
  return item.min < near ? 0 : item.min - near + 1;
}

// The length of the shortest completion; more than item.max if that is too short for any.
uint32_t StringFrames::shortest(const Item& item, uint32_t state) {
  Lang& lang = langs_(item.lang);
  if (lang.can_finish(state, 0, 0)) return 0;
  // The shortest completion is within the horizon (string_family.h).
  const uint32_t limit = std::min(horizon(item.lang), item.max);
  uint32_t low = 0;
  uint32_t high = std::min<uint32_t>(1, limit);
  while (high < limit && !lang.can_finish(state, 0, high)) {
    low = high;
    high = high > limit / 2 ? limit : high * 2;
  }
  if (!lang.can_finish(state, 0, high)) return kUnbounded;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (lang.can_finish(state, 0, middle) ? high : low) = middle;
  }
  return high;
}

std::unique_ptr<StringFamily> make_string_family(Store& store, LangTable& langs) {
  auto family = std::make_unique<StringFrames>(
      store, [&langs](LangId id) -> Lang& { return langs.get(id); },
      [&langs](LangId id) { return langs.counted(id); });
  return family;
}

}  // namespace maskwright

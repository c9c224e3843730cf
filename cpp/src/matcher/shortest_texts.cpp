#include "matcher/shortest_texts.h"

#include <algorithm>
#include <utility>

namespace maskwright {

ShortestTexts::Length ShortestTexts::length(std::span<const Config> closed, Arena& arena) {
  const Rest found = best(closed, arena);
  return {found.bytes, found.sure, found.repeats, found.vain};
}

ShortestTexts::Text ShortestTexts::text(std::span<const Config> closed, Arena& arena) {
  return spell(best(closed, arena));
}

std::size_t ShortestTexts::memory_bytes() const {
  std::size_t bytes = heap_bytes(runner_, entry_keys_, rest_keys_);
  bytes += heap_block(entries_.size() * sizeof(Entry)) + heap_block(rests_.size() * sizeof(Rest));
  for (const Entry& entry : entries_) bytes += heap_bytes(entry);
  for (const Rest& rest : rests_) bytes += heap_bytes(rest);
  return bytes;
}

// --- frames -------------------------------------------------------------------------------------

uint32_t ShortestTexts::entry_of(Target at, Arena& arena) {
  const bool ignored = memory_ == RegisterPool::Memory::kIgnored;
  const Target known = ignored ? forgotten(store_, at, arena) : at;
  const std::array<uint32_t, 2> key{known.state, known.reg};
  const auto [id, inserted] = entry_keys_.intern(key);
  if (inserted) entries_.emplace_back().at = known;
  return id;
}

// Whether the frame can return in so many ways and one more.
bool ShortestTexts::has_text(uint32_t entry, std::size_t index, Arena& arena) {
  if (entries_[entry].texts.size() > index) return true;
  if (entries_[entry].asked > index) return false;
  const std::size_t count = index == 0 ? 1 : kMaxTexts;
  std::vector<FrameText> found = search(entry, count, arena);
  entries_[entry].asked = count;
  if (found.empty()) return false;
  entries_[entry].texts = std::move(found);
  return entries_[entry].texts.size() > index;
}

// With what is known, as long as the same would be found without that.
std::vector<FrameText> ShortestTexts::search(uint32_t entry, std::size_t count, Arena& arena) {
  ++searches_;
  bool told_any = false;
  const auto find = [&](const FrameSearch::Known& known, std::vector<FrameText>& found) {
    FrameSearch search(store_, rules_, spellable_, max_places_, arena);
    found = search.find(entries_[entry].at, count, known);
    const bool near = search.in_half_of_bound();
    if (!near && told_any) return false;
    entries_[entry].near = near;
    if (found.empty() && count == 1) entries_[entry].vain = search.work();
    if (count == 1 && !found.empty() && near) share(search.way(), found[0], arena);
    return true;
  };
  std::vector<FrameText> found;
  const bool alone = FrameSearch::calls_none(store_, entries_[entry].at);
  const auto tell = [&](Target place) {
    const FrameText* text = near_text(place);
    told_any = told_any || text != nullptr;
    return text;
  };
  const bool told = count == 1 && alone && find(tell, found);
  if (told) return found;
  told_any = false;
  find({}, found);
  return found;
}

// Null if none is known, or one that a search might not have found.
const FrameText* ShortestTexts::near_text(Target at) const {
  const std::array<uint32_t, 2> key{at.state, at.reg};
  const uint32_t id = entry_keys_.find(key);
  if (id == WordInterner::kMissing || !entries_[id].near || entries_[id].texts.empty()) {
    return nullptr;
  }
  return &entries_[id].texts[0];
}

// The rest of a least text is the least from where it begins, and found by a search that comes by
// no other places than this one did.
void ShortestTexts::share(const std::vector<FrameSearch::Stop>& way, const FrameText& whole,
                          Arena& arena) {
  if (whole.text.size() > kMaxShared) return;
  for (const FrameSearch::Stop& stop : way) {
    Entry& entry = entries_[entry_of(stop.at, arena)];
    if (!entry.texts.empty() || entry.asked != 0) continue;
    entry.near = true;
    entry.texts.push_back(
        {whole.accepted, whole.reg, whole.text.substr(stop.bytes), whole.doubts.from(stop.bytes)});
  }
}

// --- configurations -----------------------------------------------------------------------------

ShortestTexts::Rest ShortestTexts::best(std::span<const Config> closed, Arena& arena) {
  Rest least;
  uint32_t vain = 0;
  for (const Config& config : closed) {
    cut_ = false;
    Rest other = finish(needed_start(config, arena), config.stack, 0, arena);
    vain = std::max(vain, other.vain);
    if (less(other, least)) least = std::move(other);
  }
  least.vain = vain;
  return least;
}

Target ShortestTexts::needed_start(const Config& config, Arena& arena) {
  const Target here{config.state, config.reg};
  const auto callers = arena.nodes(config.stack);
  if (store_.state(here.state).family != FamilyId::kKey || callers.size() != 1) return here;
  const Arena::Node object = arena.node(callers[0]);
  if (callers[0] == kBottom || store_.state(object.state).family != FamilyId::kObject) return here;
  callees_.clear();
  store_.family(FamilyId::kObject)
      .needed_callees(object.state, object.reg, true, arena.regs(), callees_);
  if (callees_.empty()) return here;
  const Target needed{here.state, callees_[0].reg};
  return has_text(entry_of(needed, arena), 0, arena) ? needed : here;
}

// From a frame on: with the least text for which its callers can go on.
ShortestTexts::Rest ShortestTexts::finish(Target at, StackRef stack, uint32_t frames,
                                          Arena& arena) {
  const uint32_t entry = entry_of(at, arena);
  uint32_t vain = 0;
  for (uint32_t i = 0; i < kMaxTexts && has_text(entry, i, arena); ++i) {
    const uint32_t next = rest(stack, entries_[entry].texts[i], frames, arena);
    const FrameText& own = entries_[entry].texts[i];
    const auto bytes = static_cast<uint32_t>(own.text.size());
    const auto repeats = static_cast<uint32_t>(own.doubts.repeats.size());
    if (next == kEnd) return {bytes, entry, i, kEnd, {}, own.doubts.none(), repeats, 0, false};
    const Rest& behind = rests_[next];
    if (behind.bytes != kUnbounded) {
      const bool sure = own.doubts.none() && behind.before.none() && behind.sure;
      const auto between = static_cast<uint32_t>(behind.before.repeats.size());
      const uint32_t all = repeats + between + behind.repeats;
      return {bytes + behind.bytes, entry, i, next, {}, sure, all, behind.vain, false};
    }
    vain = std::max(vain, behind.vain);
  }
  Rest none;
  none.vain = std::max(vain, entries_[entry].vain);
  return none;
}

// What follows on the stack; kEnd if nothing need follow.
uint32_t ShortestTexts::rest(StackRef stack, const FrameText& returned, uint32_t frames,
                             Arena& arena) {
  const auto below = arena.nodes(stack);
  if (std::ranges::find(below, kBottom) != below.end()) return kEnd;
  // The last byte of the text tells which doubt there is.
  const bool quoted = returned.text.ends_with('"');
  const std::array<uint32_t, 4> key{stack, returned.accepted, returned.reg, quoted ? 1U : 0U};
  const auto [id, inserted] = rest_keys_.intern(key);
  if (inserted) rests_.emplace_back();
  if (rests_[id].known) return id;
  rests_[id] = {};
  cut_ = cut_ || frames == kMaxFrames;
  if (cut_) return id;
  Rest least;
  uint32_t vain = 0;
  const std::vector<uint32_t> nodes(below.begin(), below.end());
  for (const uint32_t node_id : nodes) {
    const Arena::Node node = arena.node(node_id);
    Doubts before;
    const Target after =
        resume_in_doubt(store_, {node.state, node.reg}, returned, arena, quoted ? 1 : 0, before);
    if (after.state == kDead) continue;
    Rest other = finish(after, node.below, frames + 1, arena);
    vain = std::max(vain, other.vain);
    other.before = std::move(before);
    if (less(other, least)) least = std::move(other);
  }
  least.vain = vain;
  least.known = !cut_;
  rests_[id] = std::move(least);
  return id;
}

bool ShortestTexts::less(const Rest& a, const Rest& b) const {
  if (a.bytes != b.bytes || a.bytes == kUnbounded) return a.bytes < b.bytes;
  return spell(a).bytes < spell(b).bytes;
}

ShortestTexts::Text ShortestTexts::spell(const Rest& rest) const {
  Text whole;
  const Rest* at = &rest;
  while (true) {
    const FrameText& part = entries_[at->entry].texts[at->text];
    whole.doubts.append(part.doubts, whole.bytes.size());
    whole.bytes += part.text;
    if (at->next == kEnd) return whole;
    at = &rests_[at->next];
    if (at->before.others != 0) whole.doubts.others = 1;
    const auto end = static_cast<uint32_t>(whole.bytes.size());
    for (const Repeat& repeat : at->before.repeats) {
      whole.doubts.repeats.push_back({repeat.end == 1 ? end - 1 : 0, end});
    }
  }
}

}  // namespace maskwright

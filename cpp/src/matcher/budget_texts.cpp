#include "matcher/budget_texts.h"

#include <algorithm>
#include <utility>

namespace maskwright {

namespace {

bool shorter(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

bool ShortestTexts::Item::operator>(const Item& other) const { return shorter(other.text, text); }

ShortestTexts::Length ShortestTexts::length(std::span<const Config> closed, Arena& arena) {
  const Rest found = best(closed, arena);
  return {found.bytes, found.sure};
}

std::string ShortestTexts::text(std::span<const Config> closed, Arena& arena) {
  return spell(best(closed, arena));
}

// --- one frame ----------------------------------------------------------------------------------

uint32_t ShortestTexts::entry_of(Target at) {
  const std::array<uint32_t, 2> key{at.state, at.reg};
  const auto [id, inserted] = entry_keys_.intern(key);
  if (inserted) entries_.emplace_back().at = at;
  return id;
}

void ShortestTexts::start(uint32_t entry) {
  if (std::exchange(entries_[entry].started, true)) return;
  agenda_.push({{}, entry, kEnd, entries_[entry].at, true});
}

// Whether the frame can return in so many ways and one more.
bool ShortestTexts::has_summary(uint32_t entry, std::size_t index, Arena& arena) {
  Entry& asked = entries_[entry];
  if (asked.summaries.size() > index) return true;
  if (asked.given_up) return false;
  start(entry);
  for (uint32_t i = 0; i < max_places_ && !agenda_.empty(); ++i) {
    const Item item = agenda_.top();
    agenda_.pop();
    leave(item, arena);
    if (asked.summaries.size() > index) return true;
  }
  asked.given_up = true;
  return false;
}

// Goes on from a place of the agenda.
void ShortestTexts::leave(const Item& item, Arena& arena) {
  const std::array<uint32_t, 3> key{item.entry, item.at.state, item.at.reg};
  if (!met_.intern(key).inserted) return;
  const auto place = static_cast<uint32_t>(places_.size());
  places_.push_back({item.entry, item.from, static_cast<uint32_t>(item.text.size()), item.at});
  const Config config{item.at.state, item.at.reg, 0, kBottom};
  if (const SetId accepted = runner_.accepted(config, arena); accepted != kEmptySet) {
    note(item.entry, place, {accepted, item.at.reg, item.text, item.sure}, arena);
  }
  const uint16_t flags = store_.state(item.at.state).flags;
  if ((flags & kReturnOnly) != 0) return;
  read(item, place, arena);
  if ((flags & kCalls) != 0) call(item, place, arena);
}

void ShortestTexts::read(const Item& item, uint32_t place, Arena& arena) {
  const FamilyId family = store_.state(item.at.state).family;
  const bool alike = family == FamilyId::kString || family == FamilyId::kRepeat;
  // A character that leads back, and no escapes of such.
  const TextClass free = store_.free_run(item.at.state).text;
  bool looped = false;
  for (const Edge& edge : store_.row(item.at.state).edges) {
    const auto usable = [&](uint32_t byte) {
      if (!spellable_[byte] || (byte == '\\' && free.escapes)) return false;
      return byte < 0x80 ? !free.has(static_cast<uint8_t>(byte)) || !looped : !free.beyond_ascii;
    };
    bool read_one = false;
    for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) {
      if (!usable(byte)) continue;
      if (read_one && (edge.op == Op::kPlain || alike)) break;
      // A space rather than a control character: tokens of many spaces are common.
      const bool spaced = edge.op == Op::kPlain && byte < ' ' && edge.hi >= ' ' && usable(' ');
      const auto read = static_cast<uint8_t>(spaced ? ' ' : byte);
      looped = looped || (read < 0x80 && free.has(read));
      read_byte(item, place, edge, read, arena);
      read_one = true;
    }
  }
}

void ShortestTexts::read_byte(const Item& item, uint32_t place, const Edge& edge, uint8_t byte,
                              Arena& arena) {
  Target target{edge.target, item.at.reg};
  if (edge.op == Op::kDynamic) {
    target = store_.family(store_.state(item.at.state).family)
                 .scan(item.at.state, item.at.reg, byte, edge.target, arena.regs());
  }
  add({item.text + static_cast<char>(byte), item.entry, place, target,
       item.sure && is_plain(target.state)});
}

// As Runner::push, without a stack.
void ShortestTexts::call(const Item& item, uint32_t place, Arena& arena) {
  const State state = store_.state(item.at.state);
  Caller caller{item.entry, place, item.at, item.text, item.sure};
  if ((state.flags & kTailCalls) != 0) {
    caller.at = {store_.family(state.family).tail_state(item.at.state), 0};
  } else if (state.family == FamilyId::kRules) {
    caller.at = {rules_.caller(item.at.state).state, 0};
  }
  callees_.clear();
  if (state.callee != kDead) {
    callees_.push_back({state.callee, 0});
  } else {
    store_.family(state.family).callees(item.at.state, item.at.reg, arena.regs(), callees_);
  }
  const std::vector<Target> callees = callees_;
  for (const Target& callee : callees) {
    if (callee.state == kDead) continue;
    const uint32_t entry = entry_of(callee);
    start(entry);
    caller.sure = item.sure && is_plain(callee.state);
    entries_[entry].callers.push_back(caller);
    for (std::size_t i = 0; i < entries_[entry].summaries.size(); ++i) {
      deliver(caller, entries_[entry].summaries[i], arena);
    }
  }
}

void ShortestTexts::add(Item item) {
  if (item.at.state != kDead && item.text.size() <= kMaxBytes) agenda_.push(std::move(item));
}

// What is remembered without bound decides nothing there.
bool ShortestTexts::is_plain(StateId state) const {
  return (store_.state(state).flags & (kGuarded | kSuspects)) == 0;
}

bool ShortestTexts::is_sure(Target at, Arena& arena) {
  if (is_plain(at.state)) return true;
  const State& state = store_.state(at.state);
  Family& family = store_.family(state.family);
  Guard guard;
  std::bitset<256> next;
  return ((state.flags & kGuarded) == 0 || !family.guard(at.state, at.reg, arena.regs(), guard)) &&
         ((state.flags & kSuspects) == 0 || !family.suspect(at.state, at.reg, arena.regs(), next));
}

// The frame can return something.
void ShortestTexts::note(uint32_t entry, uint32_t place, Summary summary, Arena& arena) {
  std::vector<Summary>& known = entries_[entry].summaries;
  const bool again = std::ranges::any_of(known, [&](const Summary& other) {
    return other.accepted == summary.accepted && other.reg == summary.reg;
  });
  if (again || known.size() == kMaxSummaries) return;
  known.push_back(std::move(summary));
  const std::size_t index = known.size() - 1;
  if (index == 0) share(place, known[0]);
  for (std::size_t i = 0; i < entries_[entry].callers.size(); ++i) {
    const Caller caller = entries_[entry].callers[i];
    deliver(caller, entries_[entry].summaries[index], arena);
  }
}

// The rest of a least text is the least from where it begins.
void ShortestTexts::share(uint32_t place, const Summary& summary) {
  if (summary.text.size() > kMaxShared) return;
  const Summary whole = summary;
  for (uint32_t at = place; at != kEnd; at = places_[at].from) {
    const Place& from = places_[at];
    Entry& entry = entries_[entry_of(from.at)];
    if (!entry.summaries.empty() || entry.started) continue;
    entry.summaries.push_back(
        {whole.accepted, whole.reg, whole.text.substr(from.bytes), whole.sure});
  }
}

void ShortestTexts::deliver(const Caller& caller, const Summary& summary, Arena& arena) {
  Target target{kDead, 0};
  bool sure = caller.sure && summary.sure;
  if (caller.at.state == kDead) {
    target = {store_.done(summary.accepted), summary.reg};
  } else {
    Family& family = store_.family(store_.state(caller.at.state).family);
    const auto resume = [&] {
      return family.resume(caller.at.state, caller.at.reg, summary.accepted, summary.reg,
                           arena.regs());
    };
    target = resume();
    if (arena.regs().memory() == RegisterPool::Memory::kIgnored) {
      // A name or a value that would be remembered: it may be there already.
      arena.regs().set_memory(RegisterPool::Memory::kExact);
      const Target exact = resume();
      arena.regs().set_memory(RegisterPool::Memory::kIgnored);
      sure = sure && exact.state == target.state && exact.reg == target.reg;
    }
  }
  add({caller.text + summary.text, caller.entry, caller.place, target,
       sure && is_plain(target.state)});
}

// --- configurations -----------------------------------------------------------------------------

ShortestTexts::Rest ShortestTexts::best(std::span<const Config> closed, Arena& arena) {
  Rest least;
  for (const Config& config : closed) {
    const Rest other = finish({config.state, config.reg}, config.stack, 0, arena);
    if (less(other, least)) least = other;
  }
  return least;
}

// From a frame on: with the least text for which its callers can go on.
ShortestTexts::Rest ShortestTexts::finish(Target at, StackRef stack, uint32_t frames,
                                          Arena& arena) {
  const uint32_t entry = entry_of(at);
  for (uint32_t i = 0; i < kMaxSummaries && has_summary(entry, i, arena); ++i) {
    const SetId accepted = entries_[entry].summaries[i].accepted;
    const uint32_t next = rest(stack, accepted, entries_[entry].summaries[i].reg, frames, arena);
    const auto own = static_cast<uint32_t>(entries_[entry].summaries[i].text.size());
    const bool sure = entries_[entry].summaries[i].sure && is_sure(at, arena);
    if (next == kEnd) return {own, entry, i, kEnd, sure};
    if (rests_[next].bytes != kUnbounded) {
      return {own + rests_[next].bytes, entry, i, next, sure && rests_[next].sure};
    }
  }
  return {};
}

// What follows on the stack; kEnd if nothing need follow.
uint32_t ShortestTexts::rest(StackRef stack, SetId accepted, Reg reg, uint32_t frames,
                             Arena& arena) {
  const auto below = arena.nodes(stack);
  if (std::ranges::find(below, kBottom) != below.end()) return kEnd;
  const std::array<uint32_t, 3> key{stack, accepted, reg};
  const auto [id, inserted] = rest_keys_.intern(key);
  if (!inserted) return id;
  rests_.emplace_back();
  if (frames == kMaxFrames) return id;
  Rest least;
  const std::vector<uint32_t> nodes(below.begin(), below.end());
  for (const uint32_t node_id : nodes) {
    const Arena::Node node = arena.node(node_id);
    const Config after = runner_.resume(node, accepted, reg, arena);
    if (after.state == kDead) continue;
    const Rest other = finish({after.state, after.reg}, node.below, frames + 1, arena);
    if (less(other, least)) least = other;
  }
  rests_[id] = least;
  return id;
}

bool ShortestTexts::less(const Rest& a, const Rest& b) const {
  if (a.bytes != b.bytes || a.bytes == kUnbounded) return a.bytes < b.bytes;
  return spell(a) < spell(b);
}

std::string ShortestTexts::spell(Rest rest) const {
  std::string text = entries_[rest.entry].summaries[rest.summary].text;
  while (rest.next != kEnd) {
    rest = rests_[rest.next];
    text += entries_[rest.entry].summaries[rest.summary].text;
  }
  return text;
}

}  // namespace maskwright

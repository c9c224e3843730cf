#include "matcher/frame_search.h"

#include <algorithm>
#include <utility>

#include "maskwright/json/lang.h"

namespace maskwright {

namespace {

using Memory = RegisterPool::Memory;

// The bytes of a text that take as long as a place.
constexpr std::size_t kBytesOfPlace = 256;

// Of each frame.
constexpr std::size_t kMaxFound = 8;

}  // namespace

void Doubts::append(const Doubts& more, std::size_t bytes) {
  const auto before = static_cast<uint32_t>(bytes);
  for (const Repeat& repeat : more.repeats) {
    repeats.push_back({repeat.begin + before, repeat.end + before});
  }
  if (more.others != 0) others = more.others + before;
}

void Doubts::note(Store& store, StateId state, std::size_t bytes) {
  const State& at = store.state(state);
  // What arrays refuse is an item that has ended, see resume_in_doubt().
  if ((at.flags & (kGuarded | kSuspects)) == 0 || at.family == FamilyId::kArray) return;
  others = static_cast<uint32_t>(bytes + 1);
}

Doubts Doubts::from(uint32_t bytes) const {
  Doubts rest;
  if (others > bytes) rest.others = others - bytes;
  for (const Repeat& repeat : repeats) {
    if (repeat.end <= bytes) continue;
    rest.repeats.push_back({repeat.begin > bytes ? repeat.begin - bytes : 0, repeat.end - bytes});
  }
  return rest;
}

Target forgotten(Store& store, Target at, Arena& arena) {
  const State& state = store.state(at.state);
  if ((state.flags & kPooledRegister) == 0) return at;
  return store.family(state.family).forget(at.state, at.reg, arena.regs());
}

Target resume_in_doubt(Store& store, Target caller, const FrameText& returned, Arena& arena,
                       std::size_t bytes, Doubts& doubts) {
  const FamilyId id = store.state(caller.state).family;
  const auto resume = [&] {
    return store.family(id).resume(caller.state, caller.reg, returned.accepted, returned.reg,
                                   arena.regs());
  };
  const Target target = resume();
  if (target.state == kDead || arena.regs().memory() == Memory::kExact) return target;
  arena.regs().set_memory(Memory::kExact);
  const Target exact = resume();
  arena.regs().set_memory(Memory::kIgnored);
  if (exact.state != target.state || exact.reg != target.reg) {
    const auto end = static_cast<uint32_t>(bytes);
    if (id == FamilyId::kArray || (id == FamilyId::kObject && bytes != 0)) {
      const bool quoted = id == FamilyId::kObject || returned.text.ends_with('"');
      const auto length = static_cast<uint32_t>(quoted ? 1 : returned.text.size());
      doubts.repeats.push_back({end > length ? end - length : 0, end});
    } else {
      doubts.others = end + 1;
    }
  }
  doubts.note(store, target.state, bytes);
  return target;
}

bool FrameSearch::Item::operator>(const Item& other) const {
  if (bytes != other.bytes) return bytes > other.bytes;
  return whole != other.whole ? whole > other.whole : number > other.number;
}

bool FrameSearch::calls_none(const Store& store, Target at) {
  const FamilyId family = store.state(at.state).family;
  return family == FamilyId::kString || family == FamilyId::kKey || family == FamilyId::kNumber;
}

std::vector<FrameText> FrameSearch::find(Target at, std::size_t count, const Known& known) {
  known_ = known;
  const uint32_t root = frame_of(at, {});
  while (!agenda_.empty() && places_.size() < max_places_ && frames_[root].found.size() < count) {
    const Item item = agenda_.top();
    agenda_.pop();
    work_ += 1 + static_cast<uint32_t>(item.whole.size() / kBytesOfPlace);
    leave(item);
  }
  return std::move(frames_[root].found);
}

std::vector<FrameSearch::Stop> FrameSearch::way() const {
  std::vector<Stop> stops;
  for (uint32_t at = end_; at != kNoPlace; at = places_[at].from) {
    stops.push_back({places_[at].at, places_[at].bytes});
  }
  return stops;
}

uint32_t FrameSearch::frame_of(Target at, const std::string& before) {
  const std::array<uint32_t, 2> key{at.state, at.reg};
  const auto [id, inserted] = keys_.intern(key);
  if (inserted) {
    frames_.emplace_back().before = before;
    Doubts doubts;
    doubts.note(store_, at.state, 0);
    add({}, id, kNoPlace, at, std::move(doubts));
  }
  return id;
}

// Goes on from a place of the agenda.
void FrameSearch::leave(const Item& item) {
  if (frames_[item.frame].found.size() == kMaxFound) return;  // no more are noted
  const std::array<uint32_t, 3> key{item.frame, item.at.state, item.at.reg};
  if (!met_.intern(key).inserted) return;
  const auto place = static_cast<uint32_t>(places_.size());
  places_.push_back({item.from, static_cast<uint32_t>(item.text.size()), item.at});
  const Config config{item.at.state, item.at.reg, 0, kBottom};
  if (const SetId accepted = runner_.accepted(config, arena_); accepted != kEmptySet) {
    note(item.frame, place, {accepted, item.at.reg, item.text, item.doubts});
  }
  const uint16_t flags = store_.state(item.at.state).flags;
  if ((flags & kReturnOnly) != 0 || is_outdone(item)) return;
  if (known_ != nullptr && leave_by_known(item, place)) return;
  read(item, place);
  if ((flags & kCalls) != 0) call(item, place);
}

// All that can be returned from here is a part of what the frame returns behind a shorter text, and
// with less of that its callers can do no more.
bool FrameSearch::is_outdone(const Item& item) {
  const std::vector<FrameText>& found = frames_[item.frame].found;
  std::vector<uint32_t> ids;
  const StateId id = item.at.state;
  if (found.empty() || !store_.family(store_.state(id).family).may_accept(id, ids)) return false;
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  const auto is_found = [&](std::span<const uint32_t> some) {
    return std::ranges::any_of(found, [&](const FrameText& other) {
      return other.reg == item.at.reg && std::ranges::includes(store_.set(other.accepted), some);
    });
  };
  if (ids.empty() || ids.front() < kListedTag) return is_found(ids);
  return std::ranges::all_of(ids, [&](const uint32_t& label) { return is_found({&label, 1}); });
}

bool FrameSearch::leave_by_known(const Item& item, uint32_t place) {
  const FrameText* rest = known_(item.at);
  if (rest == nullptr) return false;
  Doubts doubts = item.doubts;
  doubts.append(rest->doubts, item.text.size());
  add(item.text + rest->text, item.frame, place, {store_.done(rest->accepted), rest->reg},
      std::move(doubts));
  return true;
}

void FrameSearch::read(const Item& item, uint32_t place) {
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
      read_byte(item, place, edge, read);
      read_one = true;
    }
  }
}

void FrameSearch::read_byte(const Item& item, uint32_t place, const Edge& edge, uint8_t byte) {
  Target target{edge.target, item.at.reg};
  if (edge.op == Op::kDynamic) {
    target = store_.family(store_.state(item.at.state).family)
                 .scan(item.at.state, item.at.reg, byte, edge.target, arena_.regs());
  }
  Doubts doubts = item.doubts;
  doubts.note(store_, target.state, item.text.size() + 1);
  add(item.text + static_cast<char>(byte), item.frame, place, target, std::move(doubts));
}

// As Runner::push, without a stack.
void FrameSearch::call(const Item& item, uint32_t place) {
  const State state = store_.state(item.at.state);
  Caller caller{item.frame, place, item.at, item.text, item.doubts};
  if ((state.flags & kTailCalls) != 0) {
    caller.at = {store_.family(state.family).tail_state(item.at.state), 0};
  } else if (state.family == FamilyId::kRules) {
    caller.at = {rules_.caller(item.at.state).state, 0};
  }
  callees_.clear();
  if (state.callee != kDead) {
    callees_.push_back({state.callee, 0});
  } else {
    store_.family(state.family)
        .needed_callees(item.at.state, item.at.reg, false, arena_.regs(), callees_);
  }
  const std::vector<Target> callees = callees_;
  for (const Target& callee : callees) {
    if (callee.state == kDead) continue;
    const uint32_t frame = frame_of(callee, item.whole);
    caller.doubts = item.doubts;
    caller.doubts.note(store_, callee.state, item.text.size());
    frames_[frame].callers.push_back(caller);
    for (std::size_t i = 0; i < frames_[frame].found.size(); ++i) {
      deliver(caller, frames_[frame].found[i]);
    }
  }
}

// The frame can return something.
void FrameSearch::note(uint32_t frame, uint32_t place, FrameText found) {
  std::vector<FrameText>& known = frames_[frame].found;
  const bool again = std::ranges::any_of(known, [&](const FrameText& other) {
    return other.accepted == found.accepted && other.reg == found.reg;
  });
  if (again || known.size() == kMaxFound) return;
  if (frame == 0 && known.empty()) end_ = place;
  known.push_back(found);
  for (std::size_t i = 0; i < frames_[frame].callers.size(); ++i) {
    const Caller caller = frames_[frame].callers[i];
    deliver(caller, found);
  }
}

void FrameSearch::deliver(const Caller& caller, const FrameText& found) {
  Target target{kDead, 0};
  std::string text = caller.text + found.text;
  Doubts doubts = caller.doubts;
  doubts.append(found.doubts, caller.text.size());
  if (caller.at.state == kDead) {
    target = {store_.done(found.accepted), found.reg};
  } else {
    target = resume_in_doubt(store_, caller.at, found, arena_, text.size(), doubts);
  }
  add(std::move(text), caller.frame, caller.place, target, std::move(doubts));
}

void FrameSearch::add(std::string text, uint32_t frame, uint32_t from, Target at, Doubts doubts) {
  if (at.state == kDead || text.size() > kMaxBytes) return;
  std::string whole = frames_[frame].before + text;
  const std::size_t bytes = whole.size() + rules_.least_bytes(at.state);
  agenda_.push(
      {bytes, std::move(whole), std::move(text), added_++, frame, from, at, std::move(doubts)});
}

}  // namespace maskwright

#include "json/record_family.h"

#include <algorithm>
#include <array>

#include "json/keyword_family.h"
#include "json/name_set.h"

namespace maskwright {

namespace {

using Words = std::span<const uint32_t>;

constexpr uint32_t kBeforeQuote = static_cast<uint32_t>(Spelling::kCount);

// Positions in registers.
constexpr std::size_t kSpelling = 1, kSpellingValue = 2, kText = 3, kTexts = 4;
constexpr std::size_t kItems = 1, kArrays = 2, kCount = 3;
constexpr std::size_t kMembers = 1, kObjects = 2, kName = 3;

// The chain of the values that pass.
template <typename Keep>
Reg chain_of(std::span<const ValueId> values, RegisterPool& regs, Keep keep) {
  Reg chain = 0;
  for (const ValueId value : values) {
    if (keep(value)) chain = append_to_chain(chain, value, regs);
  }
  return chain;
}

}  // namespace

// --- states -------------------------------------------------------------------------------------

StateId RecordFamily::recorded(StateId inside) {
  const std::array<uint32_t, 1> content{inside};
  return store_.intern(FamilyId::kRecord, content);
}

Target RecordFamily::start(StateId value_state, Reg suspects, RegisterPool& regs) {
  return record({value_state, 0}, {suspects}, regs);
}

// `words`: the register without the inner one in front.
Target RecordFamily::record(const Target& to, std::vector<uint32_t> words, RegisterPool& regs) {
  words.insert(words.begin(), to.reg);
  if (kind(to.state) == FamilyId::kNumber) words.insert(words.begin(), RecordedNumbers::kMark);
  return {recorded(to.state), regs.intern(words)};
}

Reg RecordFamily::inner(Words reg) {
  return reg[0] == RecordedNumbers::kMark ? reg[RecordedNumbers::kInner] : reg[0];
}

ValueId RecordFamily::value_of(Reg returned, RegisterPool& regs) {
  const Words words = regs.get(returned);
  if (words.empty() || words[0] != RecordedNumbers::kMark) return returned;
  return NumberReader::decode(words.subspan(RecordedNumbers::kReader)).value(regs);
}

void RecordFamily::describe(std::span<const uint32_t> content, State& state) {
  const State& from = store_.state(content[0]);
  const auto kept = from.flags & (kAccepts | kDynamicAccepts | kCalls | kWhitespace);
  state.flags = static_cast<uint16_t>(kept | kHasRegister | kPooledRegister | kSuspects);
  state.accepts = from.accepts;
  state.whitespace_limit = from.whitespace_limit;
}

void RecordFamily::expand(StateId state, RowBuilder& row) {
  for (const Edge& edge : store_.row(inside(state)).edges) {
    row.add(edge.lo, edge.hi, kDead, Op::kDynamic);
  }
}

SetId RecordFamily::accepted(StateId state, Reg reg, const RegisterPool& regs) {
  const StateId from = inside(state);
  return store_.family(kind(from)).accepted(from, inner(regs.get(reg)), regs);
}

void RecordFamily::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  const StateId from = inside(state);
  if ((store_.state(from).flags & kHasRegister) != 0) {
    store_.family(kind(from)).mask_key(from, inner(regs.get(reg)), regs, key);
  } else {
    key.push_back(from);
  }
}

Target RecordFamily::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  const StateId plain = inside(state);
  const Reg own = inner(from.get(reg));
  if ((store_.state(plain).flags & kPooledRegister) == 0) return {plain, own};
  return store_.family(kind(plain)).localise(plain, own, from, to);
}

Target RecordFamily::forget(StateId state, Reg reg, RegisterPool& regs) {
  const Target plain{inside(state), inner(regs.get(reg))};
  return store_.family(kind(plain.state)).forget(plain.state, plain.reg, regs);
}

// Of the frame that is recorded: what the value may not be is for the array to say.
uint32_t RecordFamily::remembered(StateId state, Reg reg, const RegisterPool& regs) {
  const StateId plain = inside(state);
  if ((store_.state(plain).flags & kPooledRegister) == 0) return 0;
  return store_.family(kind(plain)).remembered(plain, inner(regs.get(reg)), regs);
}

// --- reading ------------------------------------------------------------------------------------

Target RecordFamily::step(StateId from, Reg reg, uint8_t byte, RegisterPool& regs) {
  const Edge* edge = store_.row(from).find(byte);
  if (edge == nullptr) return {};
  if (edge->op == Op::kPlain) return {edge->target, reg};
  return store_.family(kind(from)).scan(from, reg, byte, edge->target, regs);
}

bool RecordFamily::returns(const Target& to, ValueId value, const RegisterPool& regs, Target& out) {
  const State& state = store_.state(to.state);
  if ((state.flags & kReturnOnly) == 0) return false;
  const bool dynamic = (state.flags & kDynamicAccepts) != 0;
  const SetId set =
      dynamic ? store_.family(state.family).accepted(to.state, to.reg, regs) : state.accepts;
  out = set == kEmptySet ? Target{} : Target{store_.done(set), value};
  return true;
}

Target RecordFamily::scan(StateId state, Reg reg, uint8_t byte, StateId /*edge_target*/,
                          RegisterPool& regs) {
  const StateId from = inside(state);
  const Words words = regs.get(reg);
  const Target to = step(from, inner(words), byte, regs);
  if (to.state == kDead || regs.memory() == RegisterPool::Memory::kIgnored) return to;
  switch (kind(from)) {
    case FamilyId::kValue: return begin(to, words[1], byte, regs);
    case FamilyId::kString: return read_text(to, words, false, byte, regs);
    case FamilyId::kKey: return read_text(to, words, true, byte, regs);
    case FamilyId::kNumber:
      return read_number(to, words[RecordedNumbers::kSuspects],
                         NumberReader::decode(words.subspan(RecordedNumbers::kReader)), byte, regs);
    case FamilyId::kArray: return read_array(to, words, byte, regs);
    case FamilyId::kObject: return read_object(to, words, byte, regs);
    default: break;
  }
  // A keyword.
  Target done;
  if (returns(to, words[1], regs, done)) return done;
  return record(to, {words[1], words[2]}, regs);
}

// The first byte of a value, which tells its type.
Target RecordFamily::begin(const Target& to, Reg suspects, uint8_t byte, RegisterPool& regs) {
  if (suspects == RegisterPool::kUnknown) return begin_unknown(to, byte, regs);
  if (byte == '"') {
    const auto between = static_cast<uint32_t>(Spelling::kBetween);
    return record(to, {between, 0, empty_name(regs), strings_in(suspects, regs)}, regs);
  }
  for (uint32_t word = 0; word < 3; ++word) {
    if (byte != static_cast<uint8_t>(KeywordFamily::text(word)[0])) continue;
    const ValueId value = literal_value(word, regs);
    return record(to, {value, holds_value(suspects, value, regs) ? 1U : 0U}, regs);
  }
  if (byte != '[' && byte != '{') return read_number(to, others_of(suspects, regs), {}, byte, regs);
  const std::vector<ValueId> others = others_in(suspects, regs);
  if (byte == '[') {
    const Reg arrays = chain_of(others, regs, [&](ValueId v) { return is_array(v, regs); });
    return record(to, {0, arrays, 0}, regs);
  }
  const Reg objects = chain_of(others, regs, [&](ValueId v) { return is_object(v, regs); });
  return record(to, {object_value({}, regs), objects, 0}, regs);
}

// In a mask walk: a string of any text can always go on to one that differs from all others, and
// ends where the array is unsure. Other values are not followed.
Target RecordFamily::begin_unknown(const Target& to, uint8_t byte, RegisterPool& regs) {
  if (byte == '"') {
    if (store_.free_run(to.state).text.escapes &&
        (store_.state(to.state).flags & kHasRegister) == 0)
      return to;
  }
  regs.note_unsure();
  return {};
}

Target RecordFamily::read_text(const Target& to, Words reg, bool is_name, uint8_t byte,
                               RegisterPool& regs) {
  if (store_.state(to.state).family == FamilyId::kDone) {
    return {to.state, is_name ? reg[kText] : string_value(reg[kText], regs)};
  }
  std::vector<uint32_t> words{reg[kSpelling], reg[kSpellingValue], reg[kText], reg[kTexts]};
  if (reg[kSpelling] == kBeforeQuote) {
    words[0] = static_cast<uint32_t>(Spelling::kBetween);
    return record(to, words, regs);
  }
  const auto [next, value] = spell({static_cast<Spelling>(words[0]), words[1]}, byte);
  const bool whole = next == Spelling::kBetween;
  words[0] = static_cast<uint32_t>(next);
  words[1] = whole ? 0 : value;
  if (whole) {
    words[2] = append_to_name(words[2], value, regs);
    words[3] = names_behind(words[3], value, regs);
  } else {
    const Reach possible = reach(next, value);
    const bool any = begins_within(words[3], possible.first, regs) ||
                     begins_within(words[3], possible.second, regs);
    if (!any) words[3] = 0;
  }
  return record(to, words, regs);
}

Target RecordFamily::read_number(const Target& to, Reg suspects, NumberReader reader, uint8_t byte,
                                 RegisterPool& regs) {
  reader.read(byte, regs);
  Target done;
  if ((store_.state(to.state).flags & kReturnOnly) != 0 &&
      returns(to, reader.value(regs), regs, done)) {
    return done;
  }
  std::vector<uint32_t> words{suspects};
  reader.encode(words);
  return record(to, std::move(words), regs);
}

Target RecordFamily::read_array(const Target& to, Words reg, uint8_t byte, RegisterPool& regs) {
  if (byte == ']') {
    Target done;
    if (returns(to, array_value(reg[kItems], regs), regs, done)) return done;
  }
  return record(to, {reg[kItems], reg[kArrays], reg[kCount]}, regs);
}

Target RecordFamily::read_object(const Target& to, Words reg, uint8_t byte, RegisterPool& regs) {
  if (byte == '}') {
    Target done;
    if (returns(to, reg[kMembers], regs, done)) return done;
  }
  return record(to, {reg[kMembers], reg[kObjects], reg[kName]}, regs);
}

// --- calls --------------------------------------------------------------------------------------

// What the suspects have in the place of the value that comes next.
std::vector<ValueId> RecordFamily::suspects_below(FamilyId kind, Words reg,
                                                  const RegisterPool& regs) const {
  std::vector<ValueId> below;
  if (kind == FamilyId::kArray) {
    for (const ValueId array : chain_links(reg[kArrays], regs)) {
      const std::vector<ValueId> items = items_of(array, regs);
      if (items.size() > reg[kCount]) below.push_back(items[reg[kCount]]);
    }
  } else {
    for (const ValueId object : chain_links(reg[kObjects], regs)) {
      const ValueId value = member_of(object, reg[kName], regs);
      if (value != kNoValue) below.push_back(value);
    }
  }
  return below;
}

void RecordFamily::callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) {
  const StateId from = inside(state);
  const Words words = regs.get(reg);
  const State& plain = store_.state(from);
  std::vector<Target> own;
  if (plain.callee != kDead) {
    own.push_back({plain.callee, 0});
  } else {
    store_.family(plain.family).callees(from, inner(words), regs, own);
  }
  if (regs.memory() == RegisterPool::Memory::kIgnored) {
    out.insert(out.end(), own.begin(), own.end());
    return;
  }
  if (plain.family == FamilyId::kObject && words[kName] == 0) {
    call_name(words, regs, own);
    out.insert(out.end(), own.begin(), own.end());
    return;
  }
  const std::vector<ValueId> suspects = suspects_below(plain.family, words, regs);
  for (const Target& callee : own) {
    if (callee.state != kDead) out.push_back(call(callee, suspects, regs));
  }
}

Target RecordFamily::call(const Target& callee, std::span<const ValueId> suspects,
                          RegisterPool& regs) {
  // The item of an array of unique items is recorded already, and has suspects of its own.
  const bool is_recorded = kind(callee.state) == FamilyId::kRecord;
  Reg set = is_recorded ? regs.get(callee.reg)[1] : 0;
  for (const ValueId value : suspects) set = add_value(set, value, regs);
  return start(is_recorded ? inside(callee.state) : callee.state, set, regs);
}

// Tells names from those that suspects have and the object does not.
void RecordFamily::call_name(Words reg, RegisterPool& regs, std::vector<Target>& out) {
  Reg names = 0;
  for (const ValueId object : chain_links(reg[kObjects], regs)) {
    for (const MemberValue& member : members_of(object, regs)) {
      if (member_of(reg[kMembers], member.name, regs) == kNoValue) {
        names = add_name(names, member.name, regs);
      }
    }
  }
  for (Target& callee : out) {
    if (callee.state != kDead) {
      callee = record(callee, {kBeforeQuote, 0, empty_name(regs), names}, regs);
    }
  }
}

Target RecordFamily::resume(StateId state, Reg reg, SetId accepted, Reg returned,
                            RegisterPool& regs) {
  const StateId from = inside(state);
  const Words words = regs.get(reg);
  Family& family = store_.family(kind(from));
  if (regs.memory() == RegisterPool::Memory::kIgnored) {
    return family.resume(from, inner(words), accepted, 0, regs);
  }
  const bool at_name = kind(from) == FamilyId::kObject && words[kName] == 0;
  const ValueId value = at_name ? returned : value_of(returned, regs);
  const Target to = family.resume(from, inner(words), accepted, value, regs);
  if (to.state == kDead) return {};
  if (at_name) return take_name(to, words, returned, regs);
  return kind(from) == FamilyId::kArray ? take_item(to, words, value, regs)
                                        : take_member(to, words, value, regs);
}

Target RecordFamily::take_item(const Target& to, Words reg, ValueId value, RegisterPool& regs) {
  const Reg arrays = chain_of(chain_links(reg[kArrays], regs), regs, [&](ValueId array) {
    const std::vector<ValueId> items = items_of(array, regs);
    return items.size() > reg[kCount] && items[reg[kCount]] == value;
  });
  const Reg items = append_to_chain(reg[kItems], value, regs);
  return record(to, {items, arrays, reg[kCount] + 1}, regs);
}

Target RecordFamily::take_name(const Target& to, Words reg, Reg name, RegisterPool& regs) {
  const Reg objects = chain_of(chain_links(reg[kObjects], regs), regs, [&](ValueId object) {
    return member_of(object, name, regs) != kNoValue;
  });
  return record(to, {reg[kMembers], objects, name}, regs);
}

Target RecordFamily::take_member(const Target& to, Words reg, ValueId value, RegisterPool& regs) {
  const Reg objects = chain_of(chain_links(reg[kObjects], regs), regs, [&](ValueId object) {
    return member_of(object, reg[kName], regs) == value;
  });
  std::vector<MemberValue> members = members_of(reg[kMembers], regs);
  members.push_back({reg[kName], value});
  return record(to, {object_value(std::move(members), regs), objects, 0}, regs);
}

bool RecordFamily::completions(StateId state, Reg reg, RegisterPool& regs,
                               std::vector<Completion>& out) {
  const StateId from = inside(state);
  if (kind(from) != FamilyId::kNumber) return false;
  numbers_.completions(from, regs.get(reg), regs, out);
  return true;
}

// --- suspects -----------------------------------------------------------------------------------

bool RecordFamily::suspect(StateId state, Reg reg, const RegisterPool& regs,
                           std::bitset<256>& next) {
  const StateId from = inside(state);
  const Words words = regs.get(reg);
  bool any = false;
  switch (kind(from)) {
    case FamilyId::kValue: return suspect_value(words, regs, next);
    case FamilyId::kString:
    case FamilyId::kKey: {
      Guard guard;
      if (kind(from) == FamilyId::kKey && (store_.state(from).flags & kGuarded) != 0 &&
          store_.family(FamilyId::kKey).guard(from, words[0], regs, guard)) {
        next |= guard.next;
      }
      if (words[kTexts] == 0) return false;
      if (words[kSpelling] == static_cast<uint32_t>(Spelling::kBetween)) {
        next |= first_bytes(words[kTexts], regs);
        return true;
      }
      any = true;
      break;
    }
    case FamilyId::kNumber: return numbers_.suspect(from, words, regs, next);
    case FamilyId::kArray:
      any = words[kArrays] != 0;
      if ((store_.state(from).flags & kSuspects) != 0) {
        any = store_.family(FamilyId::kArray).suspect(from, words[0], regs, next) || any;
      }
      break;
    case FamilyId::kObject: any = words[kObjects] != 0; break;
    default: any = words[2] != 0; break;
  }
  if (any) next.set();
  return any;
}

// Before a value: the bytes with which a suspect can begin.
bool RecordFamily::suspect_value(Words reg, const RegisterPool& regs,
                                 std::bitset<256>& next) const {
  if (reg[1] == 0) return false;
  if (strings_in(reg[1], regs) != 0) next.set('"');
  if (!others_in(reg[1], regs).empty()) {
    for (const char c : std::string_view("[{-0123456789tfn")) next.set(static_cast<uint8_t>(c));
  }
  for (const char c : std::string_view(" \t\n\r")) next.set(static_cast<uint8_t>(c));
  return true;
}

}  // namespace maskwright

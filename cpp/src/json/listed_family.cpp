#include "json/listed_family.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "json/value_family.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

using Kind = ListedValues::Kind;

namespace {

bool has_bit(std::span<const uint32_t> words, uint32_t bit) {
  return bit / 32 < words.size() && (words[bit / 32] >> bit % 32 & 1) != 0;
}

uint32_t count_bits(std::span<const uint32_t> words) {
  uint32_t count = 0;
  for (const uint32_t word : words) count += static_cast<uint32_t>(std::popcount(word));
  return count;
}

}  // namespace

// --- groups -------------------------------------------------------------------------------------

uint32_t ListedFamily::size_of(const Group& group, uint32_t value) const {
  const std::size_t words = tables_.listed.content(value).size();
  return static_cast<uint32_t>(group.object ? words / 2 : words);
}

uint32_t ListedFamily::group(uint32_t options, uint32_t position,
                             std::span<const Candidate> candidates) {
  std::vector<uint32_t> words{options, position};
  words.reserve(2 + candidates.size() * 2);
  for (const auto& [value, accepts] : candidates) words.insert(words.end(), {value, accepts});
  const auto [id, inserted] = group_ids_.intern(words);
  if (!inserted) return id;
  auto group = std::make_unique<Group>();
  group->options = options;
  group->position = position;
  group->object = tables_.listed.kind(candidates[0].value) == Kind::kObject;
  group->by_name = group->object && tables_.options.get(options).any_order;
  group->candidates.assign(candidates.begin(), candidates.end());
  work_ += candidates.size();
  find_ends(*group);
  if (group->object) find_names(*group);
  group->next.resize(group->object ? group->names.size() : 1);
  groups_.push_back(std::move(group));
  return id;
}

void ListedFamily::find_ends(Group& group) const {
  std::vector<std::pair<uint32_t, SetId>> by_size;
  for (const auto& [value, accepts] : group.candidates) {
    by_size.emplace_back(size_of(group, value), accepts);
  }
  make_set(by_size);
  std::vector<uint32_t> ids;
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    const auto [size, accepts] = by_size[i];
    const auto set = tables_.store.set(accepts);
    ids.insert(ids.end(), set.begin(), set.end());
    if (i + 1 < by_size.size() && by_size[i + 1].first == size) continue;
    make_set(ids);
    group.ends.emplace_back(size, tables_.store.intern_set(ids));
    ids.clear();
  }
}

void ListedFamily::find_names(Group& group) {
  std::vector<uint32_t>& names = group.names;
  std::span<const uint32_t> before;
  const auto same_name = [&](std::size_t i, std::span<const uint32_t> content) {
    return i < before.size() && before[i] == content[i];
  };
  for (const Candidate& candidate : group.candidates) {
    const auto content = tables_.listed.content(candidate.value);
    for (std::size_t i = 0; i < content.size(); i += 2) {
      if (!group.by_name && i != std::size_t{group.position} * 2) continue;
      if (!same_name(i, content)) names.push_back(content[i]);
    }
    before = content;
  }
  make_set(names);
  // The order of UTF-8 bytes is the order of code points.
  std::ranges::sort(names, {}, [&](uint32_t name) { return tables_.listed.text(name); });
  std::vector<std::string> texts;
  for (const uint32_t name : names) texts.emplace_back(tables_.listed.text(name));
  group.key_state = tables_.names->start(tables_.names->key_list(texts, {}));
}

StateId ListedFamily::start(uint32_t options, std::span<const Candidate> candidates) {
  return at(group(options, 0, candidates), kOpen);
}

// Lists that are long are sorted by what comes next ahead of masks, as long as that is in
// proportion.
void ListedFamily::prepare(StateId value) {
  constexpr uint64_t kMaxWork = 150'000;
  constexpr std::size_t kFewNames = 16;
  const uint64_t most = work_ + kMaxWork;
  std::vector<StateId> values{value};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const Edge& edge : tables_.store.row(values[i]).edges) {
      if (tables_.store.state(edge.target).family != FamilyId::kListed) continue;
      Group& group = *position(edge.target).group;
      if (group.candidates.size() < kMany || group.next.size() > kFewNames) continue;
      for (uint32_t name = 0; name < group.next.size(); ++name) {
        check_stop();
        if (work_ + group.candidates.size() > most) return;
        values.push_back(next_of(group, name).value);
      }
    }
  }
}

// --- what comes next ----------------------------------------------------------------------------

// What a value has at the place: {value}, or {name, value}; nothing if it has not that.
std::span<const uint32_t> ListedFamily::place_of(const Group& group, uint32_t value,
                                                 uint32_t name) const {
  const auto content = tables_.listed.content(value);
  const std::size_t width = group.object ? 2 : 1;
  if (!group.by_name) {
    const std::size_t begin = group.position * width;
    if (begin >= content.size()) return {};
    const auto found = content.subspan(begin, width);
    return group.object && found[0] != group.names[name] ? std::span<const uint32_t>() : found;
  }
  std::size_t low = 0;
  std::size_t high = content.size() / 2;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (content[middle * 2] < group.names[name]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low * 2 == content.size() || content[low * 2] != group.names[name]) return {};
  return content.subspan(low * 2, 2);
}

// Whether two candidates that have something at the place differ in nothing else that is still to
// come, nor in what they satisfy.
bool ListedFamily::same_rest(const Group& group, const Candidate& a, const Candidate& b,
                             uint32_t name) const {
  if (a.accepts != b.accepts) return false;
  const auto left = tables_.listed.content(a.value);
  const auto right = tables_.listed.content(b.value);
  const auto end_of_place = [&](std::span<const uint32_t> of, const Candidate& candidate) {
    const auto place = place_of(group, candidate.value, name);
    return of.subspan(static_cast<std::size_t>(place.data() - of.data()) + place.size());
  };
  const auto left_end = end_of_place(left, a);
  if (!std::ranges::equal(left_end, end_of_place(right, b))) return false;
  if (!group.by_name) return true;
  return std::ranges::equal(left.first(left.size() - left_end.size() - 2),
                            right.first(right.size() - left_end.size() - 2));
}

uint64_t ListedFamily::hash_of_rest(const Group& group, const Candidate& of, uint32_t name) const {
  const auto content = tables_.listed.content(of.value);
  const auto place = place_of(group, of.value, name);
  const auto begin = static_cast<std::size_t>(place.data() - content.data());
  const uint64_t before = group.by_name ? hash_words(content.first(begin), of.accepts) : of.accepts;
  return hash_words(content.subspan(begin + place.size()), before);
}

const ListedFamily::Next& ListedFamily::next_of(Group& group, uint32_t name) {
  Next& next = group.next[name];
  if (next.value != kDead) return next;
  std::vector<std::pair<uint32_t, uint32_t>> by_value;  // with the candidate
  for (uint32_t i = 0; i < group.candidates.size(); ++i) {
    const auto place = place_of(group, group.candidates[i].value, name);
    if (!place.empty()) by_value.emplace_back(place.back(), i);
  }
  work_ += group.candidates.size();
  if (!std::ranges::is_sorted(by_value)) std::ranges::sort(by_value);
  std::vector<uint32_t> choice;
  choice.reserve(by_value.size() * 2);
  // Labels of one candidate, by what is left of it: label + 1, in the first free place from the
  // hash on.
  std::vector<uint32_t> slots(std::bit_ceil(by_value.size() * 2 + 1), 0);
  const auto label_of = [&](const Candidate& only) {
    std::size_t slot = hash_of_rest(group, only, name) & (slots.size() - 1);
    for (; slots[slot] != 0; slot = (slot + 1) & (slots.size() - 1)) {
      const uint32_t label = slots[slot] - 1;
      if (same_rest(group, only, next.candidates[next.ends[label] - 1], name)) return label;
    }
    const auto label = static_cast<uint32_t>(next.ends.size());
    next.candidates.push_back(only);
    next.ends.push_back(static_cast<uint32_t>(next.candidates.size()));
    slots[slot] = label + 1;
    return label;
  };
  for (std::size_t begin = 0, end = 0; begin < by_value.size(); begin = end) {
    while (end < by_value.size() && by_value[end].first == by_value[begin].first) ++end;
    uint32_t label = 0;
    if (end - begin == 1) {
      label = label_of(group.candidates[by_value[begin].second]);
    } else {
      label = static_cast<uint32_t>(next.ends.size());
      for (std::size_t i = begin; i < end; ++i) {
        next.candidates.push_back(group.candidates[by_value[i].second]);
      }
      next.ends.push_back(static_cast<uint32_t>(next.candidates.size()));
    }
    choice.insert(choice.end(), {by_value[begin].first, label});
  }
  next.groups.assign(next.ends.size(), kNone);
  const uint32_t callee = choices_.intern(choice).id | kListedTag;
  next.value = tables_.values->start(group.options, true, {&callee, 1});
  return next;
}

uint32_t ListedFamily::next_group(uint32_t from, uint32_t name, uint32_t label) {
  Next& next = groups_[from]->next[name];
  if (next.groups[label] != kNone) return next.groups[label];
  const uint32_t begin = label == 0 ? 0 : next.ends[label - 1];
  const auto candidates = std::span(next.candidates).subspan(begin, next.ends[label] - begin);
  const Group& group = *groups_[from];
  const uint32_t position = group.by_name ? 0 : group.position + 1;
  const uint32_t made = this->group(group.options, position, candidates);
  next.groups[label] = made;
  return made;
}

// --- states -------------------------------------------------------------------------------------

StateId ListedFamily::at(uint32_t group, uint32_t phase, uint32_t name, uint32_t bytes) {
  const std::array<uint32_t, 4> content{group, phase, name, bytes};
  return tables_.store.intern(FamilyId::kListed, content);
}

ListedFamily::Position ListedFamily::position(StateId state) const {
  const auto content = tables_.store.content(state);
  return {groups_[content[0]].get(), content[0], content[1], content[2], content[3]};
}

// The state after so many bytes of the item separator.
StateId ListedFamily::before_next(uint32_t group, uint32_t bytes) {
  const Group& of = *groups_[group];
  if (bytes != options(of).item_separator.size()) return at(group, kSeparator, 0, bytes);
  return at(group, of.object ? kName : kValue);
}

// The state after so many bytes of the key separator.
StateId ListedFamily::before_value(uint32_t group, uint32_t name, uint32_t bytes) {
  if (bytes != options(*groups_[group]).key_separator.size()) {
    return at(group, kLabel, name, bytes);
  }
  return at(group, kValue, name);
}

// The state after the bracket of a value of that size; kDead if there is none.
StateId ListedFamily::close(const Group& group, uint32_t size) const {
  const auto end = std::ranges::lower_bound(group.ends, std::pair<uint32_t, SetId>(size, 0));
  if (end == group.ends.end() || end->first != size) return kDead;
  return tables_.store.done(end->second);
}

void ListedFamily::describe(std::span<const uint32_t> content, State& state) {
  Group& group = *groups_[content[0]];
  const JsonOptions& layout = options(group);
  const uint32_t phase = content[1];
  uint16_t flags = 0;
  if (group.by_name && phase != kOpen) flags |= kHasRegister | kPooledRegister;
  // Before a value the whitespace is read by the value, but for that before an array's first one,
  // since a bracket may follow.
  if (layout.whitespace && phase != kValue && phase != kLabel && phase != kSeparator) {
    flags |= kWhitespace;
    state.whitespace_limit = layout.max_whitespace;
  }
  const bool more = group.ends.back().first > group.position;
  if (phase == kName || (phase == kOpen && more)) flags |= kCalls;
  if (phase == kValue) {
    flags |= kCalls;
    state.callee = next_of(group, content[2]).value;
  }
  state.flags = flags;
}

void ListedFamily::expand(StateId state, RowBuilder& row) {
  const Position here = position(state);
  const Group& group = *here.group;
  const JsonOptions& layout = options(group);
  const uint8_t bracket = group.object ? '}' : ']';
  const auto separator = static_cast<uint8_t>(layout.item_separator[here.bytes]);
  switch (here.phase) {
    case kAfterName:
    case kLabel: {
      const auto byte = static_cast<uint8_t>(layout.key_separator[here.bytes]);
      row.add(byte, byte, before_value(here.id, here.name, here.bytes + 1));
      return;
    }
    case kSeparator: row.add(separator, separator, before_next(here.id, here.bytes + 1)); return;
    case kOpen:
    case kAfterValue: {
      if (here.phase == kAfterValue && group.by_name) {
        row.add(bracket, bracket, kDead, Op::kDynamic);
        row.add(separator, separator, kDead, Op::kDynamic);
        return;
      }
      const StateId done = close(group, group.position);
      if (done != kDead) row.add(bracket, bracket, done);
      if (here.phase == kAfterValue && group.ends.back().first > group.position) {
        row.add(separator, separator, before_next(here.id, 1));
      }
      return;
    }
    default: return;
  }
}

// --- steps --------------------------------------------------------------------------------------

// Behind a member of an object whose keys come in any order.
Target ListedFamily::scan(StateId state, Reg reg, uint8_t byte, StateId /*edge_target*/,
                          RegisterPool& regs) {
  const Position here = position(state);
  const uint32_t size = count_bits(regs.get(reg));
  if (byte == '}') return {close(*here.group, size), 0};
  if (here.group->ends.back().first <= size) return {};
  return {before_next(here.id, 1), reg};
}

void ListedFamily::callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) {
  const Position here = position(state);
  Group& group = *here.group;
  if (!group.object) {
    const auto content = tables_.store.content(next_of(group, 0).value);
    out.push_back({tables_.values->start(group.options, false, content.subspan(1)), 0});
    return;
  }
  const auto seen = regs.get(reg);
  std::vector<uint32_t> allowed(1 + (group.names.size() + 31) / 32, 0);
  for (uint32_t name = 0; name < group.names.size(); ++name) {
    if (!group.by_name || !has_bit(seen, name)) allowed[1 + name / 32] |= 1U << name % 32;
  }
  out.push_back({group.key_state, regs.intern(allowed)});
}

Target ListedFamily::resume(StateId state, Reg reg, SetId accepted, Reg /*returned*/,
                            RegisterPool& regs) {
  if (accepted == kEmptySet) return {};
  const Position here = position(state);
  const uint32_t found = tables_.store.set(accepted)[0] & ~kListedTag;
  const bool named = here.group->object && here.phase != kValue;
  if (named) return {at(here.id, kAfterName, found), reg};
  next_of(*here.group, here.name);
  const uint32_t next = next_group(here.id, here.name, found);
  const Reg names =
      here.group->by_name ? read_names(*here.group, reg, here.name, *groups_[next], regs) : reg;
  return {at(next, kAfterValue), names};
}

// The register of the next group: what was read before, and the name.
Reg ListedFamily::read_names(const Group& from, Reg reg, uint32_t name, const Group& to,
                             RegisterPool& regs) const {
  const auto seen = regs.get(reg);
  std::vector<uint32_t> bits((to.names.size() + 31) / 32, 0);
  for (uint32_t i = 0; i < from.names.size(); ++i) {
    if (i != name && !has_bit(seen, i)) continue;
    const auto at =
        std::ranges::lower_bound(to.names, tables_.listed.text(from.names[i]), {},
                                 [&](uint32_t other) { return tables_.listed.text(other); });
    const auto bit = static_cast<uint32_t>(at - to.names.begin());
    bits[bit / 32] |= 1U << bit % 32;
  }
  while (!bits.empty() && bits.back() == 0) bits.pop_back();
  return regs.intern(bits);
}

}  // namespace maskwright

#include "json/listed_values.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "json/decimal.h"
#include "json/schema_branches.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

// With these every text, number and separator of single spaces can be spelled, if only by escapes.
bool spells_printable(const std::array<bool, 256>& spellable) {
  return std::all_of(spellable.begin() + ' ', spellable.begin() + 0x7F,
                     [](bool can) { return can; });
}

}  // namespace

ListedValues::ListedValues(const Ir& ir, const OptionsTable& options,
                           const std::array<bool, 256>& spellable)
    : ir_(ir), options_(options), spells_ascii_(spells_printable(spellable)) {}

// Items that must differ are recorded (record_family.h), and `contains` counts all answers that an
// item gives at once; neither goes with lists.
bool ListedValues::can_list(const JsonOptions& options) {
  if (!asked_) {
    asked_ = true;
    listable_ = spells_ascii_;
    for (uint32_t node = 0; node < ir_.num_nodes() && listable_; ++node) {
      const NodeKind kind = ir_.node_kind(node);
      listable_ = kind != NodeKind::kUniqueItems && kind != NodeKind::kContains;
    }
  }
  return listable_ && options.can_separate && options.can_label;
}

uint32_t ListedValues::list(uint32_t options, uint32_t node, uint32_t types) {
  if (!can_list(options_.get(options))) return kNone;
  const bool any_order = options_.get(options).any_order;
  types &= uint32_t{kArrayType} | uint32_t{kObjectType};
  const uint64_t key = (uint64_t{node} * 2 + (any_order ? 1 : 0)) * (kAllTypes + 1) + types;
  const auto [made, added] = made_.try_emplace(key, kNone);
  if (!added) return made->second;
  std::vector<uint32_t> values;
  uint32_t met = 0;
  for (const uint32_t child : enum_nodes(ir_, node)) {
    const uint32_t value = of(child, readers_[any_order ? 1 : 0]);
    if (value == kNone || kind(value) < Kind::kArray) return kNone;
    const uint32_t type = kind(value) == Kind::kArray ? kArrayType : kObjectType;
    if ((types & type) == 0) continue;
    values.push_back(value);
    met |= type;
  }
  make_set(values);
  const auto [list, is_new] = lists_.intern(values);
  if (is_new) types_.push_back(met);
  made->second = list;
  return made->second;
}

std::string_view ListedValues::text(uint32_t value) const {
  const auto words = interned_.get(value);
  return {reinterpret_cast<const char*>(words.data() + 1), words[0]};
}

uint32_t ListedValues::intern(Kind kind, std::span<const uint32_t> content) {
  const auto [id, inserted] = interned_.intern(content, static_cast<uint32_t>(kind));
  if (inserted) kinds_.push_back(kind);
  return id;
}

uint32_t ListedValues::intern_text(Kind kind, std::string_view text) {
  words_.assign(1 + (text.size() + 3) / 4, 0);
  words_[0] = static_cast<uint32_t>(text.size());
  if (!text.empty()) std::memcpy(words_.data() + 1, text.data(), text.size());
  return intern(kind, words_);
}

// --- reading schemas back -----------------------------------------------------------------------

// The value that a node accepts and no other; kNone if that can't be told.
uint32_t ListedValues::of(uint32_t root, Reader& reader) {
  std::vector<uint32_t>& values = reader.values;
  if (values.empty()) values.assign(ir_.num_nodes(), kNotAsked);
  std::vector<uint32_t> stack{root};
  while (!stack.empty()) {
    check_stop();
    const uint32_t node = stack.back();
    if (values[node] != kNotAsked && values[node] != kOpen) {
      stack.pop_back();
      continue;
    }
    reader.missing.clear();
    const uint32_t value = make(node, reader);
    if (reader.missing.empty()) {
      values[node] = value;
      stack.pop_back();
    } else {
      values[node] = kOpen;
      stack.insert(stack.end(), reader.missing.begin(), reader.missing.end());
    }
  }
  return values[root];
}

// The value of a node inside the one at hand; kNone if it is none, or not known yet.
uint32_t ListedValues::inside(uint32_t node, Reader& reader) {
  const uint32_t value = reader.values[node];
  if (value == kNotAsked) reader.missing.push_back(node);
  return value < kOpen ? value : kNone;  // a node inside itself is no value
}

// Notes in `missing` the nodes inside that must be known first.
uint32_t ListedValues::make(uint32_t node, Reader& reader) {
  const NodeKind kind = ir_.node_kind(node);
  if (kind == NodeKind::kEnum) return make_scalar(node);
  if (kind != NodeKind::kAllOf) return kNone;
  uint32_t types = 0, array = kNone, count = kNone, object = kNone, required = kNone;
  const auto payload = ir_.node(node);
  for (const uint32_t child : payload.subspan(1, payload[0])) {
    switch (ir_.node_kind(child)) {
      case NodeKind::kTypes: types = ir_.node(child)[0]; break;
      case NodeKind::kArray: array = child; break;
      case NodeKind::kItemCount: count = child; break;
      case NodeKind::kObject: object = child; break;
      case NodeKind::kRequired: required = child; break;
      default: return kNone;
    }
  }
  const uint32_t size = payload[0];
  if (types == kArrayType && array != kNone && count != kNone && size == 3) {
    return make_array(array, count, reader);
  }
  if (types == kObjectType && object != kNone && size == (required == kNone ? 2 : 3)) {
    return make_object(object, required, reader);
  }
  return kNone;
}

uint32_t ListedValues::make_scalar(uint32_t node) {
  WordReader reader(ir_.node(node));
  const uint32_t literals = reader.next();
  const uint32_t num_numbers = reader.next();
  const auto numbers = reader.take(std::size_t{num_numbers} * 2);
  const uint32_t num_strings = reader.next();
  const auto strings = reader.take(std::size_t{num_strings} * 2);
  const uint32_t num_nodes = reader.next();
  const uint32_t few = num_numbers + num_strings + num_nodes;
  if (few == 0 && literals == kEnumNull) return intern(Kind::kNull, {});
  if (few == 0 && literals == kEnumFalse) return intern(Kind::kFalse, {});
  if (few == 0 && literals == kEnumTrue) return intern(Kind::kTrue, {});
  if (literals != 0 || few != 1 || num_nodes != 0) return kNone;
  if (num_strings == 1) return intern_text(Kind::kString, ir_.bytes(strings[0], strings[1]));
  const langs::Decimal number = langs::parse_decimal(ir_.bytes(numbers[0], numbers[1]));
  return intern_text(Kind::kNumber, langs::canonical_text(number));
}

uint32_t ListedValues::make_array(uint32_t node, uint32_t count, Reader& reader) {
  const auto payload = ir_.node(node);
  const uint32_t length = payload[0];
  const uint32_t rest = payload[1 + length];
  const auto bounds = ir_.node(count);
  if (bounds[0] != length || bounds[1] != length) return kNone;
  if (rest == kNone || ir_.node_kind(rest) != NodeKind::kNever) return kNone;
  std::vector<uint32_t> items;
  bool all = true;
  for (const uint32_t item : payload.subspan(1, length)) {
    items.push_back(inside(item, reader));
    all = all && items.back() != kNone;
  }
  return all ? intern(Kind::kArray, items) : kNone;
}

uint32_t ListedValues::make_object(uint32_t node, uint32_t required, Reader& reader) {
  WordReader object(ir_.node(node));
  const uint32_t size = object.next();
  const auto entries = object.take(std::size_t{size} * 3);
  const uint32_t patterns = object.next();
  const uint32_t rest = patterns == 0 ? object.next() : kNone;
  if (rest == kNone || ir_.node_kind(rest) != NodeKind::kNever) return kNone;
  if ((required == kNone ? 0 : ir_.node(required)[0]) != size) return kNone;
  std::vector<std::pair<uint32_t, uint32_t>> members;
  bool all = true;
  for (uint32_t i = 0; i < size; ++i) {
    const auto entry = entries.subspan(std::size_t{i} * 3, 3);
    const std::string_view name = ir_.bytes(entry[0], entry[1]);
    const auto needed = ir_.node(required).subspan(1 + std::size_t{i} * 2, 2);
    if (ir_.bytes(needed[0], needed[1]) != name) return kNone;
    members.emplace_back(intern_text(Kind::kString, name), inside(entry[2], reader));
    all = all && members.back().second != kNone;
  }
  if (!all) return kNone;
  auto sorted = members;
  std::ranges::sort(sorted);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (std::ranges::adjacent_find(sorted, same_name) != sorted.end()) return kNone;
  std::vector<uint32_t> content;
  for (const auto& [name, value] : reader.any_order ? sorted : members) {
    content.insert(content.end(), {name, value});
  }
  return intern(Kind::kObject, content);
}

}  // namespace maskwright

#include "maskwright/ir/builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace maskwright {

namespace {

constexpr std::size_t kMaxShared = 8;  // longer lists of texts are written as they are
constexpr std::size_t kFirstSlots = 64;
std::string_view as_bytes(std::span<const uint32_t> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

uint32_t hash_of(std::string_view bytes) {
  const std::size_t hash = std::hash<std::string_view>{}(bytes);
  return static_cast<uint32_t>(hash ^ (hash >> 16 >> 16));
}

[[noreturn]] void wrong(const std::string& what) { throw std::invalid_argument(what); }

void check_ids(std::span<const uint32_t> ids, std::size_t count, const char* what) {
  for (const uint32_t id : ids) {
    if (id >= count) wrong(std::string("unknown ") + what + " id " + std::to_string(id));
  }
}

}  // namespace

template <typename Equal>
std::pair<uint32_t, bool> IrBuilder::Table::find_or_add(const Entry& wanted, Equal equal) {
  if (entries.size() * 2 >= slots.size()) grow();
  const std::size_t mask = slots.size() - 1;
  std::size_t at = wanted.hash & mask;
  for (; slots[at] != 0; at = (at + 1) & mask) {
    const Entry& entry = entries[slots[at] - 1];
    if (entry.hash == wanted.hash && entry.length == wanted.length && equal(entry)) {
      return {slots[at] - 1, false};
    }
  }
  entries.push_back(wanted);
  slots[at] = static_cast<uint32_t>(entries.size());
  return {slots[at] - 1, true};
}

void IrBuilder::Table::grow() {
  const std::size_t size = std::max(kFirstSlots, slots.size() * 2);
  slots.assign(size, 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::size_t at = entries[i].hash & (size - 1);
    while (slots[at] != 0) at = (at + 1) & (size - 1);
    slots[at] = static_cast<uint32_t>(i + 1);
  }
}

IrBuilder::IrBuilder() {
  words_.reserve(256);
  bytes_.reserve(256);
}

IrBuilder::Ref IrBuilder::bytes_ref(std::string_view bytes) {
  if (bytes_.size() + bytes.size() >= kNone) wrong("more than 4 GiB of texts");
  const Table::Entry wanted{hash_of(bytes), static_cast<uint32_t>(bytes_.size()),
                            static_cast<uint32_t>(bytes.size()), 0};
  const auto [index, added] = byte_refs_.find_or_add(wanted, [&](const Table::Entry& entry) {
    return std::memcmp(bytes_.data() + entry.offset, bytes.data(), bytes.size()) == 0;
  });
  if (added) bytes_ += bytes;
  return {byte_refs_.entries[index].offset, wanted.length};
}

std::vector<IrBuilder::Ref> IrBuilder::texts(std::span<const std::string_view> texts) {
  std::vector<Ref> refs;
  refs.reserve(texts.size());
  if (texts.size() <= kMaxShared) {
    for (const std::string_view text : texts) {
      const Ref ref = bytes_ref(text);
      const bool known = std::ranges::any_of(
          refs, [&](Ref r) { return r.offset == ref.offset && r.length == ref.length; });
      if (!known) refs.push_back(ref);
    }
    return refs;
  }
  Table unique;
  for (const std::string_view text : texts) {
    if (bytes_.size() + text.size() >= kNone) wrong("more than 4 GiB of texts");
    const Table::Entry wanted{hash_of(text), static_cast<uint32_t>(bytes_.size()),
                              static_cast<uint32_t>(text.size()), 0};
    const auto [index, added] = unique.find_or_add(wanted, [&](const Table::Entry& entry) {
      return std::memcmp(bytes_.data() + entry.offset, text.data(), text.size()) == 0;
    });
    if (!added) continue;
    bytes_ += text;
    refs.push_back({wanted.offset, wanted.length});
  }
  return refs;
}

uint32_t IrBuilder::append(Records& records, std::span<const uint32_t> record) {
  if (words_.size() + record.size() >= kNone) wrong("more than 2**32 words");
  records.offsets.push_back(static_cast<uint32_t>(words_.size()));
  put(record);
  return static_cast<uint32_t>(records.offsets.size() - 1);
}

uint32_t IrBuilder::share(Records& records, std::span<const uint32_t> record) {
  const Table::Entry wanted{hash_of(as_bytes(record)), static_cast<uint32_t>(words_.size()),
                            static_cast<uint32_t>(record.size()),
                            static_cast<uint32_t>(records.offsets.size())};
  const auto [index, added] = records.shared.find_or_add(wanted, [&](const Table::Entry& entry) {
    return std::equal(record.begin(), record.end(), words_.begin() + entry.offset);
  });
  if (added) append(records, record);
  return records.shared.entries[index].id;
}

uint32_t IrBuilder::add_fragment(const IrFragment& fragment) {
  if (words_.size() + fragment.words.size() >= kNone) wrong("more than 2**32 words");
  if (bytes_.size() + fragment.bytes.size() >= kNone) wrong("more than 4 GiB of texts");
  const auto first_word = static_cast<uint32_t>(words_.size());
  const auto first_byte = static_cast<uint32_t>(bytes_.size());
  const uint32_t first_expr = num_exprs();
  put(fragment.words);
  for (const uint32_t at : fragment.expr_words) words_[first_word + at] += first_expr;
  for (const uint32_t at : fragment.byte_words) words_[first_word + at] += first_byte;
  exprs_.offsets.reserve(first_expr + fragment.offsets.size());
  for (const uint32_t offset : fragment.offsets) exprs_.offsets.push_back(first_word + offset);
  bytes_ += fragment.bytes;
  return first_expr + fragment.root;
}

uint32_t IrBuilder::json(uint32_t node, uint32_t flags, uint32_t max_whitespace,
                         std::string_view item_separator, std::string_view key_separator) {
  check_nodes({&node, 1});
  const Ref item = bytes_ref(item_separator);
  const Ref key = bytes_ref(key_separator);
  const uint32_t record[] = {static_cast<uint32_t>(ExprKind::kJson),
                             node,
                             flags,
                             max_whitespace,
                             item.offset,
                             item.length,
                             key.offset,
                             key.length};
  return add_expr(record);
}

uint32_t IrBuilder::simple(NodeKind kind) {
  const uint32_t word = static_cast<uint32_t>(kind);
  return share_node({&word, 1});
}

uint32_t IrBuilder::types(uint32_t mask) {
  const uint32_t record[] = {static_cast<uint32_t>(NodeKind::kTypes), mask};
  return share_node(record);
}

uint32_t IrBuilder::bounds(NodeKind kind, uint32_t low, uint32_t high) {
  const uint32_t record[] = {static_cast<uint32_t>(kind), low, high};
  return share_node(record);
}

uint32_t IrBuilder::all_of(std::span<const uint32_t> nodes) {
  check_nodes(nodes);
  if (nodes.size() < 2) return nodes.empty() ? any() : nodes[0];
  scratch_.assign({static_cast<uint32_t>(NodeKind::kAllOf), static_cast<uint32_t>(nodes.size())});
  scratch_.insert(scratch_.end(), nodes.begin(), nodes.end());
  return share_node(scratch_);
}

uint32_t IrBuilder::begin_node(NodeKind kind) {
  const uint32_t word = static_cast<uint32_t>(kind);
  return add_node({&word, 1});
}

void IrBuilder::put_refs(std::span<const Ref> refs) {
  words_.push_back(static_cast<uint32_t>(refs.size()));
  for (const Ref ref : refs) {
    words_.push_back(ref.offset);
    words_.push_back(ref.length);
  }
}

uint32_t IrBuilder::either(NodeKind kind, std::span<const uint32_t> nodes) {
  check_nodes(nodes);
  if (nodes.size() < 2) return nodes.empty() ? never() : nodes[0];
  const uint32_t node = begin_node(kind);
  words_.push_back(static_cast<uint32_t>(nodes.size()));
  put(nodes);
  return node;
}

uint32_t IrBuilder::array(std::span<const uint32_t> prefix, uint32_t rest) {
  check_nodes(prefix);
  if (rest != kNone) check_nodes({&rest, 1});
  const uint32_t node = begin_node(NodeKind::kArray);
  words_.push_back(static_cast<uint32_t>(prefix.size()));
  put(prefix);
  words_.push_back(rest);
  return node;
}

uint32_t IrBuilder::object(std::span<const Member> members, std::span<const KeyPattern> patterns,
                           uint32_t additional) {
  for (const Member& member : members) check_nodes({&member.node, 1});
  for (const KeyPattern& pattern : patterns) {
    check_exprs({&pattern.expr, 1});
    check_nodes({&pattern.node, 1});
  }
  if (additional != kNone) check_nodes({&additional, 1});
  const uint32_t node = begin_node(NodeKind::kObject);
  words_.push_back(static_cast<uint32_t>(members.size()));
  for (const Member& member : members) {
    words_.insert(words_.end(), {member.key.offset, member.key.length, member.node});
  }
  words_.push_back(static_cast<uint32_t>(patterns.size()));
  for (const KeyPattern& pattern : patterns) {
    words_.insert(words_.end(), {pattern.expr, pattern.node});
  }
  words_.push_back(additional);
  return node;
}

uint32_t IrBuilder::required(std::span<const std::string_view> keys) {
  const std::vector<Ref> refs = texts(keys);
  const uint32_t node = begin_node(NodeKind::kRequired);
  put_refs(refs);
  return node;
}

uint32_t IrBuilder::enumeration(uint32_t literals, std::span<const std::string_view> numbers,
                                std::span<const std::string_view> strings,
                                std::span<const uint32_t> nodes) {
  check_nodes(nodes);
  const std::vector<Ref> number_refs = texts(numbers);
  const std::vector<Ref> string_refs = texts(strings);
  const uint32_t node = begin_node(NodeKind::kEnum);
  words_.push_back(literals);
  put_refs(number_refs);
  put_refs(string_refs);
  words_.push_back(static_cast<uint32_t>(nodes.size()));
  put(nodes);
  return node;
}

uint32_t IrBuilder::reserve_node() {
  nodes_.offsets.push_back(kNone);
  return num_nodes() - 1;
}

void IrBuilder::define_node(uint32_t node, uint32_t target) {
  const uint32_t both[] = {node, target};
  check_nodes(both);
  if (nodes_.offsets[node] != kNone) {
    wrong("node id " + std::to_string(node) + " is not reserved, or defined twice");
  }
  nodes_.offsets[node] = static_cast<uint32_t>(words_.size());
  const uint32_t record[] = {static_cast<uint32_t>(NodeKind::kAllOf), 1, target};
  put(record);
}

uint32_t IrBuilder::add_rule(std::string_view name) {
  const Table::Entry wanted{hash_of(name), 0, static_cast<uint32_t>(name.size()), num_rules()};
  const auto same = [&](const Table::Entry& entry) { return rules_[entry.id].name == name; };
  if (name.empty() || !rule_names_.find_or_add(wanted, same).second) {
    wrong("rule name '" + std::string(name) + "' is empty or taken");
  }
  rules_.push_back({std::string(name), kNone, {}});
  return num_rules() - 1;
}

void IrBuilder::define_rule(uint32_t rule, uint32_t expr) {
  check_rule(rule);
  check_exprs({&expr, 1});
  if (rules_[rule].expr != kNone) {
    wrong("rule id " + std::to_string(rule) + " is defined twice");
  }
  rules_[rule].expr = expr;
}

void IrBuilder::check_exprs(std::span<const uint32_t> ids) const {
  check_ids(ids, exprs_.offsets.size(), "expression");
}

void IrBuilder::check_nodes(std::span<const uint32_t> ids) const {
  check_ids(ids, nodes_.offsets.size(), "node");
}

void IrBuilder::check_rule(uint32_t rule) const { check_ids({&rule, 1}, rules_.size(), "rule"); }

std::size_t IrBuilder::finished_size(uint32_t root) {
  check_rule(root);
  for (Rule& rule : rules_) {
    if (rule.expr == kNone) wrong("rule '" + rule.name + "' is not defined");
    rule.ref = bytes_ref(rule.name);
  }
  const auto open = std::ranges::find(nodes_.offsets, kNone);
  if (open != nodes_.offsets.end()) {
    wrong("node id " + std::to_string(open - nodes_.offsets.begin()) + " is reserved, not defined");
  }
  const std::size_t words = kIrHeaderWords + exprs_.offsets.size() + nodes_.offsets.size() +
                            rules_.size() * 3 + words_.size();
  return words * 4 + bytes_.size();
}

void IrBuilder::finish(uint32_t root, std::byte* out) const {
  const auto write = [&](std::span<const uint32_t> words) {
    if constexpr (std::endian::native == std::endian::little) {
      if (!words.empty()) std::memcpy(out, words.data(), words.size_bytes());
      out += words.size_bytes();
    } else {
      for (const uint32_t word : words) {
        for (int shift = 0; shift < 32; shift += 8) *out++ = static_cast<std::byte>(word >> shift);
      }
    }
  };
  const uint32_t header[kIrHeaderWords] = {kIrMagic,
                                           kIrVersion,
                                           num_exprs(),
                                           num_rules(),
                                           num_nodes(),
                                           static_cast<uint32_t>(words_.size()),
                                           static_cast<uint32_t>(bytes_.size()),
                                           root};
  write(header);
  write(exprs_.offsets);
  write(nodes_.offsets);
  for (const Rule& rule : rules_) {
    const uint32_t words[] = {rule.expr, rule.ref.offset, rule.ref.length};
    write(words);
  }
  write(words_);
  if (!bytes_.empty()) std::memcpy(out, bytes_.data(), bytes_.size());
}

}  // namespace maskwright

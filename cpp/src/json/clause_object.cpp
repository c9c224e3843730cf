// Objects of a clause: the conjunction of its nodes, name by name.
//
// A member is judged by the conjunction of what each node says of its name. In strict mode names
// that no node lists are closed where some node lists names and none says what else may come.
#include <algorithm>

#include "json/clause.h"
#include "json/clause_leaves.h"
#include "maskwright/support/error.h"

namespace maskwright {

namespace {

// The members that one OBJECT node names, sorted by key; the first mention of a key counts.
struct Named {
  std::vector<std::pair<uint32_t, uint32_t>> members;  // key, node
  uint32_t additional;

  const uint32_t* find(uint32_t key) const {
    const auto at = std::lower_bound(members.begin(), members.end(), std::pair{key, 0U});
    return at != members.end() && at->first == key ? &at->second : nullptr;
  }
};

}  // namespace

// Collects the members of a clause's OBJECT and REQUIRED nodes.
class ObjectMerger {
 public:
  ObjectMerger(ClauseTable& table, uint32_t options) : table_(table), options_(options) {}

  void add_object(uint32_t node) {
    const auto payload = table_.ir_.node(node);
    Named named;
    for (uint32_t i = 0; i < payload[0]; ++i) {
      const auto entry = payload.subspan(1 + std::size_t{i} * 3, 3);
      const uint32_t key = table_.keys_.intern(table_.ir_.bytes(entry[0], entry[1]));
      named.members.emplace_back(key, entry[2]);
      order_.push_back({key, 0});
    }
    std::stable_sort(named.members.begin(), named.members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (payload[1 + std::size_t{payload[0]} * 3] != 0) {
      throw Error::unsupported("json-unsupported-keyword",
                               "the keyword 'patternProperties' is not supported here",
                               "patternProperties");
    }
    named.additional = payload[payload.size() - 1];
    says_other_ = says_other_ || named.additional != kNone;
    objects_.push_back(std::move(named));
  }

  void add_required(uint32_t node) {
    const auto payload = table_.ir_.node(node);
    for (uint32_t i = 0; i < payload[0]; ++i) {
      const auto entry = payload.subspan(1 + std::size_t{i} * 2, 2);
      required_.push_back(table_.keys_.intern(table_.ir_.bytes(entry[0], entry[1])));
    }
  }

  std::vector<uint32_t> take(Bounds count) {
    const bool closed = table_.options_.get(options_).strict && !order_.empty() && !says_other_;
    for (const uint32_t key : required_) order_.push_back({key, ObjectShape::kIsUndeclared});
    keep_first_mentions();
    std::sort(required_.begin(), required_.end());
    const uint32_t other = closed ? kNone : target_of_other();
    std::vector<uint32_t> words{options_, count.min, count.max, other};
    for (const auto& [key, flags] : order_) {
      const bool required = std::binary_search(required_.begin(), required_.end(), key);
      const bool undeclared = (flags & ObjectShape::kIsUndeclared) != 0;
      words.push_back(key);
      words.push_back(undeclared ? other : target_of(key));
      words.push_back(flags | (required ? ObjectShape::kIsRequired : 0U));
    }
    return words;
  }

 private:
  struct Mention {
    uint32_t key, flags;
  };

  void keep_first_mentions() {
    std::vector<bool> met(table_.keys_.size(), false);
    std::erase_if(order_, [&](const Mention& mention) {
      const bool again = met[mention.key];
      met[mention.key] = true;
      return again;
    });
  }

  uint32_t target_of_other() {
    std::vector<uint32_t> nodes;
    for (const Named& object : objects_) {
      if (object.additional != kNone) nodes.push_back(object.additional);
    }
    return table_.target_of(options_, nodes);
  }

  uint32_t target_of(uint32_t key) {
    std::vector<uint32_t> nodes;
    for (const Named& object : objects_) {
      const uint32_t* named = object.find(key);
      const uint32_t node = named != nullptr ? *named : object.additional;
      if (node != kNone) nodes.push_back(node);
    }
    return table_.target_of(options_, nodes);
  }

  ClauseTable& table_;
  uint32_t options_;
  std::vector<Named> objects_;
  std::vector<Mention> order_;
  std::vector<uint32_t> required_;
  bool says_other_ = false;
};

uint32_t ClauseTable::resolve_object(uint32_t options, const Leaves& leaves) {
  ObjectMerger merger(*this, options);
  for (const uint32_t node : leaves.objects) merger.add_object(node);
  for (const uint32_t node : leaves.required) merger.add_required(node);
  std::vector<uint32_t> words = merger.take(leaves.members);
  return objects_.intern(words).id;
}

}  // namespace maskwright

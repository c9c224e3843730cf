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
  std::vector<std::pair<uint32_t, uint32_t>> members;  // key, word
  uint32_t additional;                                 // a word; kNone: absent

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

  void add_object(uint32_t word) {
    const auto payload = table_.ir_.node(node_of(word));
    const bool silent = (word & kSilent) != 0;
    Named named;
    for (uint32_t i = 0; i < payload[0]; ++i) {
      const auto entry = payload.subspan(1 + std::size_t{i} * 3, 3);
      const uint32_t key = table_.keys().intern(table_.ir_.bytes(entry[0], entry[1]));
      named.members.emplace_back(key, inherit(word, entry[2]));
      if (silent) {
        undeclared_.push_back({key, ObjectShape::kIsUndeclared});
      } else {
        order_.push_back({key, 0});
      }
    }
    std::stable_sort(named.members.begin(), named.members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (payload[1 + std::size_t{payload[0]} * 3] != 0) {
      throw Error::unsupported("json-unsupported-keyword",
                               "the keyword 'patternProperties' is not supported here",
                               "patternProperties");
    }
    const uint32_t additional = payload[payload.size() - 1];
    named.additional = additional == kNone ? kNone : inherit(word, additional);
    says_other_ = says_other_ || (additional != kNone && !silent);
    objects_.push_back(std::move(named));
  }

  void add_required(uint32_t node) {
    const auto payload = table_.ir_.node(node);
    for (uint32_t i = 0; i < payload[0]; ++i) {
      const auto entry = payload.subspan(1 + std::size_t{i} * 2, 2);
      require(table_.keys().intern(table_.ir_.bytes(entry[0], entry[1])));
    }
  }

  void add_rule(const ClauseTable::Leaves::MemberRule& rule) {
    if (rule.required) {
      require(rule.key);
    } else {
      undeclared_.push_back({rule.key, ObjectShape::kIsUndeclared});
    }
    rules_.push_back(rule);
  }

  std::vector<uint32_t> take(Bounds count) {
    closed_ = table_.options_.get(options_).strict && !order_.empty() && !says_other_;
    order_.insert(order_.end(), undeclared_.begin(), undeclared_.end());
    keep_first_mentions();
    std::sort(required_.begin(), required_.end());
    std::vector<uint32_t> words{options_, count.min, count.max, closed_ ? kNone : target_of_other()};
    const uint32_t other = words[3];
    for (const auto& [key, flags] : order_) {
      const bool required = std::binary_search(required_.begin(), required_.end(), key);
      const uint32_t target = target_of(key, flags);
      // A place that says nothing of its own.
      if (flags != 0 && !required && target == other) continue;
      words.push_back(key);
      words.push_back(target);
      words.push_back(flags | (required ? ObjectShape::kIsRequired : 0U));
    }
    return words;
  }

 private:
  struct Mention {
    uint32_t key, flags;
  };

  void require(uint32_t key) {
    required_.push_back(key);
    undeclared_.push_back({key, ObjectShape::kIsUndeclared});
  }

  void keep_first_mentions() {
    std::vector<bool> met(table_.keys().size(), false);
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

  // kNone: the member is refused.
  uint32_t target_of(uint32_t key, uint32_t flags) {
    if (closed_ && (flags & ObjectShape::kIsUndeclared) != 0) return kNone;
    std::vector<uint32_t> words;
    for (const Named& object : objects_) {
      const uint32_t* named = object.find(key);
      const uint32_t word = named != nullptr ? *named : object.additional;
      if (word != kNone) words.push_back(word);
    }
    for (const auto& rule : rules_) {
      if (rule.key != key) continue;
      if (rule.absent) return kNone;
      words.push_back(rule.word);
    }
    return table_.target_of(options_, words);
  }

  ClauseTable& table_;
  uint32_t options_;
  std::vector<Named> objects_;
  std::vector<ClauseTable::Leaves::MemberRule> rules_;
  std::vector<Mention> order_, undeclared_;
  std::vector<uint32_t> required_;
  bool says_other_ = false, closed_ = false;
};

uint32_t ClauseTable::resolve_object(uint32_t options, const Leaves& leaves) {
  ObjectMerger merger(*this, options);
  for (const uint32_t word : leaves.objects) merger.add_object(word);
  for (const uint32_t node : leaves.required) merger.add_required(node);
  for (const auto& rule : leaves.member_rules) merger.add_rule(rule);
  std::vector<uint32_t> words = merger.take(leaves.members);
  return objects_.intern(words).id;
}

}  // namespace maskwright

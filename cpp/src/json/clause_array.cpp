// Arrays of a clause: the conjunction of its nodes, place by place.
//
// An item is judged by the conjunction of what each node says of its place. In strict mode places
// that no node names are closed where some node names places and none says what else may come.
//
// A place has one target for each combination of answers to the clause's CONTAINS conditions
// (item_rules.h). Where there may be any number of items that satisfy a condition, "no" asks
// nothing, which needs no negation.
#include <algorithm>
#include <string>

#include "json/clause.h"
#include "json/clause_leaves.h"
#include "maskwright/support/error.h"

namespace maskwright {

// Collects the targets of a clause's items.
class ArrayMerger {
 public:
  ArrayMerger(ClauseTable& table, uint32_t options, const ClauseTable::Leaves& leaves)
      : table_(table), options_(options), leaves_(leaves) {
    bool says_rest = false;
    std::size_t named = 0;
    for (const uint32_t word : leaves.arrays) {
      const auto payload = table_.ir_.node(node_of(word));
      longest_ = std::max<std::size_t>(longest_, payload[0]);
      if ((word & kSilent) != 0) continue;
      named = std::max<std::size_t>(named, payload[0]);
      says_rest = says_rest || payload[payload.size() - 1] != kNone;
    }
    for (const auto& rule : leaves.item_rules) {
      longest_ = std::max<std::size_t>(longest_, std::size_t{rule.index} + 1);
    }
    for (const auto& rule : leaves.contains) {
      longest_ = std::max<std::size_t>(longest_, rule.count.from);
    }
    closed_ = table_.options_.get(options).strict && named != 0 && !says_rest;
    if (closed_) longest_ = named;
  }

  std::vector<uint32_t> take() {
    const std::size_t conditions = leaves_.contains.size();
    if (conditions > kMaxConditions) {
      throw Error::limit("json-too-many-contains",
                         "more than " + std::to_string(kMaxConditions) +
                             " 'contains' apply to one array; combine them",
                         "max_contains", kMaxConditions);
    }
    std::vector<uint32_t> words{options_, leaves_.items.min, leaves_.items.max,
                                leaves_.unique != kNone ? 1U : 0U,
                                static_cast<uint32_t>(conditions)};
    for (const auto& rule : leaves_.contains) {
      words.insert(words.end(), {rule.count.from, rule.count.min, rule.count.max});
    }
    const std::size_t cells = std::size_t{1} << conditions;
    const std::size_t header = words.size();
    add_place(longest_, closed_, words);
    for (std::size_t index = 0; index < longest_; ++index) add_place(index, false, words);
    while (words.size() > header + cells && ends_as_rest(words, header, cells)) {
      words.resize(words.size() - cells);
    }
    return words;
  }

 private:
  void add_place(std::size_t index, bool closed, std::vector<uint32_t>& words) {
    const uint32_t cells = 1U << leaves_.contains.size();
    for (uint32_t cell = 0; cell < cells; ++cell) {
      words.push_back(closed ? kNone : target_at(index, cell));
    }
  }

  // kNone: the place has no such answer.
  uint32_t target_at(std::size_t index, uint32_t cell) {
    nodes_.clear();
    for (const uint32_t word : leaves_.arrays) {
      const auto payload = table_.ir_.node(node_of(word));
      const uint32_t item = index < payload[0] ? payload[1 + index] : payload[payload.size() - 1];
      if (item != kNone) nodes_.push_back(inherit(word, item));
    }
    for (const auto& rule : leaves_.item_rules) {
      if (rule.index == index) nodes_.push_back(rule.word);
    }
    for (std::size_t k = 0; k < leaves_.contains.size(); ++k) {
      const auto& rule = leaves_.contains[k];
      const bool yes = (cell >> k & 1) != 0;
      if (index < rule.count.from) {
        if (yes) return kNone;
      } else if (yes) {
        // "No" is the opposite only if "yes" closes nothing that the node leaves open.
        nodes_.push_back(is_negated(rule.word) ? rule.word : rule.word | kSilent);
      } else if (rule.count.max != kNone) {
        nodes_.push_back(negate(rule.word));
      }
    }
    return table_.target_of(options_, nodes_);
  }

  // The last place has nothing that the rest does not have. The conditions begin at all of the
  // places that may be dropped.
  bool ends_as_rest(const std::vector<uint32_t>& words, std::size_t header,
                    std::size_t cells) const {
    return std::equal(words.end() - static_cast<std::ptrdiff_t>(cells), words.end(),
                      words.begin() + static_cast<std::ptrdiff_t>(header));
  }

  static constexpr uint32_t kMaxConditions = 6;

  ClauseTable& table_;
  uint32_t options_;
  const ClauseTable::Leaves& leaves_;
  std::size_t longest_ = 0;
  bool closed_ = false;
  std::vector<uint32_t> nodes_;
};

uint32_t ClauseTable::resolve_array(uint32_t options, const Leaves& leaves) {
  const uint32_t shape = arrays_.intern(ArrayMerger(*this, options, leaves).take()).id;
  if (leaves.unique != kNone) unique_nodes_.try_emplace(shape, leaves.unique);
  return shape;
}

ArrayShape ClauseTable::array(uint32_t shape) const {
  const auto words = arrays_.get(shape);
  ArrayShape out{words[0], words[1], words[2], words[3] != 0, {}, {}, {}};
  std::size_t at = 5;
  for (uint32_t k = 0; k < words[4]; ++k, at += 3) {
    out.contains.push_back({words[at], words[at + 1], words[at + 2]});
  }
  const std::size_t cells = std::size_t{1} << words[4];
  out.rest = words.subspan(at, cells);
  out.prefix = words.subspan(at + cells);
  return out;
}

}  // namespace maskwright

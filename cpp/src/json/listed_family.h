// Frames inside an array or object that is one of a list of values: [group, phase, name, bytes].
//
// Idea: a *group* is the set of values (candidates) that are still possible. What comes next in it,
// an item or the value of a name, is itself one of a list, which is read by a value frame that
// returns a *label*: candidates with the same label are the next group. So a step looks at no
// candidates but the first time, when the group's are sorted by what comes next. Of candidates that
// differ in nothing but what was read one stands for all, so that what follows is shared, and
// [{"id": 1}, {"id": 2}] has one label.
//
// Arrays, and objects in declared order, are read by position. Else the register (pooled) has a bit
// per name of the group that was read. All candidates of a group have those, with values that are
// the same or do not matter any more; so a group does not depend on the order in which they came.
//
// Cost: a place that is new is linear in the candidates there, with their names or items that are
// left; a step between known places takes constant time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "json/machine_tables.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class ListedFamily final : public Family {
 public:
  // A value and the callee ids that it satisfies.
  struct Candidate {
    uint32_t value;
    SetId accepts;
    bool operator==(const Candidate&) const = default;
  };
  // A value and the label that is returned for it.
  struct Labelled {
    uint32_t value, label;
  };

  explicit ListedFamily(JsonTables& tables) : tables_(tables) {}

  // The state after '[' or '{'. Candidates are sorted, and all arrays or all objects.
  StateId start(uint32_t options, std::span<const Candidate> candidates);
  static constexpr std::size_t kMany = 5000;
  // Makes ahead what masks behind a value state are made of, if it is of long lists.
  void prepare(StateId value);
  // Calls visit(value, callee id of its label) for what a listed callee id stands for.
  template <typename Visit>
  void each_choice(uint32_t listed, Visit visit) const {
    const auto words = choices_.get(listed & ~kListedTag);
    for (std::size_t i = 0; i < words.size(); i += 2) visit(words[i], words[i + 1] | kListedTag);
  }

  void describe(std::span<const uint32_t> content, State& state) override;
  void expand(StateId state, RowBuilder& row) override;
  Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
              RegisterPool& regs) override;
  void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out) override;
  Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs) override;
  std::size_t memory_bytes() const { return heap_bytes(group_ids_, groups_, choices_); }

 private:
  // kLabel: in the key separator, kSeparator: in the item separator, after so many bytes. kName is
  // of objects alone.
  enum Phase : uint32_t { kOpen, kName, kAfterName, kLabel, kValue, kAfterValue, kSeparator };

  // What may come at one place of a group.
  struct Next {
    StateId value = kDead;              // the frame that reads it; kDead: not known yet
    std::vector<Candidate> candidates;  // by label
    std::vector<uint32_t> ends;         // of the labels
    std::vector<uint32_t> groups;       // by label; kNone: not made yet
    std::size_t memory_bytes() const { return heap_bytes(candidates, ends, groups); }
  };
  struct Group {
    uint32_t options = 0;
    uint32_t position = 0;  // what was read, if that is by position
    bool object = false;
    bool by_name = false;  // an object whose keys come in any order
    std::vector<Candidate> candidates;
    std::vector<std::pair<uint32_t, SetId>> ends;  // by size: what values of that size satisfy
    std::vector<uint32_t> names;                   // that may come, by their text
    StateId key_state = kDead;
    std::vector<Next> next;  // by name; of arrays one
    std::size_t memory_bytes() const { return heap_bytes(candidates, ends, names, next); }
  };
  struct Position {
    Group* group;
    uint32_t id, phase, name, bytes;
  };

  Position position(StateId state) const;
  const JsonOptions& options(const Group& group) const {
    return tables_.options.get(group.options);
  }
  uint32_t group(uint32_t options, uint32_t position, std::span<const Candidate> candidates);
  void find_ends(Group& group) const;
  void find_names(Group& group);
  StateId at(uint32_t group, uint32_t phase, uint32_t name = 0, uint32_t bytes = 0);
  StateId before_next(uint32_t group, uint32_t bytes);
  StateId before_value(uint32_t group, uint32_t name, uint32_t bytes);
  StateId close(const Group& group, uint32_t size) const;
  uint32_t size_of(const Group& group, uint32_t value) const;
  std::span<const uint32_t> place_of(const Group& group, uint32_t value, uint32_t name) const;
  bool same_rest(const Group& group, const Candidate& a, const Candidate& b, uint32_t name) const;
  uint64_t hash_of_rest(const Group& group, const Candidate& of, uint32_t name) const;
  const Next& next_of(Group& group, uint32_t name);
  uint32_t next_group(uint32_t from, uint32_t name, uint32_t label);
  Reg read_names(const Group& from, Reg reg, uint32_t name, const Group& to,
                 RegisterPool& regs) const;

  JsonTables& tables_;
  WordInterner group_ids_;  // [options, position, (value, accepts)...]
  std::vector<std::unique_ptr<Group>> groups_;
  WordInterner choices_;  // (value, label)...
  uint64_t work_ = 0;     // candidates that new places were linear in, in all
};

}  // namespace maskwright

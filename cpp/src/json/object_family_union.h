// A union of objects: all alternatives of one '{', over one sorted list of member names.
//
// Each alternative keeps its members as indices into the union's key list, split by role:
//   ordered    declared members, in order (with any_order: all members that are not refused)
//   extras     members that are only required: other names that must come (not with any_order)
//   refused    names without a possible value, where other names are open
// A name of the list that an alternative does not mention is an *other* name for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "json/machine_tables.h"
#include "maskwright/support/interner.h"

namespace maskwright {

struct ObjectMember {
  uint32_t key;  // index in the union's key list
  uint32_t target;
  bool required;
};

struct ObjectAlternative {
  enum class Role : uint8_t { kOrdered, kExtra, kRefused, kOther };
  struct Place {
    Role role;
    uint32_t index;  // in ordered or extras
  };
  struct Named {
    uint32_t key;
    Place place;
  };

  Alternative identity{};
  uint32_t min = 0, max = kUnbounded;
  uint32_t other = kNone;  // target of other names; kNone: none allowed
  bool any_order = false, has_required = false;
  std::vector<ObjectMember> ordered, extras;
  std::vector<uint32_t> refused;
  std::vector<Named> named;  // all of them, by key

  bool open() const { return other != kNone; }
  bool counted() const { return min != 0 || max != kUnbounded; }
  Place find(uint32_t key) const;
  // The target of the value of `key` (the key list's size: another name).
  uint32_t target(uint32_t key) const;
};

struct ObjectUnion {
  uint32_t options = 0;
  uint32_t num_keys = 0;
  StateId key_state = kDead;  // before a member name
  std::vector<ObjectAlternative> alternatives;
  std::size_t num_words() const { return (std::size_t{num_keys} + 31) / 32; }
};

// The alternatives of a union that can still be completed.
struct AliveSet {
  uint32_t id = 0;
  const ObjectUnion* all = nullptr;
  uint32_t union_id = 0;
  std::vector<uint32_t> alternatives;
  bool counted = false;
  uint32_t cap = 0;              // counts from here on are the same
  bool always_closes = true;     // every alternative may end after any member
  bool always_continues = true;  // every alternative may have another member, always
  bool open = false;             // some alternative takes names outside the list
  bool has_register() const { return counted || open || all->num_keys != 0; }
};

// Interns unions and alive sets; references stay valid.
class ObjectUnions {
 public:
  explicit ObjectUnions(JsonTables& tables) : tables_(tables) {}

  const AliveSet& start(std::span<const Alternative> alternatives);
  const AliveSet& get(uint32_t alive) const { return *alive_[alive]; }
  // The part of the set whose alternatives pass; nullptr if none does.
  template <typename Keep>
  const AliveSet* filter(const AliveSet& from, Keep keep) {
    std::vector<uint32_t> words{from.union_id};
    for (const uint32_t index : from.alternatives) {
      if (keep(from.all->alternatives[index])) words.push_back(index);
    }
    if (words.size() == 1) return nullptr;
    return words.size() == from.alternatives.size() + 1 ? &from : &intern(words);
  }

 private:
  const AliveSet& intern(std::span<const uint32_t> words);
  std::unique_ptr<ObjectUnion> build(std::span<const Alternative> alternatives);

  JsonTables& tables_;
  WordInterner union_ids_;  // (accept, shape)...
  std::vector<std::unique_ptr<ObjectUnion>> unions_;
  WordInterner alive_ids_;  // [union, alternatives...]
  std::vector<std::unique_ptr<AliveSet>> alive_;
};

}  // namespace maskwright

// A union of objects: all alternatives of one '{', over one sorted list of member names.
//
// Each alternative keeps its members as indices into the union's key list, split by role:
//   ordered    declared members, in order (with any_order: all members that are not refused)
//   extras     members that are named but not declared: other names (not with any_order)
//   refused    names without a possible value, where other names are open
// Alternatives of joint targets (target.h) stand for one together: it lives while each of its parts
// has an alternative alive, and a member is for those of the part that owns its name to judge.
//
// A name of the list that an alternative does not mention is an *other* name for it, judged by its
// class as names outside the list are. The key frame tells how a name reads for every alternative
// by its labels (key_lang.h).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "json/machine_tables.h"
#include "maskwright/support/heap_bytes.h"
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
    uint32_t index;  // in ordered or extras; of kOther: the class
  };
  struct Named {
    uint32_t key;
    Place place;
  };
  // A member that satisfies its target here meets these obligations (bits).
  struct Witness {
    uint32_t meets;
    std::vector<uint32_t> classes;                       // kNone: it can't
    std::vector<std::pair<uint32_t, uint32_t>> members;  // key, target; by key
    std::size_t memory_bytes() const { return heap_bytes(classes, members); }
  };

  Alternative identity{};
  uint32_t num_parts = 1;       // alternatives that stand for one together have so many parts
  std::vector<uint32_t> owned;  // bit words: keys of the list; empty: all
  bool owns_others = true;
  uint32_t min = 0, max = kUnbounded;
  uint32_t num_keys = 0;         // of the union
  uint32_t label_base = 0;       // of its classes
  std::vector<uint32_t> others;  // targets by class; kNone: refused
  uint32_t room = 0;             // how many other names there are
  bool any_order = false, has_required = false;
  // Bit words by key, only of plain ones: which are required, and all that may be there.
  std::vector<uint32_t> required, usable;
  // In any order, uncounted and without debts: whether the object may end or go on is a matter of
  // which members are there, each on its own.
  bool plain = false;
  // Whatever members there are, others may follow, of one class; only the required ones decide
  // whether the object may end.
  bool free = false;
  std::vector<ObjectMember> ordered, extras;
  std::vector<uint32_t> refused;
  std::vector<Named> named;  // by key; unless the class is plain all keys of the list
  std::vector<std::pair<uint32_t, uint32_t>> dependencies;  // a key needs the other, by key
  std::vector<std::pair<uint32_t, uint32_t>> needed_by;     // the same the other way round
  // Obligations (bits): all; those that a name meets; those that names of a class can meet.
  uint32_t obligations = 0, by_name = 0, easy = 0;
  std::vector<Witness> witnesses;  // one for each obligation by name, then the others

  // Whether a name is for this alternative to judge. `key`: num_keys if it isn't listed.
  bool owns(uint32_t key) const {
    if (key >= num_keys) return owns_others;
    return owned.empty() || (owned[key / 32] >> (key % 32) & 1) != 0;
  }
  bool open() const { return room != 0; }
  bool limited() const { return room != 0 && room != kUnbounded; }
  bool counted() const { return min != 0 || max != kUnbounded; }
  Place find(uint32_t key) const;
  // The place of a name by its labels.
  Place find(std::span<const uint32_t> labels) const;
  uint32_t target(Place place) const;
  uint32_t num_by_name() const { return static_cast<uint32_t>(std::popcount(by_name)); }
  // The witness's target for a name; kNone: it can't be one. `key`: num_keys if it isn't listed.
  static uint32_t target(const Witness& witness, uint32_t key, Place place);
  std::size_t memory_bytes() const {
    return heap_bytes(owned, others, required, usable, ordered, extras, refused, named) +
           heap_bytes(dependencies, needed_by, witnesses);
  }
};

struct ObjectUnion {
  uint32_t options = 0;
  uint32_t num_keys = 0;
  uint32_t num_labels = 0;
  bool endless = true;            // other names never run out
  bool joint = false;             // some alternatives stand for one together
  bool quoted = false;            // some token can hold a whole name of the list
  StateId key_state = kDead;      // before a member name
  std::vector<uint32_t> reached;  // bit words: names that tokens from before a comma begin
  bool next_seen = false;         // there is one of those, or one without characters
  bool first_seen = false;        // the same behind the object's brace
  std::vector<ObjectAlternative> alternatives;
  std::size_t num_words() const { return (std::size_t{num_keys} + 31) / 32; }
  std::size_t memory_bytes() const { return heap_bytes(reached, alternatives); }
};

// An alternative that can still be completed, and where it stands with its obligations (bits).
struct AliveAlternative {
  uint32_t index;
  uint32_t met;
  uint32_t must;  // if not 0: the value under way must be one of these witnesses by value (bits)
  bool operator==(const AliveAlternative&) const = default;
};

struct AliveSet {
  uint32_t id = 0;
  const ObjectUnion* all = nullptr;
  uint32_t union_id = 0;
  std::vector<AliveAlternative> alternatives;
  bool counted = false;
  uint32_t cap = 0;              // counts from here on are the same
  uint32_t others_cap = 0;       // the same for other names; 0: they are not counted
  bool keeps_taken = false;      // the register tells members that were there from those past
  bool always_closes = true;     // every alternative may end after any member
  bool always_continues = true;  // every alternative may have another member, always
  bool open = false;             // some alternative takes names outside the list
  bool free = false;             // all alternatives are free, and no token holds a listed name
  bool plain = false;            // there is one alternative, and it is plain
  bool has_register() const { return counted || open || all->num_keys != 0; }
  const ObjectAlternative& get(const AliveAlternative& alive) const {
    return all->alternatives[alive.index];
  }
  // Calls visit(entries) for each set of alternatives that stand for one together.
  template <typename Visit>
  void each_whole(Visit visit) const {
    return each_whole(alternatives, visit);
  }
  template <typename Visit>
  void each_whole(std::span<const AliveAlternative> entries, Visit visit) const {
    for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
      const Alternative& first = get(entries[begin]).identity;
      for (++end; end < entries.size() && first.belongs_with(get(entries[end]).identity);) ++end;
      visit(entries.subspan(begin, end - begin));
    }
  }
  // Whether of each part of these, which stand for one together, some alternative passes.
  template <typename Passes>
  bool whole(std::span<const AliveAlternative> entries, Passes passes) const {
    uint32_t parts = 0;
    uint32_t last = kNone;
    for (const AliveAlternative& entry : entries) {
      const uint32_t part = get(entry).identity.part;
      if (part == last || !passes(entry)) continue;
      last = part;
      ++parts;
    }
    return parts == get(entries[0]).num_parts;
  }
  std::size_t memory_bytes() const { return heap_bytes(alternatives); }
};

// Interns unions and alive sets; references stay valid.
class ObjectUnions {
 public:
  explicit ObjectUnions(JsonTables& tables) : tables_(tables) {}

  const AliveSet& start(std::span<const Alternative> alternatives);
  const AliveSet& get(uint32_t alive) const { return *alive_[alive]; }
  // The part of the set whose alternatives pass, as `keep` leaves them; nullptr if none does.
  template <typename Keep>
  const AliveSet* filter(const AliveSet& from, Keep keep) {
    std::vector<AliveAlternative> kept;
    for (AliveAlternative alive : from.alternatives) {
      if (keep(from.get(alive), alive)) kept.push_back(alive);
    }
    return part(from, std::move(kept));
  }
  // The same where only those at some places can pass.
  template <typename Keep>
  const AliveSet* filter(const AliveSet& from, std::span<const uint32_t> places, Keep keep) {
    std::vector<AliveAlternative> kept;
    for (const uint32_t place : places) {
      AliveAlternative alive = from.alternatives[place];
      if (keep(from.get(alive), alive)) kept.push_back(alive);
    }
    return part(from, std::move(kept));
  }
  // Some object met so far takes other names; some of them only names of certain classes.
  bool has_other_names() const { return has_other_names_; }
  bool has_name_classes() const { return has_name_classes_; }
  std::size_t memory_bytes() const { return heap_bytes(union_ids_, unions_, alive_ids_, alive_); }

 private:
  const AliveSet* part(const AliveSet& from, std::vector<AliveAlternative> kept);
  static void drop_incomplete(const AliveSet& from, std::vector<AliveAlternative>& kept);
  const AliveSet& intern(uint32_t union_id, std::span<const AliveAlternative> alternatives);
  std::unique_ptr<ObjectUnion> build(std::span<const Alternative> alternatives);

  JsonTables& tables_;
  bool has_other_names_ = false, has_name_classes_ = false;
  WordInterner union_ids_;  // (accept, shape, joint, part)...
  std::vector<std::unique_ptr<ObjectUnion>> unions_;
  WordInterner alive_ids_;  // [union, (index, met, must)...]
  std::vector<std::unique_ptr<AliveSet>> alive_;
};

}  // namespace maskwright

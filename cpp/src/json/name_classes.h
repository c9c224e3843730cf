// Which member names an object tells apart beyond those that its schema lists.
//
// Idea: a *condition* on names is a union of languages: a key pattern, or the strings that
// propertyNames allows. The *class* of a name is the set of conditions that hold for it, the empty
// set included, so that additionalProperties is a class like the others. One automaton reads all
// languages side by side, those that have died too, and knows for each of its states how many names
// of each class lie ahead: only classes with names exist, and an object can tell when they run out.
// Once any text may follow in one language of a condition (an unanchored pattern was found), the
// condition is *settled*, and where its other languages are tells no states apart. States that lead
// to each other have the same names ahead, and one row of counts.
//
// Cost: explored as a whole when it is made, so that its limit is met at compile and never later.
// max_states limits the states; a hundred times as many arcs and counts are allowed. Conditions
// that hold one without the other multiply: n unanchored patterns of which each asks something else
// have 2^n classes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class NameClasses {
 public:
  // A condition holds for the texts of any of its languages.
  using Condition = std::vector<Lang*>;

  // `text`: the arcs of "any text". `within`: every name must satisfy the first condition. Raises
  // Error(kLimit, "json-too-many-name-states").
  NameClasses(uint32_t id, std::span<const Lang::Arc> text,
              const std::vector<Condition>& conditions, bool within, uint32_t max_states);

  uint32_t id() const { return id_; }
  uint32_t size() const { return classes_.size(); }
  std::size_t num_states() const { return states_.size(); }
  std::size_t num_counts() const { return counts_.size(); }
  // The conditions that hold for the names of a class, sorted.
  std::span<const uint32_t> conditions(uint32_t name_class) const {
    return classes_.get(name_class);
  }

  // There are no conditions: all names are of one class.
  bool plain() const { return plain_; }
  // kDeadLang if there are no names.
  uint32_t start() const { return states_.empty() ? kDeadLang : 0; }
  std::span<const Lang::Arc> arcs(uint32_t state) const {
    return std::span(arcs_).subspan(states_[state].first_arc, states_[state].num_arcs);
  }
  uint32_t move(uint32_t state, uint32_t code_point) const;
  // The class of the name that ends at the state; kNone if none does.
  uint32_t class_at(uint32_t state) const { return states_[state].name_class; }
  // The names of the class behind the state; kUnbounded: infinitely many, or more than can be
  // counted here.
  uint32_t count(uint32_t state, uint32_t name_class) const {
    return counts_[std::size_t{states_[state].row} * classes_.size() + name_class];
  }
  // Behind the state and all states that follow there are no names or infinitely many, class by
  // class.
  bool endless(uint32_t state) const { return states_[state].endless; }

  // The class of a name (UTF-8); kNone if it is none.
  uint32_t class_of(std::string_view name) const;
  // All names of a class of which there are finitely many, sorted.
  std::vector<std::string> names(uint32_t name_class) const;
  std::size_t memory_bytes() const { return heap_bytes(classes_, states_, arcs_, counts_); }

 private:
  struct State {
    uint32_t first_arc, num_arcs, name_class;
    uint32_t row;  // of counts
    bool endless;
  };
  class Explorer;

  void take_all(std::span<const Lang::Arc> text);
  void count_names(uint32_t max_states);
  void count_component(std::span<const uint32_t> component, bool cyclic);

  uint32_t id_;
  bool plain_;
  WordInterner classes_;  // the conditions that hold
  std::vector<State> states_;
  std::vector<Lang::Arc> arcs_;
  std::vector<uint32_t> counts_;  // rows x classes
};

// One NameClasses per meaning.
class NameClassTable {
 public:
  NameClassTable(LangTable& langs, uint32_t max_states) : langs_(langs), max_states_(max_states) {}

  const NameClasses& intern(const std::vector<std::vector<LangId>>& conditions, bool within);
  const NameClasses& get(uint32_t id) const { return *made_[id]; }
  std::size_t memory_bytes() const { return heap_bytes(ids_, made_); }

 private:
  LangTable& langs_;
  uint32_t max_states_;
  std::map<std::vector<uint32_t>, uint32_t> ids_;
  std::vector<std::unique_ptr<NameClasses>> made_;
};

}  // namespace maskwright

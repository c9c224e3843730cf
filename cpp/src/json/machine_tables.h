// What the JSON families share: the tables of one grammar, built once, and each other's states.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "json/clause.h"
#include "json/listed_values.h"
#include "json/machine_plan.h"
#include "json/machine_solver.h"
#include "json/options.h"
#include "json/target.h"
#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"
#include "maskwright/json/strings.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

class ValueFamily;
class KeywordFamily;
class ArrayFamily;
class ObjectFamily;
class RecordFamily;
class ListedFamily;

// One way to read an array or object: what it satisfies, and the shape that says so.
struct Alternative {
  uint32_t accept;  // callee id
  uint32_t shape;
  // Of joint targets, which must all be satisfied together: their id, and which of them this is.
  uint32_t joint = kNone, part = 0;
  // Those that belong together are neighbours.
  bool belongs_with(const Alternative& other) const {
    return joint != kNone && accept == other.accept && joint == other.joint;
  }
  friend bool operator==(const Alternative&, const Alternative&) = default;
  friend auto operator<=>(const Alternative& a, const Alternative& b) {
    return std::tie(a.accept, a.joint, a.part, a.shape) <=>
           std::tie(b.accept, b.joint, b.part, b.shape);
  }
};

struct JsonTables {
  JsonTables(const Ir& ir, Store& store_, const std::array<bool, 256>& spellable,
             const JsonLimits& limits)
      : store(store_),
        langs(ir, spellable, limits.max_lang_states),
        options(spellable),
        listed(ir, options, spellable),
        targets(ir, options, listed, limits),
        name_classes(langs, limits.max_lang_states),
        clauses(ir, options, targets, listed, langs, name_classes),
        solver(options, targets, clauses, langs),
        plans(clauses, solver) {}

  std::size_t memory_bytes() const {
    return heap_bytes(langs, options, listed, targets, name_classes, clauses, solver, plans);
  }

  Store& store;
  LangTable langs;
  OptionsTable options;
  ListedValues listed;
  TargetTable targets;
  NameClassTable name_classes;
  ClauseTable clauses;
  ProductivitySolver solver;
  PlanTable plans;

  ValueFamily* values = nullptr;
  KeywordFamily* keywords = nullptr;
  ArrayFamily* arrays = nullptr;
  ObjectFamily* objects = nullptr;
  RecordFamily* records = nullptr;
  ListedFamily* lists = nullptr;
  StringFamily* strings = nullptr;
  KeyFamily* names = nullptr;
  NumberFamily* numbers = nullptr;
};

}  // namespace maskwright

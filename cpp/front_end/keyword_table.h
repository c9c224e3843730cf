// The keywords of one dialect of JSON Schema: what handles each, and which of them the walk handles
// itself where their values have the plain form.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

// What the walk does by itself; `kNone` leaves the keyword to its handler.
enum class PlainKeyword : uint8_t {
  kNone,
  kSkip,         // names things; no effect where it stands
  kDefinitions,  // holds schemas
  kRef,
  kType,
  kProperties,  // and additionalProperties
  kItems,
  kRequired,
  kEnum,
  kConst,
  kAllOf,
  kAnyOf,
  kOneOf,
  kStringLength,
  kItemCount,
  kMemberCount,
};

class KeywordTable {
 public:
  struct Entry {
    nanobind::object keyword;
    nanobind::object handler;
    Py_hash_t hash = 0;
    PlainKeyword plain = PlainKeyword::kNone;
    uint32_t rank = 0;  // its place in the table
    bool declares = false;
  };

  // Handlers in `declaring` are of keywords that may name members of the instance at hand. `plain`
  // gives the names of plain forms by handler; names are those of `plain_names`.
  KeywordTable(const nanobind::dict& handlers, const nanobind::dict& plain,
               const nanobind::frozenset& declaring, nanobind::str id_keyword, bool ref_alone);

  // The entry of a keyword, a str; nullptr: it has no effect.
  const Entry* find(PyObject* keyword) const;

  // For Python's garbage collector.
  int visit(visitproc visit, void* arg) const;
  void clear();

  PyObject* id_keyword() const { return id_keyword_.ptr(); }
  bool ref_alone() const { return ref_alone_; }

 private:
  std::vector<Entry> entries_;
  std::vector<uint16_t> slots_;  // 1 + number of an entry; 0 is free
  nanobind::str id_keyword_;
  bool ref_alone_;
};

// Locations of schemas as links to their parents, rendered when someone asks.
//
// Going down one level costs one entry, and a schema nested 100,000 deep no quadratic memory.
// Python sees a location as None (the document's root), a URI (that of another document) or a tuple
// (parent, keyword, token); frontends/json_schema/locations.py renders those.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

class SchemaPlaces {
 public:
  SchemaPlaces() { places_.reserve(kUsual); }

  using Id = uint32_t;

  // A location as Python has it.
  Id enter(nanobind::handle location);
  Id below(Id parent, nanobind::handle keyword);
  Id below(Id parent, nanobind::handle keyword, nanobind::handle token);
  Id below(Id parent, nanobind::handle keyword, uint32_t index);
  // The location as Python has it.
  nanobind::object location(Id id);
  // Appends the pointer of a keyword there, in UTF-8 (and lone surrogates as if they were allowed).
  void render(Id id, nanobind::handle keyword, std::string& out);

 private:
  static constexpr uint32_t kNoIndex = 0xFFFFFFFF;
  static constexpr std::size_t kUsual = 16;
  struct Place {
    Id parent;
    uint32_t index;            // the token, where it is a number
    nanobind::object keyword;  // not valid: a root, which is `python`
    nanobind::object token;    // not valid: none
    nanobind::object python;   // not valid: not asked for yet
  };

  Id add(Place place);

  std::vector<Place> places_;
  std::vector<Id> chain_;  // scratch of render
};

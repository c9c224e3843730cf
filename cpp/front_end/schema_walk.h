// The walk over a JSON Schema given as Python objects: every location becomes the conjunction of
// one node per keyword family.
//
// Idea: what a keyword means stands in its Python handler. The walk finds the schemas, dispatches
// their keywords, keeps count of where it is, and does by itself what needs no judgement: values in
// the one plain form that nearly all schemas use (`type` with a name, `properties` with schemas,
// `required` with strings, ...). Whatever looks otherwise, faulty values included, goes to the
// handler, which knows all forms; so a plain form must do exactly what its handler would.
// Schema objects are known by identity, so a definition is converted once, whoever refers to it,
// and an edge back to a location under construction gets a reserved node. Recursion is bounded: a
// schema that is nested deeper gets a reserved node at once, and is converted when the stack is
// empty. Cost: linear in the reachable part of the schema; no Python object per schema or location.
//
// Handlers run Python, which may change the schema or drop it meanwhile. So what outlives one call
// is held (every schema that was met, the members under conversion), and lists are read from a
// copy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "keyword_table.h"
#include "maskwright/ir/builder.h"
#include "schema_places.h"

// The names of keywords that the walk looks up itself.
struct KeywordNames {
  PyObject *ref, *properties, *pattern_properties, *additional_properties, *items, *prefix_items,
      *min_length, *max_length, *min_items, *max_items, *min_properties, *max_properties;
};
const KeywordNames& keywords();

class SchemaWalk {
 public:
  // Args:
  //   builder: receives the nodes.
  //   strict: arrays and objects of any content are written out, since they are open.
  //   any_order: in which order keywords and members stand does not matter.
  //   max_constant_values: longer enumerations are left to the handler.
  //   is_observed: `self` is told of every schema, node and loop.
  SchemaWalk(nanobind::object builder, bool strict, bool any_order, std::size_t max_constant_values,
             bool is_observed);

  // Converts a document; `self` is the Python object of this walk, whose methods are called back.
  void convert(nanobind::handle self, nanobind::handle schema, nanobind::handle location,
               nanobind::handle resource);

  // What handlers use.
  uint32_t node(nanobind::handle value, nanobind::handle keyword, nanobind::handle token);
  nanobind::typed<nanobind::list, nanobind::int_> nodes_of(nanobind::handle values,
                                                           nanobind::handle keyword);
  nanobind::typed<nanobind::dict, nanobind::str, nanobind::int_> named_nodes(
      const nanobind::dict& schemas, nanobind::handle keyword);
  uint32_t target_node(nanobind::handle schema, nanobind::handle location,
                       nanobind::handle resource);
  void add(uint32_t node);
  void ignore(nanobind::handle keyword);
  void note_in_place(nanobind::handle schemas, nanobind::handle resource);
  // Of the schema at hand; outside of a conversion None, and the root's resource.
  nanobind::object schema() const;
  nanobind::object location();
  nanobind::object resource() const;
  uint32_t root_node() const { return root_node_; }
  bool is_cyclic() const { return is_cyclic_; }
  nanobind::typed<nanobind::set, nanobind::str> plain_facts() const;
  bool is_known(nanobind::handle schema, nanobind::handle resource);
  // (schema, location, resource, schemas in it, their resource) of `note_in_place`.
  nanobind::list in_place();
  // The pointers of keywords without effect; None: they are longer than that together.
  std::optional<nanobind::typed<nanobind::tuple, nanobind::str, nanobind::ellipsis>>
  ignored_pointers(std::size_t max_bytes);

 private:
  using Place = SchemaPlaces::Id;
  struct ResourceEntry {
    nanobind::object resource;
    nanobind::object table_object;
    const KeywordTable* table;
    nanobind::dict targets;  // of references, by their text: an index into targets_
  };
  struct Frame {
    PyObject* schema = nullptr;  // held by converted_, as all schemas below
    Place place = 0;
    uint32_t resource = 0;
  };
  struct Target {
    nanobind::object schema;
    Place place;
  };
  struct Deferred {
    PyObject* schema;
    Place place;
    uint32_t resource;
    uint32_t node;
  };
  struct InPlace {
    PyObject* schema;
    Place place;
    uint32_t resource;
    uint32_t around;
    nanobind::object schemas;  // a list or tuple of them, or the only one
  };
  struct Ignored {
    Place place;
    nanobind::object keyword;
  };
  // Nodes by schema and resource.
  struct Known {
    PyObject* schema = nullptr;
    uint32_t resource = 0;
    int64_t state = 0;  // a node; kOpen; or `reserved`: the node that stands for it meanwhile
  };
  static constexpr int64_t kOpen = -1;
  static constexpr int64_t reserved(int64_t node) { return -2 - node; }
  class Guard;

  const KeywordTable& table() const { return *resources_[frame_.resource].table; }
  uint32_t resource_id(nanobind::handle resource);
  std::size_t slot(PyObject* schema, uint32_t resource) const;
  Known& known(PyObject* schema, uint32_t resource);
  const Known* find_known(PyObject* schema, uint32_t resource) const;
  void grow_known();

  uint32_t convert_schema(PyObject* schema, Place place, uint32_t resource);
  uint32_t defer(PyObject* schema, Place place, uint32_t resource);
  void walk_keywords(PyObject* schema);
  void ignore_unknown(PyObject* keyword);
  void apply(const KeywordTable::Entry& entry, PyObject* keyword, PyObject* value);
  uint32_t target(PyObject* schema, Place place, uint32_t resource);
  // The node of a schema below the one at hand; the token is a str, or an index, or neither.
  struct Token {
    PyObject* text = nullptr;
    uint32_t index = 0;
    bool is_index = false;
  };
  uint32_t node_below(PyObject* value, PyObject* keyword, Token token);
  uint32_t boolean(PyObject* value) { return value == Py_True ? builder_.any() : builder_.never(); }

  // The plain forms (plain_keywords.cpp); false: it is another one.
  bool plain(PlainKeyword form, PyObject* keyword, PyObject* value);
  bool plain_ref(PyObject* value);
  bool plain_type(PyObject* value);
  bool plain_properties(PyObject* keyword);
  bool plain_items(PyObject* keyword, PyObject* value);
  bool plain_required(PyObject* value);
  bool plain_constants(PyObject* values);
  bool plain_several(PlainKeyword form, PyObject* keyword, PyObject* value);
  bool plain_count(PyObject* keyword, maskwright::NodeKind kind, PyObject* low_key,
                   PyObject* high_key);
  bool follow(PyObject* reference, Target& target);

  enum Fact : uint32_t { kExactNumbers = 1, kNamedMembers = 2, kOpenMembers = 4 };

  nanobind::object builder_object_;
  maskwright::IrBuilder& builder_;
  bool strict_;
  bool any_order_;
  bool is_observed_;
  std::size_t max_constant_values_;
  PyObject* self_ = nullptr;  // borrowed: whoever calls in holds it
  Frame frame_;
  int depth_ = 0;
  std::vector<uint32_t> parts_;
  SchemaPlaces places_;
  std::vector<ResourceEntry> resources_;
  std::vector<Known> known_;
  std::vector<nanobind::object> converted_;  // the schemas in known_
  std::vector<Target> targets_;
  std::vector<Deferred> deferred_;
  std::vector<InPlace> in_place_;
  std::vector<Ignored> ignored_;
  struct Pair {
    nanobind::object keyword;  // or a member's name
    nanobind::object value;
    const KeywordTable::Entry* entry = nullptr;
  };
  std::vector<Pair> pairs_;  // of the schemas under conversion
  uint32_t root_node_ = 0;
  uint32_t facts_ = 0;
  bool is_cyclic_ = false;
};

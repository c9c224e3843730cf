// Registers what the JSON Schema front-end does natively.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "keyword_table.h"
#include "register.h"
#include "schema_walk.h"

namespace nb = nanobind;

namespace {

// Handlers refer to their modules, which hold the tables: a circle that Python's collector breaks.
int traverse_table(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<KeywordTable>(self)->visit(visit, arg);
}

int clear_table(PyObject* self) {
  nb::inst_ptr<KeywordTable>(self)->clear();
  return 0;
}

PyType_Slot table_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_table)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_table)},
                             {0, nullptr}};

}  // namespace

void register_schema_walk(nb::module_& m) {
  nb::class_<KeywordTable>(m, "KeywordTable", nb::type_slots(table_slots),
                           "The keywords of a dialect of JSON Schema.")
      .def(nb::init<const nb::dict&, const nb::dict&, const nb::frozenset&, nb::str, bool>(),
           nb::arg("handlers"), nb::arg("plain"), nb::arg("declaring"), nb::arg("id_keyword"),
           nb::arg("ref_alone"),
           nb::sig("def __init__(self, handlers: dict[str, typing.Any], plain: dict[typing.Any, "
                   "str], declaring: frozenset[typing.Any], id_keyword: str, ref_alone: bool) -> "
                   "None"));
  nb::class_<SchemaWalk>(m, "SchemaWalk",
                         "The walk over a JSON Schema; its Python subclass is the conversion.")
      .def(nb::init<nb::object, bool, bool, std::size_t, bool>(), nb::arg("builder"),
           nb::arg("strict"), nb::arg("any_order"), nb::arg("max_constant_values"),
           nb::arg("is_observed"))
      .def(
          "walk",
          [](nb::handle self, nb::handle schema, nb::handle location, nb::handle resource) {
            nb::cast<SchemaWalk&>(self).convert(self, schema, location, resource);
          },
          nb::arg("schema"), nb::arg("location").none(), nb::arg("resource"),
          "Convert a document; `root_node` is the node of its root then.")
      .def("node", &SchemaWalk::node, nb::arg("value").none(), nb::arg("keyword"),
           nb::arg("token") = nb::none(), "Return the node of a schema below the one at hand.")
      .def("nodes_of", &SchemaWalk::nodes_of, nb::arg("values"), nb::arg("keyword"),
           "Return the nodes of schemas in an array below the one at hand.")
      .def("named_nodes", &SchemaWalk::named_nodes, nb::arg("schemas"), nb::arg("keyword"),
           nb::sig("def named_nodes(self, schemas: dict[str, typing.Any], keyword: str) -> "
                   "dict[str, int]"),
           "Return the nodes of schemas by name below the one at hand.")
      .def("target_node", &SchemaWalk::target_node, nb::arg("schema"), nb::arg("location").none(),
           nb::arg("resource"),
           "Return the node of a schema in a resource; a reserved one while it is converted.")
      .def("add", &SchemaWalk::add, nb::arg("node"),
           "Add a node to the conjunction that the schema at hand becomes.")
      .def("ignore", &SchemaWalk::ignore, nb::arg("keyword"),
           "Note that a keyword of the schema at hand has no effect.")
      .def("note_in_place", &SchemaWalk::note_in_place, nb::arg("schemas"),
           nb::arg("resource") = nb::none(),
           "Note that schemas, of ``resource``, judge the same instance as the schema at hand.")
      .def_prop_ro("schema", &SchemaWalk::schema,
                   nb::for_getter(nb::sig("def schema(self) -> dict[str, typing.Any]")),
                   "The schema at hand.")
      .def_prop_ro("location", &SchemaWalk::location,
                   nb::for_getter(nb::sig("def location(self) -> typing.Any")), "Where it stands.")
      .def_prop_ro("resource", &SchemaWalk::resource,
                   nb::for_getter(nb::sig("def resource(self) -> typing.Any")),
                   "The resource that it belongs to.")
      .def_prop_ro("root_node", &SchemaWalk::root_node, "The node of the whole schema.")
      .def_prop_ro("is_cyclic", &SchemaWalk::is_cyclic,
                   "Whether schemas may refer back to themselves.")
      .def("plain_facts", &SchemaWalk::plain_facts, "Names of what the walk met by itself.")
      .def("is_known", &SchemaWalk::is_known, nb::arg("schema"), nb::arg("resource"),
           "Return whether a schema was converted in a resource.")
      .def("in_place", &SchemaWalk::in_place,
           nb::sig("def in_place(self) -> list[tuple[typing.Any, ...]]"),
           "Return what was noted by `note_in_place`.")
      .def("pointers_of_ignored", &SchemaWalk::ignored_pointers, nb::arg("max_bytes"),
           "Return the pointers of keywords without effect; None: they are longer together.");
}

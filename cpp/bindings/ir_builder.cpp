// The writer of IR buffers for Python, where maskwright.ir.Builder completes it.
#include "maskwright/ir/builder.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "front_end/python_values.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::IrBuilder;
using maskwright::IrFragment;
using maskwright::kNone;
using Ids = nb::typed<nb::iterable, nb::int_>;
using Texts = nb::typed<nb::iterable, nb::str>;
using Words = nb::typed<nb::iterable, nb::int_>;
using Int = nb::handle_t<nb::int_>;

namespace {

// An id that an empty place stands for: a checked id is never kNone.
uint32_t checked_node(const IrBuilder& builder, nb::handle id) {
  const uint32_t node = id_of(id.ptr());
  builder.check_nodes({&node, 1});
  return node;
}

uint32_t optional_node(const IrBuilder& builder, nb::handle id) {
  return id.is_none() ? kNone : checked_node(builder, id);
}

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

uint32_t spelling_flag(const nb::str& number_spelling) {
  const std::string name = number_spelling.c_str();
  if (name == "any") return 0;
  if (name == "decimal") return maskwright::kDecimalNumbers;
  if (name == "plain") return maskwright::kPlainNumbers;
  throw std::invalid_argument("number_spelling is \"" + name +
                              "\"; expected \"any\", \"decimal\" or \"plain\"");
}

uint32_t json(IrBuilder& builder, nb::handle node, bool any_order, bool any_whitespace, bool strict,
              const nb::str& number_spelling, nb::handle max_whitespace,
              const nb::bytes& item_separator, const nb::bytes& key_separator) {
  uint32_t flags = 0;
  if (any_order) flags |= maskwright::kAnyOrder;
  if (any_whitespace) flags |= maskwright::kAnyWhitespace;
  if (strict) flags |= maskwright::kStrict;
  flags |= spelling_flag(number_spelling);
  const uint32_t limit = max_whitespace.is_none() ? kNone : word(max_whitespace.ptr());
  return builder.json(id_of(node.ptr()), flags, limit, view(item_separator), view(key_separator));
}

uint32_t types(IrBuilder& builder, Int mask) {
  const uint32_t bits = id_of(mask.ptr());
  if (bits > maskwright::kAllTypes) {
    throw std::invalid_argument("type mask " + std::string(nb::str(mask).c_str()) +
                                " is outside 0.." + std::to_string(maskwright::kAllTypes));
  }
  return builder.types(bits);
}

uint32_t array(IrBuilder& builder, const Ids& prefix, nb::handle rest) {
  const std::vector<uint32_t> ids = ids_of(Items(prefix));
  return builder.array(ids, optional_node(builder, rest));
}

std::vector<IrBuilder::Member> members_of(IrBuilder& builder, const Items& pairs) {
  std::vector<IrBuilder::Member> members;
  members.reserve(static_cast<std::size_t>(pairs.size()));
  for (Py_ssize_t i = 0; i < pairs.size(); ++i) {
    const Items pair{pairs[i]};
    if (pair.size() != 2) throw std::invalid_argument("object() expects pairs of key and node");
    const uint32_t node = checked_node(builder, pair[1]);
    members.push_back({builder.bytes_ref(utf8(pair[0])), node});
  }
  return members;
}

uint32_t object(IrBuilder& builder, nb::handle members, nb::handle additional,
                const nb::typed<nb::iterable, nb::tuple>& patterns) {
  nb::object pairs = nb::borrow(members);
  if (!PyDict_Check(members.ptr())) {
    pairs = nb::steal(PySequence_List(members.ptr()));
    if (!pairs.is_valid()) throw nb::python_error();
    nb::dict unique;
    for (const nb::handle pair : nb::borrow<nb::list>(pairs)) unique[pair[0]] = pair[1];
    if (unique.size() != nb::len(pairs)) {
      throw std::invalid_argument("object() names a key twice");
    }
  } else {
    pairs = nb::steal(PyDict_Items(members.ptr()));
  }
  const std::vector<IrBuilder::Member> named = members_of(builder, Items(pairs));
  std::vector<IrBuilder::KeyPattern> rules;
  const Items given(patterns);
  for (Py_ssize_t i = 0; i < given.size(); ++i) {
    const Items pair{given[i]};
    if (pair.size() != 2) throw std::invalid_argument("object() expects pairs of pattern and node");
    rules.push_back({id_of(pair[0]), id_of(pair[1])});
  }
  return builder.object(named, rules, optional_node(builder, additional));
}

uint32_t enumeration(IrBuilder& builder, uint32_t literals, const Texts& numbers,
                     const Texts& strings, const Ids& nodes) {
  const Items number_items(numbers);
  const Items string_items(strings);
  return builder.enumeration(literals, utf8_items(number_items), utf8_items(string_items),
                             ids_of(Items(nodes)));
}

nb::typed<nb::tuple, nb::int_, nb::int_> pair_of(IrBuilder::Ref ref) {
  return nb::make_tuple(ref.offset, ref.length);
}

std::vector<uint32_t> counted_texts(IrBuilder& builder, const Texts& texts) {
  const Items items(texts);
  const std::vector<IrBuilder::Ref> refs = builder.texts(utf8_items(items));
  std::vector<uint32_t> found{static_cast<uint32_t>(refs.size())};
  for (const IrBuilder::Ref ref : refs) found.insert(found.end(), {ref.offset, ref.length});
  return found;
}

nb::bytes finish(IrBuilder& builder, Int root) {
  const uint32_t rule = id_of(root.ptr());
  const std::size_t size = builder.finished_size(rule);
  nb::object buffer = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!buffer.is_valid()) throw nb::python_error();
  builder.finish(rule, reinterpret_cast<std::byte*>(PyBytes_AsString(buffer.ptr())));
  return nb::borrow<nb::bytes>(buffer);
}

void read_fragment(IrFragment* self, const nb::bytes& ir) {
  new (self) IrFragment(IrFragment::read({static_cast<const std::byte*>(ir.data()), ir.size()}));
}

constexpr const char* kJsonDoc = R"(A JSON value that is valid under the schema node.

Args:
    node: Id of the root schema node.
    any_order: Members may come in any order; else declared ones first, in order.
    any_whitespace: Free whitespace between JSON's own tokens, never around the root.
    strict: Undeclared members, and items after a prefix, are refused where no schema that applies
        says otherwise.
    number_spelling: ``"any"``: as JSON has it; ``"decimal"``: without exponent, and without a
        fraction where all numbers are integers by their type or list; ``"plain"``: each number in
        one way, without exponent, zeros at the end of a fraction, or -0.
    max_whitespace: With ``any_whitespace``: bytes at one place at most; None: no bound.
    item_separator: Without ``any_whitespace``: what stands between items and members.
    key_separator: Without ``any_whitespace``: what stands between a key and its value.
)";

constexpr const char* kObjectDoc =
    R"(Objects: a schema per named member, in order, per key pattern, and for all the others.

Args:
    members: Decoded key and node of each named member, a dict or pairs; keys are unique.
    additional: Node of the members that no name and no pattern matches; None:
        ``additionalProperties`` absent.
    patterns: Regular expression (an expression id that matches whole decoded keys) and node of
        each key pattern. A member is judged by its name and all its patterns.
)";

}  // namespace

void register_ir_builder(nb::module_& m) {
  nb::class_<IrFragment>(m, "IrFragment",
                         "Expressions that many grammars hold, read once and copied into builders.")
      .def("__init__", &read_fragment, nb::arg("ir"),
           "Read the expressions of an IR buffer; its root rule stands for all of them.\n\n"
           "Raises:\n    ValueError: It holds rules, tokens or schemas.");
  nb::class_<IrBuilder>(m, "IrBuilder", "Writes an IR buffer; maskwright.ir.Builder completes it.")
      .def(nb::init<>())
      .def(
          "json", &json, nb::arg("node"), nb::kw_only(), nb::arg("any_order") = false,
          nb::arg("any_whitespace") = true, nb::arg("strict") = true,
          nb::arg("number_spelling") = nb::str("any"),
          nb::arg("max_whitespace").none() = nb::none(), nb::arg("item_separator") = nb::bytes(","),
          nb::arg("key_separator") = nb::bytes(":"),
          nb::sig("def json(self, node: int, *, any_order: bool = False, any_whitespace: bool = "
                  "True, strict: bool = True, number_spelling: str = 'any', max_whitespace: int | "
                  "None = None, item_separator: bytes = b',', key_separator: bytes = b':') -> int"),
          kJsonDoc)
      .def("any", &IrBuilder::any, "Any value.")
      .def("never", &IrBuilder::never, "No value.")
      .def("types", &types, nb::arg("mask"),
           "Any value of the types in the mask (``TYPE_*`` of ``maskwright.ir.format``).")
      .def(
          "all_of", [](IrBuilder& b, const Ids& ids) { return b.all_of(ids_of(Items(ids))); },
          nb::arg("ids"), "Values that all nodes accept; of none, any value; of one, that node.")
      .def(
          "any_of", [](IrBuilder& b, const Ids& ids) { return b.any_of(ids_of(Items(ids))); },
          nb::arg("ids"), "Values that some node accepts; of none, no value; of one, that node.")
      .def(
          "one_of", [](IrBuilder& b, const Ids& ids) { return b.one_of(ids_of(Items(ids))); },
          nb::arg("ids"),
          "Values that exactly one node accepts; of none, no value; of one, that node.")
      .def("array", &array, nb::arg("prefix"), nb::arg("rest").none(),
           nb::sig(
               "def array(self, prefix: collections.abc.Iterable[int], rest: int | None) -> int"),
           "Arrays: a schema per leading item, and one for the rest (None: ``items`` absent).")
      .def("object", &object, nb::arg("members"), nb::arg("additional").none(),
           nb::arg("patterns") = nb::tuple(),
           nb::sig("def object(self, members: collections.abc.Mapping[str, int] | "
                   "collections.abc.Iterable[tuple[str, int]], additional: int | None, patterns: "
                   "collections.abc.Iterable[tuple[int, int]] = ()) -> int"),
           kObjectDoc)
      .def(
          "required",
          [](IrBuilder& b, const Texts& keys) {
            const Items items(keys);
            return b.required(utf8_items(items));
          },
          nb::arg("keys"), "Objects must have each of the keys; duplicates are dropped.")
      .def("reserve", &IrBuilder::reserve_node,
           "Return a node id that may be used at once and is given its meaning later.")
      .def(
          "define_node",
          [](IrBuilder& b, Int node, Int target) {
            b.define_node(id_of(node.ptr()), id_of(target.ptr()));
          },
          nb::arg("node"), nb::arg("target"), "Make a reserved node an alias of ``target``, once.")
      .def("rule", &IrBuilder::add_rule, nb::arg("name"),
           "Declare a rule and return its id; ``define`` gives it its expression.\n\n"
           "Raises:\n    ValueError: The name is empty or taken.")
      .def(
          "define",
          [](IrBuilder& b, Int rule, Int expr) {
            b.define_rule(id_of(rule.ptr()), id_of(expr.ptr()));
          },
          nb::arg("rule"), nb::arg("expr"), "Give a declared rule its expression, once.")
      .def("finish", &finish, nb::arg("root"),
           "Return the buffer, with rule ``root`` as the start symbol.\n\n"
           "Raises:\n    ValueError: A rule or a reserved node is undefined.")
      .def("copy", &IrBuilder::add_fragment, nb::arg("fragment"),
           "Add the expressions of a fragment, and return the one that stands for all of them.")
      .def(
          "add_expr", [](IrBuilder& b, const Words& r) { return b.add_expr(words(Items(r))); },
          nb::arg("record"))
      .def(
          "share_expr", [](IrBuilder& b, const Words& r) { return b.share_expr(words(Items(r))); },
          nb::arg("record"))
      .def(
          "add_node", [](IrBuilder& b, const Words& r) { return b.add_node(words(Items(r))); },
          nb::arg("record"))
      .def(
          "share_node", [](IrBuilder& b, const Words& r) { return b.share_node(words(Items(r))); },
          nb::arg("record"))
      .def("enum_node", &enumeration, nb::arg("literals"), nb::arg("numbers"), nb::arg("strings"),
           nb::arg("nodes"))
      .def("counted_texts", &counted_texts, nb::arg("texts"),
           "Count and references of texts; each one counts once.")
      .def(
          "text_ref",
          [](IrBuilder& b, nb::handle_t<nb::str> text) {
            return pair_of(b.bytes_ref(utf8(text.ptr())));
          },
          nb::arg("text"))
      .def(
          "bytes_ref",
          [](IrBuilder& b, const nb::bytes& data) {
            return pair_of(b.bytes_ref({data.c_str(), data.size()}));
          },
          nb::arg("data"))
      .def(
          "check_exprs",
          [](const IrBuilder& b, const Ids& ids) { b.check_exprs(ids_of(Items(ids))); },
          nb::arg("ids"))
      .def(
          "check_nodes",
          [](const IrBuilder& b, const Ids& ids) { b.check_nodes(ids_of(Items(ids))); },
          nb::arg("ids"))
      .def(
          "check_rule", [](const IrBuilder& b, Int rule) { b.check_rule(id_of(rule.ptr())); },
          nb::arg("rule"));
}

#include "schema_walk.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "python_values.h"

namespace nb = nanobind;
using maskwright::IrBuilder;
using maskwright::kNone;

namespace {

// Schemas in each other, or referred to by each other, that are converted in one recursion.
constexpr int kMaxNested = 50;
constexpr std::size_t kFirstKnown = 32;
constexpr std::size_t kUsual = 16;

// Whether a keyword beside a `$ref` that stands alone is no annotation.
bool has_effect_beside_ref(PyObject* keyword) {
  std::string_view name;
  if (!utf8_of(keyword, name)) return false;
  const std::string_view names[] = {"$defs", "$id", "$ref", "$schema", "definitions", "id"};
  return std::ranges::find(names, name) != std::end(names);
}

std::size_t slot_of(PyObject* schema, uint32_t resource, std::size_t size) {
  const uint64_t key = (reinterpret_cast<uintptr_t>(schema) >> 4) + resource;
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 32) & (size - 1);
}

// An ordered dict has an order of its own; what other subclasses make of their items is not asked.
template <typename Visit>
void each_item(PyObject* dict, Visit visit) {
  static PyObject* const type =
      nb::object(nb::module_::import_("collections").attr("OrderedDict")).release().ptr();
  const nb::handle ordered(type);
  if (PyObject_IsInstance(dict, ordered.ptr()) == 1) {
    for (const nb::handle pair : nb::list(ordered.attr("items")(nb::handle(dict)))) {
      visit(nb::object(pair[0]).ptr(), nb::object(pair[1]).ptr());
    }
    return;
  }
  Py_ssize_t at = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  while (PyDict_Next(dict, &at, &key, &value) != 0) visit(key, value);
}

}  // namespace

// Puts back what a conversion changes, also where it ends by an exception that someone handles.
class SchemaWalk::Guard {
 public:
  explicit Guard(SchemaWalk& walk)
      : walk_(walk),
        frame_(walk.frame_),
        num_parts_(walk.parts_.size()),
        num_pairs_(walk.pairs_.size()) {
    ++walk_.depth_;
  }
  ~Guard() {
    --walk_.depth_;
    walk_.frame_ = frame_;
    walk_.parts_.resize(num_parts_);
    walk_.pairs_.resize(num_pairs_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  std::size_t num_parts() const { return num_parts_; }

 private:
  SchemaWalk& walk_;
  Frame frame_;
  std::size_t num_parts_;
  std::size_t num_pairs_;
};

SchemaWalk::SchemaWalk(nb::object builder, bool strict, bool any_order,
                       std::size_t max_constant_values, bool is_observed)
    : builder_object_(std::move(builder)),
      builder_(nb::cast<IrBuilder&>(builder_object_)),
      strict_(strict),
      any_order_(any_order),
      is_observed_(is_observed),
      max_constant_values_(max_constant_values),
      known_(kFirstKnown) {
  parts_.reserve(kUsual);
  pairs_.reserve(kUsual);
  ignored_.reserve(kUsual);
}

// --- what was converted --------------------------------------------------------------------------

// Where the schema is in known_, or the free place for it.
std::size_t SchemaWalk::slot(PyObject* schema, uint32_t resource) const {
  const std::size_t mask = known_.size() - 1;
  std::size_t at = slot_of(schema, resource, known_.size());
  while (known_[at].schema != nullptr &&
         (known_[at].schema != schema || known_[at].resource != resource)) {
    at = (at + 1) & mask;
  }
  return at;
}

const SchemaWalk::Known* SchemaWalk::find_known(PyObject* schema, uint32_t resource) const {
  const Known& entry = known_[slot(schema, resource)];
  return entry.schema == nullptr ? nullptr : &entry;
}

SchemaWalk::Known& SchemaWalk::known(PyObject* schema, uint32_t resource) {
  if (2 * (converted_.size() + 1) > known_.size()) grow_known();
  Known& entry = known_[slot(schema, resource)];
  if (entry.schema == nullptr) {
    converted_.push_back(nb::borrow(schema));
    entry = {schema, resource, kOpen};
  }
  return entry;
}

void SchemaWalk::grow_known() {
  std::vector<Known> old(known_.size() * 2);
  old.swap(known_);
  for (const Known& entry : old) {
    if (entry.schema != nullptr) known_[slot(entry.schema, entry.resource)] = entry;
  }
}

uint32_t SchemaWalk::resource_id(nb::handle resource) {
  if (!resources_.empty() && resources_[frame_.resource].resource.is(resource)) {
    return frame_.resource;
  }
  for (uint32_t id = 0; id < resources_.size(); ++id) {
    if (resources_[id].resource.is(resource)) return id;
  }
  nb::object table = nb::handle(self_).attr("_table")(resource.attr("dialect"));
  const auto& entry = nb::cast<const KeywordTable&>(table);
  resources_.push_back({nb::borrow(resource), std::move(table), &entry, nb::dict()});
  return static_cast<uint32_t>(resources_.size() - 1);
}

// --- the walk ------------------------------------------------------------------------------------

void SchemaWalk::convert(nb::handle self, nb::handle schema, nb::handle location,
                         nb::handle resource) {
  self_ = self.ptr();
  root_node_ = target(schema.ptr(), places_.enter(location), resource_id(resource));
  while (!deferred_.empty()) {
    const Deferred next = deferred_.back();
    deferred_.pop_back();
    builder_.define_node(next.node, convert_schema(next.schema, next.place, next.resource));
    if (is_observed_) {
      nb::handle(self_).attr("_note_place")(places_.location(next.place), nb::handle(next.schema),
                                            nb::make_tuple(), next.node);
    }
  }
}

uint32_t SchemaWalk::convert_schema(PyObject* schema, Place place, uint32_t resource) {
  if (depth_ == kMaxNested) return defer(schema, place, resource);
  known(schema, resource).state = kOpen;
  const Guard guard(*this);
  frame_ = {schema, place, resource};
  if (is_observed_) {
    nb::handle(self_).attr("_enter")(nb::handle(schema), places_.location(place));
  }
  walk_keywords(schema);
  const std::span parts = std::span(parts_).subspan(guard.num_parts());
  const uint32_t node = builder_.all_of(parts);
  Known& entry = known(schema, resource);
  const int64_t state = std::exchange(entry.state, node);
  const bool was_reserved = state < kOpen;
  const auto reserved_node = static_cast<uint32_t>(reserved(state));
  if (was_reserved) builder_.define_node(reserved_node, node);
  if (is_observed_) {
    nb::list nodes;
    for (const uint32_t part : parts) nodes.append(part);
    nodes.append(node);
    nb::handle(self_).attr("_note_place")(
        places_.location(place), nb::handle(schema), nodes,
        was_reserved ? nb::object(nb::int_(reserved_node)) : nb::object(nb::none()));
  }
  return node;
}

uint32_t SchemaWalk::defer(PyObject* schema, Place place, uint32_t resource) {
  is_cyclic_ = true;  // it may be: edges back to it are not seen as such
  const uint32_t node = builder_.reserve_node();
  known(schema, resource).state = node;
  deferred_.push_back({schema, place, resource, node});
  return node;
}

// In the order of their ranks, so that equal schemas become equal IR however they are written.
// Those that name members come last, and as they stand: the first of them names the first members.
void SchemaWalk::walk_keywords(PyObject* schema) {
  if (table().ref_alone() && has_key(schema, keywords().ref)) {
    each_item(schema, [&](PyObject* keyword, PyObject*) {
      if (!has_effect_beside_ref(keyword)) ignore_unknown(keyword);
    });
    apply(*table().find(keywords().ref), keywords().ref, value_of(schema, keywords().ref).ptr());
    return;
  }
  const std::size_t begin = pairs_.size();
  each_item(schema, [&](PyObject* keyword, PyObject* value) {
    const KeywordTable::Entry* entry = PyUnicode_Check(keyword) ? table().find(keyword) : nullptr;
    if (entry == nullptr) {
      ignore_unknown(keyword);
    } else {
      pairs_.push_back({nb::borrow(keyword), nb::borrow(value), entry});
    }
  });
  const std::span known = std::span(pairs_).subspan(begin);
  const auto rank = [this](const Pair& pair) {
    return pair.entry->declares && !any_order_ ? kNone : pair.entry->rank;
  };
  if (!std::ranges::is_sorted(known, {}, rank)) std::ranges::stable_sort(known, {}, rank);
  // Held by pairs_, also where that is moved as it grows.
  const std::size_t end = pairs_.size();
  for (std::size_t i = begin; i < end; ++i) {
    apply(*pairs_[i].entry, pairs_[i].keyword.ptr(), pairs_[i].value.ptr());
  }
}

void SchemaWalk::ignore_unknown(PyObject* keyword) {
  if (!PyUnicode_Check(keyword)) {
    nb::handle(self_).attr("_refuse_key")(nb::handle(keyword), location());
  }
  ignore(keyword);
}

void SchemaWalk::apply(const KeywordTable::Entry& entry, PyObject* keyword, PyObject* value) {
  if (entry.plain != PlainKeyword::kNone && plain(entry.plain, keyword, value)) return;
  const nb::object handler = entry.handler;
  const nb::object result =
      nb::steal(PyObject_CallFunctionObjArgs(handler.ptr(), self_, keyword, value, nullptr));
  if (!result.is_valid()) throw nb::python_error();
}

uint32_t SchemaWalk::target(PyObject* schema, Place place, uint32_t resource) {
  const Known* found = find_known(schema, resource);
  if (found == nullptr) return convert_schema(schema, place, resource);
  if (found->state >= 0) return static_cast<uint32_t>(found->state);
  is_cyclic_ = true;
  if (is_observed_) nb::handle(self_).attr("_note_loop")(location());
  if (found->state == kOpen) known(schema, resource).state = reserved(builder_.reserve_node());
  return static_cast<uint32_t>(reserved(find_known(schema, resource)->state));
}

uint32_t SchemaWalk::node_below(PyObject* value, PyObject* keyword, Token token) {
  if (frame_.schema == nullptr) throw std::logic_error("no schema is at hand");
  if (PyDict_Check(value)) {
    uint32_t resource = frame_.resource;
    if (const Known* found = find_known(value, resource); found != nullptr && found->state >= 0) {
      return static_cast<uint32_t>(found->state);
    }
    const Place place = token.is_index          ? places_.below(frame_.place, keyword, token.index)
                        : token.text != nullptr ? places_.below(frame_.place, keyword, token.text)
                                                : places_.below(frame_.place, keyword);
    if (has_key(value, table().id_keyword())) {
      const nb::object document = nb::handle(self_).attr("document");
      resource = resource_id(document.attr("enter")(nb::handle(value), places_.location(place),
                                                    resources_[frame_.resource].resource));
    }
    return target(value, place, resource);
  }
  if (PyBool_Check(value)) return boolean(value);
  nb::object shown = nb::none();
  if (token.is_index) shown = nb::steal(PyUnicode_FromFormat("%u", token.index));
  if (token.text != nullptr) shown = nb::borrow(token.text);
  nb::handle(self_).attr("_refuse_schema")(nb::handle(value), nb::handle(keyword), shown);
  throw std::logic_error("_refuse_schema returned");
}

// --- what handlers use ---------------------------------------------------------------------------

uint32_t SchemaWalk::node(nb::handle value, nb::handle keyword, nb::handle token) {
  return node_below(value.ptr(), keyword.ptr(), {token.is_none() ? nullptr : token.ptr()});
}

nb::typed<nb::list, nb::int_> SchemaWalk::nodes_of(nb::handle values, nb::handle keyword) {
  const Items items(values);
  nb::typed<nb::list, nb::int_> nodes;
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    nodes.append(node_below(items[i], keyword.ptr(), {nullptr, static_cast<uint32_t>(i), true}));
  }
  return nodes;
}

nb::typed<nb::dict, nb::str, nb::int_> SchemaWalk::named_nodes(const nb::dict& schemas,
                                                               nb::handle keyword) {
  nb::typed<nb::dict, nb::str, nb::int_> nodes;
  for (const auto& [name, value] : schemas) {
    nodes[name] = node_below(value.ptr(), keyword.ptr(), {name.ptr()});
  }
  return nodes;
}

uint32_t SchemaWalk::target_node(nb::handle schema, nb::handle location, nb::handle resource) {
  return target(schema.ptr(), places_.enter(location), resource_id(resource));
}

void SchemaWalk::add(uint32_t node) {
  builder_.check_nodes({&node, 1});
  parts_.push_back(node);
}

void SchemaWalk::ignore(nb::handle keyword) {
  if (frame_.schema == nullptr) throw std::logic_error("no schema is at hand");
  ignored_.push_back({frame_.place, nb::borrow(keyword)});
}

void SchemaWalk::note_in_place(nb::handle schemas, nb::handle resource) {
  if (frame_.schema == nullptr) throw std::logic_error("no schema is at hand");
  in_place_.push_back({frame_.schema, frame_.place, frame_.resource,
                       resource.is_none() ? frame_.resource : resource_id(resource),
                       nb::borrow(schemas)});
}

nb::object SchemaWalk::schema() const {
  return frame_.schema == nullptr ? nb::none() : nb::borrow(frame_.schema);
}

nb::object SchemaWalk::location() {
  return frame_.schema == nullptr ? nb::none() : places_.location(frame_.place);
}

nb::object SchemaWalk::resource() const {
  return resources_.empty() ? nb::none() : resources_[frame_.resource].resource;
}

nb::typed<nb::set, nb::str> SchemaWalk::plain_facts() const {
  nb::typed<nb::set, nb::str> found;
  if ((facts_ & kExactNumbers) != 0) found.add("exact numbers");
  if ((facts_ & kNamedMembers) != 0) found.add("named members");
  if ((facts_ & kOpenMembers) != 0) found.add("open members");
  return found;
}

// --- after the walk ------------------------------------------------------------------------------

bool SchemaWalk::is_known(nb::handle schema, nb::handle resource) {
  return find_known(schema.ptr(), resource_id(resource)) != nullptr;
}

nb::list SchemaWalk::in_place() {
  nb::list found;
  for (const InPlace& entry : in_place_) {
    nb::object schemas = entry.schemas;
    if (!PyList_Check(schemas.ptr()) && !PyTuple_Check(schemas.ptr())) {
      schemas = nb::make_tuple(schemas);
    }
    found.append(nb::make_tuple(nb::handle(entry.schema), places_.location(entry.place),
                                resources_[entry.resource].resource, schemas,
                                resources_[entry.around].resource));
  }
  return found;
}

std::optional<nb::typed<nb::tuple, nb::str, nb::ellipsis>> SchemaWalk::ignored_pointers(
    std::size_t max_bytes) {
  std::string all;
  std::vector<std::size_t> ends;
  ends.reserve(ignored_.size());
  for (const auto& [place, keyword] : ignored_) {
    places_.render(place, keyword, all);
    ends.push_back(all.size());
    if (all.size() > max_bytes) return std::nullopt;
  }
  nb::object pointers = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(ends.size())));
  if (!pointers.is_valid()) throw nb::python_error();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto size = static_cast<Py_ssize_t>(ends[i] - begin);
    PyObject* text = PyUnicode_DecodeUTF8(all.data() + begin, size, "surrogatepass");
    if (text == nullptr) throw nb::python_error();
    PyTuple_SetItem(pointers.ptr(), static_cast<Py_ssize_t>(i), text);
    begin = ends[i];
  }
  return nb::borrow<nb::typed<nb::tuple, nb::str, nb::ellipsis>>(pointers);
}

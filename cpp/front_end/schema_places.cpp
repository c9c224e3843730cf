#include "schema_places.h"

#include <string_view>
#include <utility>

#include "python_values.h"

namespace nb = nanobind;

namespace {

nb::object encoded(nb::handle token) {
  nb::object bytes = nb::steal(PyUnicode_AsEncodedString(token.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  return bytes;
}

void append_escaped(std::string_view text, std::string& out) {
  out += '/';
  for (const char c : text) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
}

void append_token(nb::handle token, std::string& out) {
  std::string_view text;
  if (utf8_of(token.ptr(), text)) {
    append_escaped(text, out);
    return;
  }
  const nb::object bytes = encoded(token);
  append_escaped({PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(nb::len(bytes))}, out);
}

}  // namespace

SchemaPlaces::Id SchemaPlaces::add(Place place) {
  places_.push_back(std::move(place));
  return static_cast<Id>(places_.size() - 1);
}

SchemaPlaces::Id SchemaPlaces::enter(nb::handle location) {
  std::vector<nb::handle> chain;  // innermost first
  while (PyTuple_Check(location.ptr())) {
    chain.push_back(location);
    location = PyTuple_GetItem(location.ptr(), 0);
  }
  Id id = add({0, kNoIndex, {}, {}, nb::borrow(location)});
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    const nb::handle token = PyTuple_GetItem(it->ptr(), 2);
    id = add({id, kNoIndex, nb::borrow(PyTuple_GetItem(it->ptr(), 1)),
              token.is_none() ? nb::object() : nb::borrow(token), nb::borrow(*it)});
  }
  return id;
}

SchemaPlaces::Id SchemaPlaces::below(Id parent, nb::handle keyword) {
  return add({parent, kNoIndex, nb::borrow(keyword), {}, {}});
}

SchemaPlaces::Id SchemaPlaces::below(Id parent, nb::handle keyword, nb::handle token) {
  return add({parent, kNoIndex, nb::borrow(keyword), nb::borrow(token), {}});
}

SchemaPlaces::Id SchemaPlaces::below(Id parent, nb::handle keyword, uint32_t index) {
  return add({parent, index, nb::borrow(keyword), {}, {}});
}

nb::object SchemaPlaces::location(Id id) {
  std::vector<Id> chain;
  for (Id at = id; !places_[at].python.is_valid(); at = places_[at].parent) chain.push_back(at);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    Place& place = places_[*it];
    nb::object token = nb::none();
    if (place.token.is_valid()) {
      token = place.token;
    } else if (place.index != kNoIndex) {
      token = nb::steal(PyUnicode_FromFormat("%u", place.index));
    }
    place.python = nb::make_tuple(places_[place.parent].python, place.keyword, token);
  }
  return places_[id].python;
}

void SchemaPlaces::render(Id id, nb::handle keyword, std::string& out) {
  chain_.clear();
  while (places_[id].keyword.is_valid()) {
    chain_.push_back(id);
    id = places_[id].parent;
  }
  if (const nb::handle root = places_[id].python; !root.is_none()) {
    const nb::object bytes = encoded(root);
    out.append(PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(nb::len(bytes)));
  }
  out += '#';
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    const Place& place = places_[*it];
    append_token(place.keyword, out);
    if (place.token.is_valid()) append_token(place.token, out);
    if (place.index != kNoIndex) out += '/' + std::to_string(place.index);
  }
  append_token(keyword, out);
}

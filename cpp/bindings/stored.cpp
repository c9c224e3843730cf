// Stored grammars: bytes and texts of Python in and out.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "maskwright/serialize/stored_grammar.h"
#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::CompiledGrammar;
using maskwright::CompileLimits;
using maskwright::Error;
using maskwright::Fingerprint;
using maskwright::LoadedGrammar;
using maskwright::SharedMasks;
using maskwright::StorableMasks;
using maskwright::StoredSource;
using maskwright::Vocabulary;

namespace {

using Texts = nb::typed<nb::tuple, nb::str, nb::ellipsis>;
using Loosened = nb::typed<nb::tuple, Texts, nb::ellipsis>;
using Loaded = nb::typed<nb::tuple, CompiledGrammar, nb::bytes, bool, Texts, Loosened, Texts>;

std::span<const std::byte> view(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

Fingerprint fingerprint_of(const nb::bytes& bytes) {
  Fingerprint fingerprint{};
  if (bytes.size() != fingerprint.size()) throw nb::value_error("a fingerprint has 32 bytes");
  std::ranges::copy(view(bytes), fingerprint.begin());
  return fingerprint;
}

// A key of a schema can hold a lone surrogate, which a pointer then spells.
std::string encode(nb::handle text) {
  const auto bytes =
      nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

nb::object decode(const std::string& bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(bytes.data(), size, "surrogatepass"));
  if (text.is_valid()) return text;
  PyErr_Clear();
  throw Error::stored("a text of its certificate is no UTF-8");
}

template <typename Items>
nb::tuple decode_all(const Items& items) {
  nb::list texts;
  for (const std::string& item : items) texts.append(decode(item));
  return nb::tuple(texts);
}

nb::bytes store(const CompiledGrammar& grammar, const nb::bytes& ir, const nb::bytes& fingerprint,
                bool exact, const Texts& narrowed, const Loosened& loosened, const Texts& ignored,
                bool include_masks) {
  StoredSource source;
  source.ir.assign(view(ir).begin(), view(ir).end());
  source.certificate.exact = exact;
  for (const nb::handle text : narrowed) source.certificate.narrowed.push_back(encode(text));
  for (const nb::handle entry : loosened) {
    source.certificate.loosened.push_back({encode(entry[0]), encode(entry[1]), encode(entry[2])});
  }
  for (const nb::handle text : ignored) source.certificate.ignored.push_back(encode(text));
  const Fingerprint own = fingerprint_of(fingerprint);
  const auto bytes = [&] {
    const nb::gil_scoped_release release;
    const auto masks = include_masks ? grammar.storable_masks() : StorableMasks{};
    return maskwright::store(grammar, source, own, masks);
  }();
  return nb::bytes(bytes.data(), bytes.size());
}

Loaded load(const nb::bytes& bytes, std::shared_ptr<Vocabulary> vocabulary,
            const nb::bytes& fingerprint, uint32_t max_states, uint32_t max_targets,
            uint32_t max_clauses, uint32_t max_lang_states,
            std::shared_ptr<SharedMasks> shared_masks, bool trust_masks) {
  CompileLimits allowed;
  allowed.rules.max_states = max_states;
  allowed.json = {max_targets, max_clauses, max_lang_states};
  const Fingerprint expected = fingerprint_of(fingerprint);
  const LoadedGrammar loaded = [&] {
    const nb::gil_scoped_release release;
    return maskwright::load(view(bytes), std::move(vocabulary), expected, allowed,
                            std::move(shared_masks), trust_masks);
  }();
  const auto& [ir, certificate] = loaded.source;
  nb::list loosened;
  for (const auto& entry : certificate.loosened) loosened.append(decode_all(entry));
  return nb::borrow<Loaded>(nb::make_tuple(loaded.grammar, nb::bytes(ir.data(), ir.size()),
                                           certificate.exact, decode_all(certificate.narrowed),
                                           nb::tuple(loosened), decode_all(certificate.ignored)));
}

}  // namespace

void register_stored(nb::module_& m) {
  const CompileLimits limits;
  m.attr("STORED_VERSION") = maskwright::kStoredVersion;
  m.def(
      "store", &store, nb::arg("compiled"), nb::kw_only(), nb::arg("ir"), nb::arg("fingerprint"),
      nb::arg("exact"), nb::arg("narrowed"), nb::arg("loosened"), nb::arg("ignored"),
      nb::arg("include_masks") = false,
      "Return the stored form of a compiled grammar, with what it was compiled from. Releases the "
      "GIL.");
  m.def("load", &load, nb::arg("stored"), nb::arg("vocabulary"), nb::kw_only(),
        nb::arg("fingerprint"), nb::arg("max_states") = limits.rules.max_states,
        nb::arg("max_targets") = limits.json.max_targets,
        nb::arg("max_clauses") = limits.json.max_clauses,
        nb::arg("max_lang_states") = limits.json.max_lang_states,
        nb::arg("shared_masks").none() = nb::none(), nb::arg("trust_masks") = false,
        "Load a stored form: (grammar, ir, exact, narrowed, loosened, ignored). Releases the GIL.");
  m.def(
      "check_ir", [](const nb::bytes& ir) { maskwright::Ir::parse(view(ir)); }, nb::arg("ir"),
      "Raise MalformedIRError if the bytes are no IR buffer.");
}

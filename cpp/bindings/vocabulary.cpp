#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "maskwright/trie/trie.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::Vocabulary;

namespace {

std::shared_ptr<Vocabulary> make_vocabulary(const nb::typed<nb::list, nb::bytes>& tokens,
                                            uint32_t vocab_size,
                                            std::vector<uint32_t> special_token_ids,
                                            std::vector<uint32_t> stop_token_ids) {
  std::vector<std::string> texts;
  texts.reserve(tokens.size());
  for (const nb::handle token : tokens) {
    const auto text = nb::cast<nb::bytes>(token);
    texts.emplace_back(text.c_str(), text.size());
  }
  const nb::gil_scoped_release release;
  return std::make_shared<Vocabulary>(std::move(texts), vocab_size, std::move(special_token_ids),
                                      std::move(stop_token_ids));
}

}  // namespace

void register_vocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary",
                         "Token bytes as a trie; see maskwright.TokenizerInfo for the public form.")
      .def(nb::new_(&make_vocabulary), nb::arg("tokens"), nb::kw_only(), nb::arg("vocab_size"),
           nb::arg("special_token_ids"), nb::arg("stop_token_ids"))
      .def_prop_ro("vocab_size", &Vocabulary::vocab_size)
      .def_prop_ro("num_trie_nodes", &Vocabulary::num_nodes)
      .def_prop_ro("max_token_length", &Vocabulary::max_token_length)
      .def_prop_ro("memory_bytes", &Vocabulary::memory_bytes);
}

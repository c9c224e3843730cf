#include "maskwright/matcher/compiled.h"

#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <span>

#include "gil.h"
#include "maskwright/matcher/matcher.h"
#include "maskwright/matcher/precompute.h"
#include "maskwright/support/stop_flag.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::ByteLedger;
using maskwright::CompiledGrammar;
using maskwright::CompileLimits;
using maskwright::Precompute;
using maskwright::SharedMasks;
using maskwright::StopFlag;
using maskwright::Vocabulary;

namespace {

std::shared_ptr<CompiledGrammar> compile(
    const nb::bytes& ir, std::shared_ptr<Vocabulary> vocabulary, uint32_t max_states,
    uint32_t max_targets, uint32_t max_clauses, uint32_t max_lang_states, std::size_t around_bytes,
    bool token_classes, bool clipping, bool sharing, std::shared_ptr<SharedMasks> shared_masks,
    const StopFlag* stop) {
  CompileLimits limits;
  limits.shortcuts = {token_classes, clipping, sharing};
  limits.rules.max_states = max_states;
  limits.json = {max_targets, max_clauses, max_lang_states};
  const std::span<const std::byte> buffer{static_cast<const std::byte*>(ir.data()), ir.size()};
  const nb::gil_scoped_release release;
  const maskwright::StopScope scope(stop);
  auto grammar =
      maskwright::compile(buffer, std::move(vocabulary), limits, std::move(shared_masks));
  grammar->set_around_bytes(around_bytes);
  return grammar;
}

nb::typed<nb::dict, nb::str, nb::int_> counters(const CompiledGrammar& grammar) {
  const maskwright::CompiledCounters counts = grammar.counters();
  nb::typed<nb::dict, nb::str, nb::int_> result;
  result["frames"] = counts.frames;
  result["states"] = counts.states;
  result["rows"] = counts.rows;
  result["positions"] = counts.positions;
  result["searched_places"] = counts.searched_places;
  result["budget_searches"] = counts.budget_searches;
  result["budget_walks"] = counts.budget_walks;
  result["budget_work"] = counts.budget_work;
  result["mask_drops"] = counts.mask_drops;
  result["masks"] = counts.masks.entries;
  result["shared_masks"] = counts.masks.shared;
  result["mask_bytes"] = counts.masks.memory_bytes;
  result["cold_walks"] = counts.masks.cold_walks;
  result["visited_nodes"] = counts.masks.visited_nodes;
  result["read_masks"] = counts.masks.read_masks;
  return result;
}

nb::typed<nb::dict, nb::str, nb::int_> limits_of(const CompiledGrammar& grammar) {
  const CompileLimits& limits = grammar.limits();
  nb::typed<nb::dict, nb::str, nb::int_> result;
  result["max_states"] = limits.rules.max_states;
  result["max_targets"] = limits.json.max_targets;
  result["max_clauses"] = limits.json.max_clauses;
  result["max_lang_states"] = limits.json.max_lang_states;
  return result;
}

nb::typed<nb::dict, nb::str, nb::int_> shared_counters(const SharedMasks& masks) {
  const maskwright::SharedMaskStats stats = masks.stats();
  nb::typed<nb::dict, nb::str, nb::int_> result;
  result["entries"] = stats.entries;
  result["bytes"] = stats.bytes;
  result["hits"] = stats.hits;
  result["misses"] = stats.misses;
  result["evictions"] = stats.evictions;
  return result;
}

}  // namespace

void register_compiled(nb::module_& m) {
  const CompileLimits limits;
  nb::class_<ByteLedger>(
      m, "ByteLedger",
      "Memory of what is charged to it: compiled grammars, or masks that they share.")
      .def(nb::init<>())
      .def_prop_ro("bytes", &ByteLedger::bytes)
      .def("set_limit", &ByteLedger::set_limit, nb::arg("bytes"),
           "What grammars may take that drop their masks rather than take more.");
  nb::class_<SharedMasks>(m, "SharedMasks",
                          "Masks that the grammars of a vocabulary share, up to a limit.")
      .def(
          "__init__",
          [](SharedMasks* self, std::shared_ptr<Vocabulary> vocabulary, int64_t limit_bytes,
             std::shared_ptr<ByteLedger> ledger, std::shared_ptr<SharedMasks> below) {
            const auto limit =
                limit_bytes < 0 ? SharedMasks::kUnlimited : static_cast<std::size_t>(limit_bytes);
            new (self)
                SharedMasks(std::move(vocabulary), limit, std::move(ledger), std::move(below));
          },
          nb::arg("vocabulary"), nb::arg("limit_bytes") = -1, nb::arg("ledger").none() = nb::none(),
          nb::arg("below").none() = nb::none(),
          "What the store below has is taken from there; it is frozen by this.")
      .def("freeze", &SharedMasks::freeze, "It takes nothing more from now on.")
      .def_prop_ro("bytes", &SharedMasks::bytes)
      .def("counters", &shared_counters, "entries, bytes, hits, misses and evictions.");
  using Held = nb::call_guard<HoldsGil>;
  nb::class_<CompiledGrammar>(
      m, "CompiledGrammar", "A grammar compiled for one vocabulary; immutable, shared by matchers.")
      .def_prop_ro("memory_bytes", &CompiledGrammar::memory_bytes,
                   "As of the last call that computed something; waits for nothing.")
      .def_prop_rw("around_bytes", &CompiledGrammar::around_bytes,
                   &CompiledGrammar::set_around_bytes, Held(),
                   "The part of it that its owner gave.")
      .def_prop_ro("may_need_search", &CompiledGrammar::may_need_unspellable,
                   "A text may get to where the vocabulary can't spell what follows, so that masks "
                   "take a search.")
      .def("limits", &limits_of, "What it was compiled under, as the arguments of compile().")
      .def("charge_to", &CompiledGrammar::charge_to, nb::arg("ledger").none(),
           "Have the ledger count this grammar from now on; None: nobody.")
      .def_prop_ro("mask_table", &CompiledGrammar::mask_table, "The ids of its masks.")
      .def("use_mask_table", &CompiledGrammar::use_mask_table, Held(), nb::arg("table"),
           "Take ids from a table of the same vocabulary, before any was asked for.")
      .def("bound_budget_work", &CompiledGrammar::bound_budget_work, Held(), nb::arg("max_work"),
           "For tests: the work that a mask under a budget may take at most.")
      .def("counters", &counters,
           "Counts of what was built so far: frames, states, rows, positions, searched_places, "
           "budget_searches, budget_walks, budget_work, mask_drops, masks, shared_masks, "
           "mask_bytes, "
           "cold_walks, visited_nodes, read_masks.");
  nb::class_<StopFlag>(m, "StopFlag",
                       "Stops compile() in another thread, which raises CancelledError then.")
      .def(nb::init<>())
      .def("set", &StopFlag::set)
      .def_prop_ro("is_set", &StopFlag::is_set);
  nb::class_<Precompute>(m, "Precompute", "Computes masks of a grammar that no matcher asked for.")
      .def(nb::init<std::shared_ptr<CompiledGrammar>>(), nb::arg("compiled"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("run", &Precompute::run, nb::arg("seconds"), nb::arg("max_bytes"),
           nb::call_guard<nb::gil_scoped_release>(),
           "Work for so many seconds of processor time, or until the grammar takes max_bytes; "
           "False: nothing is left to do. Releases the GIL.")
      .def_prop_ro("num_places", &Precompute::num_places);
  m.def("compile", &compile, nb::arg("ir"), nb::arg("vocabulary"), nb::kw_only(),
        nb::arg("max_states") = limits.rules.max_states,
        nb::arg("max_targets") = limits.json.max_targets,
        nb::arg("max_clauses") = limits.json.max_clauses,
        nb::arg("max_lang_states") = limits.json.max_lang_states, nb::arg("around_bytes") = 0,
        nb::arg("token_classes") = true, nb::arg("clipping") = true, nb::arg("sharing") = true,
        nb::arg("shared_masks").none() = nb::none(), nb::arg("stop").none() = nb::none(),
        "Compile an IR buffer for a vocabulary. Releases the GIL. around_bytes are counted as the "
        "grammar's: what its owner needs for it. The four from token_classes to shared_masks are "
        "shortcuts that change no answer. A stop flag that is set, before or meanwhile, ends it "
        "with CancelledError.");
}

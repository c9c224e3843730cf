#include "maskwright/batch/batch.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "batch_arguments.h"
#include "integers.h"
#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::Batch;
using maskwright::Deadline;
using maskwright::DraftTree;
using maskwright::Error;
using maskwright::ErrorKind;

namespace {

using Flags = nb::typed<nb::list, bool>;

Flags as_list(const std::vector<uint8_t>& flags) {
  Flags list;
  for (const uint8_t flag : flags) list.append(nb::bool_(flag != 0));
  return list;
}

// The work of a call, which needs nothing of Python.
template <typename Work>
auto without_gil(const Work& work) {
  const nb::gil_scoped_release release;
  return work();
}

Flags accept_tokens(nb::handle matchers, nb::handle tokens) {
  const MatcherList list(matchers);
  const std::vector<int64_t> ids = integer_list(tokens);
  list.check_length(ids.size(), "tokens");
  return as_list(without_gil([&] { return maskwright::accept_tokens(list.matchers(), ids); }));
}

Flags accept_strings(nb::handle matchers, nb::handle strings) {
  const MatcherList list(matchers);
  const TextList texts(strings);
  list.check_length(texts.texts().size(), "strings");
  return as_list(
      without_gil([&] { return maskwright::accept_texts(list.matchers(), texts.texts()); }));
}

void roll_back(nb::handle matchers, nb::handle num_tokens) {
  const MatcherList list(matchers);
  std::vector<int64_t> steps;
  if (PyIndex_Check(num_tokens.ptr()) != 0) {
    steps.assign(list.size(), integer(num_tokens));
  } else {
    steps = number_list(num_tokens, "num_tokens");
    list.check_length(steps.size(), "num_tokens");
  }
  without_gil([&] { maskwright::roll_back(list.matchers(), steps); });
}

void fill_temperature(nb::handle matchers, nb::handle temperatures, nb::handle indices) {
  const MatcherList list(matchers);
  const TemperatureArray out(temperatures, 0);
  const auto rows = row_list(indices, list, static_cast<int64_t>(out.size()), "temperatures has");
  maskwright::check_distinct(list.matchers());
  for (std::size_t i = 0; i < list.size(); ++i) out.set(rows[i], list.base(i).default_temperature);
}

void fill(Batch& batch, nb::handle matchers, nb::handle bitmask, nb::handle indices) {
  const MatcherList list(matchers);
  const Bitmask out(bitmask, list.max_words());
  const auto rows = row_list(indices, list, out.rows.count, "the bitmask has");
  without_gil([&] { batch.fill(list.matchers(), rows, out.rows); });
}

// Returns how many have none.
std::size_t mask_ids(Batch& batch, nb::handle matchers, nb::handle mask_ids, nb::handle indices,
                     const std::shared_ptr<maskwright::MaskTable>& table) {
  const MatcherList list(matchers);
  const MaskIdArray out(mask_ids);
  const auto rows = row_list(indices, list, static_cast<int64_t>(out.size()), "mask_ids has");
  const auto ids = without_gil([&] { return batch.mask_ids(list.matchers(), table.get()); });
  for (std::size_t i = 0; i < ids.size(); ++i) out.set(rows[i], ids[i]);
  return static_cast<std::size_t>(std::ranges::count(ids, maskwright::kNoMaskId));
}

// --- draft trees --------------------------------------------------------------------------------

// The three arrays of one or more trees, which fit one another.
struct DraftArrays {
  DraftArrays(nb::handle next_token, nb::handle next_sibling, nb::handle draft_tokens)
      : child(next_token, "retrieve_next_token"),
        sibling(next_sibling, "retrieve_next_sibling"),
        tokens(draft_tokens, "draft_tokens") {
    const std::size_t n = tokens.columns();
    for (const IntegerArray* links : {&child, &sibling}) {
      if (links->columns() == n) continue;
      links->refuse("draft-tree-sizes", std::to_string(n) + (n == 1 ? " node" : " nodes") +
                                            ", as many as draft_tokens has");
    }
  }

  std::size_t num_nodes() const { return tokens.columns(); }

  IntegerArray child;
  IntegerArray sibling;
  IntegerArray tokens;
};

bool traverse(MatcherBase& base, nb::handle next_token, nb::handle next_sibling,
              nb::handle draft_tokens, nb::handle bitmask, double time_threshold,
              nb::handle temperatures, nb::handle root_position) {
  using Clock = std::chrono::steady_clock;
  Deadline deadline;
  if (time_threshold > 0) {
    constexpr double kYear = 365.0 * 24 * 3600;
    const std::chrono::duration<double> seconds(std::min(time_threshold, kYear));
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
  }
  const int64_t root = integer(root_position);  // may run Python code, so before the arrays
  const DraftArrays arrays(next_token, next_sibling, draft_tokens);
  for (const IntegerArray* array : {&arrays.child, &arrays.sibling, &arrays.tokens}) {
    array->check_ndim(true, false);
  }
  const DraftTree tree(arrays.child.row(0), arrays.sibling.row(0), root);
  const auto nodes = static_cast<int64_t>(arrays.num_nodes());
  const Bitmask out(bitmask, base.matcher.grammar().vocabulary().mask_words());
  out.check_rows(nodes, "one for each node");
  std::optional<TemperatureArray> heat;
  if (!temperatures.is_none()) heat.emplace(temperatures, arrays.num_nodes());
  std::vector<uint8_t> reached(heat.has_value() ? arrays.num_nodes() : 0);
  const bool complete = without_gil([&] {
    return maskwright::traverse_draft_tree(base.matcher, tree, arrays.tokens.row(0), out.rows,
                                           deadline, reached);
  });
  for (std::size_t i = 0; i < reached.size(); ++i) {
    heat->set(static_cast<int64_t>(i),
              reached[i] != 0 ? base.default_temperature : std::optional<double>());
  }
  return complete;
}

// The trees of a batch: one for each row of the arrays, or a shared one, by root.
class Trees {
 public:
  explicit Trees(const DraftArrays& arrays) : arrays_(arrays) {
    const bool shared = arrays.child.ndim() == 1;
    arrays.sibling.check_ndim(shared, !shared);
    arrays.tokens.check_ndim(false, true);
    for (const IntegerArray* links : {&arrays.child, &arrays.sibling}) {
      if (shared || links->rows() == arrays.tokens.rows()) continue;
      links->refuse("draft-tree-sizes",
                    std::to_string(arrays.tokens.rows()) + " rows, as many as draft_tokens has");
    }
  }

  const DraftTree* get(int64_t row, int64_t root) {
    const bool shared = arrays_.child.ndim() == 1;
    const auto place = shared ? shared_.find(root) : shared_.end();
    if (place != shared_.end()) return place->second;
    const int64_t at = shared ? 0 : row;
    const std::string what = shared ? "" : "row " + std::to_string(row) + ": ";
    trees_.emplace_back(arrays_.child.row(at), arrays_.sibling.row(at), root, what);
    if (shared) shared_.emplace(root, &trees_.back());
    return &trees_.back();
  }

 private:
  const DraftArrays& arrays_;
  std::deque<DraftTree> trees_;
  std::map<int64_t, const DraftTree*> shared_;
};

Flags traverse_batch(Batch& batch, nb::handle matchers, nb::handle next_token,
                     nb::handle next_sibling, nb::handle draft_tokens, nb::handle bitmask,
                     nb::handle indices, nb::handle root_positions) {
  const MatcherList list(matchers);
  const DraftArrays arrays(next_token, next_sibling, draft_tokens);
  Trees trees(arrays);
  const auto rows = row_list(indices, list, arrays.tokens.rows(), "draft_tokens has");
  std::vector<int64_t> roots(list.size(), 0);
  if (!root_positions.is_none()) {
    roots = number_list(root_positions, "root_positions");
    list.check_length(roots.size(), "root_positions");
  }
  const Bitmask out(bitmask, list.max_words());
  const auto nodes = static_cast<int64_t>(arrays.num_nodes());
  const int64_t last = rows.empty() ? -1 : std::ranges::max(rows);
  out.check_rows((last + 1) * nodes, std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") +
                                         " for each row up to " + std::to_string(last));
  return as_list(without_gil([&] {
    std::vector<Batch::Draft> drafts;
    for (std::size_t i = 0; i < list.size(); ++i) {
      drafts.push_back({trees.get(rows[i], roots[i]), arrays.tokens.row(rows[i]), rows[i] * nodes});
    }
    return batch.traverse(list.matchers(), drafts, out.rows);
  }));
}

}  // namespace

void register_batch(nb::module_& m) {
  m.def("accept_tokens", &accept_tokens, nb::arg("matchers").none(), nb::arg("tokens").none());
  m.def("accept_strings", &accept_strings, nb::arg("matchers").none(), nb::arg("strings").none());
  m.def("roll_back", &roll_back, nb::arg("matchers").none(), nb::arg("num_tokens").none());
  m.def("fill_temperature", &fill_temperature, nb::arg("matchers").none(),
        nb::arg("temperatures").none(), nb::arg("indices").none());
  m.def("traverse_draft_tree", &traverse, nb::arg("matcher"), nb::arg("retrieve_next_token").none(),
        nb::arg("retrieve_next_sibling").none(), nb::arg("draft_tokens").none(),
        nb::arg("bitmask").none(), nb::arg("time_threshold"), nb::arg("temperatures").none(),
        nb::arg("root_position").none());
  nb::class_<Batch>(m, "Batch", "Calls for many matchers; see maskwright.BatchGrammarMatcher.")
      .def(nb::init<uint32_t>(), nb::arg("max_threads"))
      .def_prop_ro("max_threads", &Batch::max_threads)
      .def("renew", &Batch::renew, "For a child after fork().")
      .def("fill", &fill, nb::arg("matchers").none(), nb::arg("bitmask").none(),
           nb::arg("indices").none())
      .def("mask_ids", &mask_ids, nb::arg("matchers").none(), nb::arg("mask_ids").none(),
           nb::arg("indices").none(), nb::arg("mask_table").none(),
           "Write the ids of the matchers' masks in the table; return how many have none.")
      .def("traverse", &traverse_batch, nb::arg("matchers").none(),
           nb::arg("retrieve_next_token").none(), nb::arg("retrieve_next_sibling").none(),
           nb::arg("draft_tokens").none(), nb::arg("bitmask").none(), nb::arg("indices").none(),
           nb::arg("root_positions").none());
}

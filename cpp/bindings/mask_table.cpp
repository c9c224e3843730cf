#include "maskwright/matcher/mask_table.h"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "arrays.h"
#include "integers.h"
#include "maskwright/support/error.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::MaskTable;

namespace {

std::vector<std::span<const uint32_t>> find_masks(const MaskTable& table, const Integers& ids) {
  std::vector<std::span<const uint32_t>> masks;
  for (const int64_t id : integers(ids)) {
    masks.push_back(table.mask(id));
    if (masks.back().data() != nullptr) continue;
    throw maskwright::Error(maskwright::ErrorKind::kBitmask, "bitmask-mask-id",
                            "mask id " + std::to_string(id) + " does not exist: the table has " +
                                std::to_string(table.size()) +
                                " masks; pass ids of a matcher whose grammar has this table");
  }
  return masks;
}

void get_masks(const MaskTable& table, const Integers& ids, nb::handle out) {
  const auto masks = find_masks(table, ids);
  const ArrayMemory memory = writable_memory(out, "out");
  const ArrayFacts& facts = memory.facts;
  const uint32_t words = table.mask_words();
  if (facts.dtype != "int32") bad_array("bitmask-dtype", "out", facts, "int32");
  if (facts.shape.size() != 2 || facts.shape[0] < static_cast<int64_t>(masks.size()) ||
      facts.shape[1] < words) {
    bad_array("bitmask-shape", "out", facts,
              "2-D with at least " + std::to_string(masks.size()) + " rows of " +
                  std::to_string(words) + " words");
  }
  const bool overlaps = masks.size() > 1 && std::abs(facts.strides[0]) < facts.shape[1];
  if (!has_unit_stride(facts) || overlaps) {
    bad_array("bitmask-strides", "out", facts, "rows of words side by side that do not overlap");
  }
  auto* const data = static_cast<uint32_t*>(memory.data);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const std::span row(data + static_cast<int64_t>(i) * facts.strides[0],
                        static_cast<std::size_t>(facts.shape[1]));
    std::ranges::copy(masks[i], row.begin());
    std::ranges::fill(row.subspan(words), 0U);
  }
}

constexpr const char* kDoc = R"(The distinct masks of a compiler's grammars, each once, by number.

An engine can keep them on its device and send a number for each row instead of the mask:
`GrammarMatcher.next_mask_id` gives the number, and rows that are new here are fetched once with
`get_masks`. Ids are 0, 1, 2, ... and mean the same mask for good. Safe to use from several threads.

The table is full at ``limit_bytes``; masks that are not in it by then have no id.
)";

constexpr const char* kGetDoc = R"(Write masks into the first rows of an array.

Args:
    ids: Ids below ``len(table)``; as many rows are written, in this order.
    out: int32 array on the CPU, of shape (rows, words), with at least as many rows as ids and
        ``shape[1]`` words; contiguous within a row, and the rows do not overlap. Words behind a
        mask are set to 0.

Raises:
    BitmaskError: There is no such id (``bitmask-mask-id``), or the array does not fit
        (``bitmask-dtype``, ``bitmask-shape``, ``bitmask-strides``, ``bitmask-not-an-array``);
        nothing was written.
    TypeError: An id is no integer.
)";

}  // namespace

void register_mask_table(nb::module_& m) {
  nb::class_<MaskTable>(m, "MaskTable", kDoc)
      .def(nb::init<uint32_t, std::size_t>(), nb::arg("mask_words"),
           nb::arg("limit_bytes") = MaskTable::kDefaultBytes)
      .def("__len__", &MaskTable::size)
      .def_prop_ro(
          "shape",
          [](const MaskTable& table) { return nb::make_tuple(table.size(), table.mask_words()); },
          nb::sig("def shape(self) -> tuple[int, int]"), "Masks so far, and words of each.")
      .def_prop_ro("memory_size_bytes", &MaskTable::memory_bytes, "At most `limit_bytes`.")
      .def_prop_ro("limit_bytes", &MaskTable::limit_bytes, "What the masks may take.")
      .def("get_masks", &get_masks, nb::arg("ids"), nb::arg("out").none(),
           nb::sig("def get_masks(self, ids: collections.abc.Iterable[int], out: typing.Any) -> "
                   "None"),
           kGetDoc);
}

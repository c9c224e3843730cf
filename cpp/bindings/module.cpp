// The Python module maskwright._core: registers each part of the engine, no logic of its own.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "front_end/register.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/version.h"
#include "register.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
#ifdef NDEBUG
  // A global of whoever imports this, still alive when the interpreter ends, is no leak of ours.
  nanobind::set_leak_warnings(false);
#endif
  m.doc() = "The compiled engine of maskwright. Private: use the names of the package maskwright.";
  m.def("engine_version", &maskwright::engine_version,
        "Return the release of the compiled engine, for example ``0.1.0``.");
  m.attr("IR_VERSION") = maskwright::kIrVersion;
  register_errors(m);
  register_ir_builder(m);
  register_schema_walk(m);
  register_json_text(m);
  register_vocabulary(m);
  register_mask_table(m);
  register_compiled(m);
  register_stored(m);
  register_matcher(m);
  register_batch(m);
  register_apply(m);
}

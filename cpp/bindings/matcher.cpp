#include "maskwright/matcher/matcher.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "direct_array.h"
#include "gil.h"
#include "integers.h"
#include "maskwright/support/error.h"
#include "matcher_base.h"
#include "register.h"

namespace nb = nanobind;
using maskwright::CompiledGrammar;
using maskwright::Matcher;

namespace {

std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

bool accept_token(Matcher& matcher, nb::handle token) {
  return matcher.accept_token(integer(token));
}

std::size_t validate_tokens(Matcher& matcher, const Integers& tokens) {
  return matcher.validate_tokens(integers(tokens));
}

// A thread that gives up the GIL for a moment only, again and again, keeps others from getting it:
// each time they wake up it is taken. So short texts are looked for without giving it up.
nb::bytes forced_bytes(Matcher& matcher, std::size_t limit) {
  constexpr std::size_t kShort = 64;
  std::optional<std::string> text = matcher.forced_bytes(std::min(limit, kShort), false);
  if (!text.has_value() || (text->size() == kShort && limit > kShort)) {
    const ReleasesGil release;
    text = matcher.forced_bytes(limit);
  }
  return nb::bytes(text->data(), text->size());
}

std::vector<uint32_t> open_tokens(Matcher& matcher, const nb::bytes& ahead) {
  const std::string_view text = view(ahead);
  const ReleasesGil release;
  return matcher.open_tokens(text);
}

nb::bytes recent_text(const Matcher& matcher, std::size_t max_bytes) {
  const std::string text = matcher.recent_text(max_bytes);
  return nb::bytes(text.data(), text.size());
}

// Writes a row that has at least as many words as a mask.
Matcher::Fill fill_row(Matcher& matcher, std::span<uint32_t> row, bool walk) {
  const uint32_t words = matcher.grammar().vocabulary().mask_words();
  const auto result = matcher.fill_bitmask(row.first(words), walk);
  std::ranges::fill(row.subspan(words), 0U);
  return result;
}

bool fill_bitmask(Matcher& matcher, nb::handle bitmask, nb::handle index) {
  const int64_t words = matcher.grammar().vocabulary().mask_words();
  const int64_t at = integer(index);  // may run Python code, so before the array is looked at
  DirectArray direct{};
  // Nothing holds the array in its place, so this may not wait without the global lock.
  const HoldsGil held(false);
  if (!matcher.grammar().mutex().is_taken() && direct_array(bitmask, direct) &&
      direct.type == nb::dtype<int32_t>() && direct.writable && direct.length >= words && at >= 0 &&
      at < direct.rows) {
    const std::span row(static_cast<uint32_t*>(direct.data) + at * direct.stride,
                        static_cast<std::size_t>(direct.length));
    const auto result = fill_row(matcher, row, false);
    if (result != Matcher::Fill::kCold) return result == Matcher::Fill::kSome;
  }
  const Array array = writable_cpu_array(bitmask, "bitmask");
  const auto row = bitmask_row(array, at, static_cast<uint32_t>(words));
  const ReleasesGil release;
  return fill_row(matcher, row, true) == Matcher::Fill::kSome;
}

maskwright::MaskId mask_id(Matcher& matcher) {
  if (const auto known = matcher.mask_id(false); known.has_value()) return *known;
  const ReleasesGil release;
  return *matcher.mask_id(true);
}

void rollback(Matcher& matcher, nb::handle count) {
  const int64_t steps = integer(count);
  if (steps < 0) {
    throw maskwright::Error(
        maskwright::ErrorKind::kMatcher, "matcher-rollback-negative",
        "cannot roll back " + std::to_string(steps) + " steps: the number must be 0 or more");
  }
  matcher.rollback(static_cast<uint64_t>(steps));
}

template <typename... Args>
void log(const char* format, const Args&... arguments) {
  const nb::object logger = nb::module_::import_("logging").attr("getLogger")("maskwright.matcher");
  logger.attr("debug")(format, arguments...);
}

bool accept_next(MatcherBase& self, nb::handle token_id, bool debug_print) {
  const bool accepted = accept_token(self.matcher, token_id);
  if (debug_print) log("accept_token(%s) -> %s", token_id, accepted);
  return accepted;
}

bool fill_next(MatcherBase& self, nb::handle bitmask, nb::handle index, bool debug_print) {
  const bool must_apply = fill_bitmask(self.matcher, bitmask, index);
  if (debug_print) log("fill_next_token_bitmask(index=%s) -> %s", index, must_apply);
  return must_apply;
}

constexpr const char* kAcceptDoc = R"(Append a token.

Args:
    token_id: Any integer, of Python or numpy, of any size; bools are integers.
    debug_print: Log the result.

Returns:
    True if the mask allows the token. False, with nothing changed, if not: ids outside the
    vocabulary, and everything after a stop token, included.

Raises:
    TypeError: ``token_id`` is no integer.
)";

constexpr const char* kFillDoc = R"(Write which tokens may come next.

Bit ``t % 32`` of word ``t // 32`` is 1 iff `accept_token` would accept ``t``; bits at and above
the vocabulary size are 0. Nothing but the row is written. Python's global lock is released while
a mask is computed that was not needed before.

Args:
    bitmask: int32 array on the CPU, of shape (rows, words) or (words,), with at least
        ``ceil(vocab_size / 32)`` words, contiguous within a row; numpy, torch, or any object with
        DLPack or a buffer. Written in place.
    index: The row.
    debug_print: Log the result.

Returns:
    True if some token is refused, so that the mask must be applied.

Raises:
    MatcherError: The matcher is terminated, so no token can follow (``matcher-terminated``).
    BitmaskError: The array has the wrong dtype, shape or strides, there is no such row, or it is
        not a writable array of the CPU (``bitmask-dtype``, ``bitmask-shape``,
        ``bitmask-strides``, ``bitmask-index``, ``bitmask-device``, ``bitmask-not-an-array``).
)";

constexpr const char* kMaskIdDoc =
    R"(Return the id of the mask that `fill_next_token_bitmask` would write.

The row of ``compiled_grammar.mask_table`` with this id is that mask, bit for bit. Equal masks have
equal ids, whichever grammar of the compiler they are of, and whatever is left of a token budget.
Costs less than a mask where a text has been at a place like this before; where the mask depends on
more of the text (near the end of a budget, for unique items, in a vocabulary where not every byte
is a token) it is made, and looked up by its words. Python's global lock is released where that
takes longer.

Returns:
    The id; -1 if the mask has none, since the table is full: use `fill_next_token_bitmask` for this
    step. Masks that depend on more of the text are kept in the first half of the table only.

Raises:
    MatcherError: The matcher is terminated, so no token can follow (``matcher-terminated``).
)";

constexpr const char* kRollbackDoc = R"(Take back the last steps, a stop token included.

Args:
    num_tokens: How many.

Raises:
    MatcherError: There are fewer (``matcher-rollback-too-far``) or the number is negative
        (``matcher-rollback-negative``); nothing changed.
)";

constexpr const char* kTerminatedDoc = R"(Return whether the text has ended.

It has after a stop token; with ``terminate_without_stop_token``, whenever it is complete.
)";

}  // namespace

void register_matcher(nb::module_& m) {
  using Held = nb::call_guard<HoldsGil>;
  maskwright::GrammarMutex::wait = &wait_without_gil;
  nb::class_<Matcher>(m, "Matcher", "Follows tokens; see maskwright.GrammarMatcher.")
      .def(nb::init<std::shared_ptr<CompiledGrammar>, std::optional<std::vector<uint32_t>>, bool,
                    std::optional<uint64_t>>(),
           nb::arg("compiled"), nb::kw_only(), nb::arg("stop_token_ids") = nb::none(),
           nb::arg("terminate_without_stop_token") = false, nb::arg("token_budget") = nb::none(),
           Held())
      .def("accept_token", &accept_token, Held(), nb::arg("token"))
      .def(
          "accept_bytes",
          [](Matcher& matcher, const nb::bytes& text) { return matcher.accept_bytes(view(text)); },
          Held(), nb::arg("text"))
      .def("validate_tokens", &validate_tokens, Held(), nb::arg("tokens"))
      .def("fill_bitmask", &fill_bitmask, Held(), nb::arg("bitmask").none(),
           nb::arg("index").none() = 0)
      .def("mask_id", &mask_id, Held())
      .def_prop_ro("mask_table",
                   [](const Matcher& matcher) { return matcher.grammar().mask_table(); })
      .def("rollback", &rollback, Held(), nb::arg("steps").none() = 1)
      .def("reset", &Matcher::reset, Held())
      .def("fork", &Matcher::fork, Held())
      .def("is_terminated", &Matcher::is_terminated, Held())
      .def("is_completed", &Matcher::is_completed, Held())
      .def("forced_bytes", &forced_bytes, Held(), nb::arg("limit"),
           "The bytes that every completion goes on with. Releases the GIL.")
      .def("open_tokens", &open_tokens, Held(), nb::arg("ahead"),
           "Offsets in the readable bytes at which a token may begin that goes on beyond them; "
           "their number among them if more than a stop token may follow. Releases the GIL.")
      .def(
          "longest_tokens",
          [](const Matcher& matcher, const nb::bytes& ahead) {
            return matcher.longest_tokens(view(ahead));
          },
          Held(), nb::arg("ahead"), "The longest token at each place, as far as there is one.")
      .def("recent_text", &recent_text, Held(), nb::arg("max_bytes"),
           "The last bytes accepted, none from before a token that is no text.")
      .def_prop_ro("refused_token", &Matcher::refused_token,
                   "The last token if accept_token() refused it, since the last step.")
      .def("surroundings", &Matcher::surroundings, Held(),
           "Names of rules and kinds of JSON values that the text is in, the innermost first.")
      .def(
          "next_bytes",
          [](const Matcher& matcher) {
            const std::vector<uint8_t> bytes = matcher.next_bytes();
            return nb::bytes(bytes.data(), bytes.size());
          },
          Held(), "The bytes that may come next, ascending, whatever the tokens are.")
      .def(
          "num_readable",
          [](Matcher& matcher, const nb::bytes& text) { return matcher.num_readable(view(text)); },
          Held(), nb::arg("text"), "How many bytes of the text may come next, likewise.")
      .def("may_read_symbol", &Matcher::may_read_symbol, Held(),
           "A token may come next that is no text.")
      .def("min_tokens_to_finish", &Matcher::min_tokens_to_finish,
           nb::call_guard<nb::gil_scoped_release>(),
           "So many tokens complete the text for sure. Releases the GIL.")
      .def_prop_rw("remaining_tokens", &Matcher::remaining_tokens, &Matcher::set_remaining_tokens,
                   Held(), nb::arg("tokens").none(),
                   "What is left of the budget; None without one.")
      .def_prop_ro("num_steps", &Matcher::num_steps)
      .def_prop_ro("memory_bytes", &Matcher::memory_bytes,
                   "Of the steps, stacks and registers that the matcher and its forks hold.")
      .def_prop_ro("stop_token_ids",
                   [](const Matcher& matcher) { return matcher.stop_token_ids(); });
  nb::class_<MatcherBase>(m, "MatcherBase", "A matcher's calls in a decode loop.")
      .def(nb::init<std::shared_ptr<CompiledGrammar>, std::optional<std::vector<uint32_t>>, bool,
                    std::optional<double>, std::optional<uint64_t>>(),
           nb::arg("compiled"), nb::arg("stop_token_ids").none(),
           nb::arg("terminate_without_stop_token"), nb::arg("default_temperature").none(),
           nb::arg("token_budget") = nb::none(), Held(), "Starts at the empty text.")
      .def(nb::init<const MatcherBase&>(), nb::arg("origin"), Held(),
           "Starts as a fork of the other one.")
      .def("accept_token", &accept_next, Held(), nb::arg("token_id"), nb::kw_only(),
           nb::arg("debug_print") = false,
           nb::sig("def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool"),
           kAcceptDoc)
      .def("fill_next_token_bitmask", &fill_next, Held(), nb::arg("bitmask").none(),
           nb::arg("index").none() = 0, nb::kw_only(), nb::arg("debug_print") = false,
           nb::sig("def fill_next_token_bitmask(self, bitmask: typing.Any, index: int = 0, *, "
                   "debug_print: bool = False) -> bool"),
           kFillDoc)
      .def(
          "next_mask_id", [](MatcherBase& self) { return mask_id(self.matcher); }, Held(),
          kMaskIdDoc)
      .def(
          "rollback",
          [](MatcherBase& self, nb::handle num_tokens) { rollback(self.matcher, num_tokens); },
          Held(), nb::arg("num_tokens").none() = 1,
          nb::sig("def rollback(self, num_tokens: int = 1) -> None"), kRollbackDoc)
      .def(
          "is_terminated", [](const MatcherBase& self) { return self.matcher.is_terminated(); },
          Held(), kTerminatedDoc)
      .def(
          "is_completed", [](const MatcherBase& self) { return self.matcher.is_completed(); },
          Held(), "Return whether the text so far is a whole text of the grammar.")
      .def_ro(
          "temperature", &MatcherBase::default_temperature,
          "The temperature to sample the next token with: the default that was given, or None.");
  m.def(
      "matcher_of", [](MatcherBase& base) -> Matcher& { return base.matcher; }, nb::arg("base"),
      nb::rv_policy::reference, nb::keep_alive<0, 1>(), "The matcher inside, not a fork of it.");
}

// The spellings of the numbers of a set as a language over ASCII.
//
// Idea: a state is what was read of a number, as far as it matters (number_side.h): behind the
// mantissa, the set of exponents that make the number one of the set, and the digits of the
// exponent so far. States are hash-consed and made when they are met. Each keeps the character that
// first led to it, so that a text for it is at hand, on which the question whether the digits can
// be completed is decided exactly; then only states that can be completed are handed out.
//
// Exponents reach from -400 to 400 here, with any number of leading zeros. Only the set of all
// numbers has every exponent; it is a table of nine states. (Not in plain spelling.)
//
// Other spellings have no exponents to choose from. In plain spelling what ends in the zeros of a
// fraction, or is "-0", must go on to another number.
//
// A vocabulary without some digit, or without the point, makes the closed form too generous. Then a
// search over the finitely many states behind decides, and remembers. Where residues multiply those
// states, all are explored when the language is made, or it is refused, so that no search that
// could be long is left for later.
//
// Of a list, each value can have a label. Then states keep the mantissa beside the exponent, since
// 1e1 and 10e0 are one value and 1e1 and 1e2 are two.
//
// Cost: a state costs a dozen successors, each a pass over few words; the first visit of one that
// needs the closed form is linear in the digits of its text and of the bounds.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "json/number_set.h"

namespace maskwright::langs {

// Is it known from the start which texts can be completed, or found when it is asked?
enum class Completions : uint8_t { kKnown, kFound };

// `alphabet`: ASCII characters that can be spelled. Raises Unsupported "json-number-divisor", with
// kKnown only.
std::unique_ptr<TableLang> make_number_lang(std::shared_ptr<const NumberSet> set,
                                            NumberSpelling spelling,
                                            std::span<const CodeRange> alphabet,
                                            const LangLimits& limits, Completions completions);
// The same for a list whose values have labels, in their order; all of ASCII can be spelled.
std::unique_ptr<TableLang> make_labelled_numbers(std::shared_ptr<const NumberSet> set,
                                                 NumberSpelling spelling,
                                                 std::span<const CodeRange> alphabet,
                                                 std::vector<uint32_t> labels);

}  // namespace maskwright::langs

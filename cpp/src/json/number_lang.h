// The texts of JSON numbers as languages over ASCII.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "json/lang_base.h"
#include "json/lang_chars.h"

namespace maskwright::langs {

// -1, 0, 1: the order of two normalised decimals of any length.
int compare_decimals(std::string_view a, std::string_view b);
// Without leading zeros, trailing zeros of the fraction, and "-0".
std::string normalise_decimal(std::string_view text);
// Is the value, a normalised decimal, an integer and within bounds as the specification asks? Its
// list of values is not looked at.
bool satisfies(const NumberSpec& spec, std::string_view value);

// `alphabet`: ASCII characters that can be spelled; `classes` outlives the language.
std::unique_ptr<TableLang> make_number_lang(const NumberSpec& spec,
                                            std::span<const CodeRange> alphabet, ClassPool& classes,
                                            const LangLimits& limits);

}  // namespace maskwright::langs

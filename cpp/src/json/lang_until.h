// TEXT_UNTIL: the shortest text that ends with one of the stops and contains no exclude.
#pragma once

#include <span>
#include <vector>

#include "json/lang_dfa.h"

namespace maskwright::langs {

// Over `alphabet`. All stops and excludes are spelled with it.
Dfa text_until(std::span<const std::vector<uint32_t>> stops,
               std::span<const std::vector<uint32_t>> excludes, std::span<const CodeRange> alphabet,
               EagerBudget& budget);

}  // namespace maskwright::langs

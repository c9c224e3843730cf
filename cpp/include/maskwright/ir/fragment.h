// Expressions that many grammars hold, read once and copied into each builder.
//
// A record names other expressions and bytes by number, so a copy adds two offsets to those words
// and nothing to the others. Which words those are is found out once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "maskwright/ir/ir.h"

namespace maskwright {

struct IrFragment {
  // The expressions of a buffer, whose root rule is the expression that stands for all of them.
  // Raises what `Ir::parse` does, and std::invalid_argument for expressions that are more than
  // text: rules, tokens, schemas.
  static IrFragment read(std::span<const std::byte> buffer);

  std::vector<uint32_t> words;
  std::vector<uint32_t> offsets;  // of each expression
  std::string bytes;
  std::vector<uint32_t> expr_words;  // where ids of expressions are
  std::vector<uint32_t> byte_words;  // where offsets of bytes are
  uint32_t root = 0;
};

}  // namespace maskwright

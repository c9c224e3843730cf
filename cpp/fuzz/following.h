// What the fuzz targets share: a small vocabulary, and following a grammar with the mask of each
// step compared with what accept_token answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "maskwright/matcher/matcher.h"

namespace maskwright::fuzz {

inline std::shared_ptr<const Vocabulary> vocabulary() {
  static const auto shared = [] {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    for (const char* text :
         {"\":", "\",\"", "{\"", "}}", "]]", "  ", "ab", "true", "\\u", "", ""}) {
      tokens.emplace_back(text);
    }
    const auto size = static_cast<uint32_t>(tokens.size());
    return std::make_shared<const Vocabulary>(std::move(tokens), size, std::vector<uint32_t>{},
                                              std::vector<uint32_t>{size - 1});
  }();
  return shared;
}

inline CompileLimits limits() {
  CompileLimits limits;
  limits.rules.max_states = 2000;
  limits.json.max_targets = 500;
  limits.json.max_clauses = 100;
  limits.json.max_lang_states = 500;
  return limits;
}

// Aborts at the first difference. `masks_hold`: else they may be those of another grammar, and only
// what is accepted counts.
inline void follow(const std::shared_ptr<CompiledGrammar>& grammar,
                   std::span<const uint8_t> choices, bool masks_hold = true) {
  Matcher matcher(grammar, std::nullopt, false);
  const Vocabulary& tokens = grammar->vocabulary();
  std::vector<uint32_t> row(tokens.mask_words());
  for (std::size_t step = 0; step < 6 && !matcher.is_terminated(); ++step) {
    matcher.fill_bitmask(row, true);
    std::vector<uint32_t> allowed;
    for (uint32_t id = 0; id < tokens.vocab_size(); ++id) {
      Matcher fork = matcher.fork();
      const bool accepted = fork.accept_token(id);
      const bool allows = (row[id / 32] >> id % 32 & 1U) != 0;
      if (masks_hold && accepted != allows) std::abort();
      if (accepted) allowed.push_back(id);
    }
    if (allowed.empty()) std::abort();
    const std::size_t choice = step < choices.size() ? choices[step] : step;
    if (!matcher.accept_token(allowed[choice % allowed.size()])) std::abort();
  }
}

}  // namespace maskwright::fuzz

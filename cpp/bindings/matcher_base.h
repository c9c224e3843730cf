// What the Python class GrammarMatcher derives from, so that its calls cost no Python frame.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "maskwright/matcher/matcher.h"

struct MatcherBase {
  MatcherBase(std::shared_ptr<maskwright::CompiledGrammar> compiled,
              std::optional<std::vector<uint32_t>> stop_token_ids, bool terminate,
              std::optional<double> temperature, std::optional<uint64_t> token_budget)
      : matcher(std::move(compiled), std::move(stop_token_ids), terminate, token_budget),
        default_temperature(temperature) {}
  maskwright::Matcher matcher;
  std::optional<double> default_temperature;
};

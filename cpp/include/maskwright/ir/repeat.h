// Repeats of repeats.
#pragma once

#include <cstdint>
#include <optional>

namespace maskwright {

struct RepeatBounds {
  uint32_t min, max;  // max kNone = none
};

// The bounds with which (x{inner}){outer} is one repeat of x; none if that is no single repeat.
std::optional<RepeatBounds> join_nested(RepeatBounds outer, RepeatBounds inner);

}  // namespace maskwright

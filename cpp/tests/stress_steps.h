// How long tests of random steps on many threads run.
#pragma once

#include <cstdint>

namespace maskwright::test {

inline uint64_t stress_steps = 6000;

}  // namespace maskwright::test

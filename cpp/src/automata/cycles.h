// Which nodes of a graph lie on a cycle. Tarjan's algorithm with an explicit stack; linear.
#pragma once

#include <cstdint>
#include <vector>

namespace maskwright {

struct Cycles {
  std::vector<bool> member;     // by node: it leads back to itself
  std::vector<uint32_t> order;  // all nodes; one that lies on no cycle after all that it leads to
};

// `edges`: by node, sorted without duplicates.
Cycles find_cycles(const std::vector<std::vector<uint32_t>>& edges);

}  // namespace maskwright

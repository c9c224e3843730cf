// Returns to many stack nodes at once.
//
// Idea: what lies below a node is older than the node. So all that a text has completed returns in
// one sweep from the newest node to the oldest: when it comes to a node it knows everything that is
// returned there, and each node is returned to once with each set. Stacks are joined at the end,
// and no stack is interned that only comes in between.
//
// Cost: for each node and what is returned there, the nodes below it, a bit each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/automata/stacks.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

// The set that a configuration's frame accepts here.
SetId accepted_by(Store& store, const Config& config, Arena& arena);
// The configuration after the frame on top of `node` got `accepted` from a callee that ended with
// register `returned` (not yet popped further).
Config resumed(Store& store, const Arena::Node& node, SetId accepted, Reg returned, Arena& arena);

class Returns {
 public:
  explicit Returns(Store& store) : store_(store) {}

  // A configuration after a return, and the stacks that it is on.
  struct Reached {
    Config config;
    std::vector<StackRef> stacks;
    uint32_t way = kNone;  // how it returns further: an index into ways_
    std::size_t memory_bytes() const { return heap_bytes(stacks); }
  };

  void begin();
  // A configuration that returns to all nodes of its stack.
  void start(const Config& config, Arena& arena);
  // Returns until nothing is left. `further`: the flag of states that are reached and return too.
  void run(uint16_t further, Arena& arena);
  // What was reached, each state and register once.
  std::span<const Reached> reached() const { return std::span(reached_).first(num_reached_); }
  // The sets returned to the bottom.
  std::span<const SetId> bottoms() const { return bottoms_; }

  // The stack nodes that were looked at, ever.
  uint64_t work() const { return work_; }
  std::size_t memory_bytes() const { return heap_bytes(ways_, reached_, index_, bottoms_); }

 private:
  // What is returned, and the nodes where it has not been, a bit for each.
  struct Way {
    SetId accepted;
    Reg returned;
    std::vector<uint64_t> nodes;
    std::size_t memory_bytes() const { return heap_bytes(nodes); }
  };

  uint32_t way_of(const Config& config, Arena& arena);
  void spread(uint32_t way, StackRef stack, Arena& arena);
  void return_to(uint32_t node, uint32_t way, uint16_t further, Arena& arena);
  uint64_t open_in(std::size_t word) const;

  Store& store_;
  std::vector<Way> ways_;  // the first num_ways_ are in use; all bits are 0 between sweeps
  std::size_t num_ways_ = 0;
  std::size_t num_words_ = 0;  // of bits that may be set
  std::vector<Reached> reached_;
  std::size_t num_reached_ = 0;
  ConfigSet index_;  // of reached_, on the bottom
  std::vector<SetId> bottoms_;
  uint64_t work_ = 0;
};

}  // namespace maskwright

// Running configurations: one byte at a time, and what can be done without reading.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/automata/returns.h"
#include "maskwright/automata/rules.h"
#include "maskwright/automata/stacks.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

// The step functions. Holds no state but scratch; one per thread of use.
class Runner {
 public:
  Runner(Store& store, RulesMachine& rules) : store_(store), rules_(rules), returns_(store) {}

  // Adds a configuration; frames that can only return are popped at once. A configuration whose
  // last frame has returned stays as a kDone state at the bottom.
  void add(Config config, Arena& arena, ConfigSet& out);
  // Adds all that is reachable without reading: callers after a return, callees of a call.
  // Returns at the bottom are appended to `returned` (accepted sets, unordered, may repeat).
  void close(ConfigSet& set, Arena& arena, std::vector<SetId>* returned);
  // Reads one byte from the closed configurations.
  void scan(std::span<const Config> closed, uint8_t byte, Arena& arena, ConfigSet& out);
  // Reads a text that is not empty from the closed configurations, which are not in `out`. False,
  // and `out` is empty, if it can't be read.
  bool read(std::span<const Config> closed, std::string_view text, Arena& arena, ConfigSet& out);
  // The set that a configuration's frame accepts here.
  SetId accepted(const Config& config, Arena& arena) { return accepted_by(store_, config, arena); }
  // The configuration after the frame on top of `node` got `accepted` from a callee that ended with
  // register `returned` (not yet popped further).
  Config resume(const Arena::Node& node, SetId accepted, Reg returned, Arena& arena) {
    return resumed(store_, node, accepted, returned, arena);
  }
  // The nodes of a stack, those that a gathering node stands for in its place; none if they are
  // more than `most`. Good until the next call.
  std::span<const uint32_t> spread(StackRef stack, std::size_t most, const Arena& arena);
  // Configurations that read a byte in sets, and stack nodes that many returned to at once, ever.
  uint64_t work() const { return scanned_ + returns_.work(); }
  std::size_t memory_bytes() const {
    return heap_bytes(pops_, calls_, called_, is_start_, callees_, returns_, claims_, own_, seen_,
                      spread_);
  }

 private:
  static constexpr std::size_t kFewNodes = 4;  // of a stack, which are returned to one by one

  // ... of a frame's start, above which they get a node of their own.
  static constexpr std::size_t kManyNodes = 16;
  static constexpr std::size_t kManyCompared = 64;  // above which nodes are not compared

  bool skim(Config& config, std::string_view text, std::size_t& at, Arena& arena);
  // Stacks that a configuration of a set has not returned to yet.
  struct Fresh {
    uint32_t index;
    StackRef stack;
  };
  // A configuration whose count may make others superfluous.
  struct Claim {
    StateId state;
    Reg reg;
    uint32_t index;
  };

  // What a configuration calls on while it has all of a stack.
  struct Own {
    StackRef all;
    std::optional<StackRef> own;
  };

  void note_call(const ConfigSet& set, uint32_t index);
  void note_moves(const ConfigSet& set, uint32_t index, StackRef fresh);
  uint32_t reach(const Config& config, Arena& arena, ConfigSet& set);
  void pop(const Fresh& fresh, Arena& arena, ConfigSet& set, std::vector<SetId>* returned);
  void pop_many(Arena& arena, ConfigSet& set, std::vector<SetId>* returned);
  template <typename Stacks, typename Take>
  void share_out(Arena& arena, const Stacks& stacks, const Take& take);
  void find_own_stacks(const ConfigSet& set, Arena& arena);
  bool is_ordered(const Config& config) const {
    return (store_.state(config.state).flags & kOrderedRegister) != 0;
  }
  StackRef push(const Config& config, Arena& arena);
  StackRef push_tail(const Config& config, Arena& arena);
  template <typename Merge>
  StackRef push_merged(StateId caller, StackRef stack, Arena& arena, const Merge& merge);
  StackRef prune(StackRef stack, Arena& arena) const;
  void drop_dominated(ConfigSet& set, Arena& arena);
  Target step(const Config& config, const State& state, uint8_t byte, Arena& arena);
  void scan_one(const Config& config, uint8_t byte, Arena& arena, ConfigSet& out);
  void call(uint32_t index, Arena& arena, ConfigSet& set);
  void gather(uint32_t index, Arena& arena, ConfigSet& set);

  Store& store_;
  RulesMachine& rules_;
  std::vector<Fresh> pops_;
  std::vector<uint32_t> calls_;  // configurations that call; the called are not done
  std::vector<bool> called_;     // by index: is in calls_ and not done
  std::vector<bool> is_start_;   // by index: was called here
  std::vector<Target> callees_;
  Returns returns_;
  uint64_t scanned_ = 0;
  std::vector<Claim> claims_;
  std::vector<Own> own_;        // by index
  std::vector<uint32_t> seen_;  // by stack node: the last call of spread() that came there
  uint32_t seen_epoch_ = 0;
  std::vector<uint32_t> spread_;
  ConfigSet before_;
};

}  // namespace maskwright

// Running configurations: stacks, sets of configurations, one byte at a time.
//
// A stack is a graph: a node is {caller state, register, stack below}, and a stack reference is one
// node or an interned set of nodes, so alternatives that differ only below share everything above.
// Configurations with equal {state, register, whitespace run} are merged by joining their stacks,
// which keeps ambiguous grammars polynomial (a graph-structured stack, Tomita 1986; Scott and
// Johnstone, "GLL parsing", 2010). Nodes are hash-consed and immutable, so a rollback or a fork
// only copies references.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/automata/rules.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

using StackRef = uint32_t;
inline constexpr StackRef kBottom = 0;           // below the root frame, or the unknown context
inline constexpr StackRef kStackSet = 1U << 31;  // the reference is a set of nodes

struct Config {
  StateId state = kDead;
  Reg reg = 0;
  uint32_t run = 0;  // bytes of the current whitespace run
  StackRef stack = kBottom;

  bool operator==(const Config&) const = default;
};

// Stacks and registers of a matcher and its forks, or of one mask walk.
class Arena {
 public:
  Arena() { nodes_.intern({}); }  // node 0 is the bottom

  struct Node {
    StateId state;
    Reg reg;
    StackRef below;
  };

  StackRef push(StateId state, Reg reg, StackRef below) {
    const uint32_t words[3] = {state, reg, below};
    return nodes_.intern(words).id;
  }
  Node node(uint32_t id) const {
    const auto words = nodes_.get(id);
    return {words[0], words[1], words[2]};
  }
  // The nodes of a reference; kBottom may be among them.
  std::span<const uint32_t> nodes(const StackRef& ref) const {
    return (ref & kStackSet) != 0 ? sets_.get(ref & ~kStackSet)
                                  : std::span<const uint32_t>(&ref, 1);
  }
  StackRef join(StackRef a, StackRef b);
  // The nodes of `a` that are not in `b`; there are some.
  StackRef without(StackRef a, StackRef b);
  // The reference of a sorted, non-empty list of nodes.
  StackRef reference(std::span<const uint32_t> nodes) {
    return nodes.size() == 1 ? nodes[0] : sets_.intern(nodes).id | kStackSet;
  }

  RegisterPool& regs() { return regs_; }

  // What is known about sets of configurations (way_out.h).
  enum class Verdict : uint8_t { kNone, kDeadEnd, kWayOut };
  struct Verdicts {
    WordInterner sets;
    std::vector<Verdict> known;  // by id
  };
  Verdicts& verdicts() { return verdicts_; }

  // How much there is; what came later can be dropped where nothing refers to it any more.
  struct Size {
    uint32_t nodes = 0;
    uint32_t sets = 0;
    uint32_t regs = 0;
    uint32_t verdicts = 0;
    uint32_t total() const { return nodes + sets + regs + verdicts; }
  };
  Size size() const { return {nodes_.size(), sets_.size(), regs_.size(), verdicts_.sets.size()}; }
  void truncate(const Size& size) {
    nodes_.truncate(size.nodes);
    sets_.truncate(size.sets);
    regs_.truncate(size.regs);
    verdicts_.sets.truncate(size.verdicts);
    if (verdicts_.known.size() > size.verdicts) verdicts_.known.resize(size.verdicts);
  }
  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + sets_.memory_bytes() + regs_.memory_bytes() +
           verdicts_.sets.memory_bytes() + heap_bytes(verdicts_.known);
  }

 private:
  WordInterner nodes_;
  WordInterner sets_;
  RegisterPool regs_;
  Verdicts verdicts_;
};

// A set of configurations with unique {state, register, run}.
class ConfigSet {
 public:
  static constexpr std::size_t kLinear = 12;  // a set up to this size is searched without an index

  enum class Change : uint8_t { kNone, kAdded, kGrown };
  struct Added {
    uint32_t index;
    Change change;
    StackRef before;  // the stack, if kGrown
  };

  Added add(const Config& config, Arena& arena);
  void clear() {
    configs_.clear();
    index_.clear();
  }
  bool empty() const { return configs_.empty(); }
  std::size_t size() const { return configs_.size(); }
  const Config& operator[](std::size_t i) const { return configs_[i]; }
  void assign(std::span<const Config> configs) {
    index_.clear();
    configs_.assign(configs.begin(), configs.end());
  }
  void set_stack(std::size_t i, StackRef stack) { configs_[i].stack = stack; }
  // Of a set without an index.
  void set_run(std::size_t i, uint32_t run) { configs_[i].run = run; }
  std::span<const Config> configs() const { return configs_; }
  std::size_t memory_bytes() const { return heap_bytes(configs_, index_); }

 private:
  static uint64_t key_hash(const Config& config);
  void rehash();

  std::vector<Config> configs_;
  std::vector<uint32_t> index_;  // open addressing, used beyond a few configurations
};

// The step functions. Holds no state but scratch; one per thread of use.
class Runner {
 public:
  Runner(Store& store, RulesMachine& rules) : store_(store), rules_(rules) {}

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
  SetId accepted(const Config& config, Arena& arena);
  // The configuration after the frame on top of `node` got `accepted` from a callee that ended with
  // register `returned` (not yet popped further).
  Config resume(const Arena::Node& node, SetId accepted, Reg returned, Arena& arena);
  std::size_t memory_bytes() const {
    return heap_bytes(pending_, pops_, calls_, called_, callees_);
  }

 private:
  bool skim(Config& config, std::string_view text, std::size_t& at, Arena& arena);
  // Stacks that a configuration of a set has not returned to yet.
  struct Fresh {
    uint32_t index;
    StackRef stack;
  };

  void note_moves(const ConfigSet& set, uint32_t index, StackRef fresh);
  void reach(const Config& config, Arena& arena, ConfigSet& set);
  void pop(const Fresh& fresh, Arena& arena, ConfigSet& set, std::vector<SetId>* returned);
  StackRef push(const Config& config, Arena& arena);
  StackRef push_tail(const Config& config, Arena& arena);
  template <typename Merge>
  StackRef push_merged(StateId caller, StackRef stack, Arena& arena, const Merge& merge);
  StackRef prune(StackRef stack, Arena& arena) const;
  void drop_dominated(ConfigSet& set, Arena& arena);
  Target step(const Config& config, const State& state, uint8_t byte, Arena& arena);
  void scan_one(const Config& config, uint8_t byte, Arena& arena, ConfigSet& out);
  void add_callees(const Config& config, Arena& arena, ConfigSet& set);

  Store& store_;
  RulesMachine& rules_;
  std::vector<Config> pending_;
  std::vector<Fresh> pops_;
  std::vector<uint32_t> calls_;  // configurations that call; the called are not done
  std::vector<bool> called_;     // by index: is in calls_ and not done
  std::vector<Target> callees_;
  ConfigSet before_;
};

}  // namespace maskwright

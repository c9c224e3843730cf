// Stacks and configurations.
//
// A stack is a graph: a node is {caller state, register, stack below}, and a stack reference is one
// node or an interned set of nodes, so alternatives that differ only below share everything above.
// Configurations with equal {state, register, whitespace run} are merged by joining their stacks,
// which keeps ambiguous grammars polynomial (a graph-structured stack, Tomita 1986; Scott and
// Johnstone, "GLL parsing", 2010). Nodes are hash-consed and immutable, so a rollback or a fork
// only copies references, and what is below a node is older than the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

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
  // The same of many; nothing is kept of what comes in between.
  StackRef join(std::span<const StackRef> stacks);
  // The nodes of `a` that are not in `b`; there are some.
  StackRef without(StackRef a, StackRef b);
  // The nodes of stacks that are not marked, and marks them; nothing if all were.
  std::optional<StackRef> take(std::span<const StackRef> stacks);
  void clear_marks() { std::ranges::fill(marks_, 0); }
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
           verdicts_.sets.memory_bytes() + heap_bytes(verdicts_.known, marks_, fresh_, taken_);
  }

 private:
  WordInterner nodes_;
  WordInterner sets_;
  RegisterPool regs_;
  Verdicts verdicts_;
  std::vector<uint64_t> marks_;  // a bit for each node
  std::vector<uint64_t> fresh_;  // scratch
  std::vector<uint32_t> taken_;
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

}  // namespace maskwright

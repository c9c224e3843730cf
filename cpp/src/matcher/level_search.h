// The fewest tokens that complete a place, exactly, by levels of so many tokens.
//
// Idea: what a frame can return behind a part of a token needs no knowledge of its callers. So a
// frame is searched once for each {state, register, trie node} in which it is called, at the same
// time as its callers, and what it returns is the same with the node at which it ended: a shortest
// path over {frame, state, register, node}, in which a byte costs nothing and the end of a token
// one. A level is all that so many tokens lead to, so the first end is the least one (Knuth, "A
// generalization of Dijkstra's algorithm", 1977; the stack of the place is frames like others).
//
// Left out, since they help nobody: whitespace and free characters that lead back to their state in
// tokens that hold nothing else, but for one where a token is under way.
//
// Cost: some 100 ns for each byte that is read or frame that returns; it gives up after so many.
// Then nothing is known: there may be fewer tokens than those of the text that was found by its
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "matcher/completions.h"

namespace maskwright {

class LevelSearch {
 public:
  using Plan = Completions::Plan;

  enum class Texts : uint8_t {
    kAll,
    // Without whitespace, escapes, members and items that need not be, and what leads a state back
    // to itself, and with one byte of a wide range, to stand for all: a choice between what is
    // spelled out.
    kShort,
  };

  // max_nodes: that it reads.
  LevelSearch(Completions& known, Texts texts, uint32_t max_nodes)
      : known_(known),
        texts_(texts),
        tokens_(known.tokens_),
        vocabulary_(known.vocabulary_),
        store_(known.store_),
        arena_(known.arena_),
        max_nodes_(max_nodes),
        nodes_left_(max_nodes) {}

  // A plan of fewer tokens than `bound`; none if there is none, or if it gives up.
  std::optional<Plan> find(Completions::Place at, uint32_t bound);
  bool gave_up() const { return nodes_left_ == 0; }
  // Tokens that lead to the next item of an array that counts its items, and from there to the same
  // place so many items on, in the fewest tokens for each that the search has met.
  struct Turn {
    Plan before;
    Plan tokens;
  };
  std::optional<Turn> turn() const;
  // As TokenSearch::nodes().
  uint32_t work() const { return (max_nodes_ - nodes_left_) / kNodesOfWork; }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr uint32_t kNodesOfWork = 8;
  static constexpr int kWide = 16;  // bytes of a range

  struct Visit {
    uint32_t frame;
    Target at;
    uint32_t run;  // of whitespace
    uint32_t node;
    uint32_t tokens;
    uint32_t from;   // the visit before it, of a caller if a frame has returned; kNone at a start
    uint32_t inner;  // the last one of the frame that has returned, or kNone
    uint32_t token;  // that has ended, or kNone
  };
  struct Caller {
    uint32_t visit;
    Target at;  // kDead: it returns what the callee returns
  };
  struct Found {
    SetId accepted;
    uint32_t visit;
  };
  struct Frame {
    StackRef stack = kBottom;  // if it is none that was called: where it returns to
    bool called = false;
    uint32_t tokens = 0;  // before it
    std::vector<Caller> callers;
    std::vector<Found> found;
  };

  uint32_t stack_frame(StackRef stack);
  uint32_t tokens_at_least(const Visit& visit);
  void add(Visit visit);
  bool leave(uint32_t index);
  bool note(uint32_t index, SetId accepted);
  void deliver(const Caller& caller, uint32_t frame, const Found& found);
  void call(uint32_t index);
  void read_symbols(uint32_t index);
  void read(uint32_t index);
  void read_child(uint32_t index, uint32_t child, bool loops, const Edge* edge);
  std::optional<uint8_t> end_of(Target at);
  bool only_loops(const TextClass& loop, uint32_t child) const;
  uint32_t turn_before(uint32_t index) const;
  Plan plan_to(uint32_t index) const;

  Completions& known_;
  Texts texts_;
  const TokenReader& tokens_;
  const Vocabulary& vocabulary_;
  Store& store_;
  Arena& arena_;
  uint32_t max_nodes_;
  uint32_t nodes_left_;
  uint32_t bound_ = 0;
  std::vector<Visit> visits_;
  std::vector<std::vector<uint32_t>> levels_;  // visits to leave, by their tokens
  WordInterner met_;                           // frame, state, register, node
  WordInterner called_;                        // state, register, node
  std::vector<uint32_t> frame_of_call_;
  WordInterner stacks_;
  std::vector<uint32_t> frame_of_stack_;
  std::vector<Frame> frames_;
  std::vector<Target> callees_;
};

}  // namespace maskwright

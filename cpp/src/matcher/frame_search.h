// The least texts with which one frame returns, whoever called it.
//
// Idea: the frames that it calls are searched at the same time. All share one agenda, ordered by
// the texts from the beginning, of a frame's first call if there are more, shorter ones first and
// equally long ones by their bytes: the first text that leads to a place is the least one (Knuth,
// "A generalization of Dijkstra's algorithm", 1977). Where rules call nothing, the bytes to the end
// of the rule are known and count with those that were read (A*; a byte leads no nearer than one),
// so that a search sees little more than the least text. Of the members of an object it sees those
// that are owed (Family::needed_callees). Each search begins with nothing, so what it
// finds, and that it gives up, depends on the frame alone and not on what was asked before.
//
// Where the arena ignores what frames remember of the text without bound (RegisterPool::Memory),
// the text has a *doubt* wherever that may decide.
//
// A frame that calls no others, a string of a counted length say, comes in as many states as it has
// characters. There the caller may say what is known of a place, and the search need not find it
// out again: one text leads to one place only, so it would find the same.
//
// Left out: whitespace that may as well be missing, tokens that are no text, and of the characters
// that lead a state back to itself all but one.
//
// Cost: a queue operation for each state and register on the way, which are about as many as the
// text has bytes; max_places at most. No text is found for frames that need more than that, or more
// than kMaxBytes: that takes values of so many bytes, or members in any order of which a dozen are
// required.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "maskwright/automata/run.h"

namespace maskwright {

// A name, or an item of an array, that may be there already: where what can tell it from others
// begins in the text, and where its last byte has been read. Of names and strings that is their
// closing quotation mark, of other items the whole item.
struct Repeat {
  uint32_t begin;
  uint32_t end;
};

// Where a text of frames that remember nothing may be refused by those that do.
struct Doubts {
  std::vector<Repeat> repeats;  // by their ends
  uint32_t others = 0;          // of names that may run out: the bytes before the last, plus one

  bool none() const { return repeats.empty() && others == 0; }
  std::size_t memory_bytes() const { return heap_bytes(repeats); }
  // What is remembered without bound decides something in the state, behind so many bytes.
  void note(Store& store, StateId state, std::size_t bytes);
  // Of a text that follows `bytes` bytes.
  void append(const Doubts& more, std::size_t bytes);
  // Those from so many bytes on.
  Doubts from(uint32_t bytes) const;
};

// One thing that a frame can return, and the least text that leads to it.
struct FrameText {
  SetId accepted;
  Reg reg;
  std::string text;
  Doubts doubts;
  std::size_t memory_bytes() const { return heap_bytes(text, doubts); }
};

// The frame's callers resume with what it returns; notes a doubt behind so many bytes if what is
// remembered, and ignored by the arena, would make a difference.
Target resume_in_doubt(Store& store, Target caller, const FrameText& returned, Arena& arena,
                       std::size_t bytes, Doubts& doubts);
// What goes on from the target with Memory::kIgnored.
Target forgotten(Store& store, Target at, Arena& arena);

class FrameSearch {
 public:
  static constexpr std::size_t kMaxBytes = 8192;

  FrameSearch(Store& store, RulesMachine& rules, const std::array<bool, 256>& spellable,
              uint32_t max_places, Arena& arena)
      : store_(store),
        runner_(store, rules),
        rules_(rules),
        spellable_(spellable),
        max_places_(max_places),
        arena_(arena) {}

  // The least text from a place in the frame; null if it is not known.
  using Known = std::function<const FrameText*(Target)>;
  // So many texts, or all that there are. The least first, each for another thing to return.
  std::vector<FrameText> find(Target at, std::size_t count, const Known& known = {});
  // Whether find() may be told what is known.
  static bool calls_none(const Store& store, Target at);
  // The targets that the first of them leads to, and how many bytes do.
  struct Stop {
    Target at;
    uint32_t bytes;
  };
  std::vector<Stop> way() const;
  bool in_half_of_bound() const { return places_.size() <= max_places_ / 2; }
  // What it took, in places with short texts.
  uint32_t work() const { return work_; }

 private:
  static constexpr uint32_t kNoPlace = 0xFFFFFFFF;

  // A frame that has called another one.
  struct Caller {
    uint32_t frame;
    uint32_t place;
    Target at;  // kDead: it returns what the callee returns
    std::string text;
    Doubts doubts;
  };
  struct Frame {
    std::string before;  // the text up to the first call
    std::vector<FrameText> found;
    std::vector<Caller> callers;
  };
  struct Item {
    std::size_t bytes;  // of `whole` and, at least, of what follows it
    std::string whole;
    std::string text;  // the part in the frame
    uint32_t number;   // of those that were added before
    uint32_t frame;
    uint32_t from;  // the place before it
    Target at;
    Doubts doubts;
    bool operator>(const Item& other) const;
  };
  // Where the agenda has been.
  struct Place {
    uint32_t from;
    uint32_t bytes;
    Target at;
  };

  uint32_t frame_of(Target at, const std::string& before);
  void leave(const Item& item);
  bool is_outdone(const Item& item);
  bool leave_by_known(const Item& item, uint32_t place);
  void read(const Item& item, uint32_t place);
  void read_byte(const Item& item, uint32_t place, const Edge& edge, uint8_t byte);
  void call(const Item& item, uint32_t place);
  void note(uint32_t frame, uint32_t place, FrameText found);
  void deliver(const Caller& caller, const FrameText& found);
  void add(std::string text, uint32_t frame, uint32_t from, Target at, Doubts doubts);

  Store& store_;
  Runner runner_;
  RulesMachine& rules_;
  const std::array<bool, 256>& spellable_;
  uint32_t max_places_;
  Arena& arena_;
  WordInterner keys_;  // state, register
  std::deque<Frame> frames_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> agenda_;
  uint32_t added_ = 0;
  WordInterner met_;  // frame, state, register
  std::vector<Place> places_;
  uint32_t end_ = kNoPlace;  // of the first text
  uint32_t work_ = 0;
  std::vector<Target> callees_;
  Known known_;
};

}  // namespace maskwright

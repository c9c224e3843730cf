// Short texts that complete configurations, frame by frame.
//
// Idea: a shortest way for a frame to return needs no knowledge of its callers, so it is found once
// for each {state, register} and used wherever that frame is open. All frames share one agenda,
// ordered by the texts themselves, shorter ones first and equally long ones by their bytes: the
// first text that leads to a place is the least one (Knuth, "A generalization of Dijkstra's
// algorithm", 1977), and what was asked before changes no answer. A configuration's text is that of
// its last frame and then, for what that returns, those of the frames on the stack. So it is the
// shortest but where a longer text of a frame would have served its callers better. What follows a
// beginning of the text is the text of where that beginning leads.
//
// What frames remember of the text without bound (RegisterPool::Memory) is told apart or not, as
// the arena says. Where it is not, a text that comes by a place where it may matter is *unsure*.
//
// Left out: whitespace that may as well be missing, tokens that are no text, and of the characters
// that lead a state back to itself all but one.
//
// Cost: a queue operation for each state and register on the way, which are about as many as the
// text has bytes, and next to nothing for configurations whose frames were met before. Where no
// text is found within so many places or kMaxBytes for a frame, there is none: that takes values
// that need so many bytes, or members in any order of which a dozen are required.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "maskwright/automata/run.h"

namespace maskwright {

class ShortestTexts {
 public:
  // max_places: the most that one answer may add to the agenda's.
  ShortestTexts(Store& store, RulesMachine& rules, const std::array<bool, 256>& spellable,
                uint32_t max_places)
      : store_(store),
        runner_(store, rules),
        rules_(rules),
        spellable_(spellable),
        max_places_(max_places) {}

  struct Length {
    uint32_t bytes = kUnbounded;
    bool sure = true;
  };
  // Of the text that completes one of the closed configurations; kUnbounded if none is known. The
  // arena and its memory are the same in all calls.
  Length length(std::span<const Config> closed, Arena& arena);
  // What is remembered without bound decides nothing there, or not at once.
  bool is_sure(Target at, Arena& arena);
  // The text, which is known.
  std::string text(std::span<const Config> closed, Arena& arena);

 private:
  static constexpr std::size_t kMaxBytes = 8192;
  static constexpr std::size_t kMaxShared = 2048;
  static constexpr uint32_t kMaxFrames = 10000;
  static constexpr std::size_t kMaxSummaries = 8;

  // One thing that a frame can return, and the least text that leads to it.
  struct Summary {
    SetId accepted;
    Reg reg;
    std::string text;
    bool sure;
  };
  // A frame that has called another one.
  struct Caller {
    uint32_t entry;
    uint32_t place;
    Target at;  // kDead: it returns what the callee returns
    std::string text;
    bool sure;
  };
  // A state and register from which a frame is to return.
  struct Entry {
    Target at;
    bool started = false;
    bool given_up = false;
    std::vector<Summary> summaries;  // the least first
    std::vector<Caller> callers;
  };
  struct Item {
    std::string text;
    uint32_t entry;
    uint32_t from;  // the place before it
    Target at;
    bool sure;
    bool operator>(const Item& other) const;
  };
  // Where the agenda has been.
  struct Place {
    uint32_t entry;
    uint32_t from;
    uint32_t bytes;
    Target at;
  };
  // What completes a text behind a frame: a summary of an entry, and what follows that.
  struct Rest {
    uint32_t bytes = kUnbounded;
    uint32_t entry = 0;
    uint32_t summary = 0;
    uint32_t next = kEnd;
    bool sure = true;
  };
  static constexpr uint32_t kEnd = 0xFFFFFFFF;  // of the text, or of a chain of places

  uint32_t entry_of(Target at);
  void start(uint32_t entry);
  bool has_summary(uint32_t entry, std::size_t index, Arena& arena);
  void leave(const Item& item, Arena& arena);
  void read(const Item& item, uint32_t place, Arena& arena);
  void read_byte(const Item& item, uint32_t place, const Edge& edge, uint8_t byte, Arena& arena);
  void call(const Item& item, uint32_t place, Arena& arena);
  void add(Item item);
  bool is_plain(StateId state) const;
  void note(uint32_t entry, uint32_t place, Summary summary, Arena& arena);
  void share(uint32_t place, const Summary& summary);
  void deliver(const Caller& caller, const Summary& summary, Arena& arena);
  Rest finish(Target at, StackRef stack, uint32_t frames, Arena& arena);
  uint32_t rest(StackRef stack, SetId accepted, Reg reg, uint32_t frames, Arena& arena);
  Rest best(std::span<const Config> closed, Arena& arena);
  std::string spell(Rest rest) const;
  bool less(const Rest& a, const Rest& b) const;

  Store& store_;
  Runner runner_;
  RulesMachine& rules_;
  const std::array<bool, 256>& spellable_;
  uint32_t max_places_;
  WordInterner entry_keys_;  // state, register
  std::deque<Entry> entries_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> agenda_;
  WordInterner met_;  // entry, state, register
  std::vector<Place> places_;
  WordInterner rest_keys_;  // stack, set, register
  std::deque<Rest> rests_;
  std::vector<Target> callees_;
};

}  // namespace maskwright

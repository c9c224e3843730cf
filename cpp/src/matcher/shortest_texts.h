// Short texts that complete configurations, frame by frame.
//
// Idea: a shortest way for a frame to return needs no knowledge of its callers, so it is found once
// for each {state, register} and used wherever that frame is open (frame_search.h). A
// configuration's text is that of its last frame and then, for what that returns, those of the
// frames on the stack. So it is the shortest but where a longer text of a frame would have served
// its callers better. What follows a beginning of the text is the text of where that beginning
// leads. It depends on the configurations alone, not on what was asked before.
//
// Cost: a search for each frame state that is new, and next to nothing for others.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "matcher/frame_search.h"

namespace maskwright {

class ShortestTexts {
 public:
  // memory: the arena's in all calls. max_places: of each search.
  ShortestTexts(Store& store, RulesMachine& rules, const std::array<bool, 256>& spellable,
                RegisterPool::Memory memory, uint32_t max_places)
      : store_(store),
        runner_(store, rules),
        rules_(rules),
        spellable_(spellable),
        memory_(memory),
        max_places_(max_places) {}

  struct Length {
    uint32_t bytes = kUnbounded;
    bool sure = true;      // the text has no doubts
    uint32_t repeats = 0;  // those of names and items
    uint32_t vain = 0;     // the most work of a search that found none, done now or before
  };
  struct Text {
    std::string bytes;
    Doubts doubts;
  };
  // Of the text that completes one of the closed configurations; kUnbounded if none is known. The
  // arena is the same in all calls.
  Length length(std::span<const Config> closed, Arena& arena);
  // The text, which is known.
  Text text(std::span<const Config> closed, Arena& arena);

  // Where a configuration begins to be completed: inside of a name with the members alone that its
  // object owes, if the name can become one of those; else where it is.
  Target needed_start(const Config& config, Arena& arena);

  uint32_t searches() const { return searches_; }
  // Grows with what is known.
  std::size_t size() const { return entries_.size() + rests_.size(); }
  std::size_t memory_bytes() const;

 private:
  static constexpr uint32_t kMaxFrames = 5000;
  static constexpr std::size_t kMaxShared = 2048;
  static constexpr std::size_t kMaxTexts = 8;

  // A state and register from which a frame is to return.
  struct Entry {
    Target at;
    std::vector<FrameText> texts;  // the least first
    std::size_t asked = 0;         // there are no more of so many
    bool near = false;             // found in half of the bound
    uint32_t vain = 0;             // the work of the search if it found none
    std::size_t memory_bytes() const { return heap_bytes(texts); }
  };
  // What completes a text behind a frame: a text of an entry, and what follows that.
  struct Rest {
    uint32_t bytes = kUnbounded;
    uint32_t entry = 0;
    uint32_t text = 0;
    uint32_t next = kEnd;
    Doubts before;  // at the last byte before it, if any
    // As in Length.
    bool sure = true;
    uint32_t repeats = 0;
    uint32_t vain = 0;
    bool known = false;
    std::size_t memory_bytes() const { return before.memory_bytes(); }
  };
  static constexpr uint32_t kEnd = 0xFFFFFFFF;  // of the text

  uint32_t entry_of(Target at, Arena& arena);
  std::vector<FrameText> search(uint32_t entry, std::size_t count, Arena& arena);
  const FrameText* near_text(Target at) const;
  bool has_text(uint32_t entry, std::size_t index, Arena& arena);
  void share(const std::vector<FrameSearch::Stop>& way, const FrameText& whole, Arena& arena);
  Rest finish(Target at, StackRef stack, uint32_t frames, Arena& arena);
  uint32_t rest(StackRef stack, const FrameText& returned, uint32_t frames, Arena& arena);
  Rest best(std::span<const Config> closed, Arena& arena);
  Text spell(const Rest& rest) const;
  bool less(const Rest& a, const Rest& b) const;

  Store& store_;
  Runner runner_;
  RulesMachine& rules_;
  const std::array<bool, 256>& spellable_;
  RegisterPool::Memory memory_;
  uint32_t max_places_;
  WordInterner entry_keys_;  // state, register
  std::deque<Entry> entries_;
  WordInterner rest_keys_;  // stack, set, register, whether the text ends a string
  std::deque<Rest> rests_;
  uint32_t searches_ = 0;
  std::vector<Target> callees_;
  bool cut_ = false;  // what is being found out takes more than kMaxFrames
};

}  // namespace maskwright

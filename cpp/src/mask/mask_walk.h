// One walk of the token trie from states of frames whose callers are not known.
//
// It decides every token that ends inside the frames, and finds the escapes: trie nodes at which
// the first frame may have returned. begin(), then walk_frame() or start_at() and walk_starts(),
// then take(). Registers are copied into an arena of the walk's own (localise()), which knows less
// than a matcher's: where that would matter, the node is noted as unsure.
//
// What makes it short: a state that reads free text takes the words of the text as one bitmap and
// walks the residue (trie/token_classes.h); a subtree of such text is taken at once; whitespace
// that changes nothing is a loop, and what follows it is the same behind every run; behind a
// quotation mark that begins a token, any JSON text is a list of words, and behind a space any free
// text is a bitmap and a residue again; where listed texts are read the nodes are known but for
// which of these are allowed (listed_texts.h). Of a node with many children only those are looked
// at whose bytes the state reads. Where one configuration starts at many nodes, as behind the
// quotation marks of a hundred tokens, they are walked side by side (mask_walk_starts.cpp). A rule
// that reads a word, and may return behind each of its characters, is one *free text*
// (mask_walk_texts.cpp). Nearly always a single configuration is on the way, in a state that only
// reads or may return besides: such a step is a look-up in its row (mask_walk_steps.cpp).
//
// Cost: linear in the nodes that the states can read.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "mask/listed_texts.h"
#include "mask/set_memo.h"
#include "maskwright/automata/run.h"
#include "maskwright/trie/trie.h"

namespace maskwright {

class MaskWalk {
 public:
  MaskWalk(const Ir& ir, const Vocabulary& vocabulary, Store& store, RulesMachine& rules)
      : ir_(ir),
        vocabulary_(vocabulary),
        store_(store),
        rules_(rules),
        runner_(store, rules),
        listed_(vocabulary, store) {}

  struct Escape {
    uint32_t node;
    SetId returned;
    auto operator<=>(const Escape&) const = default;
  };
  // All nodes that characters of `text` lead to from some nodes, which are not among them. Tokens
  // of nothing but characters of `allowed` are allowed there.
  struct FreeText {
    TextClass text;
    TextClass allowed;
    std::vector<uint32_t> from;  // sorted
  };
  struct FreeEscape {
    FreeText at;
    SetId returned;
  };
  using Bitmap = std::shared_ptr<const TokenClasses::Bitmap>;
  // The tokens allowed are the union of the first three.
  struct Result {
    Bitmap text;   // the words of a class; the vocabulary may have it too
    Bitmap dense;  // all else, if that is much
    std::vector<uint32_t> ids;
    std::vector<Escape> escapes;           // sorted
    std::vector<FreeEscape> free_escapes;  // as many again; those without a way on are left out
    std::vector<uint32_t> unsure;          // trie nodes whose tokens are not decided here
  };

  void begin();
  // The configuration with its register in the walk's arena and an unknown stack.
  Config localise(const Config& config, Arena& arena);
  // From the root of the trie; `local` is not closed.
  // `alone`: nothing follows the frame, so that returning is the end of the text.
  void walk_frame(const Config& local, bool alone);
  // Adds a configuration to start with at a node; nodes in ascending order.
  void start_at(uint32_t node, const Config& local) { starts_.push_back({node, local, false}); }
  // The same at each node of a free text; the tokens that end there are known.
  void start_in(FreeText at, const Config& local) {
    free_starts_.push_back({std::move(at), local});
  }
  void walk_starts();
  void allow(uint32_t token) {
    found_[token / 32] |= 1U << token % 32;
    touched_[token / 2048] |= uint64_t{1} << token / 32 % 64;
  }
  Result take();
  // Instead of take(), before a walk starts.
  void cancel() { swap_scratch(); }
  // Of the walk.
  RegisterPool& regs() { return arena_->regs(); }

  // The tokens that a state of the rules reads as symbols.
  template <typename Visit>
  void each_symbol(StateId state, const Visit& visit) {
    for (const RulesMachine::TokenEdge& edge : rules_.token_edges(state)) {
      const auto payload = ir_.expr(edge.expr);
      const auto ids = payload.subspan(2);
      const bool all_but = payload[0] != 0;
      if (!all_but) {
        for (const uint32_t id : ids) {
          if (id < vocabulary_.vocab_size()) visit(id);
        }
      } else {
        for (uint32_t id = 0; id < vocabulary_.vocab_size(); ++id) {
          if (std::ranges::find(ids, id) == ids.end()) visit(id);
        }
      }
    }
  }

  uint64_t work() const { return runner_.work(); }     // Runner::work(), of all walks
  uint64_t visited_nodes() const { return visited_; }  // by all walks
  std::size_t memory_bytes() const;

 private:
  struct Start {
    uint32_t node;
    Config config;
    bool taken;
  };
  struct FreeStart {
    FreeText at;
    Config config;
  };
  // The places of a path below one of its places.
  struct Below {
    uint32_t first, last;
    const Vocabulary::Children* children;  // null, or all of them
    bool empty() const { return first >= last; }
  };
  // The closed configurations at one depth of the walk. A single one is kept apart with its row:
  // that is nearly every node of nearly every walk.
  struct Depth {
    bool single = false;
    bool whitespace = false;
    bool loops = false;  // whitespace changes nothing but the length of its run
    Config config;
    const Row* row = nullptr;
    ConfigSet set;
    uint32_t memo = SetMemo::kUnknown;  // the number of what is closed here

    // How far the walk below has come.
    Below below{0, 0, nullptr};
    bool general = false;  // not a single configuration that only reads
    uint32_t child = 0;    // in below.children
    const Edge* edge = nullptr;
    ByteSet read;
  };
  // Nodes at which the same configurations are, side by side, and what is below them.
  struct Bundle {
    struct Branch {
      uint8_t byte;
      uint32_t node;
      auto operator<=>(const Branch&) const = default;
    };
    std::vector<uint32_t> nodes;
    TextClass allowed;             // tokens of nothing but its characters below are allowed
    std::vector<Branch> branches;  // by byte
    std::size_t at = 0;            // in the branches
  };
  // What a walk needs and nothing keeps: as large as the vocabulary, so a thread has one for all
  // grammars.
  struct Scratch {
    std::vector<uint32_t> found;
    std::vector<uint64_t> touched;
    std::vector<Depth> levels;
    std::vector<Bundle> bundles;
    std::unique_ptr<Arena> arena;
  };
  struct Place {
    uint32_t at = 0;
    const Edge* edge = nullptr;
  };
  // Tokens that a configuration reads whatever they are, and the way to others; null if there are
  // none, or no such way.
  struct Words {
    Bitmap bitmap;
    std::shared_ptr<const Residue> residue;
    bool spelled = false;  // any text that JSON spells, of any length
  };
  struct TriePath;
  struct ResiduePath;

  void swap_scratch();
  FreeRun free_run(const Config& config, uint32_t& length);
  std::shared_ptr<const Residue> take_words(const Config& config);
  Words find_words(const Config& config, const TokenClasses& classes);
  bool take_listed(const Config& config);
  void keep_ranges();
  void keep_found(Result& result);
  void walk_starts_apart();
  void walk_nested_starts();
  void take_starts(std::size_t index, ConfigSet& set);
  bool joins(uint32_t node);
  bool are_apart() const;
  void walk_together(const Config& config);
  void follow_together(uint32_t top);
  void open_bundle(uint32_t level);
  bool take_words_below(uint32_t node, uint8_t byte, const TextClass& allowed);
  bool step_together(uint8_t byte, uint32_t level);
  bool arrive_together(std::span<const uint32_t> nodes, Depth& here);
  void note_unsure(std::span<const uint32_t> nodes);

  // What configurations read as free text: the characters that lead them back to where they are.
  struct TextLoop {
    TextClass text;
    TextClass allowed;            // as FreeText
    ByteSet others;               // what is read and not of `text`
    std::vector<SetId> returned;  // behind each character
  };
  const TextLoop* find_loop(const Depth& depth);
  TextLoop make_loop(std::span<const Config> configs);
  TextClass readable_text(StateId from);
  TextClass read_by(StateId state);
  bool make_simple_loop(std::span<const Config> configs, const Config& reader, TextLoop& loop);
  void make_set_loop(std::span<const Config> configs, TextLoop& loop);
  bool take_text(std::span<const uint32_t> nodes, uint32_t level, const TextClass& allowed);
  void find_arrivals(const FreeText& at, const ByteSet& others, bool allow, Bundle& out);
  void walk_free_starts();
  bool has_starts_below(uint32_t node) const;
  // Walks the places of a path below one; levels_[level] holds the closed configurations there.
  // Starts that the walk comes by join it, so that no trie node is read twice.
  template <typename Path>
  void follow(const Path& path, Below below, uint32_t top);
  void follow_subtree(uint32_t node, uint32_t level);
  void follow_residue(const Residue& residue, uint32_t level, uint32_t first = 0);
  void begin_below(Depth& from, Below below);
  template <typename Path>
  bool next_place(const Path& path, Depth& from, Place& place) const;
  static bool next_child(Depth& from, Place& place);
  bool step(const Edge& edge, uint32_t node, uint32_t level, bool last);
  bool step_set(uint32_t node, uint32_t level, bool joined);
  bool step_known(const SetMemo::After& after, uint32_t node, uint32_t level);
  // Something is left to do below the node.
  bool goes_on(uint32_t node, uint32_t level);
  bool find_memo(Depth& from, std::span<const Config> configs, bool joined, SetMemo::Step& step);
  // Ways to be done with a subtree at once; false if they don't apply.
  bool follow_spaces(const Depth& depth, uint32_t node);
  bool follow_quoted(const Depth& depth, uint32_t node, uint32_t level);
  bool follow_words_behind_space(const Depth& depth, uint32_t level);
  bool take_free_run(const Depth& depth, uint32_t node);
  bool take_closings(const Depth& depth, uint32_t node);
  bool reads_back(const Depth& depth);
  bool is_far_from_bounds(const Config& config);
  void follow_exits(std::span<const Spaces::Exit> exits, const ConfigSet& after, bool unsure,
                    uint32_t most);

  bool end_inside(const Config& config, uint16_t flags, uint32_t node);
  bool loop(const Depth& from, Depth& to);
  bool loops(const ConfigSet& set, bool alone) const;
  ByteSet readable(const Depth& depth) { return readable_by(depth.set.configs()); }
  ByteSet readable_by(std::span<const Config> configs);
  bool is_over(const Depth& depth) const;
  bool is_inside(const ConfigSet& set) const;
  bool note_unsure(uint32_t node);
  bool arrive(uint32_t node, Depth& depth);
  bool enter(uint32_t node, ConfigSet& set);
  void settle(Depth& depth, bool alone);
  void allow_range(Vocabulary::TokenRange range) {
    if (range.begin == range.end) return;
    if (!ranges_.empty() && ranges_.back().end == range.begin) {
      ranges_.back().end = range.end;
    } else {
      ranges_.push_back(range);
    }
  }

  const Ir& ir_;
  const Vocabulary& vocabulary_;
  Store& store_;
  RulesMachine& rules_;
  Runner runner_;
  uint64_t visited_ = 0;

  // Empty between walks.
  std::unique_ptr<Arena> arena_;
  std::vector<uint32_t> found_;
  std::vector<uint64_t> touched_;  // a bit for each word of found_ that may not be 0
  std::vector<Depth> levels_;
  std::vector<Bundle> bundles_;
  Result result_;
  bool alone_ = false;  // see walk_frame()
  SetMemo memo_;
  ListedTexts listed_;
  bool spelled_ = false;  // the text is any that JSON spells, from the root on
  // Scratch that stays.
  std::vector<Vocabulary::TokenRange> ranges_;  // allowed, besides found_
  std::vector<uint32_t> ids_;
  std::vector<Start> starts_;   // by node
  std::size_t next_start_ = 0;  // none before it lies ahead of the walk
  std::vector<FreeStart> free_starts_;
  std::unordered_map<uint32_t, TextLoop> loops_;  // by SetMemo::id(), of one walk
  ConfigSet loop_set_;
  std::vector<uint32_t> listed_below_;
  std::vector<SetId> returned_;
};

}  // namespace maskwright

// Frame states and their transitions, hash-consed.
//
// A grammar is run as a recursive transition network. Every rule or JSON value is a *frame*: an
// automaton over bytes whose states may also *call* another frame and *return* to the caller. A
// state is an interned sequence of words that one *family* (rules, strings, arrays, ...) knows how
// to read; a configuration is {state, register, whitespace run, stack}. All alternatives that are
// still possible live in one state, so a union advances in lockstep and a return carries the *set*
// of callee ids that accept here.
//
// What a state can do:
//   scan     read one byte (its row: sorted disjoint byte ranges, built on first use);
//   call     push itself and continue in a callee's start state;
//   accept   the frame may end here, for the callee ids in a set;
//   resume   as the caller on the stack: continue after a callee returned a set.
// Counts, seen members and the like are *registers* of the configuration, never part of a state,
// so that their size costs no states (design: the clipping lemma, see mask/).
//
// Locking: a Store belongs to one compiled grammar and is guarded by one mutex, held by the
// callers of the matcher and mask layers for the length of one call.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "maskwright/automata/shared_key.h"
#include "maskwright/support/byte_set.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"
#include "maskwright/support/shortcuts.h"
#include "maskwright/support/spaces.h"
#include "maskwright/support/stable_pool.h"
#include "maskwright/support/text_class.h"
#include "maskwright/support/token_texts.h"

namespace maskwright {

using StateId = uint32_t;
using SetId = uint32_t;  // an interned sorted set of callee ids
using Reg = uint32_t;    // a count, or an id in the RegisterPool, as the family decides

inline constexpr StateId kDead = 0;
inline constexpr SetId kEmptySet = 0;
inline constexpr uint32_t kUnbounded = 0xFFFFFFFF;

// Callee ids are one space: rule ids below, JSON targets with this bit.
inline constexpr uint32_t kTargetTag = 1U << 30;

enum class FamilyId : uint8_t {
  kDone,     // only returns; content: [set id]
  kTail,     // stack only: renames what a tail callee returns
  kRules,    // grammar rules over bytes
  kRepeat,   // a counted repetition of a frame
  kValue,    // before a JSON value
  kKeyword,  // inside true, false, null
  kString,   // inside a JSON string value
  kKey,      // inside a member name
  kNumber,   // inside a number
  kArray,
  kObject,
  kRecord,  // a JSON frame that also remembers the value it reads
  kListed,  // an array or object of a list of values
  kCount,
};

enum StateFlag : uint16_t {
  kAccepts = 1,          // accepted() may be non-empty
  kDynamicAccepts = 2,   // ... and depends on the register
  kCalls = 4,            // callees() may be non-empty
  kReturnOnly = 8,       // nothing but accept: popped at once
  kWhitespace = 16,      // whitespace loops here, at most State::whitespace_limit bytes in a run
  kHasRegister = 32,     // the register matters: mask_key() must be asked
  kPooledRegister = 64,  // the register is a RegisterPool id (else a plain number)
  kTailCalls =
      128,  // every callee's return makes this frame return at once: tail_state() says what
  kOrderedRegister = 256,  // some registers make others superfluous: dominates() may be true
  kGuarded = 512,          // guard() may be true
  kSuspects = 1024,        // suspect() may be true
  kScans = 2048,           // something is read, and scan() says of any byte where it leads: no row
                           // is needed
};

// A state with one of these needs more than its row.
inline constexpr uint16_t kNotPlain = kAccepts | kCalls | kReturnOnly | kWhitespace;

// What a state reads as free text: the characters that lead it back to itself.
struct FreeRun {
  TextClass text;
  // What is read besides leads elsewhere at once: a text of other characters needs one of these.
  ByteSet others;
  uint32_t other_codes = 0;   // ... or one of the code points of TokenTexts::code_class()
  bool others_known = false;  // `others` is known, and nothing but reading happens on the way
  // Of `text`, beyond ASCII only those that begin with bytes that begin no others, none `kept`.
  TextClass by_leads{};
};

struct State {
  FamilyId family = FamilyId::kDone;
  uint16_t flags = 0;
  SetId accepts = kEmptySet;  // if kAccepts and not kDynamicAccepts
  StateId callee =
      kDead;  // if kCalls: the only callee, entered with register 0; kDead = ask callees()
  uint32_t whitespace_limit = 0;  // if kWhitespace
  const struct Row* row = nullptr;
  const FreeRun* free_run = nullptr;
};

enum class Op : uint8_t {
  kPlain,    // go to target, register unchanged
  kDynamic,  // ask Family::scan(state, register, byte, target)
};

struct Edge {
  uint8_t lo;
  uint8_t hi;
  Op op;
  StateId target;  // for kDynamic: whatever the family put there
};

// Sorted, disjoint ranges. Owned by the store, in one block with its edges. A row of more than a
// few ranges also has a table from byte to range, since the trie walk asks for each byte of the
// vocabulary. The table follows the row at a known place: reading a text is a chain of loads that
// wait for each other.
struct Row {
  std::span<const Edge> edges;
  bool indexed = false;

  const Edge* find(uint8_t byte) const {
    if (indexed) {
      const uint8_t position = index()[byte];  // in edges + 1, 0 = none
      return position == 0 ? nullptr : &edges[position - 1U];
    }
    for (const Edge& edge : edges) {
      if (byte <= edge.hi) return byte >= edge.lo ? &edge : nullptr;
    }
    return nullptr;
  }
  const uint8_t* index() const { return reinterpret_cast<const uint8_t*>(this + 1); }

  static constexpr std::size_t kIndexBytes = 256;
};

// Texts of a list, by number; `hi` is exclusive.
struct ListedRange {
  uint32_t lo = 0;
  uint32_t hi = 0;

  bool empty() const { return lo >= hi; }
  bool operator==(const ListedRange&) const = default;
};

// Collects a row; ranges may come in any order but must not overlap. Neighbours with the same op
// and target are joined.
class RowBuilder {
 public:
  RowBuilder() { edges_.reserve(kUsual); }
  void add(uint8_t lo, uint8_t hi, StateId target, Op op = Op::kPlain) {
    edges_.push_back({lo, hi, op, target});
  }
  std::vector<Edge> take();

 private:
  static constexpr std::size_t kUsual = 16;

  std::vector<Edge> edges_;
};

// Register contents that are more than a number. Belongs to a matcher family (a matcher and its
// forks) or to a mask walk, so that it lives no longer than they do. Id 0 is the empty content.
class RegisterPool {
 public:
  // What families do about texts that are told apart by what was read earlier in the frame without
  // bound, such as the undeclared member names of an object.
  enum class Memory : uint8_t {
    kExact,    // remember them
    kUnsure,   // (a mask walk, which doesn't know them) note_unsure() where they would decide
    kIgnored,  // as if they allowed everything: fewer configurations, for searches
  };

  RegisterPool() {
    words_.intern({});
    words_.intern(kUnknownContent);
  }
  Reg intern(std::span<const uint32_t> content) { return words_.intern(content).id; }
  std::span<const uint32_t> get(Reg reg) const { return words_.get(reg); }
  uint32_t size() const { return words_.size(); }
  void truncate(uint32_t size) { words_.truncate(size); }
  std::size_t memory_bytes() const { return words_.memory_bytes(); }

  // Stands for a content that is not known here.
  static constexpr Reg kUnknown = 1;

  Memory memory() const { return memory_; }
  void set_memory(Memory memory) { memory_ = memory; }
  // The configuration that is being asked can't tell whether it goes on.
  void note_unsure() { unsure_ = true; }
  bool take_unsure() { return std::exchange(unsure_, false); }
  // A value ended that an array of unique items has already: that array's alternative is gone,
  // though it goes on in masks.
  void note_repeated() { repeated_ = true; }
  bool take_repeated() { return std::exchange(repeated_, false); }

 private:
  static constexpr std::array<uint32_t, 1> kUnknownContent{kUnbounded};

  WordInterner words_;
  Memory memory_ = Memory::kExact;
  bool unsure_ = false;
  bool repeated_ = false;
};

struct Target {
  StateId state = kDead;
  Reg reg = 0;
};

// Collects the words that decide a mask. Two configurations of the same family with equal keys
// have equal continuations for every text of at most max_advance bytes.
using KeyWords = std::vector<uint32_t>;

// Where a frame refuses more than its mask key says: texts that contain `refused` at a place where
// the configuration has no continuation, though one with the same key may have. `next`: the bytes
// that can lead there.
struct Guard {
  uint8_t refused = 0;
  std::bitset<256> next;
};

// What a frame can return: a set of callee ids, and its register at the end.
struct Completion {
  SetId accepted;
  Reg reg;
};

// One kind of frame. Implementations are not synchronised (see Store).
class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  // Sets flags, accepts, callee and whitespace_limit of a new state from its content.
  virtual void describe(std::span<const uint32_t> content, State& state) = 0;
  // The byte edges of a state (whitespace loops are not edges).
  virtual void expand(StateId state, RowBuilder& row) = 0;
  // The target of a kDynamic edge; {kDead, 0} when the byte is not possible here.
  virtual Target scan(StateId state, Reg reg, uint8_t byte, StateId edge_target,
                      RegisterPool& regs);
  // The state behind an edge where no register stops it; kDead if that can't be said.
  virtual StateId unhindered(const Edge& edge);
  // How many code points of a free run can be read; no more than that can.
  virtual uint32_t free_length(StateId state, Reg reg);
  // The register only counts what a free run has read, and no more can follow with a larger one.
  virtual bool only_counts(StateId state);
  // A backslash begins an escape of any code point, which leads back to the state like the others.
  virtual bool reads_escapes(StateId state);
  // All texts of a class can be read from here that begin at most so many code points, and no
  // longer ones, though not back to the state itself; false if that can't be said at once.
  virtual bool reads_all(StateId state, Reg reg, const RegisterPool& regs, FreeRun& run,
                         uint32_t& length);
  // How many texts are listed, if the rests of some can be read here: those in the ranges that the
  // register allows. A text that has ended returns its number, and others that are none. Behind an
  // edge this is so again, or a text has ended.
  virtual uint32_t listed(StateId state, std::array<ListedRange, 2>& texts);
  // For each number, and the end, how many below it the register allows; false if it allows others
  // than listed texts, or doesn't say.
  virtual bool listed_below(StateId state, Reg reg, const RegisterPool& regs,
                            std::vector<uint32_t>& count);
  // The callee ids for which the frame may end here (kDynamicAccepts).
  virtual SetId accepted(StateId state, Reg reg, const RegisterPool& regs);
  // Appends all callee ids with which the frame may end, here or later; false if that can't be
  // said.
  virtual bool may_accept(StateId state, std::vector<uint32_t>& ids);
  // The callees of a state with kCalls and no single callee.
  virtual void callees(StateId state, Reg reg, RegisterPool& regs, std::vector<Target>& out);
  // Of those some that suffice for a shortest text; `any`: for each that can begin one. The default
  // are all.
  virtual void needed_callees(StateId state, Reg reg, bool any, RegisterPool& regs,
                              std::vector<Target>& out);
  // The state after a callee returned `accepted`; {kDead, 0} when the caller can't go on.
  // `returned`: the callee's register at its end, 0 where that is unknown or the callee leaves
  // none.
  virtual Target resume(StateId state, Reg reg, SetId accepted, Reg returned, RegisterPool& regs);
  // For kOrderedRegister: whatever can follow as a caller with register `b` can follow with `a`.
  virtual bool dominates(StateId state, Reg a, Reg b);
  // For kTailCalls: a kTail state to push in the place of this one, or kDead if nothing needs to be
  // pushed because what the callee returns is what this frame would return.
  virtual StateId tail_state(StateId state);
  // Appends what decides the mask (kHasRegister). The default appends state and register content
  // (pooled).
  virtual void mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key);
  // Appends what decides what becomes of a caller whose callee returns within the next token, where
  // the callee may have been called in an earlier one. The default is mask_key().
  virtual void caller_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key);
  // Appends what decides the mask in any grammar for the vocabulary; false if that can't be said,
  // with whatever words. The register is one of a walk (localise()). Configurations with equal
  // words read the same texts of at most max_advance bytes and return behind the same, and what
  // they return there is the same once callees are numbered as in the key. They are unsure
  // (RegisterPool::Memory) about the same texts.
  virtual bool append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key);
  // For kPooledRegister: the configuration that a mask walk starts from, with its register in `to`,
  // whose memory is kUnsure. Configurations with equal mask keys give the same one. The default
  // copies the content.
  virtual Target localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to);
  // For kPooledRegister: what a step with Memory::kIgnored would go on from.
  virtual Target forget(StateId state, Reg reg, RegisterPool& regs);
  // How many texts the frame remembers that must not come again.
  virtual uint32_t remembered(StateId state, Reg reg, const RegisterPool& regs);
  // For kGuarded: true if there are texts as Guard says.
  virtual bool guard(StateId state, Reg reg, const RegisterPool& regs, Guard& out);
  // For kSuspects: true unless the configuration can be completed for sure; whether it can be then
  // takes a search (way_out.h). Adds to `next`, whatever the answer, the bytes behind which it can
  // come to refuse what its mask key allows.
  virtual bool suspect(StateId state, Reg reg, const RegisterPool& regs, std::bitset<256>& next);
  // All that a suspect can return, so that the search need not read it; false if it must.
  virtual bool completions(StateId state, Reg reg, RegisterPool& regs,
                           std::vector<Completion>& out);
  // Texts that may come next and that a model is likely to write, though others may come too.
  virtual void likely(StateId state, Reg reg, const RegisterPool& regs,
                      std::vector<std::string>& out);
};

class Store {
 public:
  // max_advance: the bytes of the longest token. `tokens` outlives this; null: nothing is known.
  explicit Store(uint32_t max_advance, const TokenTexts* tokens = nullptr,
                 const Shortcuts& shortcuts = {});
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void register_family(FamilyId id, Family& family) {
    families_[static_cast<std::size_t>(id)] = &family;
  }
  Family& family(FamilyId id) const { return *families_[static_cast<std::size_t>(id)]; }

  StateId intern(FamilyId family, std::span<const uint32_t> content);
  // A state that only returns `accepted`.
  StateId done(SetId accepted);
  const State& state(StateId id) const { return states_[id]; }
  std::span<const uint32_t> content(StateId id) const { return contents_.get(id); }
  const Row& row(StateId id) {
    const State& state = states_[id];
    return state.row != nullptr ? *state.row : expand(id);
  }

  const FreeRun& free_run(StateId id) {
    const State& state = states_[id];
    return state.free_run != nullptr ? *state.free_run : find_free_run(id);
  }

  // Family::unhindered.
  StateId unhindered(StateId from, const Edge& edge) const;

  // `ids` sorted and unique.
  SetId intern_set(std::span<const uint32_t> ids) { return sets_.intern(ids).id; }
  std::span<const uint32_t> set(SetId id) const { return sets_.get(id); }

  // How far a token can see; without clipping more than that.
  uint32_t max_advance() const { return shortcuts_.clipping ? max_advance_ : kFar; }
  const Shortcuts& shortcuts() const { return shortcuts_; }
  // TokenTexts, or true where nothing is known.
  bool tokens_end_name(std::string_view text) const {
    return tokens_ == nullptr || tokens_->end_name(text);
  }
  bool tokens_quote(std::string_view text) const {
    return tokens_ == nullptr || tokens_->quote(text);
  }
  // TokenTexts, or 0 where nothing is known.
  uint32_t code_class(std::span<const CodeRange> ranges) const {
    return tokens_ == nullptr ? 0 : tokens_->code_class(ranges);
  }
  bool tokens_reach_name(std::string_view text) const {
    return tokens_ == nullptr || tokens_->reach_name(text);
  }
  bool tokens_begin_name(std::string_view text) const {
    return tokens_ == nullptr || tokens_->begin_name(text);
  }
  bool tokens_pass_names() const { return tokens_ == nullptr || tokens_->pass_names(); }
  uint32_t num_states() const { return contents_.size(); }
  uint32_t num_rows() const { return static_cast<uint32_t>(rows_.size()); }
  // Takes constant time.
  std::size_t memory_bytes() const;

 private:
  const Row& expand(StateId id);
  const FreeRun& find_free_run(StateId id);
  void find_codes(StateId id, FreeRun& run);

  static constexpr uint32_t kFar = 1U << 29;  // above any count; twice it is no overflow

  uint32_t max_advance_;
  const TokenTexts* tokens_;
  Shortcuts shortcuts_;
  std::array<Family*, static_cast<std::size_t>(FamilyId::kCount)> families_{};
  std::unique_ptr<Family> done_;
  WordInterner contents_;  // tag = family; ids are state ids
  StablePool<State> states_;
  WordInterner sets_;
  std::vector<std::unique_ptr<std::byte[]>> rows_;  // a Row, its index if it has one, its edges
  std::vector<std::unique_ptr<FreeRun>> free_runs_;
  std::size_t row_bytes_ = 0;
};

}  // namespace maskwright

// Tools of the JSON tests: a writer of IR buffers and a small deterministic driver.
//
// The driver runs one configuration {state, register, whitespace run, stack}, with none of the
// engine's own code, so that these tests depend on the families alone.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/machine.h"

namespace maskwright::testing {

using Words = std::vector<uint32_t>;

// The texts one after the other. (Sums of strings make gcc 12 warn of overlaps at -O3, PR 105329.)
inline std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

// Writes schema nodes; finish() adds one JSON expression and the root rule.
class SchemaWriter {
 public:
  struct Layout {
    uint32_t flags = kAnyWhitespace;
    uint32_t max_whitespace = 2;
    std::string item_separator = ",", key_separator = ":";
    uint32_t max_advance = 8;  // of the store: mask keys decide texts of so many bytes
  };
  struct Number {
    std::string lo, hi;
    bool lo_exclusive = false, hi_exclusive = false;
  };
  struct Enum {
    uint32_t literals = 0;
    std::vector<std::string> numbers, strings;
    Words nodes;
  };
  using Members = std::vector<std::pair<std::string, uint32_t>>;

  uint32_t any() { return node({uint32_t(NodeKind::kAny)}); }
  uint32_t never() { return node({uint32_t(NodeKind::kNever)}); }
  uint32_t types(uint32_t mask) { return node({uint32_t(NodeKind::kTypes), mask}); }
  uint32_t length(uint32_t min, uint32_t max) { return pair(NodeKind::kStringLength, min, max); }
  uint32_t items(uint32_t min, uint32_t max) { return pair(NodeKind::kItemCount, min, max); }
  uint32_t members(uint32_t min, uint32_t max) { return pair(NodeKind::kMemberCount, min, max); }
  uint32_t all_of(const Words& ids) { return list(NodeKind::kAllOf, ids); }
  uint32_t any_of(const Words& ids) { return list(NodeKind::kAnyOf, ids); }
  uint32_t one_of(const Words& ids) { return list(NodeKind::kOneOf, ids); }
  uint32_t negation(uint32_t id) { return node({uint32_t(NodeKind::kNot), id}); }
  uint32_t number(const Number& bounds);
  uint32_t constants(const Enum& values);
  uint32_t text(const std::string& value) { return constants({0, {}, {value}, {}}); }
  uint32_t array(const Words& prefix, uint32_t rest = kNone);
  uint32_t object(const Members& named, uint32_t additional = kNone);
  uint32_t required(const std::vector<std::string>& keys);
  uint32_t reserve() {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  void define(uint32_t reserved, uint32_t target) {
    nodes_[reserved] = {uint32_t(NodeKind::kAllOf), 1, target};
  }
  // An object with all of `keys` of one type each.
  uint32_t object_type(const Members& named, const std::vector<std::string>& needed,
                       uint32_t additional = kNone) {
    return all_of({types(kObjectType), object(named, additional), required(needed)});
  }

  std::vector<std::byte> buffer(uint32_t root, const Layout& layout);
  Ir finish(uint32_t root, const Layout& layout) { return Ir::parse(buffer(root, layout)); }

 private:
  uint32_t node(Words record) {
    nodes_.push_back(std::move(record));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  uint32_t pair(NodeKind kind, uint32_t a, uint32_t b) { return node({uint32_t(kind), a, b}); }
  uint32_t list(NodeKind kind, const Words& ids);
  void add_bytes(Words& record, std::string_view text);

  std::vector<Words> nodes_;
  std::string bytes_;
};

// A schema, compiled, and what can be asked of it.
class Machine {
 public:
  struct Frame {
    StateId state;
    Reg reg;
  };
  struct Config {
    StateId state = kDead;
    Reg reg = 0;
    uint32_t run = 0;
    std::vector<Frame> stack;
    bool complete = false;  // the root value has returned
  };

  Machine(SchemaWriter& writer, uint32_t root, const SchemaWriter::Layout& layout = {},
          const JsonLimits& limits = {}, std::string_view unspellable = "");

  bool productive() { return productive_; }
  Config begin() const;
  bool step(Config& config, uint8_t byte);
  bool complete(Config config);
  bool accepts(std::string_view text);
  // The number of bytes of the text that are read before a refusal.
  std::size_t prefix(std::string_view text);
  // The bytes that may come next, of these or else of all ASCII.
  std::string next(const Config& config, std::string_view among);
  // Walks at random, later with few bytes that soon close what is open; false if some configuration
  // has no next byte or the value does not come to an end.
  bool completes_at_random(std::mt19937& random, uint32_t steps, std::string& text);
  // Everything that decides the mask here.
  Words key(const Config& config);

  Store& store() { return store_; }
  // From here on undeclared names may repeat; mask keys leave them out.
  void forget_names() { regs_.set_memory(RegisterPool::Memory::kIgnored); }

 private:
  bool settle(Config& config);
  bool pop(Config& config, SetId accepted, Reg returned);

  Ir ir_;
  Store store_;
  JsonMachine machine_;
  RegisterPool regs_;
  bool productive_ = false;
  StateId start_ = kDead;
};

}  // namespace maskwright::testing

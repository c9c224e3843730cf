// How the text of a JSON value is laid out: the options of one JSON expression, interned.
//
// Idea: options are part of every target, so values of different layouts never share a state.
// With free whitespace the separators are "," and ":" and the whitespace belongs to the states
// around them; otherwise the separators are byte strings that are read as given.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maskwright/automata/shared_key.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/number_spec.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

struct JsonOptions {
  bool any_order = false;
  bool whitespace = false;
  bool strict = false;
  NumberSpelling numbers = NumberSpelling::kAny;
  uint32_t max_whitespace = 0;  // bytes between two tokens, if whitespace
  std::string item_separator;   // whitespace around one ',' and one ':'
  std::string key_separator;
  bool can_separate = false;  // item_separator can be spelled
  bool can_label = false;     // key_separator can be spelled

  bool same_layout(const JsonOptions& other) const {
    return any_order == other.any_order && whitespace == other.whitespace &&
           strict == other.strict && numbers == other.numbers &&
           max_whitespace == other.max_whitespace && item_separator == other.item_separator &&
           key_separator == other.key_separator;
  }
  std::size_t memory_bytes() const { return heap_bytes(item_separator, key_separator); }
};

class OptionsTable {
 public:
  explicit OptionsTable(const std::array<bool, 256>& spellable) : spellable_(spellable) {}

  // The options in the payload of a JSON expression. Raises Error(kMalformed) for a separator that
  // is not JSON.
  uint32_t intern(const Ir& ir, std::span<const uint32_t> payload);
  const JsonOptions& get(uint32_t id) const { return *options_[id]; }
  bool can_spell(std::string_view text) const;
  // How values are laid out. That what is between them can be spelled is the vocabulary's matter.
  void append_layout(uint32_t id, SharedKey& key) const;
  std::size_t memory_bytes() const { return heap_bytes(options_); }

 private:
  std::array<bool, 256> spellable_;
  std::vector<std::unique_ptr<const JsonOptions>> options_;
};

}  // namespace maskwright

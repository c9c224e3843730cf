// Frames inside JSON strings, member names and numbers: byte-level readers of a Lang.
//
// StringFamily: content behind the JSON unescape transducer. The register counts code points.
// KeyFamily: a member name, returns the label of the declared key it spells. NumberFamily: plain
// bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"

namespace maskwright {

class NameClasses;

// The accept of a labelled language (Lang::label): the label of what was read.
inline constexpr uint32_t kItsLabel = kNoLabel;

struct StringItem {
  uint32_t accept;  // callee id returned when this alternative accepts
  LangId lang;
  uint32_t min, max;  // length in code points, max kUnbounded = none
  friend auto operator<=>(const StringItem&, const StringItem&) = default;
};

struct NumberItem {
  uint32_t accept;
  LangId lang;
  friend auto operator<=>(const NumberItem&, const NumberItem&) = default;
};

class StringFamily : public Family {
 public:
  // The state after the opening quote, or kDead if no alternative can be completed. Register 0.
  virtual StateId start(std::span<const StringItem> items) = 0;
  // What it takes in memory, with all that it owns (heap_bytes.h).
  virtual std::size_t footprint() const = 0;
};

class NumberFamily : public Family {
 public:
  // The state before the first byte of the number (its row gives the first bytes).
  virtual StateId start(std::span<const NumberItem> items) = 0;
  // The alternatives that are still alive.
  virtual std::vector<NumberItem> items(StateId state) const = 0;
  // What it takes in memory, with all that it owns (heap_bytes.h).
  virtual std::size_t footprint() const = 0;
};

// A member name returns its labels: {index} of a name that is listed, else one for each of the
// NameClasses that have the name, their classes numbered one after the other from the list's size
// on. Register content: [doubts, bits of the allowed labels in words]. Doubts: bit 0 says that some
// unlisted names, unknown here, must not come again (RegisterPool::note_unsure()); the rest how
// many at most, where that may matter.
class KeyFamily : public Family {
 public:
  // `keys`: UTF-8, sorted by code points, unique. Returns an id for the list (hash-consed).
  virtual uint32_t key_list(std::span<const std::string> keys,
                            std::span<const NameClasses* const> classes) = 0;
  // The state *before* the opening quote (its row has the one edge '"').
  virtual StateId start(uint32_t key_list) = 0;
  // The same, refusing the names of a set (name_set.h; unlisted names), and returning the name that
  // was read in the register.
  virtual Target start_refusing(StateId start, Reg reg, Reg names, RegisterPool& regs) = 0;
  // The part of the shared key of a state before the opening quote that is about unlisted names;
  // false if they differ.
  virtual bool append_other_names(StateId start, Reg reg, const RegisterPool& regs,
                                  SharedKey& key) = 0;
  // What it takes in memory, with all that it owns (heap_bytes.h).
  virtual std::size_t footprint() const = 0;
};

std::unique_ptr<StringFamily> make_string_family(Store& store, LangTable& langs);
std::unique_ptr<KeyFamily> make_key_family(Store& store, LangTable& langs);
std::unique_ptr<NumberFamily> make_number_family(Store& store, LangTable& langs);

}  // namespace maskwright

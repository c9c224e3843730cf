// Regular languages over code points: what a JSON string's content or a number's text may be.
//
// A Lang is deterministic and lazy: states are small integers made on first use. Every state that
// it hands out is *live*: some text leads from it to acceptance (with the alphabet that the
// vocabulary can spell). Langs live in a LangTable, which hash-conses them, and are not
// synchronised.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/automata/shared_key.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/number_spec.h"

namespace maskwright {

using LangId = uint32_t;
inline constexpr uint32_t kDeadLang = 0xFFFFFFFF;  // no state
inline constexpr uint32_t kNoLabel = 0xFFFFFFFF;
// Callee ids of lists, in the place of a target, and labels. Frames return one label at a time.
inline constexpr uint32_t kListedTag = 1U << 31;

// A text of a list, or a number as canonical_number() gives it, and its label.
struct Labelled {
  std::string_view text;
  uint32_t label;
};

class Lang {
 public:
  struct Arc {
    uint32_t lo, hi;  // code points, inclusive; surrogates never occur
    uint32_t target;  // a live state
  };

  Lang() = default;
  Lang(const Lang&) = delete;
  Lang& operator=(const Lang&) = delete;
  virtual ~Lang() = default;

  // kDeadLang if the language is empty.
  virtual uint32_t start() = 0;
  // Sorted, disjoint, neighbours with equal targets joined. Valid until the next call on this Lang.
  virtual std::span<const Arc> arcs(uint32_t state) = 0;
  virtual uint32_t move(uint32_t state, uint32_t code_point);
  virtual bool accepts(uint32_t state) = 0;
  // Of a labelled language, which is a list: the label of the text that ends here.
  virtual uint32_t label(uint32_t /*state*/) { return kNoLabel; }
  // Appends all labels of texts that go on from here, and maybe others; false if that is not known.
  virtual bool labels_ahead(uint32_t /*state*/, std::vector<uint32_t>& /*out*/) { return false; }
  // Has the state arcs? May be cheaper than they are.
  virtual bool continues(uint32_t state) { return !arcs(state).empty(); }
  // True iff some completion from `state` has a length n in code points with min <= n <= max
  // (max kUnbounded = no limit). Lengths with gaps may need a table: raises "lang-too-large" if it
  // grows beyond the limit, never for smaller bounds than those that were answered before.
  virtual bool can_finish(uint32_t state, uint32_t min, uint32_t max) = 0;
  // A count P (kUnbounded = none known): for all lengths a, b >= P and every state,
  // can_finish(s, a, h1) == can_finish(s, b, h2) whenever h1 - a and h2 - b are equal or both >= P.
  // 0 for languages like "any text".
  virtual uint32_t length_horizon() = 0;
  // Any text goes on from every state, as is known without a look at them.
  virtual bool reads_everything() const { return false; }
  // Appends what says which texts lead from the state to acceptance; false if that is too much.
  virtual bool append_rest(uint32_t /*state*/, SharedKey& /*key*/) { return false; }
  // What it takes in memory, with all that it owns (heap_bytes.h).
  virtual std::size_t footprint() const = 0;
};

class LangTable {
 public:
  // `spellable[b]`: byte b can be written with the vocabulary; code points whose UTF-8 needs
  // other bytes still count when a \uXXXX escape can spell them (content) - see lang.cpp.
  // max_lang_states: limit of an eager product (LimitExceeded "lang-too-large").
  LangTable(const Ir& ir, const std::array<bool, 256>& spellable, uint32_t max_lang_states);
  ~LangTable();

  Lang& get(LangId id) { return *langs_[id]; }

  LangId any_text();                                    // every code point string
  LangId texts_of_length(uint32_t min, uint32_t max);   // in code points; kUnbounded = no limit
  LangId pattern(uint32_t expr);                        // STRING_LANGUAGE: an IR expression
  LangId literals(std::span<const std::string> texts);  // one of these strings (UTF-8)
  LangId intersection(std::span<const LangId> langs);   // n >= 1; any_text() is neutral
  // The language is that of the texts of `each` of so many code points; {lang, 0, kUnbounded}
  // unless it counts characters of one class.
  struct Counted {
    LangId each;
    uint32_t min, max;
  };
  Counted counted(LangId lang);
  // The same, for a language that is never asked for texts below some length. Searches (unanchored
  // patterns) need no states before they are met.
  LangId endless_intersection(std::span<const LangId> langs);
  LangId complement(LangId lang);  // every other string; no number's language
  // Numbers over ASCII. With any restriction of the value the exponent, if one is written, is from
  // -400 to 400. Raises Unsupported "json-number-divisor".
  LangId number(const NumberSpec& spec);
  // The values of a language of numbers, each as canonical_number() gives it; none if there are
  // more than `limit`.
  std::optional<std::vector<std::string>> number_values(LangId number, std::size_t limit) const;
  // The language without some values, or with none but those; not kept. Not for all numbers, which
  // have more spellings than any other set.
  std::unique_ptr<Lang> number_without(LangId number, std::span<const std::string> values) const;
  std::unique_ptr<Lang> number_among(LangId number, std::span<const std::string> values) const;
  bool is_any_number(LangId number) const;  // in every spelling
  // How many texts with so many code points a list of texts has; nothing if it is no list.
  std::optional<uint64_t> num_listed(LangId lang, uint32_t min, uint32_t max) const;
  // The same union of languages, with those of numbers that are lists, or those of texts, in one.
  std::vector<LangId> join_numbers(std::span<const LangId> numbers);
  std::vector<LangId> join_literals(std::span<const LangId> langs);
  // New languages of these texts (UTF-8) or numbers, each listed once, that tell which one was
  // read (Lang::label). The vocabulary can spell all printable ASCII.
  LangId labelled_texts(std::span<const Labelled> texts);
  LangId labelled_numbers(std::span<const Labelled> numbers, NumberSpelling spelling);
  std::size_t memory_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::unique_ptr<Lang>> langs_;
};

}  // namespace maskwright

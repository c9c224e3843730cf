// Regular expressions as hash-consed terms, simplified while they are made, and their automata.
//
// Terms have no impossible part (a class without code points, a text that can't be spelled makes
// the whole sequence never match) and know the number of nodes their automaton would need, so a
// repetition bomb is refused before anything is unrolled. Since all classes are cut to the
// alphabet that can be spelled, complement and product work over that alphabet too.
//
// Simplifications are those that keep automata small where patterns of the field need it: classes
// of a choice are united, texts of a choice become one set of texts, repeats of repeats and
// neighbouring repeats of one body are joined: (x{1,50}){1,50} is x{1,2500}.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_chars.h"
#include "json/lang_dfa.h"
#include "json/lang_nfa.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright::langs {

using TermId = uint32_t;

enum class TermKind : uint32_t {
  kNever,     // []
  kEmpty,     // []
  kClass,     // [class id]
  kText,      // [code points...], at least two
  kTexts,     // [(length, code points...)...], sorted, unique, not one alone
  kSequence,  // [terms...]
  kChoice,    // [terms...]
  kRepeat,    // [term, min, max]
  kDfa,       // [index]
};

class TermPool {
 public:
  using CodePoints = std::vector<uint32_t>;

  // `alphabet`: what can be spelled; `classes` outlives the pool.
  TermPool(CodeRanges alphabet, ClassPool& classes, const LangLimits& limits);

  TermId never() const { return 0; }
  TermId empty() const { return 1; }
  TermId char_class(std::span<const CodeRange> ranges);
  TermId text(std::string_view utf8);
  TermId texts(std::vector<CodePoints> texts);
  // Texts in UTF-8, sorted and unique; those that are no UTF-8 or can't be spelled are left out.
  // UTF-8 sorts as its code points do, and bytes compare faster.
  TermId sorted_texts(std::span<const std::string_view> sorted);
  // Texts that are sorted, unique and can be spelled, as (length, code points...) each.
  TermId packed_texts(std::span<const uint32_t> packed);
  TermId sequence(std::span<const TermId> parts);
  TermId choice(std::span<const TermId> parts);
  TermId repeat(TermId body, uint32_t min, uint32_t max);
  TermId dfa(Dfa dfa);

  TermKind kind(TermId id) const { return kinds_[id]; }
  std::span<const uint32_t> content(TermId id) const { return terms_.get(id); }
  const Dfa& dfa_of(TermId id) const { return *dfas_[content(id)[0]]; }
  // Is it a finite set of texts in explicit form (kEmpty, kText, kTexts or one code point)?
  bool is_texts(TermId id) const;
  // Appends the texts of such a term.
  void list_texts(TermId id, std::vector<CodePoints>& out) const;
  // The same texts, sorted, as (length, code points...) one after the other.
  std::vector<uint32_t> pack_texts(TermId id) const;
  bool can_spell(std::span<const uint32_t> text) const;
  std::span<const CodeRange> alphabet() const { return alphabet_; }
  ClassPool& classes() const { return classes_; }

  // Raises "lang-too-large" if the automaton would be too large. Not for kNever.
  Nfa build(TermId term) const;
  std::size_t memory_bytes() const { return heap_bytes(alphabet_, terms_, kinds_, sizes_, dfas_); }

 private:
  TermId intern(TermKind kind, std::span<const uint32_t> content, uint64_t size);
  bool single(TermId id, uint32_t& code_point) const;
  bool join_repeat(TermId first, TermId second, TermId& joined);
  bool join_text(TermId first, TermId second, TermId& joined);

  CodeRanges alphabet_;
  bool spells_all_ = false;
  ClassPool& classes_;
  LangLimits limits_;
  WordInterner terms_;  // tag = kind
  std::vector<TermKind> kinds_;
  std::vector<uint64_t> sizes_;  // nodes of the automaton, saturating
  std::vector<std::unique_ptr<const Dfa>> dfas_;
};

}  // namespace maskwright::langs

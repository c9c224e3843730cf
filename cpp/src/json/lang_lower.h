// IR expressions -> terms -> languages.
#pragma once

#include <memory>
#include <vector>

#include "json/lang_base.h"
#include "json/lang_term.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright::langs {

class PatternCompiler {
 public:
  PatternCompiler(const Ir& ir, TermPool& terms, EagerBudget& budget)
      : ir_(ir),
        terms_(terms),
        limits_(budget.limits()),
        budget_(budget),
        memo_(ir.num_exprs(), kNone),
        entered_(ir.num_exprs(), false) {}

  // Raises "lang-not-regular" for recursion, token sets and JSON inside.
  TermId lower(uint32_t expr);
  std::unique_ptr<TableLang> make_lang(TermId term) const;
  std::size_t memory_bytes() const { return heap_bytes(memo_, entered_); }

 private:
  void push_children(uint32_t expr, std::vector<uint32_t>& out) const;
  TermId convert(uint32_t expr);
  TermId convert_class(std::span<const uint32_t> words);
  TermId convert_literal_set(std::span<const uint32_t> words);
  TermId convert_intersection(std::span<const TermId> parts);
  TermId convert_complement(TermId part);
  TermId convert_text_until(std::span<const uint32_t> words);
  std::vector<std::vector<uint32_t>> decode_refs(std::span<const uint32_t> refs) const;

  const Ir& ir_;
  TermPool& terms_;
  LangLimits limits_;
  EagerBudget& budget_;
  std::vector<TermId> memo_;   // per expression; kNone = not yet
  std::vector<bool> entered_;  // per expression: its children were pushed
  std::vector<TermId> parts_;  // scratch of convert
};

}  // namespace maskwright::langs

#include "json/lang_lower.h"

#include <algorithm>

#include "json/lang_literals.h"
#include "json/lang_until.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright::langs {

// Bottom-up over the graph of expressions with an explicit stack; each expression once.
TermId PatternCompiler::lower(uint32_t root) {
  std::vector<uint32_t> stack{root};
  std::vector<uint32_t> children;
  while (!stack.empty()) {
    const uint32_t expr = stack.back();
    if (memo_[expr] != kNone) {
      stack.pop_back();
      continue;
    }
    children.clear();
    push_children(expr, children);
    std::erase_if(children, [&](uint32_t child) { return memo_[child] != kNone; });
    if (children.empty()) {
      memo_[expr] = convert(expr);
      stack.pop_back();
      continue;
    }
    if (entered_[expr]) {
      throw Error::unsupported("lang-not-regular",
                               "a string pattern refers to itself; only regular patterns are "
                               "possible",
                               "recursion in a string pattern");
    }
    entered_[expr] = true;
    stack.insert(stack.end(), children.begin(), children.end());
  }
  return memo_[root];
}

void PatternCompiler::push_children(uint32_t expr, std::vector<uint32_t>& out) const {
  const auto words = ir_.expr(expr);
  switch (ir_.expr_kind(expr)) {
    case ExprKind::kSequence:
    case ExprKind::kChoice:
    case ExprKind::kIntersect: out.insert(out.end(), words.begin() + 1, words.end()); break;
    case ExprKind::kRepeat:
    case ExprKind::kComplement: out.push_back(words[0]); break;
    case ExprKind::kRef: out.push_back(ir_.rule_expr(words[0])); break;
    default: break;
  }
}

TermId PatternCompiler::convert(uint32_t expr) {
  const auto words = ir_.expr(expr);
  std::vector<TermId>& parts = parts_;
  parts.clear();
  push_children(expr, parts);
  for (TermId& part : parts) part = memo_[part];  // children first
  switch (ir_.expr_kind(expr)) {
    case ExprKind::kEmpty: return terms_.empty();
    case ExprKind::kLiteral: return terms_.text(ir_.bytes(words[0], words[1]));
    case ExprKind::kClass: return convert_class(words);
    case ExprKind::kSequence: return terms_.sequence(parts);
    case ExprKind::kChoice: return terms_.choice(parts);
    case ExprKind::kRepeat: return terms_.repeat(parts[0], words[1], words[2]);
    case ExprKind::kRef: return parts[0];
    case ExprKind::kLiteralSet: return convert_literal_set(words);
    case ExprKind::kIntersect: return convert_intersection(parts);
    case ExprKind::kComplement: return convert_complement(parts[0]);
    case ExprKind::kTextUntil: return convert_text_until(words);
    default: break;
  }
  throw Error::unsupported("lang-not-regular",
                           "a string pattern contains a token set or a JSON value; only regular "
                           "expressions over text are possible",
                           "token set or JSON in a string pattern");
}

TermId PatternCompiler::convert_class(std::span<const uint32_t> words) {
  CodeRanges ranges;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) ranges.push_back({words[i], words[i + 1]});
  return terms_.char_class(normalise(std::move(ranges)));
}

// The strings that are valid UTF-8.
std::vector<std::vector<uint32_t>> PatternCompiler::decode_refs(
    std::span<const uint32_t> refs) const {
  std::vector<std::vector<uint32_t>> texts;
  std::vector<uint32_t> text;
  for (std::size_t i = 0; i + 1 < refs.size(); i += 2) {
    text.clear();
    if (decode_utf8(ir_.bytes(refs[i], refs[i + 1]), text)) texts.push_back(text);
  }
  return texts;
}

TermId PatternCompiler::convert_literal_set(std::span<const uint32_t> words) {
  std::vector<std::string_view> texts;
  texts.reserve(words[0]);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    texts.push_back(ir_.bytes(words[i], words[i + 1]));
  }
  make_set(texts);
  return terms_.sorted_texts(texts);
}

TermId PatternCompiler::convert_intersection(std::span<const TermId> parts) {
  std::vector<TermId> unique(parts.begin(), parts.end());
  make_set(unique);
  if (unique.front() == terms_.never()) return terms_.never();
  if (unique.size() == 1) return unique.front();
  std::vector<std::unique_ptr<TableLang>> langs;
  std::vector<TableLang*> operands;
  for (const TermId part : unique) {
    langs.push_back(make_lang(part));
    operands.push_back(langs.back().get());
  }
  return terms_.dfa(product(operands, budget_, "an intersection of patterns"));
}

TermId PatternCompiler::convert_complement(TermId part) {
  return terms_.dfa(complement(*make_lang(part), terms_.alphabet(), budget_));
}

TermId PatternCompiler::convert_text_until(std::span<const uint32_t> words) {
  const std::size_t num_stops = words[0];
  auto stops = decode_refs(words.subspan(1, 2 * num_stops));
  auto excludes = decode_refs(words.subspan(2 + 2 * num_stops));
  const auto unspelled = [&](const auto& text) { return !terms_.can_spell(text); };
  std::erase_if(stops, unspelled);
  std::erase_if(excludes, unspelled);
  return terms_.dfa(text_until(stops, excludes, terms_.alphabet(), budget_));
}

std::unique_ptr<TableLang> PatternCompiler::make_lang(TermId term) const {
  const auto words = terms_.content(term);
  const TermKind kind = terms_.kind(term);
  if (kind == TermKind::kNever) return std::make_unique<DfaLang>(Dfa{}, limits_);
  if (kind == TermKind::kDfa) return std::make_unique<DfaLang>(terms_.dfa_of(term), limits_);
  if (terms_.is_texts(term)) {
    return std::make_unique<LiteralsLang>(terms_.pack_texts(term));
  }
  if (kind == TermKind::kClass) {
    return std::make_unique<RunLang>(terms_.classes().get(words[0]), 1, 1);
  }
  if (kind == TermKind::kRepeat && terms_.kind(words[0]) == TermKind::kClass) {
    const uint32_t class_id = terms_.content(words[0])[0];
    return std::make_unique<RunLang>(terms_.classes().get(class_id), words[1], words[2]);
  }
  return std::make_unique<SubsetLang>(terms_.build(term), terms_.classes(), limits_);
}

}  // namespace maskwright::langs

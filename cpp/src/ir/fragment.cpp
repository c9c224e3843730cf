#include "maskwright/ir/fragment.h"

#include <stdexcept>

namespace maskwright {

namespace {

// Enters a word that names bytes, which move to the fragment's own.
void take_bytes(IrFragment& fragment, const Ir& ir, uint32_t at) {
  const std::string_view content = ir.bytes(fragment.words[at], fragment.words[at + 1]);
  fragment.words[at] = static_cast<uint32_t>(fragment.bytes.size());
  fragment.byte_words.push_back(at);
  fragment.bytes += content;
}

void enter(IrFragment& fragment, const Ir& ir, uint32_t id) {
  const ExprKind kind = ir.expr_kind(id);
  const auto payload = ir.expr(id);
  const auto first = static_cast<uint32_t>(fragment.words.size() + 1);  // of the payload
  fragment.offsets.push_back(first - 1);
  fragment.words.push_back(static_cast<uint32_t>(kind));
  fragment.words.insert(fragment.words.end(), payload.begin(), payload.end());
  switch (kind) {
    case ExprKind::kEmpty:
    case ExprKind::kClass: break;
    case ExprKind::kSequence:
    case ExprKind::kChoice:
    case ExprKind::kIntersect:
      for (uint32_t i = 0; i < payload[0]; ++i) fragment.expr_words.push_back(first + 1 + i);
      break;
    case ExprKind::kRepeat:
    case ExprKind::kComplement: fragment.expr_words.push_back(first); break;
    case ExprKind::kLiteral: take_bytes(fragment, ir, first); break;
    case ExprKind::kLiteralSet:
      for (uint32_t i = 0; i < payload[0]; ++i) take_bytes(fragment, ir, first + 1 + 2 * i);
      break;
    default:
      throw std::invalid_argument("an expression of kind " +
                                  std::to_string(static_cast<uint32_t>(kind)) +
                                  " cannot be part of a fragment");
  }
}

}  // namespace

IrFragment IrFragment::read(std::span<const std::byte> buffer) {
  const Ir ir = Ir::parse(buffer);
  IrFragment fragment;
  for (uint32_t id = 0; id < ir.num_exprs(); ++id) enter(fragment, ir, id);
  fragment.root = ir.rule_expr(ir.root_rule());
  return fragment;
}

}  // namespace maskwright

#include "maskwright/matcher/token_reader.h"

#include <algorithm>
#include <utility>

namespace maskwright {

TokenReader::TokenReader(CompiledGrammar& grammar, std::vector<uint32_t> stop_ids)
    : grammar_(&grammar),
      stop_ids_(std::move(stop_ids)),
      needs_search_(find_whether_search_is_needed()) {}

bool TokenReader::find_whether_search_is_needed() const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (grammar_->may_need_unspellable()) return true;
  for (const uint32_t id : stop_ids_) {
    if (vocabulary.text(id).size() != 1) continue;
    const auto byte = static_cast<uint8_t>(vocabulary.text(id)[0]);
    if (!grammar_->may_need(byte)) continue;
    for (uint32_t node = 1; node < vocabulary.num_nodes(); node = vocabulary.next(node)) {
      if (vocabulary.byte(node) == byte && !readable(node)) return true;
    }
  }
  const Ir& ir = grammar_->ir();
  for (uint32_t expr = 0; grammar_->has_token_symbols() && expr < ir.num_exprs(); ++expr) {
    if (ir.expr_kind(expr) != ExprKind::kTokenSet) continue;
    const auto ids = ir.expr(expr).subspan(2);
    const bool listed = ir.expr(expr)[0] == 0;
    bool usable = false;
    for (uint32_t id = 0; id < vocabulary.vocab_size() && !usable; ++id) {
      usable = !is_stop(id) && (std::ranges::find(ids, id) != ids.end()) == listed;
    }
    if (!usable) return true;
  }
  return false;
}

bool TokenReader::spells_endless_names() const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const auto is_text = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  bool quotes = false;
  bool reads = false;
  for (uint32_t id = 0; id < vocabulary.vocab_size() && !(quotes && reads); ++id) {
    const std::string_view text = vocabulary.text(id);
    if (text.empty() || is_stop(id)) continue;
    quotes = quotes || text == "\"";
    reads = reads || std::ranges::all_of(text, is_text);
  }
  return quotes && reads;
}

bool TokenReader::is_stop(uint32_t token) const {
  return std::ranges::binary_search(stop_ids_, token);
}

bool TokenReader::readable(uint32_t node) const {
  return std::ranges::any_of(grammar_->vocabulary().tokens_at(node),
                             [&](uint32_t token) { return !is_stop(token); });
}

uint32_t TokenReader::token_at(uint32_t node) const {
  const auto tokens = grammar_->vocabulary().tokens_at(node);
  return *std::ranges::find_if_not(tokens, [&](uint32_t token) { return is_stop(token); });
}

void TokenReader::add_symbols(std::span<const Config> closed, uint32_t token, Runner& runner,
                              Arena& arena, ConfigSet& out) const {
  if (!grammar_->has_token_symbols()) return;
  for (const Config& config : closed) {
    if (grammar_->store().state(config.state).family != FamilyId::kRules) continue;
    for (const RulesMachine::TokenEdge& edge : grammar_->rules().token_edges(config.state)) {
      const auto payload = grammar_->ir().expr(edge.expr);
      const auto ids = payload.subspan(2);
      const bool listed = std::ranges::find(ids, token) != ids.end();
      if (listed != (payload[0] == 1)) {
        runner.add({edge.target, 0, 0, config.stack}, arena, out);
      }
    }
  }
}

void TokenReader::read(std::span<const Config> closed, uint32_t token, Runner& runner, Arena& arena,
                       ConfigSet& out) const {
  const std::string_view text = grammar_->vocabulary().text(token);
  out.clear();
  if (!text.empty()) runner.read(closed, text, arena, out);
  add_symbols(closed, token, runner, arena, out);
}

ByteSet TokenReader::readable_bytes(std::span<const Config> closed) const {
  Store& store = grammar_->store();
  ByteSet bytes;
  for (const Config& config : closed) {
    const State& state = store.state(config.state);
    if ((state.flags & kWhitespace) != 0 && config.run < state.whitespace_limit) {
      for (const uint8_t space : kSpaces) bytes.add(space);
    }
    for (const Edge& edge : store.row(config.state).edges) bytes.add_range(edge.lo, edge.hi);
  }
  return bytes;
}

bool TokenReader::may_read_symbol(std::span<const Config> closed) const {
  return grammar_->has_token_symbols() && std::ranges::any_of(closed, [&](const Config& config) {
           return grammar_->store().state(config.state).family == FamilyId::kRules &&
                  !grammar_->rules().token_edges(config.state).empty();
         });
}

}  // namespace maskwright

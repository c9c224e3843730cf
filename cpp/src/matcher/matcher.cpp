#include "maskwright/matcher/matcher.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

static_assert(sizeof(Config) == 16 && alignof(Config) == 4, "interned as four words");

[[noreturn]] void terminated() {
  throw Error(ErrorKind::kMatcher, "matcher-terminated",
              "no token can follow: the matcher is terminated; check is_terminated() before asking "
              "for a mask, or roll back or reset it");
}

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar,
                 std::optional<std::vector<uint32_t>> stop_token_ids,
                 bool terminate_without_stop_token)
    : grammar_(std::move(grammar)), terminate_without_stop_token_(terminate_without_stop_token) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (stop_token_ids.has_value()) {
    stop_token_ids_ = std::move(*stop_token_ids);
    std::ranges::sort(stop_token_ids_);
    for (const uint32_t id : stop_token_ids_) {
      if (id >= vocabulary.vocab_size()) {
        throw Error(ErrorKind::kMatcher, "matcher-stop-token-out-of-range",
                    "stop token id " + std::to_string(id) + " is outside the vocabulary of " +
                        std::to_string(vocabulary.vocab_size()) + " ids; pass ids below it");
      }
    }
  } else {
    const auto ids = vocabulary.stop_token_ids();
    stop_token_ids_.assign(ids.begin(), ids.end());
  }
  if (stop_token_ids_.empty() && !terminate_without_stop_token_) {
    throw Error(ErrorKind::kMatcher, "matcher-no-stop-token",
                "the vocabulary has no stop token, so a text could never end; give the tokenizer "
                "stop_token_ids or pass override_stop_tokens or terminate_without_stop_token=True");
  }
  needs_search_ = needs_search();
  const std::lock_guard lock(grammar_->mutex());
  start();
}

void Matcher::start() {
  family_ = std::make_shared<Family>(*grammar_);
  family_->now.clear();
  family_->runner.add(grammar_->start(), family_->arena, family_->now);
  family_->steps.grow();
  family_->steps[0] = {};
  step_ = 0;
  if (!finishable(family_->now)) {
    throw Error(ErrorKind::kUnsatisfiable, "grammar-unspellable",
                "no sequence of the vocabulary's tokens spells a complete text of the grammar; "
                "check that the tokenizer belongs to the model, or add tokens of single bytes");
  }
  push_step(family_->now);
  family_->steps[step_].depth = 0;
}

std::span<const Config> Matcher::configs(uint32_t id) const {
  const auto words = family_->configs.get(id);
  // Config is four words without padding; the interner keeps them aligned as words.
  return {reinterpret_cast<const Config*>(words.data()), words.size() / 4};
}

Matcher::Closed Matcher::close_and_intern(ConfigSet& set) {
  Family& family = *family_;
  family.returned.clear();
  family.runner.close(set, family.arena, &family.returned);
  std::vector<uint32_t> words(set.size() * 4);
  if (!words.empty()) std::memcpy(words.data(), set.configs().data(), words.size() * 4);
  return {family.configs.intern(words).id, !family.returned.empty()};
}

void Matcher::push_step(ConfigSet& set) {
  const Closed closed = close_and_intern(set);
  const uint32_t depth = family_->steps[step_].depth + 1;
  const uint32_t id = family_->steps.grow();
  family_->steps[id] = {step_, closed.configs, depth, closed.completed, false};
  step_ = id;
}

bool Matcher::is_stop(uint32_t token) const {
  return std::ranges::binary_search(stop_token_ids_, token);
}

bool Matcher::read(std::string_view text, ConfigSet& out) {
  Family& family = *family_;
  std::span<const Config> from = configs();
  for (std::size_t i = 0; i < text.size(); ++i) {
    family.next.clear();
    family.runner.scan(from, static_cast<uint8_t>(text[i]), family.arena, family.next);
    if (family.next.empty()) return false;
    std::swap(family.now, family.next);
    if (i + 1 < text.size()) family.runner.close(family.now, family.arena, nullptr);
    from = family.now.configs();
  }
  for (const Config& config : from) out.add(config, family.arena);
  return true;
}

void Matcher::add_token_symbols(std::span<const Config> from, uint32_t token, ConfigSet& out) {
  if (!grammar_->has_token_symbols()) return;
  for (const Config& config : from) {
    if (grammar_->store().state(config.state).family != FamilyId::kRules) continue;
    for (const RulesMachine::TokenEdge& edge : grammar_->rules().token_edges(config.state)) {
      const auto payload = grammar_->ir().expr(edge.expr);
      const auto ids = payload.subspan(2);
      const bool listed = std::ranges::find(ids, token) != ids.end();
      if (listed != (payload[0] == 1)) {
        family_->runner.add({edge.target, 0, 0, config.stack}, family_->arena, out);
      }
    }
  }
}

bool Matcher::accept_token(int64_t token) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (token < 0 || token >= int64_t{vocabulary.vocab_size()}) return false;
  const auto id = static_cast<uint32_t>(token);
  const std::lock_guard lock(grammar_->mutex());
  Step now = family_->steps[step_];
  if (now.stopped) return false;
  if (is_stop(id)) {
    if (!now.completed || terminate_without_stop_token_) return false;
    const uint32_t next = family_->steps.grow();
    now.parent = step_;
    now.stopped = true;
    ++now.depth;
    family_->steps[next] = now;
    step_ = next;
    return true;
  }
  ConfigSet after;
  read_token(id, after);
  if (after.empty() || !finishable(after)) return false;
  push_step(after);
  return true;
}

void Matcher::read_token(uint32_t token, ConfigSet& out) {
  add_token_symbols(configs(), token, out);
  const std::string_view text = grammar_->vocabulary().text(token);
  if (!text.empty()) read(text, out);
}

bool Matcher::accept_bytes(std::string_view text) {
  const std::lock_guard lock(grammar_->mutex());
  if (family_->steps[step_].stopped) return false;
  ConfigSet after;
  if (!read(text, after) || !finishable(after)) return false;
  push_step(after);
  return true;
}

Matcher::Fill Matcher::fill_bitmask(std::span<uint32_t> row, bool walk) {
  const std::lock_guard lock(grammar_->mutex());
  const Step& now = family_->steps[step_];
  if (now.stopped) terminated();
  const uint32_t size = grammar_->vocabulary().vocab_size();
  if (!grammar_->masks().fill(configs(), family_->arena, row, walk)) return Fill::kCold;
  if (needs_search_) drop_unfinishable(row);
  const bool may_stop = now.completed && !terminate_without_stop_token_;
  for (const uint32_t id : stop_token_ids_) {
    const uint32_t bit = 1U << id % 32;
    row[id / 32] = may_stop ? row[id / 32] | bit : row[id / 32] & ~bit;
  }
  if (now.completed && terminate_without_stop_token_ &&
      std::ranges::all_of(row, [](uint32_t word) { return word == 0; })) {
    terminated();
  }
  for (uint32_t i = 0; i < size / 32; ++i) {
    if (row[i] != 0xFFFFFFFF) return Fill::kSome;
  }
  const bool all = size % 32 == 0 || row[size / 32] == (1U << size % 32) - 1;
  return all ? Fill::kAll : Fill::kSome;
}

void Matcher::rollback(uint64_t steps) {
  const std::lock_guard lock(grammar_->mutex());
  if (steps > family_->steps[step_].depth) {
    throw Error(ErrorKind::kMatcher, "matcher-rollback-too-far",
                "cannot roll back " + std::to_string(steps) + " steps: only " +
                    std::to_string(family_->steps[step_].depth) + " were taken");
  }
  for (; steps > 0; --steps) step_ = family_->steps[step_].parent;
}

void Matcher::reset() {
  const std::lock_guard lock(grammar_->mutex());
  start();
}

bool Matcher::is_terminated() const {
  const std::lock_guard lock(grammar_->mutex());
  const Step& now = family_->steps[step_];
  return now.stopped || (terminate_without_stop_token_ && now.completed);
}

bool Matcher::is_completed() const {
  const std::lock_guard lock(grammar_->mutex());
  return family_->steps[step_].completed;
}

uint64_t Matcher::num_steps() const {
  const std::lock_guard lock(grammar_->mutex());
  return family_->steps[step_].depth;
}

std::shared_ptr<CompiledGrammar> compile(std::span<const std::byte> ir,
                                         std::shared_ptr<const Vocabulary> vocabulary,
                                         const CompileLimits& limits) {
  auto grammar = std::make_shared<CompiledGrammar>(ir, std::move(vocabulary), limits);
  if (grammar->may_need_unspellable() || grammar->has_token_symbols()) {
    const Matcher probe(grammar, std::nullopt, true);
  }
  return grammar;
}

}  // namespace maskwright

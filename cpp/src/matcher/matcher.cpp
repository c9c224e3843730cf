#include "maskwright/matcher/matcher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

static_assert(sizeof(Config) == 16 && alignof(Config) == 4, "interned as four words");

std::span<const uint32_t> words_of(std::span<const Config> configs) {
  return {reinterpret_cast<const uint32_t*>(configs.data()), configs.size() * 4};
}

// Stacks, registers and configurations that nobody needs, up to which they are kept: the same step
// is often taken again.
constexpr uint32_t kKept = 4096;

// Room that is kept for the next ones, beside that for as many again.
constexpr std::size_t kRoom = 64;

template <typename T>
void shrink(std::vector<T>& items, uint32_t size) {
  items.resize(size);
  if (items.capacity() / 2 > items.size() + kRoom) items.shrink_to_fit();
}

// The vocabulary's if there are none; ascending.
std::vector<uint32_t> checked_stops(const Vocabulary& vocabulary,
                                    std::optional<std::vector<uint32_t>> stop_token_ids) {
  if (!stop_token_ids.has_value()) {
    const auto ids = vocabulary.stop_token_ids();
    return {ids.begin(), ids.end()};
  }
  std::ranges::sort(*stop_token_ids);
  for (const uint32_t id : *stop_token_ids) {
    if (id < vocabulary.vocab_size()) continue;
    throw Error(ErrorKind::kMatcher, "matcher-stop-token-out-of-range",
                "stop token id " + std::to_string(id) + " is outside the vocabulary of " +
                    std::to_string(vocabulary.vocab_size()) + " ids; pass ids below it");
  }
  return std::move(*stop_token_ids);
}

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar,
                 std::optional<std::vector<uint32_t>> stop_token_ids,
                 bool terminate_without_stop_token, std::optional<uint64_t> token_budget)
    : grammar_(std::move(grammar)),
      tokens_(*grammar_, checked_stops(grammar_->vocabulary(), std::move(stop_token_ids))),
      terminate_without_stop_token_(terminate_without_stop_token) {
  if (tokens_.stop_ids().empty() && !terminate_without_stop_token_) {
    throw Error(ErrorKind::kMatcher, "matcher-no-stop-token",
                "the vocabulary has no stop token, so a text could never end; give the tokenizer "
                "stop_token_ids or pass override_stop_tokens or terminate_without_stop_token=True");
  }
  endless_names_ = !tokens_.needs_search() || tokens_.spells_endless_names();
  {
    const std::lock_guard lock(grammar_->mutex());
    start();
  }
  if (token_budget.has_value()) {
    check_budget(*token_budget, "token_budget");
    const std::lock_guard lock(grammar_->mutex());
    token_budget_ = static_cast<uint32_t>(std::min<uint64_t>(*token_budget, kUnbounded - 1));
    family_->steps[step_].left = token_budget_;
  }
}

// Builds no states if the first mask is there, and tokens that spell a text are taken for granted.
void Matcher::start() {
  family_ = std::make_shared<Family>(*grammar_);
  family_->steps.grow();
  Step first;
  first.left = token_budget_;
  const StartMask* known = grammar_->masks().start_mask().get();
  first.completed = known != nullptr && known->completed;
  step_ = family_->append(first);
  if (known != nullptr && !tokens_.needs_search()) return;
  ConfigSet& set = family_->after;
  family_->runner.add(grammar_->start(), family_->arena, set);
  if (!lives(set)) {
    throw Error(ErrorKind::kUnsatisfiable, "grammar-unspellable",
                "no sequence of the vocabulary's tokens spells a complete text of the grammar; "
                "check that the tokenizer belongs to the model, or add tokens of single bytes");
  }
  open();
}

// Finds the configurations of the first step.
void Matcher::open() const {
  Family& family = *family_;
  family.is_open = true;
  family.after.clear();
  family.runner.add(grammar_->start(), family.arena, family.after);
  Step& first = family.steps[kRoot];
  first.completed = close(family.after);
  set_configs(first, family.after);
  family.set_sizes(first);
}

void Matcher::terminated() {
  throw Error(ErrorKind::kMatcher, "matcher-terminated",
              "no token can follow: the matcher is terminated; check is_terminated() before asking "
              "for a mask, or roll back or reset it");
}

void Matcher::Family::set_sizes(Step& step) const {
  step.arena_size = arena.size();
  step.num_configs = configs.size();
  step.num_texts = static_cast<uint32_t>(texts.size());
  step.num_plans = static_cast<uint32_t>(plans.size());
}

uint32_t Matcher::Family::append(Step step) {
  set_sizes(step);
  const uint32_t id = steps.grow();
  steps[id] = step;
  return id;
}

void Matcher::Family::truncate(uint32_t step) {
  const Step& last = steps[step];
  steps.truncate(step + 1);
  shrink(texts, last.num_texts);
  shrink(plans, last.num_plans);
  const uint32_t unused =
      arena.size().total() - last.arena_size.total() + configs.size() - last.num_configs;
  if (unused <= kKept) return;
  arena.truncate(last.arena_size);
  configs.truncate(last.num_configs);
  if (searched == nullptr) return;
  searched->depths.truncate(last.arena_size.nodes);
  for (auto* verdicts : {&searched->finishable, &searched->finishable_exactly}) {
    std::erase_if(*verdicts, [&](const auto& entry) { return entry.first >= last.num_configs; });
  }
}

// No other thread can make a second owner: it would need this matcher for that. What owners that
// are gone have written was written under the mutex.
void Matcher::reclaim() {
  if (family_.use_count() == 1) family_->truncate(step_);
}

std::span<const Config> Matcher::configs(uint32_t id) const {
  const auto words = family_->configs.get(id);
  // Config is four words without padding; the interner keeps them aligned as words.
  return {reinterpret_cast<const Config*>(words.data()), words.size() / 4};
}

uint32_t Matcher::intern(std::span<const Config> configs) const {
  return family_->configs.intern(words_of(configs)).id;
}

void Matcher::set_configs(Step& step, const ConfigSet& set) const {
  if (set.size() == 1) {
    step.lone = set[0];
  } else {
    step.interned = intern(set.configs());
  }
}

bool Matcher::close(ConfigSet& set) const {
  Family& family = *family_;
  family.returned.clear();
  family.runner.close(set, family.arena, &family.returned);
  return !family.returned.empty();
}

Matcher::Closed Matcher::close_and_intern(ConfigSet& set) {
  const bool completed = close(set);
  return {intern(set.configs()), completed};
}

void Matcher::push_step(ConfigSet& set, uint32_t token, const Step& cost) {
  const bool completed = close(set);
  Step step;
  step.left = cost.left;
  step.plan = cost.plan;
  step.plan_at = cost.plan_at;
  step.place = cost.place;
  step.generation = cost.generation;
  step.parent = step_;
  step.depth = now().depth + 1;
  step.token = token;
  step.text = static_cast<uint32_t>(family_->texts.size()) - 1;
  step.completed = completed;
  set_configs(step, set);
  step_ = family_->append(step);
}

bool Matcher::read(std::string_view text, ConfigSet& out) {
  if (!text.empty()) return family_->runner.read(configs(), text, family_->arena, out);
  out.clear();
  for (const Config& config : configs()) out.add(config, family_->arena);
  return true;
}

bool Matcher::accept_token(int64_t token) {
  const std::lock_guard lock(grammar_->mutex());
  reclaim();
  return accept_or_note(token);
}

bool Matcher::accept_or_note(int64_t token) {
  const bool accepted = accept(token);
  refused_ = accepted ? std::nullopt : std::optional(token);
  return accepted;
}

bool Matcher::accept(int64_t token) {
  if (token < 0 || token >= int64_t{grammar_->vocabulary().vocab_size()}) return false;
  const auto id = static_cast<uint32_t>(token);
  const Step& last = now();
  if (last.stopped) return false;
  if (tokens_.is_stop(id)) {
    if (!last.completed || terminate_without_stop_token_) return false;
    Step step = last;
    step.parent = step_;
    step.depth = last.depth + 1;
    step.token = id;
    step.stopped = true;
    if (step.left != kUnbounded) --step.left;
    step_ = family_->append(step);
    return true;
  }
  ConfigSet& after = family_->after;
  read_token(id, after);
  if (!lives(after)) return false;
  Step cost;
  if (last.left != kUnbounded && !fits_after(id, cost)) return false;
  push_step(after, id, cost);
  return true;
}

// finishable(), but for a look at what usually decides it.
bool Matcher::lives(const ConfigSet& set) {
  if (tokens_.needs_search()) return !set.empty() && finishable(set);
  const bool clear = std::ranges::any_of(set.configs(), [&](const Config& config) {
    return (grammar_->store().state(config.state).flags & kSuspects) == 0;
  });
  return clear || (!set.empty() && finishable(set));
}

std::size_t Matcher::validate_tokens(std::span<const int64_t> tokens) {
  const std::lock_guard lock(grammar_->mutex());
  reclaim();
  const uint32_t step = step_;
  const uint32_t size = family_->steps.size();
  const auto refused = std::ranges::find_if(tokens, [&](int64_t token) { return !accept(token); });
  step_ = step;
  family_->steps.truncate(size);
  return static_cast<std::size_t>(refused - tokens.begin());
}

void Matcher::read_token(uint32_t token, ConfigSet& out) {
  tokens_.read(configs(), token, family_->runner, family_->arena, out);
}

bool Matcher::accept_bytes(std::string_view text) {
  const std::lock_guard lock(grammar_->mutex());
  reclaim();
  return accept_text(text);
}

bool Matcher::accept_text(std::string_view text) {
  if (now().stopped) return false;
  ConfigSet& after = family_->after;
  if (!read(text, after) || !lives(after)) return false;
  Step cost;
  if (now().left != kUnbounded && !fits_behind(text, cost)) return false;
  refused_.reset();
  family_->texts.emplace_back(text);
  push_step(after, kText, cost);
  return true;
}

Matcher::Fill Matcher::fill_bitmask(std::span<uint32_t> row, bool walk) {
  if (!walk && tokens_.needs_search()) return Fill::kCold;
  std::unique_lock lock(grammar_->mutex(), std::defer_lock);
  if (walk) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return Fill::kCold;
  }
  const Fill result = fill(row, walk);
  if (result == Fill::kNone) terminated();
  return result;
}

bool Matcher::fill_texts(std::span<uint32_t> row, bool walk) {
  const StartMask* known = step_ == kRoot ? grammar_->masks().start_mask().get() : nullptr;
  if (known != nullptr) {
    known->render(row);
  } else if (!grammar_->masks().fill(configs(), family_->arena, row, walk)) {
    return false;
  }
  if (tokens_.needs_search()) drop_unfinishable(row);
  return true;
}

Matcher::Fill Matcher::fill(std::span<uint32_t> row, bool walk) {
  const Step& last = this->last();
  if (last.stopped) return Fill::kNone;
  const uint32_t size = grammar_->vocabulary().vocab_size();
  const bool filled =
      last.left == kUnbounded ? fill_texts(row, walk) : fill_within_budget(row, walk);
  if (!filled) return Fill::kCold;
  const bool may_stop = last.completed && !terminate_without_stop_token_;
  for (const uint32_t id : tokens_.stop_ids()) {
    const uint32_t bit = 1U << id % 32;
    row[id / 32] = may_stop ? row[id / 32] | bit : row[id / 32] & ~bit;
  }
  if (last.completed && terminate_without_stop_token_ &&
      std::ranges::all_of(row, [](uint32_t word) { return word == 0; })) {
    return Fill::kNone;
  }
  for (uint32_t i = 0; i < size / 32; ++i) {
    if (row[i] != 0xFFFFFFFF) return Fill::kSome;
  }
  const bool all = size % 32 == 0 || row[size / 32] == (1U << size % 32) - 1;
  return all ? Fill::kAll : Fill::kSome;
}

void Matcher::rollback(uint64_t steps) {
  const std::lock_guard lock(grammar_->mutex());
  if (steps > now().depth) {
    throw Error(ErrorKind::kMatcher, "matcher-rollback-too-far",
                "cannot roll back " + std::to_string(steps) + " steps: only " +
                    std::to_string(now().depth) + " were taken");
  }
  take_back(steps);
}

void Matcher::take_back(uint64_t steps) {
  if (steps > 0) refused_.reset();
  for (; steps > 0; --steps) step_ = now().parent;
  reclaim();
}

void Matcher::reset() {
  const std::lock_guard lock(grammar_->mutex());
  refused_.reset();
  if (family_.use_count() == 1) {
    step_ = kRoot;
    reclaim();
  } else {
    start();
  }
}

bool Matcher::is_terminated() const {
  const std::lock_guard lock(grammar_->mutex());
  return has_ended();
}

bool Matcher::has_ended() const {
  return last().stopped || (terminate_without_stop_token_ && last().completed);
}

bool Matcher::is_completed() const {
  const std::lock_guard lock(grammar_->mutex());
  return last().completed;
}

uint64_t Matcher::num_steps() const {
  const std::lock_guard lock(grammar_->mutex());
  return last().depth;
}

std::size_t Matcher::memory_bytes() const {
  const std::lock_guard lock(grammar_->mutex());
  return sizeof(Family) + family_->arena.memory_bytes() + family_->configs.memory_bytes() +
         family_->steps.memory_bytes() + heap_bytes(family_->texts, family_->plans);
}

std::vector<StateId> Matcher::place() const {
  constexpr int kFrames = 2;  // beside the last one: values that lie deeper differ in nothing
  const std::lock_guard lock(grammar_->mutex());
  const Arena& arena = family_->arena;
  std::vector<StateId> states;
  for (const Config& config : configs()) {
    states.push_back(config.state);
    StackRef below = config.stack;
    for (int i = 0; i < kFrames && below != kBottom; ++i) {
      const uint32_t node = arena.nodes(below)[0];
      if (node == kBottom) break;
      states.push_back(arena.node(node).state);
      below = arena.node(node).below;
    }
  }
  return states;
}

bool Matcher::is_in_number() const {
  const std::lock_guard lock(grammar_->mutex());
  return std::ranges::any_of(configs(), [&](const Config& config) {
    return grammar_->store().state(config.state).family == FamilyId::kNumber;
  });
}

TextClass Matcher::free_text() const {
  const std::lock_guard lock(grammar_->mutex());
  const auto all = configs();
  return all.size() == 1 ? grammar_->store().free_run(all[0].state).text : TextClass{};
}

std::vector<std::string> Matcher::likely_texts() const {
  const std::lock_guard lock(grammar_->mutex());
  Store& store = grammar_->store();
  std::vector<std::string> texts;
  for (const Config& config : configs()) {
    store.family(store.state(config.state).family)
        .likely(config.state, config.reg, family_->arena.regs(), texts);
  }
  return texts;
}

std::shared_ptr<CompiledGrammar> compile(std::span<const std::byte> ir,
                                         std::shared_ptr<const Vocabulary> vocabulary,
                                         const CompileLimits& limits,
                                         std::shared_ptr<SharedMasks> shared) {
  auto grammar =
      std::make_shared<CompiledGrammar>(ir, std::move(vocabulary), limits, std::move(shared));
  check_completable(grammar);
  return grammar;
}

void check_completable(const std::shared_ptr<CompiledGrammar>& grammar) {
  if (grammar->may_need_unspellable() || grammar->has_token_symbols()) {
    const Matcher probe(grammar, std::nullopt, true);
  }
}

}  // namespace maskwright

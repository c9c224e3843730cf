#include "maskwright/matcher/compiled.h"

#include <map>
#include <stdexcept>
#include <string>

#include "json/lang_chars.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/error.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/patience.h"
#include "maskwright/support/stop_flag.h"
#include "matcher/completion_store.h"

namespace maskwright {

namespace {

// Masks are kept though there is no room where what stays in any case takes this often their bytes.
constexpr std::size_t kNotWorthDropping = 8;

// Intersections, complements and free text become one automaton, made in full, since a rule needs
// to know which of its states lead on.
RegularAutomaton regular_automaton(LangTable& langs, uint32_t expr, uint32_t max_lang_states) {
  Lang& lang = langs.get(langs.pattern(expr));
  RegularAutomaton automaton;
  if (lang.start() == kDeadLang) return automaton;
  std::map<uint32_t, uint32_t> index{{lang.start(), 0}};
  std::vector<uint32_t> states{lang.start()};
  for (std::size_t i = 0; i < states.size(); ++i) {
    check_stop();
    if (states.size() > max_lang_states) {
      throw Error::limit("lang-too-large",
                         "an intersection, complement or free text needs more than " +
                             std::to_string(max_lang_states) +
                             " states; raise max_lang_states or simplify it",
                         "max_lang_states", max_lang_states);
    }
    std::vector<RegularAutomaton::Arc> arcs;
    const auto found = lang.arcs(states[i]);
    for (const Lang::Arc& arc : found) {
      const auto [entry, inserted] =
          index.try_emplace(arc.target, static_cast<uint32_t>(states.size()));
      if (inserted) states.push_back(arc.target);
      arcs.push_back({arc.lo, arc.hi, entry->second});
    }
    automaton.arcs.push_back(std::move(arcs));
    automaton.accepting.push_back(lang.accepts(states[i]));
  }
  return automaton;
}

// The error of a grammar without a text, with the schema node to blame where the root is a schema.
Error with_blame(const Error& error, const Ir& ir, JsonMachine* json) {
  const uint32_t root = ir.rule_expr(ir.root_rule());
  if (json == nullptr || ir.expr_kind(root) != ExprKind::kJson) return error;
  return Error::unsatisfiable(error.code(), error.what(), json->blame(root));
}

}  // namespace

CompiledGrammar::CompiledGrammar(Ir ir, std::shared_ptr<const Vocabulary> vocabulary,
                                 const CompileLimits& limits)
    : vocabulary_(std::move(vocabulary)),
      limits_(limits),
      ir_(std::move(ir)),
      store_(vocabulary_->max_token_length(), vocabulary_.get(), limits.shortcuts) {
  if (ir_.num_nodes() != 0) {
    json_ = std::make_unique<JsonMachine>(ir_, store_, vocabulary_->spellable(), limits.json);
  }
}

CompiledGrammar::CompiledGrammar(std::span<const std::byte> ir,
                                 std::shared_ptr<const Vocabulary> vocabulary,
                                 const CompileLimits& limits, std::shared_ptr<SharedMasks> shared)
    : CompiledGrammar(Ir::parse(ir), std::move(vocabulary), limits) {
  try {
    lower_rules();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsatisfiable) throw;
    throw with_blame(error, ir_, json_.get());
  }
  finish(std::move(shared));
}

CompiledGrammar::CompiledGrammar(Ir ir, std::shared_ptr<const Vocabulary> vocabulary,
                                 const CompileLimits& limits, const RuleTables& tables,
                                 std::shared_ptr<SharedMasks> shared)
    : CompiledGrammar(std::move(ir), std::move(vocabulary), limits) {
  rules_ = std::make_unique<RulesMachine>(ir_, store_, json_hooks(), tables);
  finish(std::move(shared));
}

JsonHooks CompiledGrammar::json_hooks() const {
  JsonHooks hooks;
  if (json_ == nullptr) return hooks;
  JsonMachine* json = json_.get();
  hooks.target = [json](uint32_t expr) { return json->target(expr); };
  hooks.productive = [json](uint32_t target) { return json->productive(target); };
  hooks.start = [json](std::span<const uint32_t> targets) { return json->start(targets); };
  hooks.options_of = [json](uint32_t target) { return json->options_of(target); };
  return hooks;
}

void CompiledGrammar::lower_rules() {
  std::unique_ptr<LangTable> langs;  // over all bytes, made when a rule needs it
  const auto regular = [&](uint32_t expr) {
    if (langs == nullptr) {
      std::array<bool, 256> all{};
      all.fill(true);
      langs = std::make_unique<LangTable>(ir_, all, limits_.json.max_lang_states);
    }
    return regular_automaton(*langs, expr, limits_.json.max_lang_states);
  };
  rules_ = std::make_unique<RulesMachine>(ir_, store_, vocabulary_->spellable(), limits_.rules,
                                          json_hooks(), regular);
}

void CompiledGrammar::finish(std::shared_ptr<SharedMasks> shared) {
  if (shared != nullptr && &shared->vocabulary() != vocabulary_.get()) {
    throw std::invalid_argument("shared_masks are of another vocabulary");
  }
  may_need_unspellable_ =
      !vocabulary_->byte_closed() ||
      (json_ != nullptr && !langs::completes_spellings(vocabulary_->spellable()));
  for (uint32_t id = 0; id < ir_.num_exprs(); ++id) {
    if (ir_.expr_kind(id) == ExprKind::kTokenSet) has_token_symbols_ = true;
  }
  start_ = rules_->start();
  if (json_ != nullptr) json_->forget_outlines();
  masks_ = std::make_unique<MaskStore>(ir_, *vocabulary_, store_, *rules_, std::move(shared));
  mask_ids_ = std::make_unique<MaskIds>(
      std::make_shared<MaskTable>(vocabulary_->mask_words(), MaskTable::kDefaultBytes));
  completions_ = std::make_unique<CompletionStore>();
  update_charge();
  last_counters_ = count();
}

CompiledGrammar::~CompiledGrammar() = default;

// No JSON text needs whitespace between its tokens, which is all of a control character's uses.
bool CompiledGrammar::may_need(uint8_t byte) const {
  const uint32_t root = ir_.rule_expr(ir_.root_rule());
  if (byte >= ' ' || ir_.expr_kind(root) != ExprKind::kJson) return true;
  const auto payload = ir_.expr(root);
  if ((payload[1] & kAnyWhitespace) != 0) return false;
  const auto needs = [&](std::string_view separator) {
    return separator.find(static_cast<char>(byte)) != std::string_view::npos;
  };
  return needs(ir_.bytes(payload[3], payload[4])) || needs(ir_.bytes(payload[5], payload[6]));
}

Completions& CompiledGrammar::completions(const TokenReader& tokens) {
  return completions_->completions(*this, tokens);
}

void GrammarMutex::unlock() {
  grammar_.update_charge();
  mutex_.unlock();
}

void CompiledGrammar::set_around_bytes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  around_bytes_ = bytes;
  charged_items_ = 0;
}

void CompiledGrammar::use_mask_table(std::shared_ptr<MaskTable> table) {
  if (table->mask_words() != vocabulary_->mask_words()) {
    throw std::invalid_argument("the table is of another vocabulary");
  }
  const std::lock_guard lock(mutex_);
  mask_ids_ = std::make_unique<MaskIds>(std::move(table));
}

// States, rows and masks are measured whenever there are more. The tables that grow with them are
// measured when there are half as many again, and more where the tables are large, so that each of
// them pays for a bounded part of it.
void CompiledGrammar::update_charge() {
  const auto count_items = [&] {
    return uint64_t{store_.num_states()} + store_.num_rows() + masks_->counters().entries +
           mask_ids_->size();
  };
  const uint64_t items = count_items();
  const uint64_t completions = completions_->revision();
  if (items == charged_items_ && completions == charged_completions_) return;
  if (items >= measure_at_) {
    table_bytes_ = measure_tables();
    constexpr std::size_t kBytesPerItem = 1 << 16;
    measure_at_ = items + items / 2 + table_bytes_ / kBytesPerItem;
  }
  if (!charge_.try_set(measure())) {
    // They are computed again, so that dropping a few at every step would help nobody.
    if (measure_masks() > measure_rest() / kNotWorthDropping) drop_masks();
    charge_.set(measure());
  }
  charged_items_ = count_items();
  charged_completions_ = completions_->revision();
}

// States stay, since matchers are at them.
void CompiledGrammar::drop_masks() {
  const MaskCounters& now = masks_->counters();
  dropped_.cold_walks += now.cold_walks;
  dropped_.visited_nodes += now.visited_nodes;
  const auto old = std::move(masks_);
  masks_ = std::make_unique<MaskStore>(ir_, *vocabulary_, store_, *rules_, old->shared());
  masks_->use_start_mask(old->start_mask());
  mask_ids_->forget();
  completions_->forget();
  ++mask_drops_;
}

std::size_t CompiledGrammar::measure() const { return measure_rest() + measure_masks(); }

std::size_t CompiledGrammar::measure_rest() const {
  return around_bytes_ + table_bytes_ + store_.memory_bytes();
}

// Of what drop_masks() drops.
std::size_t CompiledGrammar::measure_masks() const {
  return masks_->memory_bytes() + mask_ids_->memory_bytes() + completions_->memory_bytes();
}

std::size_t CompiledGrammar::measure_tables() const {
  constexpr std::size_t kSharedCount = 16;  // beside the object
  return heap_block(sizeof(*this) + kSharedCount) + heap_bytes(ir_, json_, rules_) +
         heap_block(sizeof(*masks_)) + heap_block(sizeof(*mask_ids_)) +
         heap_block(sizeof(*completions_));
}

StorableMasks CompiledGrammar::storable_masks() const {
  const std::lock_guard lock(mutex_);
  return masks_->storable(start());
}

CompiledCounters CompiledGrammar::counters() const {
  const auto free = lock_soon(mutex_);
  const auto mine = lock_soon(counters_mutex_);
  if (!mine) return {};
  if (free) last_counters_ = count();
  return last_counters_;
}

CompiledCounters CompiledGrammar::count() const {
  MaskCounters masks = masks_->counters();
  masks.cold_walks += dropped_.cold_walks;
  masks.visited_nodes += dropped_.visited_nodes;
  return {ir_.num_rules() + (json_ == nullptr ? 0 : json_->num_targets()),
          store_.num_states(),
          store_.num_rows(),
          rules_->num_positions(),
          searched_places_,
          completions_->searches(),
          completions_->walks(),
          completions_->most_work(),
          mask_drops_,
          masks};
}

void CompiledGrammar::bound_budget_work(uint32_t max_work) {
  const std::lock_guard lock(mutex_);
  completions_->bound_work(max_work);
}

}  // namespace maskwright

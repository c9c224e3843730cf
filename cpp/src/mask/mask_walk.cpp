#include "mask/mask_walk.h"

#include <algorithm>
#include <array>
#include <bit>

#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"
#include "support/unescape.h"

namespace maskwright {

namespace {

// What a new arena holds.
constexpr Arena::Size kNothing{1, 0, 2, 0};

// One for each text and what is returned there.
void merge_free_escapes(std::vector<MaskWalk::FreeEscape>& escapes) {
  std::vector<MaskWalk::FreeEscape> merged;
  for (MaskWalk::FreeEscape& escape : escapes) {
    const auto same = std::ranges::find_if(merged, [&](const MaskWalk::FreeEscape& other) {
      return other.returned == escape.returned && other.at.text == escape.at.text &&
             other.at.allowed == escape.at.allowed;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(escape));
    } else {
      auto& from = same->at.from;
      from.insert(from.end(), escape.at.from.begin(), escape.at.from.end());
    }
  }
  for (MaskWalk::FreeEscape& escape : merged) make_set(escape.at.from);
  escapes = std::move(merged);
}

}  // namespace

// --- a walk's life -------------------------------------------------------------------------------

// Takes or gives back what the thread has.
void MaskWalk::swap_scratch() {
  thread_local Scratch spare;
  found_.swap(spare.found);
  touched_.swap(spare.touched);
  levels_.swap(spare.levels);
  bundles_.swap(spare.bundles);
  arena_.swap(spare.arena);
}

void MaskWalk::begin() {
  swap_scratch();
  if (arena_ == nullptr) arena_ = std::make_unique<Arena>();
  arena_->truncate(kNothing);
  arena_->regs().set_memory(RegisterPool::Memory::kUnsure);
  arena_->regs().take_unsure();
  result_ = {};
  ranges_.clear();
  starts_.clear();
  free_starts_.clear();
  next_start_ = 0;
  spelled_ = false;
  alone_ = false;
  memo_.clear();
  loops_.clear();
  levels_.resize(vocabulary_.max_token_length() + 1);
  bundles_.resize(levels_.size());
  if (found_.size() != vocabulary_.mask_words()) {  // the thread walked for another vocabulary
    found_.assign(vocabulary_.mask_words(), 0);
    touched_.assign(found_.size() / 64 + 1, 0);
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (; touched_[i] != 0; touched_[i] &= touched_[i] - 1) {
      found_[i * 64 + static_cast<std::size_t>(std::countr_zero(touched_[i]))] = 0;
    }
  }
}

Config MaskWalk::localise(const Config& config, Arena& arena) {
  Config local = config;
  local.stack = kBottom;
  const State& state = store_.state(config.state);
  if ((state.flags & kPooledRegister) != 0) {
    const Target target = store_.family(state.family)
                              .localise(config.state, config.reg, arena.regs(), arena_->regs());
    local.state = target.state;
    local.reg = target.reg;
  }
  return local;
}

MaskWalk::Result MaskWalk::take() {
  keep_ranges();
  keep_found(result_);
  make_set(result_.escapes);
  merge_free_escapes(result_.free_escapes);
  swap_scratch();
  return std::exchange(result_, {});
}

void MaskWalk::keep_ranges() {
  const auto tokens = vocabulary_.token_order();
  for (const auto [begin, end] : ranges_) {
    for (uint32_t i = begin; i < end; ++i) allow(tokens[i]);
  }
}

// What was allowed beyond the text's words: ids if they are few.
void MaskWalk::keep_found(Result& result) {
  const std::size_t limit = found_.size() / 2;
  std::vector<uint32_t>& ids = ids_;
  ids.clear();
  for (std::size_t i = 0; i < touched_.size() && ids.size() <= limit; ++i) {
    for (uint64_t words = touched_[i]; words != 0; words &= words - 1) {
      const std::size_t at = i * 64 + static_cast<std::size_t>(std::countr_zero(words));
      uint32_t word = result.text == nullptr ? found_[at] : found_[at] & ~(*result.text)[at];
      for (; word != 0; word &= word - 1) {
        ids.push_back(static_cast<uint32_t>(at * 32) +
                      static_cast<uint32_t>(std::countr_zero(word)));
      }
    }
  }
  if (ids.size() > limit) {
    result.dense = std::make_shared<const TokenClasses::Bitmap>(found_);
  } else {
    result.ids.assign(ids.begin(), ids.end());
  }
}

std::size_t MaskWalk::memory_bytes() const {
  return heap_bytes(runner_, ranges_, ids_, starts_, returned_, listed_, listed_below_);
}

// --- where it starts -----------------------------------------------------------------------------

void MaskWalk::walk_frame(const Config& local, bool alone) {
  alone_ = alone;
  const State& state = store_.state(local.state);
  levels_[0].set.clear();
  levels_[0].set.add(local, *arena_);
  settle(levels_[0], (state.flags & kCalls) == 0);
  if (state.family == FamilyId::kRules)
    each_symbol(local.state, [this](uint32_t id) { allow(id); });
  if (take_listed(local)) return;
  if (const auto residue = take_words(local); residue != nullptr) {
    if (!take_closings(levels_[0], 0)) follow_residue(*residue, 0);
  } else if (constexpr uint32_t root = 0; !take_text({&root, 1}, 0, {})) {
    follow_subtree(root, 0);
  }
}

// All of a walk, where the configuration reads one of several listed texts.
bool MaskWalk::take_listed(const Config& config) {
  if (!levels_[0].single || alone_ || !store_.shortcuts().sharing) return false;
  Family& family = store_.family(store_.state(config.state).family);
  std::vector<uint32_t>& below = listed_below_;
  if (!family.listed_below(config.state, config.reg, arena_->regs(), below)) return false;
  const std::vector<ListedTexts::Place>* places = listed_.places(config.state);
  if (places == nullptr) return false;
  for (uint32_t at = 0; at < places->size();) {
    const auto& [node, behind, texts, returned] = (*places)[at];
    ++visited_;
    const bool allowed = std::ranges::any_of(
        texts, [&](const ListedRange& range) { return below[range.hi] != below[range.lo]; });
    at = allowed ? at + 1 : behind;
    if (!allowed) continue;
    if (returned == kEmptySet) {
      allow_range(vocabulary_.range_at(node));
    } else {
      result_.escapes.push_back({node, returned});
    }
  }
  return true;
}

// Takes the words that the configuration reads whatever they are; returns where to look for other
// tokens. Null, and nothing taken, if there are none to take.
std::shared_ptr<const Residue> MaskWalk::take_words(const Config& config) {
  Words words = find_words(config, vocabulary_.classes());
  result_.text = std::move(words.bitmap);
  spelled_ = words.spelled;
  return std::move(words.residue);
}

// The words of a vocabulary that the configuration reads whatever they are.
MaskWalk::Words MaskWalk::find_words(const Config& config, const TokenClasses& classes) {
  if (!store_.shortcuts().token_classes) return {};
  // A frame that may return goes on in another behind every word.
  if ((store_.state(config.state).flags & kAccepts) != 0 && !alone_) return {};
  uint32_t length = 0;
  const FreeRun run = free_run(config, length);
  if (!run.others_known || run.text.empty()) return {};
  auto residue = classes.residue(run.others, run.other_codes);
  if (residue == nullptr) return {};
  auto bitmap = classes.words(run.text, length);
  if (bitmap == nullptr) return {};
  const bool spelled = run.text == kSpelledText && length >= vocabulary_.max_token_length();
  return {std::move(bitmap), std::move(residue), spelled};
}

FreeRun MaskWalk::free_run(const Config& config, uint32_t& length) {
  Family& family = store_.family(store_.state(config.state).family);
  FreeRun all;
  if (family.reads_all(config.state, config.reg, arena_->regs(), all, length)) return all;
  length = family.free_length(config.state, config.reg);
  return store_.free_run(config.state);
}

}  // namespace maskwright

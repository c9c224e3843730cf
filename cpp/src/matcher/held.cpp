#include "maskwright/matcher/held.h"

#include <algorithm>
#include <vector>

namespace maskwright {

namespace {

// Bounds of what same_mask() compares.
constexpr uint32_t kMaxFrames = 32;
constexpr uint32_t kMaxHistory = 32;

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 29;
}

// Registers of different arenas: a number, or what the same id stands for in all of them.
bool same_register(const Store& store, StateId state, Reg a, Reg b) {
  if (a != b) return false;
  return (store.state(state).flags & kPooledRegister) == 0 || a <= RegisterPool::kUnknown;
}

// Of stacks of different arenas; false if they fork or are high.
bool same_stack(const Store& store, const Arena& a_arena, StackRef a, const Arena& b_arena,
                StackRef b) {
  for (uint32_t i = 0; i < kMaxFrames; ++i) {
    if (a == kBottom || b == kBottom) return a == b;
    if (((a | b) & kStackSet) != 0) return false;
    const Arena::Node left = a_arena.node(a);
    const Arena::Node right = b_arena.node(b);
    if (left.state != right.state) return false;
    if (!same_register(store, left.state, left.reg, right.reg)) return false;
    a = left.below;
    b = right.below;
  }
  return false;
}

}  // namespace

bool HeldMatcher::accept_token(int64_t token) const {
  matcher_->reclaim();
  return matcher_->accept_or_note(token);
}

bool HeldMatcher::accept_bytes(std::string_view text) const {
  matcher_->reclaim();
  return matcher_->accept_text(text);
}

Matcher::Fill HeldMatcher::fill(std::span<uint32_t> row, bool walk) const {
  if (!walk && matcher_->tokens_.needs_search()) return Matcher::Fill::kCold;
  const uint32_t words = matcher_->grammar().vocabulary().mask_words();
  const auto result = matcher_->fill(row.first(words), walk);
  std::ranges::fill(row.subspan(result == Matcher::Fill::kNone ? 0 : words), 0U);
  return result;
}

bool HeldMatcher::can_go_on() const {
  if (!matcher_->has_ended()) return true;
  if (matcher_->now().stopped) return false;
  std::vector<uint32_t> row(matcher_->grammar().vocabulary().mask_words());
  return matcher_->fill(row, true) != Matcher::Fill::kNone;
}

uint64_t HeldMatcher::place_hash() const {
  uint64_t hash = mix(matcher_->stop_token_ids().size(), matcher_->now().completed);
  for (const Config& config : matcher_->configs()) {
    hash = mix(hash, uint64_t{config.state} << 32 | config.run);
    if (config.stack == kBottom || (config.stack & kStackSet) != 0) continue;
    hash = mix(hash, matcher_->family_->arena.node(config.stack).state);
  }
  return hash;
}

bool HeldMatcher::same_mask(const HeldMatcher& other) const {
  const Matcher& a = *matcher_;
  const Matcher& b = *other.matcher_;
  if (a.grammar_ != b.grammar_ || a.now().stopped || b.now().stopped) return false;
  if (a.now().left != kUnbounded || b.now().left != kUnbounded) return false;
  if (a.now().completed != b.now().completed ||
      a.terminate_without_stop_token_ != b.terminate_without_stop_token_ ||
      a.stop_token_ids() != b.stop_token_ids()) {
    return false;
  }
  return same_configs(other) || same_history(other);
}

bool HeldMatcher::same_configs(const HeldMatcher& other) const {
  const auto left = matcher_->configs();
  const auto right = other.matcher_->configs();
  if (matcher_->family_ == other.matcher_->family_) return std::ranges::equal(left, right);
  const Store& store = matcher_->grammar_->store();
  const Arena& a = matcher_->family_->arena;
  const Arena& b = other.matcher_->family_->arena;
  return std::ranges::equal(left, right, [&](const Config& x, const Config& y) {
    return x.state == y.state && x.run == y.run && same_register(store, x.state, x.reg, y.reg) &&
           same_stack(store, a, x.stack, b, y.stack);
  });
}

// The same short sequence of tokens leads to both.
bool HeldMatcher::same_history(const HeldMatcher& other) const {
  const auto& left = matcher_->family_->steps;
  const auto& right = other.matcher_->family_->steps;
  uint32_t a = matcher_->step_;
  uint32_t b = other.matcher_->step_;
  if (left[a].depth != right[b].depth || left[a].depth > kMaxHistory) return false;
  while (left[a].depth != 0) {
    if (left[a].token != right[b].token || left[a].token == Matcher::kText) return false;
    a = left[a].parent;
    b = right[b].parent;
  }
  return true;
}

HeldMatcher::Excursion::Excursion(const HeldMatcher& from) : matcher_(*from.matcher_) {
  matcher_.reclaim();
  origin_ = matcher_.step_;
  num_steps_ = matcher_.family_->steps.size();
}

HeldMatcher::Excursion::~Excursion() {
  matcher_.step_ = origin_;
  matcher_.family_->steps.truncate(num_steps_);
}

HeldMatcher::Excursion::Place HeldMatcher::Excursion::place() const { return matcher_.step_; }

void HeldMatcher::Excursion::go_back(Place place) const { matcher_.step_ = place; }

bool HeldMatcher::Excursion::accept_token(int64_t token) const { return matcher_.accept(token); }

}  // namespace maskwright

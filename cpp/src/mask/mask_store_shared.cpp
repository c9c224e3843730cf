// What a MaskStore asks SharedMasks for before a walk: masks of other grammars, or those that were
// stored with this one.

#include <algorithm>
#include <unordered_set>

#include "mask/mask_walk.h"
#include "maskwright/mask/mask_store.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

// Adds to shared_key_ what decides a walk from the configuration, or that it is over.
bool MaskStore::append_shared_key(const Config& local, const RulesMachine::NormalNumbers* numbers) {
  const State& state = store_.state(local.state);
  shared_key_.add(local.state == kDead ? kNone : static_cast<uint32_t>(state.family));
  if (local.state == kDead) return true;
  const bool spaces = (state.flags & kWhitespace) != 0;
  shared_key_.add(spaces ? 1 + std::min(state.whitespace_limit - local.run, store_.max_advance())
                         : 0);
  RegisterPool& regs = walk_->regs();
  Family& family = store_.family(state.family);
  const bool known = (numbers != nullptr &&
                      rules_.append_stored_key(local.state, local.reg, *numbers, shared_key_)) ||
                     family.append_shared_key(local.state, local.reg, regs, shared_key_);
  const bool unsure = regs.take_unsure();
  return known && !unsure && shared_key_.fits();
}

// For what follows an escape list.
bool MaskStore::begin_child_key(uint32_t tag, uint32_t escapes) {
  const SharedMask* list = shared_list(escapes);
  if (list == nullptr) return false;
  shared_key_.clear();
  shared_key_.add(tag);
  shared_key_.add(static_cast<uint32_t>(list->number));
  shared_key_.add(static_cast<uint32_t>(list->number >> 32));
  return true;
}

const SharedMask* MaskStore::shared_list(uint32_t escapes) {
  if (shared_ == nullptr) return nullptr;
  if (escapes >= shared_lists_.size()) shared_lists_.resize(escape_lists_.size());
  SharedMaskRef& list = shared_lists_[escapes];
  if (list == nullptr) {
    list = shared_->list(escape_lists_.get(escapes));
    if (list != nullptr) local_lists_.emplace(list->number, escapes);
  }
  return list.get();
}

uint32_t MaskStore::take_shared(uint32_t key) {
  SharedMaskRef mask = shared_->find(shared_key_.words());
  if (mask == nullptr || !names_callees(mask->sets)) return kMissing;
  walk_->cancel();
  const SharedMask& list = *mask->escapes;
  const auto [place, added] = local_lists_.try_emplace(list.number, 0);
  if (added) {
    place->second = escape_lists_.intern(std::span(list.key).subspan(1)).id;
    if (place->second >= shared_lists_.size()) shared_lists_.resize(escape_lists_.size());
    shared_lists_[place->second] = mask->escapes;
  }
  std::vector<SetId> sets;
  std::vector<uint32_t> callees;
  for (std::size_t at = 0; at < mask->sets.size(); at += mask->sets[at] + 1) {
    callees.clear();
    for (const uint32_t number : std::span(mask->sets).subspan(at + 1, mask->sets[at])) {
      callees.push_back(shared_key_.callees()[number]);
    }
    make_set(callees);
    sets.push_back(store_.intern_set(callees));
  }
  ++counters_.shared;
  return add_entry(key, std::move(mask), place->second, std::move(sets));
}

// Always true, unless the sets were stored and are not those of the key.
bool MaskStore::names_callees(std::span<const uint32_t> sets) const {
  const std::size_t known = shared_key_.callees().size();
  while (!sets.empty()) {
    const auto numbers = sets.subspan(1, sets[0]);
    if (std::ranges::any_of(numbers, [&](uint32_t number) { return number >= known; })) {
      return false;
    }
    sets = sets.subspan(1 + numbers.size());
  }
  return true;
}

// False if a set has a callee that the key does not name.
bool MaskStore::number_sets(std::span<const SetId> sets, std::vector<uint32_t>& numbered) const {
  for (const SetId set : sets) {
    const auto callees = store_.set(set);
    numbered.push_back(static_cast<uint32_t>(callees.size()));
    for (const uint32_t callee : callees) {
      numbered.push_back(shared_key_.find(callee));
      if (numbered.back() == shared_key_.callees().size()) return false;
    }
  }
  return true;
}

}  // namespace maskwright

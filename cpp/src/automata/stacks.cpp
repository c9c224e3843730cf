#include "maskwright/automata/stacks.h"

#include <algorithm>
#include <bit>

namespace maskwright {

namespace {

bool same_key(const Config& a, const Config& b) {
  return a.state == b.state && a.reg == b.reg && a.run == b.run;
}

}  // namespace

StackRef Arena::join(StackRef a, StackRef b) {
  if (a == b) return a;
  const auto left = nodes(a);
  const auto right = nodes(b);
  std::vector<uint32_t> joined;
  joined.reserve(left.size() + right.size());
  std::ranges::set_union(left, right, std::back_inserter(joined));
  return reference(joined);
}

StackRef Arena::join(std::span<const StackRef> stacks) {
  if (stacks.size() == 1) return stacks[0];
  if (stacks.size() == 2) return join(stacks[0], stacks[1]);
  const StackRef joined = *take(stacks);
  clear_marks();
  return joined;
}

StackRef Arena::without(StackRef a, StackRef b) {
  std::vector<uint32_t> left;
  std::ranges::set_difference(nodes(a), nodes(b), std::back_inserter(left));
  return reference(left);
}

std::optional<StackRef> Arena::take(std::span<const StackRef> stacks) {
  const std::size_t words = nodes_.size() / 64 + 1;
  if (marks_.size() < words) marks_.resize(words);
  fresh_.assign(words, 0);
  uint32_t first = kNone;
  uint32_t last = 0;
  for (const StackRef& stack : stacks) {
    const auto marked = nodes(stack);
    first = std::min(first, marked.front() / 64);
    last = std::max(last, marked.back() / 64);
    for (const uint32_t id : marked) fresh_[id / 64] |= uint64_t{1} << id % 64;
  }
  taken_.clear();
  for (uint32_t word = first; word <= last; ++word) {
    uint64_t bits = fresh_[word] & ~marks_[word];
    marks_[word] |= bits;
    for (; bits != 0; bits &= bits - 1) {
      taken_.push_back(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
  if (taken_.empty()) return std::nullopt;
  return reference(taken_);
}

uint64_t ConfigSet::key_hash(const Config& config) {
  const uint32_t words[3] = {config.state, config.reg, config.run};
  return hash_words(words, 1);
}

ConfigSet::Added ConfigSet::add(const Config& config, Arena& arena) {
  uint32_t found = kNone;
  std::size_t slot = 0;
  if (configs_.size() <= kLinear) {
    for (uint32_t i = 0; i < configs_.size(); ++i) {
      if (same_key(configs_[i], config)) {
        found = i;
        break;
      }
    }
  } else {
    if (index_.size() < configs_.size() * 2) rehash();
    for (slot = key_hash(config) & (index_.size() - 1); index_[slot] != 0;
         slot = (slot + 1) & (index_.size() - 1)) {
      if (same_key(configs_[index_[slot] - 1], config)) {
        found = index_[slot] - 1;
        break;
      }
    }
  }
  if (found != kNone) {
    const StackRef before = configs_[found].stack;
    configs_[found].stack = arena.join(before, config.stack);
    return {found, configs_[found].stack == before ? Change::kNone : Change::kGrown, before};
  }
  configs_.push_back(config);
  if (configs_.size() > kLinear + 1) index_[slot] = static_cast<uint32_t>(configs_.size());
  return {static_cast<uint32_t>(configs_.size() - 1), Change::kAdded, kBottom};
}

void ConfigSet::rehash() {
  std::size_t size = 64;
  while (size < configs_.size() * 4) size *= 2;
  index_.assign(size, 0);
  for (uint32_t i = 0; i < configs_.size(); ++i) {
    std::size_t slot = key_hash(configs_[i]) & (size - 1);
    while (index_[slot] != 0) slot = (slot + 1) & (size - 1);
    index_[slot] = i + 1;
  }
}

}  // namespace maskwright

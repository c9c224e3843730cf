// Sets of names over the alternatives of a union.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "json/object_family_members.h"

namespace maskwright {

// Collects names over alternatives: those that some alternative names and may use, and those that
// some alternative may use as an other name.
class NameCollector {
 public:
  explicit NameCollector(const ObjectUnion& all, std::size_t num_words)
      : all_(all), bits_(num_words, 0) {}

  void add(uint32_t label) { bits_[label / 32] |= 1U << (label % 32); }

  // All names that the alternative does not mention.
  void add_others(const ObjectAlternative& alternative) {
    ++open_;
    if (named_.empty()) named_.assign(all_.num_keys, 0);
    for (const auto& named : alternative.named) ++named_[named.key];
    if (alternative.owned.empty()) return;
    for (uint32_t key = 0; key < all_.num_keys; ++key) named_[key] += alternative.owns(key) ? 0 : 1;
  }

  // Finishes: other names that were not seen.
  std::vector<uint32_t> take(const SeenMembers& seen) {
    for (uint32_t key = 0; open_ != 0 && key < all_.num_keys; ++key) {
      if (named_[key] < open_ && !seen.test(key)) add(key);
    }
    return std::move(bits_);
  }

 private:
  const ObjectUnion& all_;
  std::vector<uint32_t> bits_;
  std::vector<uint32_t> named_;  // by how many of the open alternatives
  uint32_t open_ = 0;
};

}  // namespace maskwright

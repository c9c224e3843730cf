// Which members together can meet all obligations of an object, and how few of them.
//
// An obligation is a bit. A member offers some sets of obligations, one of which it can meet at
// once. Obligations that are met by a name alone need no choice where there is room for all names;
// for all others every set that is met costs a number of members, and each member that is added
// improves the sets that can be met with it.
//
// Cost: 2^obligations for each member and set that it offers; done() ends it early.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

// What a member offers of the obligations `wanted`. `target(witness)`: kNone if it can't be one.
// The witnesses of the obligations by name come first, and meet theirs in any case; the first set
// is what they meet.
template <typename Witness, typename TargetOf>
std::vector<uint32_t> offers(const std::vector<Witness>& witnesses, uint32_t wanted,
                             uint32_t num_by_name, const TargetOf& target) {
  uint32_t named = 0;
  std::vector<uint32_t> out;
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    if (i == num_by_name) out.push_back(named);
    const Witness& witness = witnesses[i];
    if ((witness.meets & ~wanted) != 0 || target(witness) == kNone) continue;
    if (i < num_by_name) {
      named |= witness.meets;
    } else {
      out.push_back(named | witness.meets);
    }
  }
  if (out.empty()) out.push_back(named);
  return out;
}

class MemberCover {
 public:
  // `slots`: how many members may be added; kUnbounded: all that there are.
  MemberCover(uint32_t wanted, uint32_t by_name, uint32_t slots)
      : named_(slots == kUnbounded ? wanted & by_name : 0),
        wanted_(wanted & ~named_),
        slots_(slots),
        costs_(std::size_t{1} << std::popcount(wanted_), kUnbounded) {
    costs_[0] = 0;
  }

  bool done() const {
    return named_ == 0 && costs_.back() <= slots_ && costs_.back() != kUnbounded;
  }

  // `cost`: members that come with this one, itself included. `repeats`: there are many of it.
  void add(std::span<const uint32_t> offers, uint32_t cost, bool repeats) {
    for (const uint32_t offer : offers) named_ &= ~offer;
    const std::vector<uint32_t> before = costs_;
    for (std::size_t met = 0; met < costs_.size(); ++met) {
      const uint32_t from = repeats ? costs_[met] : before[met];
      if (from == kUnbounded) continue;
      for (const uint32_t offer : offers) {
        uint32_t& to = costs_[met | compressed(offer)];
        to = std::min(to, from + cost);
      }
    }
  }

 private:
  // The wanted bits of a set, moved together.
  std::size_t compressed(uint32_t set) const {
    std::size_t out = 0;
    std::size_t bit = 1;
    for (uint32_t rest = wanted_; rest != 0; rest &= rest - 1, bit <<= 1) {
      if ((set & rest & ~(rest - 1)) != 0) out |= bit;
    }
    return out;
  }

  uint32_t named_;  // obligations that no name meets so far
  uint32_t wanted_, slots_;
  std::vector<uint32_t> costs_;  // by set of wanted obligations
};

}  // namespace maskwright

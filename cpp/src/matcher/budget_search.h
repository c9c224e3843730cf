// Least token sequences that complete a text, by a search over what each token leads to.
//
// Breadth first the first end is the least. The search is for few tokens or small grammars: it
// gives up after kMaxNodes trie nodes. Where the vocabulary cannot spell every text there may be
// nothing else to go by, so it looks at more, and if it has met no end then, it goes on with the
// places that have the fewest open frames.
//
// Left out, since they help nobody: what differs from a place seen before only in a longer
// whitespace run, and tokens within a free text that lead back to where they began.
//
// Cost: about 0.3 us for each trie node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

class Matcher::TokenSearch {
 public:
  explicit TokenSearch(Matcher& matcher)
      : matcher_(matcher),
        family_(*matcher.family_),
        vocabulary_(matcher.grammar_->vocabulary()) {}

  // A plan of fewer tokens than `bound`, the least if the search is breadth first; none if there is
  // none, or none was met.
  std::optional<Plan> find(std::span<const Config> closed, uint32_t bound);

 private:
  static constexpr uint32_t kMaxNodes = 6000;
  static constexpr uint32_t kMaxNodesToFind = 200000;

  struct Place {
    uint32_t configs;
    uint32_t from;
    uint32_t token;
    uint32_t tokens;
  };

  std::optional<Plan> run(std::span<const Config> closed, uint32_t bound, bool dive,
                          uint32_t max_nodes);
  void visit(std::span<const Config> closed, uint32_t from, uint32_t token);
  bool expand(uint32_t place);
  bool expand_symbols(uint32_t place);
  bool expand_below(uint32_t node, std::span<const Config> closed, uint32_t place);
  bool reach(ConfigSet& after, uint32_t place, uint32_t token);
  Plan plan_to(uint32_t place) const;

  Matcher& matcher_;
  Family& family_;
  const Vocabulary& vocabulary_;
  bool dive_ = false;
  uint32_t bound_ = 0;
  uint32_t nodes_ = 0;
  uint32_t max_nodes_ = 0;
  bool given_up_ = false;
  std::vector<Place> places_;
  WordInterner seen_;  // configurations without their whitespace runs
  using Rank = std::tuple<uint32_t, uint32_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> waiting_;
};

}  // namespace maskwright

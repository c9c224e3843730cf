// Token sequences that complete a text, by a search over what each token leads to.
//
// Best first, by the tokens so far and the bytes of the text that would complete the place
// (shortest_texts.h): an end is met soon, and then only places that can lead to a better one are
// left, so that the least is often known to be. The search is for few tokens or small grammars: it
// gives up after it has read kMaxNodes trie nodes, with the best end that it has met; searches for
// texts that find none count too. Where the vocabulary cannot spell the text there is nothing else
// to go by, so it reads more.
//
// Left out, since they help nobody: what differs from a place seen before only in a longer
// whitespace run, and tokens within a free text that lead back to where they began.
//
// Cost: about a microsecond for each trie node that is read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "matcher/completions.h"

namespace maskwright {

class TokenSearch {
 public:
  using Plan = Completions::Plan;

  explicit TokenSearch(Completions& known)
      : known_(known), tokens_(known.tokens_), vocabulary_(known.vocabulary_) {}

  // A plan of fewer tokens than `bound`; none if there is none, or none was met.
  std::optional<Plan> find(Completions::Place at, uint32_t bound);
  // That it read, and what counts as so many.
  uint32_t nodes() const { return nodes_; }

 private:
  static constexpr uint32_t kMaxNodes = 2000;
  static constexpr uint32_t kMaxNodesToFind = 5000;
  static constexpr uint32_t kMaxNodesToImprove = 1000;  // once an end was met
  // So many places of a search for a text take as long as a node.
  static constexpr uint32_t kPlacesOfNode = 4;

  struct Visit {
    Completions::Place place;
    uint32_t from;
    uint32_t token;
    uint32_t tokens;
  };

  void visit(std::span<const Config> closed, uint32_t from, uint32_t token);
  // Searches for texts that find none count as if they were done for the first time.
  void charge(uint32_t nodes);
  uint32_t tokens_at_least(Completions::Place place);
  uint32_t bytes_left(Completions::Place place);
  void expand(uint32_t index);
  void expand_symbols(std::span<const Config> closed, uint32_t index);
  void expand_below(uint32_t node, std::span<const Config> closed, uint32_t index);
  void reach(ConfigSet& after, uint32_t index, uint32_t token);
  Plan plan_to(uint32_t index) const;

  Completions& known_;
  const TokenReader& tokens_;
  const Vocabulary& vocabulary_;
  uint32_t bound_ = 0;
  uint32_t nodes_left_ = 0;
  uint32_t nodes_ = 0;
  std::optional<Plan> best_;
  std::vector<Visit> visits_;
  WordInterner seen_;             // configurations without their whitespace runs
  std::vector<uint32_t> fewest_;  // tokens that led to them
  using Rank = std::tuple<uint32_t, uint32_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> waiting_;
};

}  // namespace maskwright

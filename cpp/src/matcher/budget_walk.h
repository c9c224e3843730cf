// Clears from a mask the tokens behind which too few are left (completions.h).
//
// One walk over the trie below the bytes that the place reads. Places are told apart by their
// configurations, of which there are few where most of the text is free: what a byte leads to, and
// whether what is left fits there, is found out once for each and then costs a load for each node.
// Within a name that must not come again it reads on without the names that are there, but on the
// way to a quotation mark.
//
// What is left mostly fits, or does not, by what is known of all places that are alike. Where that
// takes searches for a place of its own, their work counts, as if each were done for the first
// time, and when the bytes and trie nodes that they read are more than Completions::kMaxWork, the
// tokens that are left are refused. Which ones these are depends on the place and on what is left
// alone, so whoever asks (Matcher::fits_after) gets the answer of this walk. The plan of the place
// is allowed whatever the walk says.
//
// Cost: about 10 ns for each trie node that is met; half a millisecond where tokens may end inside
// a code point.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "matcher/completions.h"

namespace maskwright {

class BudgetWalk {
 public:
  using Place = Completions::Place;

  BudgetWalk(Completions& known, Place origin, uint32_t left, std::span<uint32_t> row)
      : known_(known), vocabulary_(known.vocabulary_), origin_(origin), left_(left), row_(row) {}

  void run();
  // Counted, of searches.
  uint32_t work() const { return work_; }
  // So many tokens do behind any token. `by_names`: whatever the names are.
  uint32_t most() const { return most_; }
  bool by_names() const { return by_names_; }

 private:
  // Of a place in free text.
  struct Loop {
    const TextClass* text = nullptr;  // null if it is none
    uint32_t most = 0;                // tokens behind any of the text
    bool fits = true;
    bool parts = false;  // the same holds behind a part of a code point

    bool covers(const Vocabulary::Subtree& below) const;
  };
  // Of a place that was met, first its verdict and then what goes on from it.
  struct Look {
    Place place = Completions::kNoPlace;
    bool forgetful = false;  // it has been read to without names
    bool judged = false;
    bool fits = false;
    bool by_names = false;  // if it is forgetful: it fits whatever the names are
    bool opened = false;
    Place loose = Completions::kNoPlace;  // with no names
    Look* plain = nullptr;  // where a name goes on that need not be told apart; null if it must
    Loop loop;
    ByteSet reads;
    std::unique_ptr<std::array<Look*, 256>> next;  // null: not known
  };

  void drop_symbols();
  void drop_below(uint32_t node, Look& look);
  bool fits(Look& look, uint32_t token);
  struct Verdict {
    bool fits;
    uint32_t most;  // tokens that do for sure
  };
  const Verdict& judge(Place place);
  Verdict find_verdict(Place place);
  Verdict search(Place place);
  bool refused_for_names(const Look& look, uint8_t byte) const;
  Look& look_at(Place place, bool forgetful);
  void open(Look& look);
  Look& follow(Look& look, uint8_t byte);
  Loop loop_at(Place place);

  Completions& known_;
  const Vocabulary& vocabulary_;
  Place origin_;
  uint32_t left_;
  std::span<uint32_t> row_;
  uint32_t most_ = 0;
  bool by_names_ = true;
  uint32_t work_ = 0;
  std::unordered_set<Place> charged_;         // loosened ones
  std::unordered_map<uint64_t, Look> looks_;  // by place, and whether it is forgetful
  std::unordered_map<Place, Verdict> judged_;
  Look nothing_;
};

}  // namespace maskwright

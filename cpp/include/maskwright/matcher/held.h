// A matcher's calls for whoever holds the mutex of its grammar already, so that it is taken once
// for all matchers of a grammar, or for all nodes of a draft tree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

class HeldMatcher {
 public:
  explicit HeldMatcher(Matcher& matcher) : matcher_(&matcher) {}

  bool accept_token(int64_t token) const;
  bool accept_bytes(std::string_view text) const;
  uint64_t num_steps() const { return matcher_->last().depth; }
  // At most num_steps().
  void rollback(uint64_t steps) const { matcher_->take_back(steps); }
  // Writes all words of the row, those behind the mask as well. kNone: it is all zero. kCold (only
  // with `walk` false): nothing usable was written, since that needs a trie walk or a search.
  Matcher::Fill fill(std::span<uint32_t> row, bool walk) const;
  // As Matcher::mask_id().
  std::optional<MaskId> mask_id(bool walk) const { return matcher_->find_mask_id(walk); }
  // False: no token can follow, which is where fill_bitmask() raises.
  bool can_go_on() const;

  // Equal for matchers of which same_mask() is true.
  uint64_t place_hash() const;
  // Both have the same mask for sure. False says nothing: of matchers with histories of their own,
  // stacks that fork or are high and registers that are more than a number aren't compared, unless
  // the same few tokens led to both. Takes constant time.
  bool same_mask(const HeldMatcher& other) const;

  // Steps that are undone at the end of its life. The mutex is held for all of it.
  class Excursion {
   public:
    explicit Excursion(const HeldMatcher& from);
    Excursion(const Excursion&) = delete;
    Excursion& operator=(const Excursion&) = delete;
    ~Excursion();

    using Place = uint32_t;
    Place place() const;
    void go_back(Place place) const;
    bool accept_token(int64_t token) const;

   private:
    Matcher& matcher_;
    Place origin_;
    uint32_t num_steps_;
  };

 private:
  bool same_configs(const HeldMatcher& other) const;
  bool same_history(const HeldMatcher& other) const;

  Matcher* matcher_;
};

}  // namespace maskwright

#include "json/unescape_branch.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace maskwright {

namespace {

using Arcs = std::span<const Lang::Arc>;

void add_hit(SpellingBranch& branch, uint32_t item, uint32_t target) {
  if (!branch.hits.empty() && branch.hits.back().item == item) {
    if (branch.hits.back().target == target) return;
    target = SpellingHit::kUndecided;
    branch.hits.back().target = target;
  } else {
    branch.hits.push_back({item, target});
  }
  if (target == SpellingHit::kUndecided) branch.decided = false;
}

void add_byte(SpellingBranch& branch, uint8_t byte) {
  if (!branch.bytes.empty() && branch.bytes.back().hi + 1 == byte) {
    branch.bytes.back().hi = byte;
  } else {
    branch.bytes.push_back({byte, byte});
  }
}

void add_bytes(SpellingBranch& branch, const SpellingStep& step) {
  add_byte(branch, step.byte);
  if (step.twin != 0) add_byte(branch, step.twin);
}

// Steps, and what each may lead to.
struct Steps {
  std::vector<SpellingStep> steps;
  std::vector<CodeRange> ranges;  // of all but a wide one, which comes last
  bool wide;

  Steps(Spelling spelling, uint32_t value) {
    spelling_steps(spelling, value, steps);
    wide = !steps.empty() && is_wide(steps.back().next);
    ranges.reserve(steps.size());
    for (const SpellingStep& step : narrow()) ranges.push_back(reach(step.next, step.value).first);
  }
  std::span<const SpellingStep> narrow() const {
    return std::span(steps).first(steps.size() - (wide ? 1 : 0));
  }
};

// The steps between two code points, which never change.
const Steps& steps_between() {
  static const Steps steps(Spelling::kBetween, 0);
  return steps;
}

bool covers(Arcs arcs, CodeRange range) {
  return arcs.size() == 1 && arcs[0].lo <= range.lo && arcs[0].hi >= range.hi;
}

// Steps with one range each, in order of their ranges. Neighbours between which no arc begins or
// ends make one run; a step with a border inside is a run of its own.
class NarrowSteps {
 public:
  NarrowSteps(const Steps& steps, uint32_t num_items, const ItemArcs& arcs)
      : steps_(steps.narrow()),
        ranges_(steps.ranges),
        num_items_(num_items),
        arcs_(arcs),
        breaks_(steps_.size() + 1, 0) {
    run_of_.reserve(steps_.size());
  }

  void run(std::vector<SpellingBranch>& out) {
    if (steps_.empty()) return;
    each_arc([this](const Cut& cut, uint32_t, uint32_t) { mark(cut); });
    open_runs();
    each_arc([this](const Cut& cut, uint32_t item, uint32_t target) { hit(cut, item, target); });
    for (SpellingBranch& run : runs_) {
      if (!run.hits.empty()) out.push_back(std::move(run));
    }
  }

 private:
  // The steps first..last that an arc meets, and whether it covers only a part of the outer two.
  struct Cut {
    uint32_t first, last;
    bool first_partly, last_partly;
  };

  template <typename Visit>
  void each_arc(Visit visit) {
    const CodeRange hull{ranges_.front().lo, ranges_.back().hi};
    for (uint32_t item = 0; item < num_items_; ++item) {
      for (const Lang::Arc& arc : arcs_within(arcs_(item), hull)) {
        const auto begin = std::ranges::lower_bound(ranges_, arc.lo, {}, &CodeRange::hi);
        const auto end = std::ranges::upper_bound(ranges_, arc.hi, {}, &CodeRange::lo);
        if (begin >= end) continue;  // between two steps
        const Cut cut{static_cast<uint32_t>(begin - ranges_.begin()),
                      static_cast<uint32_t>(end - ranges_.begin()) - 1, arc.lo > begin->lo,
                      arc.hi < std::prev(end)->hi};
        visit(cut, item, arc.target);
      }
    }
  }

  void mark(const Cut& cut) {
    breaks_[cut.first] = 1;
    breaks_[cut.last + 1] = 1;
    if (cut.first_partly) breaks_[cut.first + 1] = 1;
    if (cut.last_partly) breaks_[cut.last] = 1;
  }

  void open_runs() {
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      const SpellingStep& step = steps_[i];
      if (i == 0 || breaks_[i] != 0 || step.next != steps_[i - 1].next) {
        runs_.push_back({step.next, step.value, true, {}, {}});
      }
      add_bytes(runs_.back(), step);
      run_of_.push_back(static_cast<uint32_t>(runs_.size() - 1));
    }
  }

  void hit(const Cut& cut, uint32_t item, uint32_t target) {
    const uint32_t last = run_of_[cut.last];
    for (uint32_t run = run_of_[cut.first]; run <= last; ++run) {
      const bool partly =
          (cut.first_partly && run == run_of_[cut.first]) || (cut.last_partly && run == last);
      add_hit(runs_[run], item, partly ? SpellingHit::kUndecided : target);
    }
  }

  std::span<const SpellingStep> steps_;
  std::span<const CodeRange> ranges_;
  uint32_t num_items_;
  const ItemArcs& arcs_;
  std::vector<uint8_t> breaks_;   // a run begins at this step
  std::vector<uint32_t> run_of_;  // per step
  std::vector<SpellingBranch> runs_;
};

// A wide reach has two ranges: an item is decided if one arc covers each and both lead to one
// state.
SpellingBranch judge_wide(const SpellingStep& step, uint32_t num_items, const ItemArcs& arcs) {
  SpellingBranch branch{step.next, step.value, true, {}, {}};
  add_bytes(branch, step);
  const Reach wide = reach(step.next, step.value);
  for (uint32_t item = 0; item < num_items; ++item) {
    const Arcs all = arcs(item);
    const Arcs first = arcs_within(all, wide.first);
    const Arcs second = arcs_within(all, wide.second);
    if (first.empty() && second.empty()) continue;
    if (covers(first, wide.first) && covers(second, wide.second)) {
      add_hit(branch, item, first[0].target);
      add_hit(branch, item, second[0].target);
    } else {
      add_hit(branch, item, SpellingHit::kUndecided);
    }
  }
  return branch;
}

}  // namespace

Arcs arcs_within(Arcs arcs, CodeRange range) {
  if (range.lo > range.hi) return {};
  const auto begin = std::ranges::lower_bound(arcs, range.lo, {}, &Lang::Arc::hi);
  const auto end = std::ranges::upper_bound(begin, arcs.end(), range.hi, {}, &Lang::Arc::lo);
  return {begin, end};
}

std::vector<SpellingBranch> spelling_branches(Spelling spelling, uint32_t value, uint32_t num_items,
                                              const ItemArcs& arcs) {
  std::optional<Steps> made;
  if (spelling != Spelling::kBetween) made.emplace(spelling, value);
  const Steps& steps = made.has_value() ? *made : steps_between();
  std::vector<SpellingBranch> out;
  NarrowSteps(steps, num_items, arcs).run(out);
  if (steps.wide) {
    SpellingBranch branch = judge_wide(steps.steps.back(), num_items, arcs);
    if (!branch.hits.empty()) out.push_back(std::move(branch));
  }
  return out;
}

}  // namespace maskwright

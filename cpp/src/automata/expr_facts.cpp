// What lowering needs to know about expressions before it builds anything: which are nullable, how
// large they are, which rules are recursive or left-recursive, which are inlined. Every pass is
// linear in the IR; expressions refer only to earlier ones, so one pass in id order visits children
// first, and only rules need a fixpoint or strongly connected components.

#include <algorithm>

#include "cycles.h"
#include "maskwright/support/sorted_set.h"
#include "nfa.h"

namespace maskwright {

namespace {

constexpr uint32_t kInlineSize = 12;
constexpr uint32_t kSizeCap = 1U << 30;

uint32_t add_capped(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>(std::min<uint64_t>(a + b, kSizeCap));
}

class FactFinder {
 public:
  explicit FactFinder(const Ir& ir) : ir_(ir) {}

  ExprFacts find() {
    find_nullable();
    collect_refs();
    facts_.rule_left_recursive = find_cycles(left_refs_).member;
    Cycles cycles = find_cycles(refs_);
    facts_.rule_recursive = std::move(cycles.member);
    order_ = std::move(cycles.order);
    find_sizes();
    return std::move(facts_);
  }

 private:
  // A worklist over reverse edges; only what depends on rules waits in it.
  void find_nullable() {
    const uint32_t n = ir_.num_exprs();
    facts_.nullable.assign(n, false);
    std::vector<uint32_t> missing(n, kNone), work;
    std::vector<std::vector<uint32_t>> parents(n), refs(ir_.num_rules()), rules_of(n);
    for (uint32_t rule = 0; rule < ir_.num_rules(); ++rule) {
      rules_of[ir_.rule_expr(rule)].push_back(rule);
    }
    for (uint32_t id = 0; id < n; ++id) {
      missing[id] = needed(id, missing, parents, refs);
      if (missing[id] == 0) work.push_back(id);
    }
    const auto satisfy = [&](uint32_t id) {
      if (missing[id] != kNone && missing[id] != 0 && --missing[id] == 0) work.push_back(id);
    };
    while (!work.empty()) {
      const uint32_t id = work.back();
      work.pop_back();
      facts_.nullable[id] = true;
      std::ranges::for_each(parents[id], satisfy);
      for (const uint32_t rule : rules_of[id]) std::ranges::for_each(refs[rule], satisfy);
    }
  }

  // How many of the children about which it isn't known yet must be nullable for the expression to
  // be; kNone if it never is. Registers the expression with those children. `missing`: the same of
  // the expressions before this one.
  uint32_t needed(uint32_t id, std::span<const uint32_t> missing,
                  std::vector<std::vector<uint32_t>>& parents,
                  std::vector<std::vector<uint32_t>>& refs) const {
    const auto payload = ir_.expr(id);
    const auto is_open = [&](uint32_t child) {
      if (missing[child] == 0 || missing[child] == kNone) return false;
      parents[child].push_back(id);
      return true;
    };
    switch (ir_.expr_kind(id)) {
      case ExprKind::kEmpty: return 0;
      case ExprKind::kSequence: {
        uint32_t open = 0;
        for (const uint32_t child : payload.subspan(1)) {
          if (missing[child] == kNone) return kNone;
          if (is_open(child)) ++open;
        }
        return open;
      }
      case ExprKind::kChoice: {
        bool open = false;
        for (const uint32_t child : payload.subspan(1)) {
          if (missing[child] == 0) return 0;
          if (is_open(child)) open = true;
        }
        return open ? 1 : kNone;
      }
      case ExprKind::kRepeat:
        if (payload[1] == 0 || missing[payload[0]] == 0) return 0;
        return is_open(payload[0]) ? 1 : kNone;
      case ExprKind::kRef: refs[payload[0]].push_back(id); return 1;
      case ExprKind::kLiteralSet: return has_empty_literal(payload) ? 0 : kNone;
      // Regular operators decide for themselves when they are built; they hold no calls, so "may
      // be empty" is the safe answer for what can follow them as a left corner.
      case ExprKind::kIntersect:
      case ExprKind::kComplement: return 0;
      default: return kNone;
    }
  }

  static bool has_empty_literal(std::span<const uint32_t> payload) {
    for (std::size_t i = 2; i < payload.size(); i += 2) {
      if (payload[i] == 0) return true;
    }
    return false;
  }

  // Rules that occur in each rule, and those that can occur first in it.
  void collect_refs() {
    refs_.resize(ir_.num_rules());
    left_refs_.resize(ir_.num_rules());
    std::vector<uint32_t> seen(ir_.num_exprs(), 0);
    for (uint32_t rule = 0; rule < ir_.num_rules(); ++rule) {
      collect(rule, refs_[rule], false, seen, rule * 2 + 1);
      collect(rule, left_refs_[rule], true, seen, rule * 2 + 2);
    }
  }

  void collect(uint32_t rule, std::vector<uint32_t>& out, bool left_only,
               std::vector<uint32_t>& seen, uint32_t mark) {
    std::vector<uint32_t> work{ir_.rule_expr(rule)};
    while (!work.empty()) {
      const uint32_t id = work.back();
      work.pop_back();
      if (seen[id] == mark) continue;
      seen[id] = mark;
      const auto payload = ir_.expr(id);
      switch (ir_.expr_kind(id)) {
        case ExprKind::kRef: out.push_back(payload[0]); break;
        case ExprKind::kRepeat:
        case ExprKind::kComplement: work.push_back(payload[0]); break;
        case ExprKind::kSequence:
          for (const uint32_t child : payload.subspan(1)) {
            work.push_back(child);
            if (left_only && !facts_.nullable[child]) break;
          }
          break;
        case ExprKind::kChoice:
        case ExprKind::kIntersect:
          for (const uint32_t child : payload.subspan(1)) work.push_back(child);
          break;
        default: break;
      }
    }
    make_set(out);
  }

  // Sizes and inlining in an order in which a non-recursive rule comes after all it refers to.
  void find_sizes() {
    std::vector<uint32_t> uses(ir_.num_rules(), 0);
    for (uint32_t id = 0; id < ir_.num_exprs(); ++id) {
      if (ir_.expr_kind(id) == ExprKind::kRef) ++uses[ir_.expr(id)[0]];
    }
    facts_.rule_inlined.assign(ir_.num_rules(), false);
    facts_.size.assign(ir_.num_exprs(), kNone);
    std::vector<uint32_t> work;
    for (const uint32_t rule : order_) {
      size_of(ir_.rule_expr(rule), work);
      facts_.rule_inlined[rule] =
          !facts_.rule_recursive[rule] && rule != ir_.root_rule() &&
          (facts_.size[ir_.rule_expr(rule)] <= kInlineSize || uses[rule] == 1);
    }
    for (uint32_t id = 0; id < ir_.num_exprs(); ++id) size_of(id, work);
  }

  void size_of(uint32_t root, std::vector<uint32_t>& work) {
    work.push_back(root);
    while (!work.empty()) {
      const uint32_t id = work.back();
      if (facts_.size[id] != kNone) {
        work.pop_back();
        continue;
      }
      const std::size_t before = work.size();
      push_unsized(id, work);
      if (work.size() != before) continue;
      work.pop_back();
      facts_.size[id] = own_size(id);
    }
  }

  void push_unsized(uint32_t id, std::vector<uint32_t>& work) const {
    const auto payload = ir_.expr(id);
    const auto push = [&](uint32_t child) {
      if (facts_.size[child] == kNone) work.push_back(child);
    };
    switch (ir_.expr_kind(id)) {
      case ExprKind::kSequence:
      case ExprKind::kChoice: std::ranges::for_each(payload.subspan(1), push); break;
      case ExprKind::kRepeat: push(payload[0]); break;
      case ExprKind::kRef:
        if (facts_.rule_inlined[payload[0]]) push(ir_.rule_expr(payload[0]));
        break;
      default: break;
    }
  }

  uint32_t own_size(uint32_t id) const {
    const auto payload = ir_.expr(id);
    switch (ir_.expr_kind(id)) {
      case ExprKind::kLiteral: return payload[1];
      case ExprKind::kClass: return 1 + payload[0] / 8;
      case ExprKind::kSequence:
      case ExprKind::kChoice: {
        uint32_t total = 1;
        for (const uint32_t child : payload.subspan(1))
          total = add_capped(total, facts_.size[child]);
        return total;
      }
      case ExprKind::kRepeat: {
        const uint64_t copies = payload[2] == kNone ? payload[1] + uint64_t{1} : payload[2];
        return static_cast<uint32_t>(
            std::min<uint64_t>(copies * (facts_.size[payload[0]] + uint64_t{1}), kSizeCap));
      }
      case ExprKind::kRef:
        return facts_.rule_inlined[payload[0]] ? facts_.size[ir_.rule_expr(payload[0])] : 1;
      case ExprKind::kLiteralSet: return add_capped(payload[0], 8);
      default: return 1;
    }
  }

  const Ir& ir_;
  ExprFacts facts_;
  std::vector<std::vector<uint32_t>> refs_;
  std::vector<std::vector<uint32_t>> left_refs_;
  std::vector<uint32_t> order_;
};

}  // namespace

ExprFacts expr_facts(const Ir& ir) { return FactFinder(ir).find(); }

}  // namespace maskwright

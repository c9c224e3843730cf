#include "serialize/tables_form.h"

#include <span>
#include <string>

#include "maskwright/automata/store.h"

namespace maskwright {

namespace {

constexpr std::size_t kRepeatBytes = 8;
constexpr std::size_t kViewBytes = 24;
constexpr std::size_t kEdgeBytes = 8;

class TablesReader {
 public:
  TablesReader(ByteReader& reader, const Ir& ir, const std::array<bool, 256>& spellable,
               uint32_t max_states)
      : reader_(reader), ir_(ir), spellable_(spellable), max_states_(max_states) {
    tables_.num_rules = ir.num_rules();
  }

  RuleTables read() {
    read_json_exprs();
    read_repeats();
    read_views();
    read_ends();
    read_counts();
    read_edges();
    return std::move(tables_);
  }

 private:
  void read_json_exprs() {
    reader_.begin("JSON values");
    const uint32_t count = reader_.count(4, "values");
    tables_.json_exprs.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t expr = reader_.word();
      if (!is_kind(expr, ExprKind::kJson)) reader_.fail("an expression is no JSON value");
      tables_.json_exprs.push_back(expr);
    }
  }

  bool is_kind(uint32_t expr, ExprKind kind) const {
    return expr < ir_.num_exprs() && ir_.expr_kind(expr) == kind;
  }

  void read_repeats() {
    reader_.begin("repeats");
    const uint32_t count = reader_.count(kRepeatBytes, "repeats");
    tables_.repeats.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t min = reader_.word();
      const uint32_t max = reader_.word();
      if (min > max || max == 0) reader_.fail("a minimum exceeds its maximum, or that is 0");
      tables_.repeats.push_back({min, max});
    }
    // Ids of rules lie below those of JSON targets, and fit into an edge.
    if (uint64_t{tables_.num_rules} + 2 * uint64_t{count} >= RuleTables::kMaxOperands) {
      reader_.fail("there are too many");
    }
  }

  void read_views() {
    reader_.begin("rules");
    const uint32_t count = reader_.count(kViewBytes, "rules");
    tables_.views.reserve(count);
    has_view_.assign(tables_.num_ids(), false);
    uint64_t positions = 0, ends = 0, edges = 0;
    for (uint32_t i = 0; i < count; ++i) {
      RuleTables::View view{};
      view.rule = reader_.word();
      view.num_positions = reader_.word();
      view.start = reader_.word();
      view.num_ends = reader_.word();
      view.num_edges = reader_.word();
      view.deterministic = reader_.word_up_to(1, "deterministic flag");
      if (view.rule >= tables_.num_ids() || tables_.is_repeat(view.rule)) {
        reader_.fail("a rule is none of the grammar's");
      }
      if (i > 0 && view.rule <= tables_.views.back().rule) reader_.fail("they are not sorted");
      if (view.start < positions || view.start >= positions + view.num_positions) {
        reader_.fail("a rule starts outside of itself");
      }
      positions += view.num_positions;
      ends += view.num_ends;
      edges += view.num_edges;
      has_view_[view.rule] = true;
      tables_.views.push_back(view);
    }
    check_sizes(positions, ends, edges);
    if (!has_view_[ir_.root_rule()]) reader_.fail("the root rule is missing");
    for (uint32_t i = 0; i < tables_.repeats.size(); ++i) {
      if (!has_view_[tables_.num_rules + 2 * i + 1])
        reader_.fail("the body of a repeat is missing");
    }
  }

  // Of all rules; what follows is as long as they say.
  void check_sizes(uint64_t positions, uint64_t ends, uint64_t edges) {
    if (positions > max_states_) {
      reader_.fail("they have " + std::to_string(positions) + " positions, and max_states is " +
                   std::to_string(max_states_));
    }
    if (ends > positions || edges > reader_.left() / kEdgeBytes ||
        (positions + ends) * 4 + edges * kEdgeBytes > reader_.left()) {
      reader_.fail("their sizes exceed the bytes that follow");
    }
    num_positions_ = static_cast<std::size_t>(positions);
    num_ends_ = static_cast<std::size_t>(ends);
    num_edges_ = static_cast<std::size_t>(edges);
  }

  void read_ends() {
    reader_.begin("ends of rules");
    tables_.ends.reserve(num_ends_);
    uint32_t first = 0;
    for (const RuleTables::View& view : tables_.views) {
      uint32_t least = first;
      for (uint32_t i = 0; i < view.num_ends; ++i) {
        const uint32_t end = reader_.word();
        if (end < least || end >= first + view.num_positions) {
          reader_.fail("they are not sorted, unique and inside their rule");
        }
        tables_.ends.push_back(end);
        least = end + 1;
      }
      first += view.num_positions;
    }
  }

  void read_counts() {
    reader_.begin("positions");
    tables_.num_edges.reserve(num_positions_);
    for (const RuleTables::View& view : tables_.views) {
      uint64_t total = 0;
      for (uint32_t i = 0; i < view.num_positions; ++i) {
        tables_.num_edges.push_back(reader_.word());
        total += tables_.num_edges.back();
      }
      if (total != view.num_edges) reader_.fail("their edges are not as many as their rule has");
    }
  }

  void read_edges() {
    reader_.begin("edges");
    tables_.edges.reserve(num_edges_);
    uint32_t first = 0;
    for (const RuleTables::View& view : tables_.views) {
      const std::size_t first_edge = tables_.edges.size();
      for (uint32_t i = 0; i < view.num_positions; ++i) {
        read_edges_of(tables_.num_edges[first + i], first, first + view.num_positions);
      }
      const auto counts = std::span(tables_.num_edges).subspan(first, view.num_positions);
      const auto edges = std::span(tables_.edges).subspan(first_edge);
      if (RuleTables::is_deterministic(counts, edges) != (view.deterministic != 0)) {
        reader_.fail("the deterministic flag of their rule is wrong");
      }
      first += view.num_positions;
    }
  }

  void read_edges_of(uint32_t count, uint32_t first, uint32_t end) {
    for (uint32_t i = 0; i < count; ++i) {
      RuleTables::Edge edge{};
      edge.label = reader_.word();
      edge.target = reader_.word();
      if (edge.target < first || edge.target >= end) reader_.fail("one leads outside of its rule");
      if (i > 0 && edge <= tables_.edges.back()) reader_.fail("they are not sorted and unique");
      check_label(edge);
      tables_.edges.push_back(edge);
    }
  }

  void check_label(const RuleTables::Edge& edge) const {
    const uint32_t operand = edge.operand();
    switch (edge.kind()) {
      case RuleTables::kBytes:
        if (edge.lo() > edge.hi()) reader_.fail("the bytes of one are no range");
        for (uint32_t byte = edge.lo(); byte <= edge.hi(); ++byte) {
          if (!spellable_[byte]) reader_.fail("one reads a byte that no token has");
        }
        break;
      case RuleTables::kEmpty:
        if (operand != 0) reader_.fail("an empty one reads something");
        break;
      case RuleTables::kCall:
        if (operand >= tables_.num_ids() ||
            !has_view_[operand + (tables_.is_repeat(operand) ? 1U : 0U)]) {
          reader_.fail("one calls a rule that does not exist");
        }
        break;
      case RuleTables::kJson:
        if (operand >= tables_.json_exprs.size()) {
          reader_.fail("one calls a JSON value that does not exist");
        }
        break;
      case RuleTables::kToken:
        if (!is_kind(operand, ExprKind::kTokenSet)) reader_.fail("one reads no set of tokens");
        break;
      default: reader_.fail("one has an unknown kind");
    }
  }

  ByteReader& reader_;
  const Ir& ir_;
  const std::array<bool, 256>& spellable_;
  uint32_t max_states_;
  RuleTables tables_;
  std::vector<bool> has_view_;  // by id
  std::size_t num_positions_ = 0, num_ends_ = 0, num_edges_ = 0;
};

}  // namespace

void write_tables(const RuleTables& tables, ByteWriter& writer) {
  const auto words = [&](const std::vector<uint32_t>& list) {
    for (const uint32_t value : list) writer.word(value);
  };
  writer.word(static_cast<uint32_t>(tables.json_exprs.size()));
  words(tables.json_exprs);
  writer.word(static_cast<uint32_t>(tables.repeats.size()));
  for (const RuleTables::Repeat& repeat : tables.repeats) {
    writer.word(repeat.min);
    writer.word(repeat.max);
  }
  writer.word(static_cast<uint32_t>(tables.views.size()));
  for (const RuleTables::View& view : tables.views) {
    for (const uint32_t value : {view.rule, view.num_positions, view.start, view.num_ends,
                                 view.num_edges, view.deterministic}) {
      writer.word(value);
    }
  }
  words(tables.ends);
  words(tables.num_edges);
  for (const RuleTables::Edge& edge : tables.edges) {
    writer.word(edge.label);
    writer.word(edge.target);
  }
}

RuleTables read_tables(ByteReader& reader, const Ir& ir, const std::array<bool, 256>& spellable,
                       uint32_t max_states) {
  return TablesReader(reader, ir, spellable, max_states).read();
}

}  // namespace maskwright

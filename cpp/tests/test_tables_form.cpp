// Rule tables as bytes: what is written is read back, and each check refuses the fault that it is
// there for, by name.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "maskwright/matcher/matcher.h"
#include "maskwright/support/error.h"
#include "serialize/tables_form.h"

namespace {

using namespace maskwright;
using maskwright::test::IrWriter;

// Two rules that call each other, a repeat and a token set.
IrWriter grammar() {
  IrWriter writer;
  const uint32_t many = writer.repeat(writer.char_class({{'a', 'b'}}), 3, 500);
  const uint32_t tokens = writer.add(ExprKind::kTokenSet, {0, 1, 1});
  const uint32_t nested =
      writer.sequence({writer.literal("a"), writer.ref(1), writer.literal("b")});
  writer.rule("root", writer.choice({many, nested}));
  writer.rule("more", writer.choice({tokens, writer.sequence({writer.ref(0), writer.ref(1)})}));
  return writer;
}

std::shared_ptr<const Vocabulary> vocabulary() {
  static const auto shared = std::make_shared<const Vocabulary>(
      std::vector<std::string>{"a", "b", ""}, 3, std::vector<uint32_t>{}, std::vector<uint32_t>{2});
  return shared;
}

std::array<bool, 256> spellable() { return vocabulary()->spellable(); }

RuleTables good() { return compile(grammar().buffer(0), vocabulary(), {})->tables(); }

std::vector<std::byte> written(const RuleTables& tables) {
  ByteWriter writer;
  write_tables(tables, writer);
  return writer.written();
}

std::string refusal_of(const std::vector<std::byte>& bytes, uint32_t max_states = 1000) {
  const Ir ir = Ir::parse(grammar().buffer(0));
  try {
    ByteReader reader(bytes);
    read_tables(reader, ir, spellable(), max_states);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kStoredFormat);
    CHECK(error.code() == "deserialize-format");
    return error.what();
  }
  return "";
}

std::size_t first_edge(const RuleTables& tables, uint32_t kind) {
  for (std::size_t i = 0; i < tables.edges.size(); ++i) {
    if (tables.edges[i].kind() == kind) return i;
  }
  FAIL("there is no such edge");
  return 0;
}

using Change = std::function<void(RuleTables&)>;

Change relabel(RuleTables::EdgeKind kind, uint32_t operand) {
  return [=](RuleTables& tables) {
    RuleTables::Edge& edge = tables.edges[first_edge(tables, kind)];
    edge.label = RuleTables::Edge::of(kind, operand, 0).label;
  };
}

struct Fault {
  const char* what;
  Change change;
};

const std::vector<Fault>& faults() {
  using T = RuleTables;
  static const std::vector<Fault> all{
      {"an expression is no JSON value", [](T& t) { t.json_exprs.push_back(0); }},
      {"a minimum exceeds its maximum", [](T& t) { t.repeats[0].min = 501; }},
      {"or that is 0", [](T& t) { t.repeats[0] = {0, 0}; }},
      {"the body of a repeat is missing", [](T& t) { t.repeats.push_back({1, 2}); }},
      {"a rule is none of the grammar's", [](T& t) { t.views.back().rule = 99; }},
      {"a rule is none of the grammar's", [](T& t) { t.views.back().rule = 2; }},
      {"they are not sorted", [](T& t) { t.views[1].rule = 0; }},
      {"a rule starts outside of itself", [](T& t) { t.views[0].start = 1000; }},
      {"a rule starts outside of itself", [](T& t) { t.views[1].start = 0; }},
      {"deterministic flag is 2, expected at most 1", [](T& t) { t.views[0].deterministic = 2; }},
      {"the root rule is missing",
       [](T& t) {
         const uint32_t gone = t.views[0].num_positions;
         t.views.erase(t.views.begin());
         for (T::View& view : t.views) view.start -= gone;
       }},
      {"their sizes exceed the bytes that follow", [](T& t) { t.views[0].num_ends = 1000; }},
      {"their sizes exceed the bytes that follow", [](T& t) { t.views[0].num_edges = 0xFFFFFFFF; }},
      {"sorted, unique and inside their rule", [](T& t) { t.ends[1] = t.ends[0]; }},
      {"sorted, unique and inside their rule", [](T& t) { t.ends[0] = t.ends[1]; }},
      {"their edges are not as many as their rule has", [](T& t) { ++t.num_edges[0]; }},
      {"one leads outside of its rule", [](T& t) { t.edges[0].target = t.ends.back(); }},
      {"one leads outside of its rule", [](T& t) { t.edges.back().target = 0; }},
      {"they are not sorted and unique", [](T& t) { std::swap(t.edges[0], t.edges[1]); }},
      {"the bytes of one are no range", relabel(T::kBytes, 'b' << 8 | 'a')},
      {"one reads a byte that no token has", relabel(T::kBytes, 'a' << 8 | 'c')},
      {"one calls a rule that does not exist", relabel(T::kCall, 9)},
      {"one reads no set of tokens", relabel(T::kToken, 0)},
      {"one has an unknown kind", [](T& t) { t.edges.back().label = 7U << T::kOperandBits; }},
      {"the deterministic flag of their rule is wrong",
       [](T& t) { t.views[0].deterministic ^= 1U; }},
  };
  return all;
}

}  // namespace

TEST_CASE("written tables are read back") {
  const RuleTables tables = good();
  const auto bytes = written(tables);
  const Ir ir = Ir::parse(grammar().buffer(0));
  ByteReader reader(bytes);
  CHECK(read_tables(reader, ir, spellable(), 1000) == tables);
  CHECK(reader.left() == 0);
  REQUIRE(tables.views.size() == 3);
  CHECK(tables.repeats.size() == 1);
  CHECK(tables.num_edges[tables.views[0].start] > 1);
}

TEST_CASE("each fault of rule tables is refused by name") {
  for (const Fault& fault : faults()) {
    CAPTURE(fault.what);
    RuleTables tables = good();
    fault.change(tables);
    const std::string refusal = refusal_of(written(tables));
    CHECK_MESSAGE(refusal.find(fault.what) != std::string::npos, refusal);
  }
}

TEST_CASE("tables beyond max_states, and every truncation, are refused") {
  const auto bytes = written(good());
  CHECK(refusal_of(bytes, 3).find("and max_states is 3") != std::string::npos);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(
        refusal_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}).empty());
  }
}

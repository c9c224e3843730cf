// The writer of IR buffers: what it writes is what the reader finds, and fragments move.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/ir/builder.h"
#include "maskwright/ir/fragment.h"
#include "maskwright/ir/ir.h"

using namespace maskwright;

namespace {

std::vector<std::byte> finished(IrBuilder& builder, uint32_t root) {
  std::vector<std::byte> buffer(builder.finished_size(root));
  builder.finish(root, buffer.data());
  return buffer;
}

uint32_t literal(IrBuilder& builder, std::string_view text) {
  const IrBuilder::Ref ref = builder.bytes_ref(text);
  const std::array<uint32_t, 3> record{static_cast<uint32_t>(ExprKind::kLiteral), ref.offset,
                                       ref.length};
  return builder.share_expr(record);
}

}  // namespace

TEST_CASE("equal records and bytes are shared, however many there are") {
  IrBuilder builder;
  std::vector<uint32_t> first;
  for (int i = 0; i < 500; ++i) first.push_back(literal(builder, "text " + std::to_string(i)));
  for (int i = 0; i < 500; ++i) {
    CHECK(literal(builder, "text " + std::to_string(i)) == first[static_cast<std::size_t>(i)]);
  }
  CHECK(builder.num_exprs() == 500);
  CHECK(builder.types(3) == builder.types(3));
  CHECK(builder.any() != builder.never());
}

TEST_CASE("the reader finds what was written") {
  IrBuilder builder;
  const uint32_t name = builder.types(kStringType);
  const IrBuilder::Member member{builder.bytes_ref("name"), name};
  const std::array<std::string_view, 3> keys{"name", "b", "name"};
  const std::array<uint32_t, 2> parts{builder.object({&member, 1}, {}, builder.never()),
                                      builder.required(keys)};
  const uint32_t root = builder.add_rule("root");
  builder.define_rule(root, builder.json(builder.all_of(parts), kStrict, kNone, ",", ":"));
  const std::vector<std::byte> buffer = finished(builder, root);
  const Ir ir = Ir::parse(buffer);
  CHECK(ir.rule_name(root) == "root");
  REQUIRE(ir.num_nodes() == 5);
  CHECK(ir.node_kind(parts[0]) == NodeKind::kObject);
  CHECK(ir.node(parts[0])[0] == 1);
  const auto required = ir.node(parts[1]);
  REQUIRE(required[0] == 2);  // each key once
  CHECK(ir.bytes(required[3], required[4]) == "b");
}

TEST_CASE("long lists of texts hold each text once") {
  IrBuilder builder;
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back(std::to_string(i % 20));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  CHECK(builder.texts(views).size() == 20);
}

TEST_CASE("a fragment keeps its meaning behind other expressions") {
  IrBuilder source;
  const std::array<uint32_t, 4> both{static_cast<uint32_t>(ExprKind::kSequence), 2,
                                     literal(source, "a"), literal(source, "bc")};
  const uint32_t rule = source.add_rule("root");
  source.define_rule(rule, source.add_expr(both));
  const IrFragment fragment = IrFragment::read(finished(source, rule));

  IrBuilder builder;
  literal(builder, "before");
  const uint32_t root = builder.add_rule("root");
  builder.add_fragment(fragment);
  builder.define_rule(root, builder.add_fragment(fragment));
  const std::vector<std::byte> buffer = finished(builder, root);
  const Ir ir = Ir::parse(buffer);
  const auto sequence = ir.expr(ir.rule_expr(root));
  REQUIRE(sequence[0] == 2);
  const auto last = ir.expr(sequence[2]);
  CHECK(ir.bytes(last[0], last[1]) == "bc");
}

TEST_CASE("wrong ids and unfinished buffers are refused") {
  IrBuilder builder;
  const std::array<uint32_t, 1> unknown{7};
  CHECK_THROWS_AS(builder.all_of(unknown), std::invalid_argument);
  CHECK_THROWS_AS(builder.define_rule(0, 0), std::invalid_argument);
  const uint32_t root = builder.add_rule("root");
  CHECK_THROWS_AS(builder.add_rule("root"), std::invalid_argument);
  CHECK_THROWS_AS(builder.finished_size(root), std::invalid_argument);
  const uint32_t reserved = builder.reserve_node();
  builder.define_rule(root, builder.json(reserved, 0, kNone, ",", ":"));
  CHECK_THROWS_AS(builder.finished_size(root), std::invalid_argument);
  builder.define_node(reserved, builder.any());
  CHECK_THROWS_AS(builder.define_node(reserved, builder.any()), std::invalid_argument);
  CHECK(builder.finished_size(root) > 0);
}

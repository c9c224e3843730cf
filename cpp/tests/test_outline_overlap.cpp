// Which branches of a oneOf are compared at all.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "json/outline_overlap.h"
#include "test_json_support.h"

using namespace maskwright;
using maskwright::testing::SchemaWriter;
using maskwright::testing::Words;

namespace {

constexpr uint32_t kMany = 2000;

std::string name(const char* stem, uint32_t i) { return stem + std::to_string(i); }

// The outlines of some nodes of one schema.
struct Outlines {
  Outlines(SchemaWriter& writer, const Words& nodes)
      : ir(writer.finish(writer.any_of(nodes), {kAnyWhitespace, 2, ",", ":", 8})),
        branches(ir),
        table(ir, branches) {
    for (const uint32_t node : nodes) all.push_back(table.of(node));
  }
  std::size_t num_candidates() const {
    const OutlineOverlap overlap(all);
    std::size_t sum = 0;
    for (uint32_t i = 0; i < all.size(); ++i) sum += overlap.candidates(i).size();
    return sum;
  }

  Ir ir;
  BranchTable branches;
  OutlineTable table;
  std::vector<OutlineRef> all;
};

// One of some forms that oneOf has: constants, objects with a discriminator or without, types.
uint32_t random_node(SchemaWriter& w, std::mt19937& random) {
  const uint32_t a = random() % 4;
  const uint32_t b = random() % 4;
  switch (random() % 8) {
    case 0: return w.text(name("v", a));
    case 1: return w.constants({0, {std::to_string(a), std::to_string(b)}, {}, {}});
    case 2: return w.types(random() % 2 == 0 ? kStringType : kObjectType | kNull);
    case 3: return w.any_of({w.text(name("v", a)), w.object_type({{"k", w.any()}}, {"k"})});
    case 4: return w.object_type({{name("k", a), w.any()}}, {name("k", a)}, w.never());
    case 5: return w.object_type({{name("k", a), w.any()}}, {}, w.never());
    case 6: return w.all_of({w.types(kArrayType), w.array({w.text(name("v", a))})});
    default:
      return w.object_type({{"kind", w.text(name("v", a))}, {name("k", b), w.any()}},
                           {random() % 3 == 0 ? name("k", b) : "kind"},
                           random() % 2 == 0 ? kNone : w.never());
  }
}

}  // namespace

TEST_CASE("branches with a discriminator are compared with none") {
  SchemaWriter w;
  Words nodes;
  for (uint32_t i = 0; i < kMany; ++i) {
    const uint32_t kind = w.text(name("kind", i));
    nodes.push_back(w.object_type({{"kind", kind}, {"x", w.types(kInteger)}}, {"kind"}));
  }
  CHECK(Outlines(w, nodes).num_candidates() == 0);
}

TEST_CASE("constants are compared with equal ones only") {
  SchemaWriter w;
  Words nodes;
  for (uint32_t i = 0; i < kMany; ++i) nodes.push_back(w.text(name("v", i / 2)));
  CHECK(Outlines(w, nodes).num_candidates() == kMany);
}

TEST_CASE("closed objects are compared by the members they ask for") {
  SchemaWriter w;
  Words nodes;
  for (uint32_t i = 0; i < kMany; ++i) {
    nodes.push_back(w.object_type({{name("k", i), w.any()}}, {name("k", i)}, w.never()));
  }
  CHECK(Outlines(w, nodes).num_candidates() == 0);
}

TEST_CASE("who is no candidate has no value in common") {
  std::mt19937 random(11);
  std::size_t apart = 0;
  for (int round = 0; round < 50; ++round) {
    SchemaWriter w;
    Words nodes;
    for (int i = 0; i < 24; ++i) nodes.push_back(random_node(w, random));
    const Outlines outlines(w, nodes);
    const OutlineOverlap overlap(outlines.all);
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const auto found = overlap.candidates(i);
      CHECK(std::ranges::is_sorted(found));
      for (uint32_t j = 0; j < nodes.size(); ++j) {
        if (j == i || std::ranges::binary_search(found, j)) continue;
        ++apart;
        CHECK(outlines.table.disjoint(outlines.all[i], outlines.all[j]));
      }
    }
  }
  CHECK(apart > 5000);
}

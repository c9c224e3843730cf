// Targets: how many clauses conjunctions, choices and negations flatten to.
#include <doctest/doctest.h>

#include "json/target.h"
#include "maskwright/support/error.h"
#include "test_json_support.h"

using namespace maskwright;
using maskwright::testing::Machine;
using maskwright::testing::SchemaWriter;
using maskwright::testing::Words;

namespace {

constexpr std::array<bool, 256> kAllBytes = [] {
  std::array<bool, 256> all{};
  all.fill(true);
  return all;
}();

// The clauses of a node, as lists of leaves.
std::vector<Words> clauses_of(SchemaWriter& writer, uint32_t root,
                              uint32_t flags = kAnyWhitespace | kAnyOrder,
                              const JsonLimits& limits = {}) {
  const Ir ir = writer.finish(root, {flags, 2, ",", ":", 8});
  OptionsTable options(kAllBytes);
  const uint32_t layout = options.intern(ir, ir.expr(0));
  ListedValues listed(ir, options, kAllBytes);
  TargetTable targets(ir, options, listed, limits);
  const uint32_t target = targets.intern(layout, std::array<uint32_t, 1>{root});
  return targets.flatten(target);
}

std::string name(const char* stem, uint32_t i) { return stem + std::to_string(i); }

// An object of one kind, with members that other kinds have too.
uint32_t variant(SchemaWriter& w, uint32_t i, bool required) {
  const uint32_t kind = w.text(name("kind", i));
  const uint32_t object = w.object({{"kind", kind}, {"x", w.types(kStringType)}});
  if (!required) return w.all_of({w.types(kObjectType), object});
  return w.all_of({w.types(kObjectType), object, w.required({"kind"})});
}

// "If the kind is this one, the object has that member."
uint32_t condition(SchemaWriter& w, uint32_t i) {
  const uint32_t test = w.object({{"kind", w.text(name("kind", i))}});
  return w.any_of({w.all_of({test, w.required({name("member", i)})}), w.negation(test)});
}

}  // namespace

TEST_CASE("branches of a oneOf that exclude each other need no negations") {
  SchemaWriter w;
  Words variants;
  for (uint32_t i = 0; i < 200; ++i) variants.push_back(variant(w, i, true));
  const auto clauses = clauses_of(w, w.one_of(variants));
  CHECK(clauses.size() == 200);
  for (const Words& clause : clauses) CHECK(clause.size() == 3);
}

TEST_CASE("a oneOf by type is the same as an anyOf") {
  SchemaWriter w;
  const Words types{w.types(kNull), w.types(kInteger), w.types(kStringType)};
  CHECK(clauses_of(w, w.one_of(types)) == clauses_of(w, w.any_of(types)));
}

TEST_CASE("conditions on one member don't multiply") {
  for (const bool required : {true, false}) {
    SchemaWriter w;
    SchemaWriter::Enum kinds;
    Words parts{w.types(kObjectType)};
    for (uint32_t i = 0; i < 10; ++i) {
      kinds.strings.push_back(name("kind", i));
      parts.push_back(condition(w, i));
    }
    parts.push_back(w.object({{"kind", w.constants(kinds)}}));
    if (required) parts.push_back(w.required({"kind"}));
    // One per kind, and one without a kind.
    CHECK(clauses_of(w, w.all_of(parts)).size() == (required ? 10 : 11));
  }
}

TEST_CASE("similar negations share their branches") {
  SchemaWriter w;
  Words parts{w.types(kObjectType)};
  const uint32_t text = w.types(kStringType);
  for (uint32_t i = 0; i < 40; ++i) {
    const std::string own = name("own", i);
    parts.push_back(w.negation(w.object_type({{own, text}, {"shared", text}}, {own, "shared"})));
  }
  // No proper "shared", or no proper member of any of the objects.
  CHECK(clauses_of(w, w.all_of(parts)).size() == 2);
}

TEST_CASE("a negated object is a choice of members") {
  SchemaWriter w;
  const uint32_t text = w.types(kStringType);
  const uint32_t object = w.object_type({{"a", text}, {"b", text}}, {"a"});
  // No object; an "a" that is missing or no string; a "b" that is no string.
  CHECK(clauses_of(w, w.negation(object)).size() == 3);
  CHECK(clauses_of(w, w.all_of({object, w.negation(object)})).empty());
  CHECK(clauses_of(w, w.negation(w.negation(object))).size() == 1);
}

TEST_CASE("a negated oneOf is none of them or two of them") {
  SchemaWriter w;
  const uint32_t a = w.required({"a"});
  const uint32_t b = w.required({"b"});
  const uint32_t object = w.types(kObjectType);
  CHECK(clauses_of(w, w.all_of({object, w.negation(w.one_of({a, b}))})).size() == 2);
  CHECK(clauses_of(w, w.all_of({object, w.one_of({a, b})})).size() == 2);
}

// Twelve choices between two members each.
uint32_t twelve_choices(SchemaWriter& w) {
  Words parts{w.types(kObjectType)};
  const uint32_t text = w.types(kStringType);
  for (uint32_t i = 0; i < 12; ++i) {
    const auto member = [&](const char* stem) {
      return w.object_type({{name(stem, i), text}}, {name(stem, i)});
    };
    parts.push_back(w.any_of({member("a"), member("b")}));
  }
  return w.all_of(parts);
}

TEST_CASE("more clauses than the limit are an error, not an answer") {
  SchemaWriter w;
  JsonLimits limits;
  limits.max_clauses = 1000;
  const uint32_t root = w.all_of({twelve_choices(w), w.members(0, 20)});
  CHECK_THROWS_AS(clauses_of(w, root, kAnyWhitespace | kAnyOrder, limits), Error);
}

TEST_CASE("choices about different members are one clause of joint targets") {
  SchemaWriter w;
  JsonLimits limits;
  limits.max_clauses = 10;
  const uint32_t root = twelve_choices(w);
  CHECK(clauses_of(w, root, kAnyWhitespace | kAnyOrder, limits).size() == 1);
  // Members in their order are multiplied.
  CHECK_THROWS_AS(clauses_of(w, root, kAnyWhitespace, limits), Error);
}

TEST_CASE("values that an enum lists are counted on top of the limit") {
  SchemaWriter w;
  Words values;
  for (uint32_t i = 0; i < 50; ++i) values.push_back(w.items(i, i));
  JsonLimits limits;
  limits.max_clauses = 10;
  CHECK(clauses_of(w, w.constants({0, {}, {}, values}), kAnyWhitespace, limits).size() == 50);
  CHECK_THROWS_AS(clauses_of(w, w.any_of(values), kAnyWhitespace, limits), Error);
}

TEST_CASE("what it takes to tell alternatives apart is limited too") {
  SchemaWriter w;
  Words branches;
  for (uint32_t i = 0; i < 300; ++i) branches.push_back(w.length(i, i + 1000));
  JsonLimits limits;
  limits.max_clauses = 200;
  try {
    clauses_of(w, w.one_of(branches), kAnyWhitespace, limits);
    FAIL("no limit was met");
  } catch (const Error& error) {
    CHECK(error.code() == "json-too-many-clauses");
    CHECK(std::string(error.what()).starts_with("it takes too long to tell which"));
  }
}

TEST_CASE("negation and recursion: trees whose leaves are no trees") {
  SchemaWriter w;
  const uint32_t tree = w.reserve();
  const uint32_t no_tree = w.negation(tree);
  // {"a": x}: x is no such object.
  w.define(tree, w.object_type({{"a", no_tree}}, {"a"}));
  Machine m(w, tree);
  CHECK(m.accepts("{\"a\":1}"));
  CHECK(m.accepts("{\"a\":{}}"));
  CHECK_FALSE(m.accepts("{\"a\":{\"a\":1}}"));
  CHECK(m.accepts("{\"a\":{\"a\":{\"a\":1}}}"));
  CHECK_FALSE(m.accepts("{}"));
}

TEST_CASE("strict mode: what stands under not neither closes nor opens") {
  const SchemaWriter::Layout strict{kAnyWhitespace | kStrict, 1, ",", ":", 8};
  SchemaWriter w;
  const uint32_t quiet = w.negation(w.negation(w.object({{"b", w.types(kInteger)}})));
  Machine open(w, w.all_of({w.types(kObjectType), quiet}), strict);
  CHECK(open.accepts("{\"b\":1,\"c\":2}"));
  CHECK_FALSE(open.accepts("{\"b\":null}"));
  SchemaWriter w2;
  const uint32_t a = w2.object({{"a", w2.types(kInteger)}});
  const uint32_t b = w2.object({{"b", w2.types(kInteger)}}, w2.any());
  Machine closed(w2, w2.all_of({w2.types(kObjectType), a, w2.negation(w2.negation(b))}), strict);
  CHECK(closed.accepts("{\"a\":1}"));
  CHECK_FALSE(closed.accepts("{\"a\":1,\"b\":1}"));
}

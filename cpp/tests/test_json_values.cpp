// Scalars, conjunctions, choices, constants, productivity.
#include <doctest/doctest.h>

#include "maskwright/support/error.h"
#include "test_json_support.h"

using namespace maskwright;
using maskwright::testing::Machine;
using maskwright::testing::SchemaWriter;
using maskwright::testing::Words;

namespace {

constexpr uint32_t kFree = kNone;  // no largest count

}  // namespace

TEST_CASE("any value") {
  SchemaWriter w;
  Machine m(w, w.any());
  for (const char* text :
       {"null", "true", "false", "12", "-0", "1.5", "\"x\"", "[]", "{}", "[1,[2],{\"a\":null}]",
        "{\"a\":[true], \"b\" : {}}", "[ ]", "[\n1 ,\t2]"}) {
    CAPTURE(text);
    CHECK(m.accepts(text));
  }
  for (const char* text : {"", "nul", "nulll", " 1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{,}",
                           "[1", "[   ]", "{a:1}", "01", "[1]]"}) {
    CAPTURE(text);
    CHECK_FALSE(m.accepts(text));
  }
}

TEST_CASE("types meet; integer is a number") {
  SchemaWriter w;
  const uint32_t both = w.all_of({w.types(kNumberType | kStringType), w.types(kInteger | kNull)});
  Machine m(w, both);
  CHECK(m.accepts("3"));
  CHECK_FALSE(m.accepts("null"));
  CHECK_FALSE(m.accepts("\"\""));
  SchemaWriter w2;
  Machine none(w2, w2.all_of({w2.types(kNull), w2.types(kStringType)}));
  CHECK_FALSE(none.productive());
}

TEST_CASE("constants meet bounds and each other") {
  SchemaWriter w;
  const uint32_t values = w.constants({kEnumTrue, {"-2", "1", "1.5", "10"}, {"a", "bc"}, {}});
  const uint32_t other = w.constants({kEnumTrue | kEnumNull, {"1", "1.5", "10"}, {"bc", "d"}, {}});
  const uint32_t bounds = w.number({"1", "10", true, false});
  Machine m(w, w.all_of({values, other, bounds, w.length(2, kFree)}));
  CHECK(m.accepts("true"));
  CHECK(m.accepts("1.5"));
  CHECK(m.accepts("10"));
  CHECK(m.accepts("\"bc\""));
  for (const char* text : {"1", "-2", "\"a\"", "\"d\"", "null", "false", "[]", "{}"}) {
    CHECK_FALSE(m.accepts(text));
  }
  SchemaWriter w2;
  const uint32_t apart =
      w2.all_of({w2.number({"-0.5", "", false, false}), w2.number({"", "-0.75", false, false})});
  Machine none(w2, w2.all_of({w2.types(kNumberType), apart}));
  CHECK_FALSE(none.productive());
}

TEST_CASE("structured constants are alternatives beside the scalars") {
  SchemaWriter w;
  const uint32_t pair =
      w.all_of({w.types(kArrayType), w.array({w.constants({0, {"1"}, {}, {}}), w.text("x")}),
                w.items(2, 2)});
  Machine m(w, w.constants({kEnumNull, {}, {"s"}, {pair}}));
  CHECK(m.accepts("null"));
  CHECK(m.accepts("\"s\""));
  CHECK(m.accepts("[1, \"x\"]"));
  for (const char* text : {"[1]", "[1,\"x\",1]", "[]", "{}", "[2,\"x\"]", "1"}) {
    CHECK_FALSE(m.accepts(text));
  }
}

TEST_CASE("any_of under all_of multiplies") {
  SchemaWriter w;
  const uint32_t left = w.any_of({w.types(kNull | kStringType), w.types(kBoolean)});
  const uint32_t right = w.any_of({w.types(kStringType), w.types(kBoolean | kNull)});
  Machine m(w, w.all_of({left, right, w.length(1, 1)}));
  for (const char* text : {"null", "true", "\"x\""}) CHECK(m.accepts(text));
  for (const char* text : {"1", "\"\"", "\"xx\"", "[]"}) CHECK_FALSE(m.accepts(text));
}

TEST_CASE("many choices that repeat each other do not multiply") {
  SchemaWriter w;
  const uint32_t a = w.types(kStringType);
  const uint32_t b = w.types(kNull);
  Words choices;
  for (int i = 0; i < 40; ++i) choices.push_back(w.any_of({a, b}));
  Machine m(w, w.all_of(choices));
  CHECK(m.accepts("null"));
  CHECK(m.accepts("\"\""));
}

TEST_CASE("cycles that nothing guards end") {
  SchemaWriter w;
  const uint32_t self = w.reserve();
  w.define(self, w.all_of({self, w.types(kNull)}));
  Machine m(w, self);
  CHECK(m.accepts("null"));
  CHECK_FALSE(m.accepts("1"));
  SchemaWriter w2;
  const uint32_t either = w2.reserve();
  w2.define(either, w2.any_of({w2.all_of({either, w2.any()}), w2.types(kNull)}));
  Machine branch(w2, either);
  CHECK(branch.accepts("null"));
  CHECK_FALSE(branch.accepts("1"));
}

TEST_CASE("recursion through all_of") {
  SchemaWriter w;
  const uint32_t list = w.reserve();
  const uint32_t node = w.object({{"next", list}, {"v", w.types(kInteger)}}, w.never());
  const uint32_t extra =
      w.object({{"next", w.all_of({list, w.types(kObjectType | kNull)})}, {"v", w.any()}});
  w.define(list, w.all_of({node, extra, w.types(kObjectType | kNull)}));
  Machine m(w, list);
  CHECK(m.accepts("null"));
  CHECK(m.accepts("{\"next\":{\"next\":null,\"v\":1},\"v\":2}"));
  CHECK_FALSE(m.accepts("{\"next\":1}"));
  CHECK_FALSE(m.accepts("{\"w\":1}"));
}

TEST_CASE("recursion without a base has no value") {
  SchemaWriter w;
  const uint32_t node = w.reserve();
  w.define(node, w.object_type({{"n", node}}, {"n"}));
  Machine none(w, node);
  CHECK_FALSE(none.productive());

  SchemaWriter w2;
  const uint32_t optional = w2.reserve();
  w2.define(optional, w2.any_of({w2.object_type({{"n", optional}}, {"n"}),
                                 w2.all_of({w2.types(kArrayType), w2.array({}, optional)})}));
  Machine m(w2, optional);
  CHECK(m.accepts("[]"));
  CHECK(m.accepts("{\"n\":[{\"n\":[]}]}"));
}

TEST_CASE("a member without a value is refused, and its object if it is required") {
  SchemaWriter w;
  Machine m(w, w.all_of({w.types(kObjectType), w.object({{"a", w.never()}})}));
  CHECK(m.accepts("{\"b\":1}"));
  CHECK_FALSE(m.accepts("{\"a\":1}"));
  SchemaWriter w2;
  Machine none(w2, w2.object_type({{"a", w2.never()}}, {"a"}));
  CHECK_FALSE(none.productive());
}

TEST_CASE("what the vocabulary cannot spell does not count") {
  SchemaWriter w;
  Machine m(w, w.any(), {}, {}, "n,");
  CHECK_FALSE(m.accepts("null"));
  CHECK(m.accepts("[1]"));
  CHECK_FALSE(m.accepts("[1,1]"));
  CHECK(m.prefix("[1,") == 2);
  CHECK(m.accepts("{\"a\":true}"));
  SchemaWriter w2;
  Machine none(w2, w2.types(kArrayType), {}, {}, "]");
  CHECK_FALSE(none.productive());
}

TEST_CASE("limits have names") {
  SchemaWriter w;
  Words branches;
  for (int i = 0; i < 30; ++i) {
    branches.push_back(w.any_of({w.length(0, static_cast<uint32_t>(i)),
                                 w.length(1, static_cast<uint32_t>(i + 100)),
                                 w.items(0, static_cast<uint32_t>(i + 100))}));
  }
  const uint32_t root = w.all_of(branches);
  try {
    Machine m(w, root);
    FAIL("no limit was met");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kLimit);
    CHECK(error.code() == "json-too-many-clauses");
    CHECK(error.subject() == "max_clauses");
  }
  JsonLimits few;
  few.max_targets = 3;
  SchemaWriter w2;
  const uint32_t wide = w2.array({w2.types(kNull), w2.types(kBoolean), w2.types(kStringType)});
  try {
    Machine m(w2, wide, {}, few);
    FAIL("no limit was met");
  } catch (const Error& error) {
    CHECK(error.code() == "json-too-many-targets");
    CHECK(error.value() == 3);
  }
}

TEST_CASE("separators that are not JSON are refused") {
  SchemaWriter w;
  const uint32_t root = w.any();
  CHECK_THROWS_AS(Machine(w, root, {0, 0, ";", ":", 8}), Error);
}

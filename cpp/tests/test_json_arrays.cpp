// Arrays: prefixes, counts, unions, layouts, mask keys.
#include <doctest/doctest.h>

#include <map>

#include "test_json_support.h"

using namespace maskwright;
using maskwright::testing::Machine;
using maskwright::testing::SchemaWriter;
using maskwright::testing::Words;

namespace {

std::string repeat(std::string_view item, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ',';
    text += item;
  }
  text += ']';
  return text;
}

}  // namespace

TEST_CASE("prefix, rest and counts of several nodes") {
  SchemaWriter w;
  const uint32_t number = w.types(kNumberType);
  const uint32_t text = w.types(kStringType);
  const uint32_t first = w.array({number, w.any()}, text);
  const uint32_t second = w.array({w.types(kInteger | kNull)});
  Machine m(w, w.all_of({w.types(kArrayType), first, second, w.items(1, 4)}));
  CHECK(m.accepts("[1]"));
  CHECK(m.accepts("[1,null]"));
  CHECK(m.accepts("[1,null,\"\",\"\"]"));
  for (const char* bad : {"[]", "[null]", "[1.5]", "[1,2,3]", "[1,2,\"\",\"\",\"\"]"}) {
    CHECK_FALSE(m.accepts(bad));
  }
  CHECK(m.prefix("[1,2,\"\",\"\",") == 10);
}

TEST_CASE("strict mode closes behind a prefix") {
  SchemaWriter w;
  const uint32_t root = w.all_of({w.types(kArrayType), w.array({w.types(kNull)})});
  const SchemaWriter::Layout strict{kAnyWhitespace | kStrict, 1, ",", ":", 8};
  Machine closed(w, root, strict);
  CHECK(closed.accepts("[]"));
  CHECK(closed.accepts("[null]"));
  CHECK_FALSE(closed.accepts("[null,1]"));
  SchemaWriter w2;
  Machine open(w2, w2.types(kArrayType), strict);
  CHECK(open.accepts("[null,1]"));
  SchemaWriter w3;
  Machine said(w3, w3.all_of({w3.types(kArrayType), w3.array({w3.types(kNull)}, w3.any())}),
               strict);
  CHECK(said.accepts("[null,1]"));
}

TEST_CASE("an item without a value caps the count") {
  SchemaWriter w;
  const uint32_t one = w.array({w.types(kNull), w.never()}, w.any());
  Machine m(w, w.all_of({w.types(kArrayType), one}));
  CHECK(m.accepts("[]"));
  CHECK(m.accepts("[null]"));
  CHECK(m.prefix("[null,") == 5);
  SchemaWriter w2;
  const uint32_t two = w2.array({w2.types(kNull), w2.never()}, w2.any());
  Machine none(w2, w2.all_of({w2.types(kArrayType), two, w2.items(2, kNone)}));
  CHECK_FALSE(none.productive());
}

TEST_CASE("large counts cost no states") {
  SchemaWriter w;
  const uint32_t root =
      w.all_of({w.types(kArrayType), w.array({}, w.types(kNull)), w.items(1000, 100000)});
  Machine m(w, root);
  CHECK_FALSE(m.accepts(repeat("null", 999)));
  CHECK(m.accepts(repeat("null", 1000)));
  CHECK(m.accepts(repeat("null", 1001)));
  CHECK(m.store().num_states() < 40);
}

TEST_CASE("alternatives leave as items and counts rule them out") {
  SchemaWriter w;
  const uint32_t numbers =
      w.all_of({w.types(kArrayType), w.array({}, w.types(kNumberType)), w.items(0, 2)});
  const uint32_t integers =
      w.all_of({w.types(kArrayType), w.array({}, w.types(kInteger)), w.items(3, 4)});
  const uint32_t tuple =
      w.all_of({w.types(kArrayType), w.array({w.any(), w.types(kNull)}, w.types(kNull))});
  Machine m(w, w.any_of({numbers, integers, tuple}));
  for (const char* text : {"[]", "[1]", "[1.5]", "[1.5,1]", "[1,2,3]", "[1,null]", "[[],null,null]",
                           "[1.5,null,null,null,null,null]"}) {
    CAPTURE(text);
    CHECK(m.accepts(text));
  }
  for (const char* text : {"[1.5,1,1]", "[1,2,3,4,5]", "[1,null,1]", "[1,2,null]"}) {
    CAPTURE(text);
    CHECK_FALSE(m.accepts(text));
  }
  CHECK(m.prefix("[1.5,1,") == 6);
  CHECK(m.prefix("[1,2,n") == 5);
}

TEST_CASE("fixed separators") {
  SchemaWriter w;
  const uint32_t root = w.all_of({w.types(kArrayType), w.items(0, 3)});
  Machine m(w, root, {0, 0, " ,\n", ": ", 8});
  CHECK(m.accepts("[1 ,\n2 ,\n3]"));
  CHECK(m.accepts("[{\"a\": 1 ,\n\"b\": 2} ,\n2]"));
  for (const char* text : {"[1,2]", "[1 , 2]", "[ 1]", "[1 ]", "[1 ,\n2 ,\n3 ,\n4]", "[{\"a\":1}]",
                           "[{ \"a\": 1}]", "[{\"a\" : 1}]"}) {
    CHECK_FALSE(m.accepts(text));
  }
}

TEST_CASE("whitespace is bounded at each place") {
  SchemaWriter w;
  Machine m(w, w.any(), {kAnyWhitespace, 2, ",", ":", 8});
  CHECK(m.accepts("[  1  ,  2  ]"));
  CHECK(m.accepts("{  \"a\"  :  1  ,  \"b\":{  }  }"));
  for (const char* text :
       {"[   1]", "[1   ]", "[1,   2]", "{   }", "{\"a\"   :1}", "{\"a\":   1}", "1 ", " 1"}) {
    CHECK_FALSE(m.accepts(text));
  }
}

TEST_CASE("equal mask keys have equal continuations") {
  SchemaWriter w;
  const uint32_t few = w.all_of({w.types(kArrayType), w.array({}, w.types(kNull)), w.items(9, 30)});
  const uint32_t more =
      w.all_of({w.types(kArrayType),
                w.array({w.types(kNull), w.types(kNull | kInteger)}, w.types(kInteger | kNull)),
                w.items(12, 24)});
  Machine m(w, w.any_of({few, more}));
  std::map<Words, std::vector<Machine::Config>> known;
  for (const char* item : {"null", "1"}) {
    Machine::Config config = m.begin();
    std::string text = "[null";
    for (int i = 0; i < 31; ++i) {
      text += ',';
      text += item;
    }
    for (const char c : text) {
      if (!m.step(config, static_cast<uint8_t>(c))) break;
      known[m.key(config)].push_back(config);
    }
  }
  std::size_t shared = 0;
  for (const auto& [key, configs] : known) {
    shared += configs.size() - 1;
    for (std::string_view text : {",1,1,1,1", "],null,n", "null,nul", ",1]", "1,1]", ",1,1,1]"}) {
      const auto run = [&](Machine::Config config) {
        std::size_t read = 0;
        for (const char c : text) {
          if (!m.step(config, static_cast<uint8_t>(c))) break;
          ++read;
        }
        return read;
      };
      for (const auto& config : configs) CHECK(run(config) == run(configs[0]));
    }
  }
  CHECK(shared > 0);
}

TEST_CASE("10,000 nested arrays") {
  SchemaWriter w;
  uint32_t inner = w.types(kNull);
  for (int i = 0; i < 10000; ++i) inner = w.all_of({w.types(kArrayType), w.array({}, inner)});
  Machine m(w, inner);
  CHECK(m.accepts(std::string(10000, '[') + "null" + std::string(10000, ']')));
  CHECK_FALSE(m.accepts(std::string(10000, '[') + "1" + std::string(10000, ']')));
  SchemaWriter w2;
  uint32_t alias = w2.types(kNull);
  const uint32_t boolean = w2.types(kBoolean);
  for (int i = 0; i < 10000; ++i) alias = w2.any_of({w2.all_of({alias}), boolean});
  Machine flat(w2, alias);
  CHECK(flat.accepts("null"));
  CHECK(flat.accepts("true"));
}

// Tests of the string and name frames over real languages, made as the JSON machine makes them.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

#include "json/name_classes.h"
#include "maskwright/ir/ir.h"
#include "maskwright/json/strings.h"
#include "string_testing.h"

namespace maskwright::testing {

namespace {

// A grammar of one rule `r` for the empty text: the table needs one, literals do not.
Ir empty_grammar() {
  constexpr std::array<uint32_t, 17> kWords{kIrMagic, kIrVersion, 1, 1, 0, 1, 1, 0, 0,
                                            0,        0,          0, 0, 0, 0, 1, 0};
  std::string buffer;
  for (const uint32_t word : kWords) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      buffer += static_cast<char>(word >> shift & 0xFF);
  }
  buffer += 'r';
  return Ir::parse(std::as_bytes(std::span(buffer)));
}

struct World {
  World() : store(8), ir(empty_grammar()), langs(ir, all_bytes(), 1000) {
    strings = make_string_family(store, langs);
    names = make_key_family(store, langs);
    store.register_family(FamilyId::kString, *strings);
    store.register_family(FamilyId::kKey, *names);
  }
  static std::array<bool, 256> all_bytes() {
    std::array<bool, 256> all{};
    all.fill(true);
    return all;
  }
  Walker walker() { return {store, regs}; }

  Store store;
  RegisterPool regs;
  Ir ir;
  LangTable langs;
  std::unique_ptr<StringFamily> strings;
  std::unique_ptr<KeyFamily> names;
};

}  // namespace

TEST_CASE("any text of the table is read in a handful of states") {
  World world;
  const std::array<StringItem, 1> items{{{kTargetTag, world.langs.any_text(), 0, kUnbounded}}};
  Walker walker = world.walker();
  const auto places = walker.reachable({world.strings->start(items), 0}, 1000);
  CHECK(walker.dead_ends(places) == 0);
  CHECK(world.store.num_states() <= 22);
}

TEST_CASE("a list of literals beside any text, under bounds") {
  World world;
  const std::vector<std::string> texts{"", "re\"d", "\xF0\x9F\x98\x80", "red"};
  const LangId some = world.langs.literals(texts);
  const std::array<StringItem, 3> items{{{kTargetTag, some, 0, kUnbounded},
                                         {kTargetTag + 1, some, 1, 3},
                                         {kTargetTag + 2, world.langs.any_text(), 2, 3}}};
  Walker walker = world.walker();
  const Place start{world.strings->start(items), 0};
  const auto ids = [&](const char* text) {
    std::vector<uint32_t> out = walker.returned(walker.walk(start, text)).value_or(CodePoints{});
    for (uint32_t& id : out) id -= kTargetTag;
    return out;
  };
  using Ids = std::vector<uint32_t>;
  CHECK(ids("\"") == Ids{0});
  CHECK(ids("r\\u0065d\"") == Ids{0, 1, 2});
  CHECK(ids("re\\\"d\"") == Ids{0});
  CHECK(ids("\\ud83d\\ude00\"") == Ids{0, 1});
  CHECK(ids("\\ud83d\\ude00x\"") == Ids{2});
  CHECK(walker.walk(start, "redd").state == kDead);
  CHECK(walker.dead_ends(walker.reachable(start, 5000)) == 0);
}

TEST_CASE("names over the table's any text") {
  World world;
  const std::vector<std::string> keys{"id", "idle"};
  NameClassTable table(world.langs, 10);
  const std::array<const NameClasses*, 1> classes{&table.intern({}, false)};
  const StateId start = world.names->start(world.names->key_list(keys, classes));
  Walker walker = world.walker();
  for (const uint32_t open : {0U, 1U}) {
    const std::array<uint32_t, 2> content{0, 2 | open << 2};
    const Place from{start, world.regs.intern(content)};
    CHECK(walker.dead_ends(walker.reachable(from, 5000)) == 0);
    CHECK(walker.walk(from, "\"id\"").state == kDead);
    CHECK(walker.returned(walker.walk(from, "\"i\\u0064le\"")) == std::vector<uint32_t>{1});
    CHECK((walker.walk(from, "\"idx\"").state != kDead) == (open == 1));
  }
}

}  // namespace maskwright::testing

// Tests of cpp/src/json/string_family.h and of the transducer below it, against a plain decoder.
#include "json/string_family.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "string_testing.h"

namespace maskwright::testing {

namespace {

constexpr uint32_t kAccept = kTargetTag;

// Languages by number, and a family that reads them.
struct World {
  explicit World(uint32_t max_advance = 8)
      : store(max_advance), family(store, [this](LangId id) -> Lang& { return *langs[id]; }) {
    store.register_family(FamilyId::kString, family);
    langs.push_back(any_lang());
    langs.push_back(class_plus_lang({{'a', 'z'}}));
    langs.push_back(literal_lang({'a', 0xE9, 0x1F600, '"'}));
    langs.push_back(class_star_lang({{0x1F600, 0x1F64F}}));
    langs.push_back(even_lang());
    langs.push_back(zigzag_lang());
    langs.push_back(class_star_lang({{0, 0x1F}}));
    langs.push_back(class_star_lang({{0, '!'}, {'#', 0xD7FF}, {0xE000, 0x10FFFF}}));
    langs.push_back(class_star_lang({{'0', '9'}, {'A', 'F'}, {0xE9, 0xE9}, {0x4E00, 0x9FFF}}));
    langs.push_back(long_tail_lang());
    langs.push_back(short_tail_lang());
  }

  bool matches(const CodePoints& text, const StringItem& item) {
    if (text.size() < item.min || text.size() > item.max) return false;
    uint32_t state = langs[item.lang]->start();
    for (const uint32_t c : text) {
      state = langs[item.lang]->move(state, c);
      if (state == kDeadLang) return false;
    }
    return langs[item.lang]->accepts(state);
  }
  std::vector<uint32_t> expected(std::string_view text, const std::vector<StringItem>& items) {
    std::set<uint32_t> ids;
    if (const auto content = decode_json(text)) {
      for (const StringItem& item : items) {
        if (matches(*content, item)) ids.insert(item.accept);
      }
    }
    return {ids.begin(), ids.end()};
  }
  Walker walker() { return {store, regs}; }
  Place start(const std::vector<StringItem>& items) { return {family.start(items), 0}; }
  KeyWords key(Place at) {
    KeyWords words;
    family.mask_key(at.state, at.reg, regs, words);
    return words;
  }

  Store store;
  RegisterPool regs;
  std::vector<std::unique_ptr<Lang>> langs;
  StringFrames family;
};

StringItem item(LangId lang, uint32_t min = 0, uint32_t max = kUnbounded, uint32_t accept = 0) {
  return {kAccept + accept, lang, min, max};
}

const std::vector<std::vector<StringItem>> kItemLists{
    {item(0)},
    {item(1)},
    {item(2)},
    {item(0, 0, 2)},
    {item(0, 1)},
    {item(0, 2, 3), item(0, 0, 1, 1), item(1, 3, 3, 2)},
    {item(3, 1, 2), item(2, 0, 4, 1), item(6, 0, 1, 2)},
    {item(4, 1, 3), item(4, 2, kUnbounded, 1)},
    {item(5, 0, 3), item(5, 2, 2, 1), item(8, 1, 2, 2)},
    {item(7), item(8, 0, kUnbounded, 1), item(3, 0, kUnbounded, 2)},
    {item(2, 0, 3), item(2, 4, 4, 1), item(2, 5, 9, 2)},
    {item(9, 9, 10)},
    {item(9, 0, 7), item(10, 2, 4, 1)},
    {item(10, 7, 9), item(9, 6, 8, 1)},
    {item(0, 0, 3, 5), item(0, 0, 3, 4), item(0, 0, 3, 5)},
};

void check_texts(World& world, const std::vector<StringItem>& items,
                 const std::vector<std::string>& parts, unsigned length) {
  Walker walker = world.walker();
  const Place start = world.start(items);
  std::size_t wrong = 0;
  std::string first;
  for_each_sequence(parts, length, [&](const std::string& text) {
    const auto returned = walker.returned(walker.walk(start, text)).value_or(CodePoints{});
    if (returned != world.expected(text, items) && wrong++ == 0) first = text;
  });
  CHECK_MESSAGE(wrong == 0, "the first wrong text is ", first);
}

}  // namespace

TEST_CASE("the reference decoder knows its JSON") {
  CHECK(decode_json("a\\u0041\\\"\"") == CodePoints{'a', 'A', '"'});
  CHECK(decode_json("\\uD83D\\uDE00\xF0\x9F\x98\x80\"") == CodePoints{0x1F600, 0x1F600});
  CHECK(decode_json("\x7F\"") == CodePoints{0x7F});
  for (const char* bad : {"a", "\\uD83D\"", "\\uDE00\"", "\xC0\x80\"", "\xED\xA0\x80\"", "\x01\"",
                          "\"\"", "\\x\"", "\xF4\x90\x80\x80\"", "\\uD83D\\u0041\""}) {
    CHECK_FALSE(decode_json(bad));
  }
}

TEST_CASE("strings accept what a plain decoder accepts: all short byte strings") {
  const std::vector<std::string> bytes{"\"", "\\", "u",    "D",    "8",    "0",   "a",
                                       "b",  "\n", "\xC3", "\xA9", "\x80", "\xE0"};
  for (const auto& items : kItemLists) {
    World world;
    check_texts(world, items, bytes, 4);
  }
}

TEST_CASE("strings accept what a plain decoder accepts: sequences of parts of spellings") {
  const std::vector<std::string> parts{
      "\"",       "\\u",      "D83D",        "DE0",  "dE00",
      "0",        "006",      "1",           "a",    "\xF0\x9F",
      "\x98\x80", "\xE4\xB8", "\xBF",        "\\\"", "\\uD83D\\uDE00",
      "\xC3\xA9", "\\u00E9",  "\xE5\x80\x80"};
  for (const auto& items : kItemLists) {
    World world;
    check_texts(world, items, parts, 4);
  }
}

TEST_CASE("the limits of UTF-8 and of surrogates hold byte by byte") {
  World world;
  Walker walker = world.walker();
  const Place start = world.start({item(0)});
  for (const char* good : {"\x7F", " ", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                           "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\\uD7FF",
                           "\\uE000", "\\uDBFF\\uDFFF", "\\ud800\\udc00", "\\uFFFF"}) {
    CHECK(walker.returned(walker.walk(start, good + std::string("\""))));
  }
  for (const char* bad :
       {"\x1F", "\xC1", "\xE0\x9F", "\xED\xA0", "\xF0\x8F", "\xF4\x90", "\xF5", "\x80", "\\uDC",
        "\\uD8FF\"", "\\uD800\\uDB", "\\uD800\\n", "\\U", "\\v"}) {
    CHECK(walker.walk(start, bad).state == kDead);
  }
}

TEST_CASE("no place in a string is a dead end") {
  for (const auto& items : kItemLists) {
    World world;
    Walker walker = world.walker();
    const auto places = walker.reachable(world.start(items), 20000);
    CHECK(places.size() < 20000);
    CHECK(walker.dead_ends(places) == 0);
  }
}

TEST_CASE("a string of any text needs a handful of states") {
  World world;
  Walker walker = world.walker();
  walker.reachable(world.start({item(0)}), 100000);
  CHECK(world.store.num_states() <= 22);
}

TEST_CASE("the number of states does not depend on length bounds") {
  World world;
  Walker walker = world.walker();
  Place at = world.start({item(0, 0, 2000)});
  walker.reachable(at, 500);
  CHECK(world.store.num_states() <= 22);

  at = world.start({item(0, 50000, 0x80000000U)});
  std::set<KeyWords> keys;
  for (int i = 0; i < 50000; ++i) {
    CHECK_FALSE(walker.returned(walker.step(at, '"')));
    at = walker.step(at, 'a');
    keys.insert(world.key(at));
  }
  CHECK(walker.returned(walker.step(at, '"')));
  CHECK(world.store.num_states() <= 3 * 22);  // other bounds, and the lower one met
  CHECK(keys.size() <= 10);                   // K = 8
}

TEST_CASE("a lower bound that is met is forgotten: the string becomes a plain one") {
  World world;
  Walker walker = world.walker();
  const Place plain = world.start({item(0)});
  const Place after = walker.walk(world.start({item(0, 3)}), "a\xC3\xA9\\uD83D");
  CHECK(after.state == walker.walk(plain, "\\uD83D").state);
  CHECK(after.reg == 0);
  CHECK((world.store.state(plain.state).flags & kHasRegister) == 0);
  CHECK((world.store.state(world.start({item(0, 3)}).state).flags & kHasRegister) != 0);
}

TEST_CASE("alternatives that cannot finish are dropped at the start") {
  World world;
  CHECK(world.start({item(2, 5, 9)}).state == kDead);
  CHECK(world.start({item(0, 3, 2)}).state == kDead);
  CHECK(world.start({item(4, 3, 3)}).state == kDead);
  CHECK(world.start({item(2, 5, 9), item(1)}) == world.start({item(1)}));
  CHECK(world.start({}).state == kDead);
}

TEST_CASE("an odd length is never begun if only even ones are possible") {
  World world;
  Walker walker = world.walker();
  const Place at = walker.walk(world.start({item(4, 0, 5)}), "\\u0041aa");
  CHECK(walker.step(at, 'a').state != kDead);
  const Place four = walker.step(at, 'a');
  CHECK(walker.step(four, '"').state != kDead);
  for (const char c : {'a', '\\', '\xF0'})
    CHECK(walker.step(four, static_cast<uint8_t>(c)).state == kDead);
}

TEST_CASE("places with equal mask keys do the same for all texts of K bytes") {
  const std::string alphabet = "\"a0\\u\xF0\x9F\x98\x80";
  const std::vector<std::vector<StringItem>> lists{
      {item(0, 9, 14)},
      {item(0, 0, 12), item(1, 7, 9, 1), item(5, 3, kUnbounded, 2)},
      {item(1, 10), item(1, 0, 11, 1)},
      {item(4, 6, 13), item(3, 12, 12, 1)},
      {item(9, 0, 14)},
      {item(9, 13, 14)},
      {item(10, 12, 18)},
      {item(10, 11), item(9, 0, 12, 1)},
      {item(5, 8, 20), item(2, 0, 7, 1), item(2, 2, 5, 2)},
  };
  for (const unsigned advance : {1U, 3U}) {
    for (const auto& items : lists) {
      World world(advance);
      Walker walker = world.walker();
      std::map<KeyWords, Place> first;
      std::size_t shared = 0;
      for_each_sequence(
          {"a", "aaaa", "0", "00000", "0\xF0\x9F\x98\x80", "\xF0", "\x9F", "\\", "uD83", "\\u0061"},
          4, [&](const std::string& text) {
            const Place at = walker.walk(world.start(items), text);
            if (at.state == kDead || walker.returned(at)) return;
            const auto [known, added] = first.try_emplace(world.key(at), at);
            if (added || known->second == at) return;
            ++shared;
            CHECK(walker.same(known->second, at, alphabet, advance));
          });
      if (&items == &lists[0]) CHECK(shared > 0);
    }
  }
}

TEST_CASE("two thousand constants advance in one state") {
  World world;
  std::vector<StringItem> items;
  std::size_t letters = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    const std::string text = "constant-" + std::to_string(i);
    letters += text.size();
    items.push_back({kAccept + i, static_cast<LangId>(world.langs.size()), 0, kUnbounded});
    world.langs.push_back(literal_lang(CodePoints(text.begin(), text.end())));
  }
  items.push_back(item(0, 3, 20, 5000));
  Walker walker = world.walker();
  const Place start = world.start(items);
  const Place end = walker.walk(start, "constan\\u0074-17\"");
  CHECK(walker.returned(end) == std::vector<uint32_t>{kAccept + 17, kAccept + 5000});
  CHECK(walker.returned(walker.walk(start, "other\"")) == std::vector<uint32_t>{kAccept + 5000});
  // Each byte read costs a few copies of the living items at most.
  CHECK(world.store.memory_bytes() < letters * 5 * sizeof(uint32_t) * 20);
}

TEST_CASE("equal alternatives are one item that returns all of their ids") {
  World world;
  Walker walker = world.walker();
  std::vector<StringItem> items;
  for (uint32_t i = 0; i < 50; ++i) items.push_back(item(1, 0, 9, 49 - i));
  const Place start = world.start(items);
  CHECK(world.store.content(start.state).size() ==
        world.store.content(world.start({item(1, 0, 9)}).state).size());
  const auto returned = walker.returned(walker.walk(start, "ab\""));
  REQUIRE(returned);
  CHECK(returned->size() == 50);
  CHECK(std::ranges::is_sorted(*returned));
}

}  // namespace maskwright::testing

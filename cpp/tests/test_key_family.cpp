// Tests of cpp/src/json/key_family.h and key_lang.h, against a plain decoder.
#include "json/key_family.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "maskwright/support/error.h"
#include "string_testing.h"

namespace maskwright::testing {

namespace {

const std::vector<Lang::Arc> kText{{0, 0xD7FF, 0}, {0xE000, 0x10FFFF, 0}};

struct World {
  explicit World(std::vector<std::string> sorted, uint32_t max_advance = 8)
      : keys(std::move(sorted)), store(max_advance), family(store, kText) {
    store.register_family(FamilyId::kKey, family);
    list = family.key_list(keys, classes);
    for (const std::string& key : keys) decoded.push_back(*decode(key));
  }

  static std::optional<CodePoints> decode(const std::string& raw) {
    std::string text;
    for (const char c : raw) {
      if (c == '"' || c == '\\') text += '\\';
      if (static_cast<uint8_t>(c) < 0x20) {
        text += c < 0x10 ? "\\u000" : "\\u001";
        text += "0123456789abcdef"[c % 16];
      } else {
        text += c;
      }
    }
    return decode_json(text + '"');
  }
  Reg reg(bool open, const std::vector<uint32_t>& allowed) {
    std::vector<uint32_t> content(1 + (keys.size() + 1 + 31) / 32, 0);
    const auto allow = [&](std::size_t label) { content[1 + label / 32] |= 1U << (label % 32); };
    if (open) allow(keys.size());
    for (const uint32_t i : allowed) allow(i);
    return regs.intern(content);
  }
  Place start(bool open, const std::vector<uint32_t>& allowed) {
    return {family.start(list), reg(open, allowed)};
  }
  // All registers of a small list.
  std::vector<Reg> all_regs() {
    std::vector<Reg> out;
    for (uint32_t bits = 0; bits < 2U << keys.size(); ++bits) {
      const std::array<uint32_t, 2> content{0, bits};
      out.push_back(regs.intern(content));
    }
    return out;
  }
  // The label that the quoted text returns by the letter of the interface.
  std::optional<std::vector<uint32_t>> expected(std::string_view text, Reg reg) {
    if (text.empty() || text[0] != '"') return std::nullopt;
    const auto name = decode_json(text.substr(1));
    if (!name) return std::nullopt;
    const auto words = regs.get(reg);
    const auto found = std::ranges::find(decoded, *name);
    const auto index = static_cast<uint32_t>(found - decoded.begin());
    if ((words[1 + index / 32] >> (index % 32) & 1U) == 0) return std::nullopt;
    return std::vector<uint32_t>{index};
  }
  KeyWords key(Place at) {
    KeyWords words;
    family.mask_key(at.state, at.reg, regs, words);
    return words;
  }
  Walker walker() { return {store, regs}; }

  std::vector<std::string> keys;
  Store store;
  RegisterPool regs;
  KeyFrames family;
  NameClasses plain{0, kText, {}, false, 10};
  std::array<const NameClasses*, 1> classes{&plain};
  uint32_t list;
  std::vector<CodePoints> decoded;
};

const std::vector<std::string> kNested{"", "\n", "a", "ab", "abc\"", "b"};
const std::vector<std::string> kUnicode{"\xC3\xA9", "\xED\x9F\xBF", "\xEE\x80\x80",
                                        "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80z"};

std::vector<std::string> many_keys(uint32_t count) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < count; ++i) keys.push_back("property_" + std::to_string(i));
  std::ranges::sort(keys);
  return keys;
}

void check_texts(World& world, const std::vector<std::string>& parts, unsigned length) {
  Walker walker = world.walker();
  for (const Reg reg : world.all_regs()) {
    const Place start{world.family.start(world.list), reg};
    std::size_t wrong = 0;
    std::string first;
    for_each_sequence(parts, length, [&](const std::string& text) {
      const std::string quoted = '"' + text;
      const auto returned = walker.returned(walker.walk(start, quoted));
      if (returned != world.expected(quoted, reg) && wrong++ == 0) first = quoted;
    });
    CHECK_MESSAGE(wrong == 0, "register ", reg, ": the first wrong text is ", first);
  }
}

}  // namespace

TEST_CASE("names return what a plain decoder finds: prefixes, empty key, escapes") {
  World world(kNested);
  check_texts(world, {"\"", "a", "b", "c", "\\\"", "\\u0061", "\\u00", "62", "\\n"}, 4);
}

TEST_CASE("names return what a plain decoder finds: keys beyond ASCII and the BMP") {
  World world(kUnicode);
  check_texts(world,
              {"\"", "\xC3", "\xA9", "\\uD83D", "\\uD7", "ff", "\\uDE00", "\xF0\x9F", "\x98\x80",
               "\xED\x9F\xBF", "\\uE000", "z"},
              3);
}

TEST_CASE("an object without declared names has other names or none") {
  World world(std::vector<std::string>{});
  Walker walker = world.walker();
  CHECK(walker.returned(walker.walk(world.start(true, {}), "\"x\"")) == std::vector<uint32_t>{0});
  CHECK(walker.step(world.start(false, {}), '"').state == kDead);
}

TEST_CASE("no place in a name is a dead end") {
  for (const auto& keys : {kNested, kUnicode}) {
    World world(keys);
    Walker walker = world.walker();
    for (const Reg reg : world.all_regs()) {
      if (world.regs.get(reg)[1] == 0) continue;  // no name at all
      const auto places = walker.reachable({world.family.start(world.list), reg}, 20000);
      CHECK(places.size() < 20000);
      CHECK(walker.dead_ends(places) == 0);
    }
  }
}

TEST_CASE("states do not depend on the register, and only the opening quote opens a name") {
  World world(kNested);
  Walker walker = world.walker();
  for (const Reg reg : world.all_regs()) {
    const auto places = walker.reachable({world.family.start(world.list), reg}, 20000);
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool alive = walker.step(places[0], static_cast<uint8_t>(byte)).state != kDead;
      CHECK(alive == (byte == '"' && world.regs.get(reg)[1] != 0));
    }
  }
  const uint32_t states = world.store.num_states();
  CHECK(states < 400);
  walker.reachable(world.start(true, {0, 1, 2, 3, 4, 5}), 20000);
  CHECK(world.store.num_states() == states);
}

TEST_CASE("places with equal mask keys do the same for all texts of K bytes") {
  const std::string alphabet = "\"abc\\un78Fd\xA9\xF0";
  for (const auto& keys : {kNested, kUnicode}) {
    World world(keys, 3);
    Walker walker = world.walker();
    std::map<KeyWords, Place> first;
    std::size_t shared = 0;
    for (const Reg reg : world.all_regs()) {
      for (const char* text : {"", "\"", "\"a", "\"ab", "\"abc", "\"x", "\"\\", "\"\\u", "\"\\u0",
                               "\"\\u006", "\"\\uD", "\"\\uD8", "\"\xF0\x9F\x98\x80", "\"\xF0\x9F",
                               "\"a\\u0062", "\"a\\u006", "\"\xC3"}) {
        const Place at = walker.walk({world.family.start(world.list), reg}, text);
        if (at.state == kDead) continue;
        const auto [known, added] = first.try_emplace(world.key(at), at);
        if (added) continue;
        shared += known->second == at ? 0 : 1;
        CHECK(walker.same(known->second, at, alphabet, 3));
      }
    }
    CHECK(shared > 100);
  }
}

TEST_CASE("names off the declared ones share one key, others the bits that matter") {
  World world(many_keys(3000));
  Walker walker = world.walker();
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < 3000; ++i) all.push_back(i);
  const auto key = [&](const std::vector<uint32_t>& allowed, const char* text) {
    return world.key(walker.walk(world.start(true, allowed), text));
  };
  const std::vector<uint32_t> half(all.begin(), all.begin() + 1500);
  CHECK(key(all, "\"x") == key(half, "\"x"));
  CHECK(key(all, "\"property_10") == key(half, "\"property_10"));
  CHECK(key(all, "\"property_99") != key(half, "\"property_99"));
  CHECK(key(all, "\"property_99").size() < 6);
}

TEST_CASE("three thousand names are cheap") {
  World world(many_keys(3000));
  Walker walker = world.walker();
  for (uint32_t i = 0; i < 3000; i += 37) {
    const std::string text = '"' + world.keys[i] + '"';
    CHECK(walker.returned(walker.walk(world.start(false, {i}), text)) == std::vector<uint32_t>{i});
    CHECK(walker.walk(world.start(true, {}), text).state == kDead);
    CHECK(walker.walk(world.start(false, {(i + 1) % 3000}), text).state == kDead);
    CHECK(walker.returned(walker.walk(world.start(true, {}), "\"" + world.keys[i] + "x\"")) ==
          std::vector<uint32_t>{3000});
  }
  CHECK(world.store.memory_bytes() < 4000000);
}

TEST_CASE("a name that must not come again is read like others, and without rows") {
  for (const auto& keys : {kNested, kUnicode, many_keys(30)}) {
    World world(keys);
    Walker walker = world.walker();
    const StateId start = world.family.start(world.list);
    const std::vector<std::string> parts{"\"",    "a",  "b",    "property_1",
                                         "\\u00", "62", "\xC3", "\xA9"};
    for (const Reg reg : {world.reg(true, {0, 2}), world.reg(false, {1, 3}), world.reg(true, {})}) {
      std::size_t wrong = 0;
      for_each_sequence(parts, 4, [&](const std::string& text) {
        Target at = world.family.start_refusing(start, reg, 0, world.regs);
        for (const char c : '"' + text) {
          const State& state = world.store.state(at.state);
          if (at.state == kDead || state.family == FamilyId::kDone) {
            at = {};
            break;
          }
          wrong += (state.flags & kScans) == 0 ? 1 : 0;
          at = world.family.scan(at.state, at.reg, static_cast<uint8_t>(c), kDead, world.regs);
        }
        const Place plain = walker.walk({start, reg}, '"' + text);
        const bool same =
            (at.state == kDead) == (plain.state == kDead) &&
            (at.state == kDead || walker.returned({at.state, at.reg}) == walker.returned(plain));
        wrong += same ? 0 : 1;
      });
      CHECK(wrong == 0);
    }
  }
  World world(many_keys(30));
  Target at = world.family.start_refusing(world.family.start(world.list), world.reg(true, {0, 1}),
                                          0, world.regs);
  for (const char c : std::string("\"property_1 and more\"")) {
    at = world.family.scan(at.state, at.reg, static_cast<uint8_t>(c), kDead, world.regs);
  }
  CHECK(world.store.state(at.state).family == FamilyId::kDone);
  CHECK(world.store.num_rows() == 0);
}

TEST_CASE("rows copied from a place without listed names are those that would be made") {
  const NameClasses plain(0, kText, {}, false, 10);
  const std::array<const NameClasses*, 1> classes{&plain};
  const std::vector<std::string> keys{"a", "abcdefghijklmnopqrst", "abd", "ab~", "b"};
  // Behind each beginning of the longest name: its bytes, and what is ahead behind them.
  const auto rows = [&](Store& store, bool open) {
    KeyFrames family(store, kText);
    store.register_family(FamilyId::kKey, family);
    const uint32_t list = family.key_list(keys, std::span(classes).first(open ? 1 : 0));
    RegisterPool regs;
    const std::array<uint32_t, 2> all{0, open ? 0b111111U : 0b11111U};
    Place at{family.start(list), regs.intern(all)};
    Walker walker(store, regs);
    std::vector<std::vector<uint32_t>> out;
    for (const char c : '"' + keys[1]) {
      at = walker.step(at, static_cast<uint8_t>(c));
      for (const Edge& edge : store.row(at.state).edges) {
        const auto target = store.content(edge.target);
        out.push_back({edge.lo, edge.hi, static_cast<uint32_t>(edge.op)});
        const bool done = store.state(edge.target).family == FamilyId::kDone;
        for (const std::size_t i : {0, 1, 4, 5, 6, 7, 8}) {
          if (!done) out.back().push_back(target[i]);
        }
      }
    }
    return std::pair(out, family.footprint());
  };
  for (const bool open : {true, false}) {
    Store copied(8);
    Store made(8, nullptr, {.sharing = false});
    const auto [short_rows, less] = rows(copied, open);
    const auto [long_rows, more] = rows(made, open);
    CHECK(short_rows == long_rows);
    CHECK(less + 1000 < more);  // without arcs
  }
}

TEST_CASE("names with characters that no text has are not read") {
  const std::vector<Lang::Arc> text{{'a', 'c', 0}};
  Store store(8);
  RegisterPool regs;
  KeyFrames family(store, text);
  store.register_family(FamilyId::kKey, family);
  const NameClasses plain(0, text, {}, false, 10);
  const std::array<const NameClasses*, 1> classes{&plain};
  const uint32_t list = family.key_list(std::vector<std::string>{"ab", "ax", "b"}, classes);
  const std::array<uint32_t, 2> all{0, 0b1111};
  Walker walker(store, regs);
  const Place start{family.start(list), regs.intern(all)};
  CHECK(walker.returned(walker.walk(start, "\"ab\"")) == std::vector<uint32_t>{0});
  CHECK(walker.returned(walker.walk(start, "\"ac\"")) == std::vector<uint32_t>{3});
  CHECK(walker.walk(start, "\"ax").state == kDead);
}

TEST_CASE("a step over a code point is that of the arcs") {
  const NameClasses plain(0, kText, {}, false, 10);
  const std::array<const NameClasses*, 1> classes{&plain};
  for (const auto& keys : {kNested, kUnicode, many_keys(30)}) {
    for (const bool open : {true, false}) {
      KeyLang lang(keys, std::span(classes).first(open ? 1 : 0), kText);
      std::vector<uint32_t> places{lang.start()};
      for (std::size_t i = 0; i < places.size() && i < 100; ++i) {
        for (const uint32_t code : {0U, 10U, 97U, 98U, 112U, 0xE9U, 0xD7FFU, 0xD800U, 0x1F600U}) {
          const uint32_t moved = lang.move(places[i], code);
          const auto arcs = lang.arcs(places[i]);
          const auto arc = std::ranges::find_if(
              arcs, [&](const Lang::Arc& a) { return a.lo <= code && code <= a.hi; });
          CHECK(moved == (arc == arcs.end() ? kDeadLang : arc->target));
          const bool known = std::ranges::find(places, moved) != places.end();
          if (moved != kDeadLang && !known) places.push_back(moved);
        }
      }
    }
  }
}

TEST_CASE("equal lists of names are one list") {
  World world(kNested);
  CHECK(world.family.key_list(kNested, world.classes) == world.list);
  const uint32_t other = world.family.key_list(kUnicode, world.classes);
  CHECK(other != world.list);
  CHECK(world.family.key_list(kUnicode, world.classes) == other);
}

TEST_CASE("lists of names must be sorted UTF-8 without repetitions") {
  World world(kNested);
  for (const auto& keys : std::vector<std::vector<std::string>>{
           {"b", "a"}, {"a", "a"}, {"\xFF"}, {"\xC0\x80"}, {"\xED\xA0\x80"}, {"\xF0\x9F"}}) {
    CHECK_THROWS_AS(world.family.key_list(keys, world.classes), Error);
  }
}

TEST_CASE("the arcs of a name are the declared code points and the gaps between them") {
  const std::vector<std::string> keys{"a", "ab", "c"};
  const NameClasses plain(0, kText, {}, false, 10);
  const std::array<const NameClasses*, 1> classes{&plain};
  KeyLang lang(keys, classes, kText);
  const auto row = lang.arcs(lang.start());
  const std::vector<Lang::Arc> arcs(row.begin(), row.end());
  REQUIRE(arcs.size() == 6);
  CHECK(lang.keys(arcs[1].target) == KeyRange{0, 2});
  CHECK(lang.labels(arcs[1].target) == std::vector<uint32_t>{0});
  CHECK(arcs[2].lo == 'b');
  const uint32_t off = arcs[2].target;
  CHECK(lang.keys(off).empty());
  CHECK(lang.labels(off) == std::vector<uint32_t>{3});
  CHECK(lang.keys(arcs[3].target) == KeyRange{2, 3});
  CHECK(lang.arcs(off).size() == 2);
}

}  // namespace maskwright::testing

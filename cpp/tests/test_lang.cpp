// Languages: chosen expressions, spelling, limits, sharing, literal lists.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "json/lang_chars.h"
#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/error.h"

using namespace maskwright;
using test::IrWriter;

namespace {

std::array<bool, 256> everything() {
  std::array<bool, 256> result{};
  result.fill(true);
  return result;
}

std::array<bool, 256> only(const std::string& bytes) {
  std::array<bool, 256> result{};
  for (const char c : bytes) result[static_cast<uint8_t>(c)] = true;
  return result;
}

uint32_t run_from(Lang& lang, uint32_t state, const std::string& text) {
  std::vector<uint32_t> code_points;
  REQUIRE(decode_utf8(text, code_points));
  for (const uint32_t c : code_points) {
    if (state == kDeadLang) break;
    state = lang.move(state, c);
  }
  return state;
}

bool matches(Lang& lang, const std::string& text) {
  const uint32_t state = run_from(lang, lang.start(), text);
  return state != kDeadLang && lang.accepts(state);
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

Ir nothing() {
  IrWriter writer;
  writer.empty();
  return writer.finish();
}

// Runs `call` and returns the error's code and subject.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() + " " + error.subject();
  }
  return "none";
}

}  // namespace

TEST_CASE("an ambiguous count is determinised lazily") {
  IrWriter writer;
  const uint32_t letters = writer.char_class({{'a', 'b'}});
  const uint32_t a = writer.literal("a");
  const uint32_t expr =
      writer.sequence({writer.repeat(letters, 0, kNone), a, writer.repeat(letters, 40, 40)});
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 50000);
  Lang& lang = table.get(table.pattern(expr));
  CHECK(matches(lang, "bba" + repeated("ab", 20)));
  CHECK_FALSE(matches(lang, "abb" + repeated("ab", 20)));
  CHECK_FALSE(matches(lang, repeated("a", 40)));
  CHECK(lang.can_finish(lang.start(), 41, 41));
  CHECK_FALSE(lang.can_finish(lang.start(), 0, 40));
  CHECK(lang.length_horizon() == 42);
}

TEST_CASE("repeats of repeats") {
  IrWriter writer;
  const uint32_t x = writer.literal("x");
  const uint32_t square = writer.repeat(writer.repeat(x, 1, 50), 1, 50);
  const uint32_t stars = writer.repeat(writer.repeat(x, 0, kNone), 0, kNone);
  const uint32_t gaps = writer.repeat(writer.repeat(x, 3, 4), 1, 2);  // 3, 4, 6, 7, 8
  const uint32_t huge = writer.repeat(writer.repeat(x, 0, 1000000), 0, 4000);
  const uint32_t few = writer.sequence({writer.repeat(x, 0, 1), writer.repeat(x, 0, 2)});
  const uint32_t nullable = writer.repeat(writer.choice({writer.empty(), few}), 0, 400);
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 50000);
  Lang& lang = table.get(table.pattern(square));
  CHECK(matches(lang, repeated("x", 2500)));
  CHECK_FALSE(matches(lang, repeated("x", 2501)));
  CHECK_FALSE(matches(lang, ""));
  CHECK(matches(table.get(table.pattern(stars)), repeated("x", 99)));
  Lang& gap = table.get(table.pattern(gaps));
  for (uint32_t n = 0; n < 12; ++n) {
    const bool expected = n == 3 || n == 4 || (n >= 6 && n <= 8);
    CHECK(matches(gap, repeated("x", n)) == expected);
    CHECK(gap.can_finish(gap.start(), n, n) == expected);
  }
  Lang& run = table.get(table.pattern(huge));
  CHECK(run.can_finish(run.start(), 4000000000U, 4000000000U));
  CHECK_FALSE(run.can_finish(run.start(), 4000000001U, kUnbounded));
  Lang& bounded = table.get(table.pattern(nullable));
  CHECK(matches(bounded, repeated("x", 1200)));
  CHECK_FALSE(matches(bounded, repeated("x", 1201)));
  CHECK(bounded.length_horizon() == 1201);
}

TEST_CASE("lengths with gaps, far out") {
  IrWriter writer;
  const uint32_t even = writer.repeat(writer.literal("ab"), 0, kNone);
  const uint32_t mixed = writer.choice({writer.repeat(writer.literal("aaaaaa"), 0, kNone),
                                        writer.repeat(writer.literal("bbbbbbbbb"), 1, kNone)});
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 50000);
  Lang& lang = table.get(table.pattern(even));
  CHECK(lang.can_finish(lang.start(), 1000000, 1000000));
  CHECK_FALSE(lang.can_finish(lang.start(), 1000001, 1000001));
  CHECK(lang.can_finish(lang.start(), 1000001, 1000002));
  CHECK(lang.can_finish(lang.move(lang.start(), 'a'), 1000001, 1000001));
  CHECK(lang.length_horizon() == kUnbounded);
  Lang& both = table.get(table.pattern(mixed));
  for (const uint32_t n : {6000000U, 6000001U, 6000003U, 6000006U, 6000007U, 9000000U, 9000009U}) {
    CHECK(both.can_finish(both.start(), n, n) == (n % 6 == 0 || n % 9 == 0));
  }
}

TEST_CASE("deep nesting needs no C++ stack") {
  IrWriter writer;
  uint32_t expr = writer.literal("x");
  const uint32_t y = writer.literal("y");
  for (int depth = 0; depth < 10000; ++depth) {
    expr = depth % 2 == 0 ? writer.sequence({expr, y}) : writer.repeat(expr, 0, 1);
  }
  uint32_t negated = writer.literal("x");
  for (int depth = 0; depth < 10000; ++depth) negated = writer.complement(negated);
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 50000);
  Lang& lang = table.get(table.pattern(expr));
  CHECK(matches(lang, "x" + repeated("y", 5000)));
  CHECK(matches(lang, repeated("y", 7)));
  CHECK_FALSE(matches(lang, "x" + repeated("y", 4999)));
  CHECK(matches(table.get(table.pattern(negated)), "x"));
  CHECK_FALSE(matches(table.get(table.pattern(negated)), "xx"));
}

TEST_CASE("bombs are refused by name before they are built") {
  IrWriter writer;
  uint32_t bomb = writer.literal("ab");
  for (int i = 0; i < 4; ++i) {
    bomb = writer.sequence({writer.repeat(bomb, 1000, 1000), writer.literal("c")});
  }
  uint32_t doubled = writer.choice({writer.literal("ab"), writer.char_class({{'x', 'z'}})});
  for (int i = 0; i < 100; ++i) doubled = writer.sequence({doubled, doubled});
  const uint32_t letters = writer.char_class({{'a', 'b'}});
  const uint32_t wide = writer.complement(writer.sequence(
      {writer.repeat(letters, 0, kNone), writer.literal("a"), writer.repeat(letters, 30, 30)}));
  const uint32_t harmless = writer.repeat(writer.empty(), 4000000000U, kNone);
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 5000);
  const std::string limit = "lang-too-large max_lang_states";
  CHECK(error_of([&] { table.pattern(bomb); }) == limit);
  CHECK(error_of([&] { table.pattern(doubled); }) == limit);
  CHECK(error_of([&] { table.pattern(wide); }) == limit);
  CHECK(matches(table.get(table.pattern(harmless)), ""));
}

TEST_CASE("many large complements share one budget") {
  IrWriter writer;
  std::vector<uint32_t> parts;
  const uint32_t letters = writer.char_class({{'a', 'b'}});
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t head = writer.sequence({writer.repeat(letters, 0, kNone), writer.literal("a")});
    const uint32_t tail = writer.literal(std::to_string(i));
    parts.push_back(writer.complement(writer.sequence({head, writer.repeat(letters, 6, 6), tail})));
  }
  const uint32_t one = parts.front();
  const uint32_t all = writer.choice(parts);
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 200);
  CHECK(error_of([&] { table.pattern(one); }) == "none");
  CHECK(error_of([&] { table.pattern(all); }) == "lang-too-large max_lang_states");
}

TEST_CASE("a pattern that refers to itself is refused") {
  IrWriter writer;
  const uint32_t self = writer.sequence({writer.literal("a"), writer.ref(0)});
  CHECK(writer.rule("self", self) == 0);
  const uint32_t plain = writer.choice({writer.literal("b"), writer.ref(1)});
  CHECK(writer.rule("leaf", writer.literal("c")) == 1);
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 5000);
  CHECK(error_of([&] { table.pattern(self); }) == "lang-not-regular recursion in a string pattern");
  CHECK(matches(table.get(table.pattern(plain)), "c"));
}

TEST_CASE("complement ranges over all code points but surrogates") {
  IrWriter writer;
  const uint32_t expr = writer.complement(writer.literal("\xC3\xA9"));
  const uint32_t until = writer.text_until({"\xF0\x9F\x98\x80", "--"}, {"\xC3\xA9"});
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 5000);
  Lang& lang = table.get(table.pattern(expr));
  CHECK(matches(lang, ""));
  CHECK_FALSE(matches(lang, "\xC3\xA9"));
  CHECK(matches(lang, "\xC3\xA9\xC3\xA9"));
  CHECK(matches(lang, "\xF4\x8F\xBF\xBF"));
  CHECK(lang.move(lang.start(), 0xD800) == kDeadLang);
  CHECK(lang.move(lang.start(), 0xDFFF) == kDeadLang);
  CHECK(lang.move(lang.start(), 0xE000) != kDeadLang);
  Lang& text = table.get(table.pattern(until));
  CHECK(matches(text, "a-b--"));
  CHECK(matches(text, "a-\xF0\x9F\x98\x80"));
  CHECK_FALSE(matches(text, "a--b--"));
  CHECK_FALSE(matches(text, "\xC3\xA9--"));
}

TEST_CASE("code points that can't be spelled are not in any language") {
  IrWriter writer;
  const uint32_t any = writer.repeat(writer.any(), 0, kNone);
  const uint32_t accent = writer.literal("\xC3\xA9");
  const Ir ir = writer.finish();
  // Raw a, b; escapes \n and \" ; \u with the digits 0, 6 and 2 only.
  LangTable table(ir, only("ab\\n\"u062"), 5000);
  Lang& lang = table.get(table.pattern(any));
  for (const char* text : {"a", "b", "\n", "\"", "\\", "n", "u", "&", " ", "\x02", "f", "s"}) {
    CAPTURE(text);
    CHECK(matches(lang, text) == (text[0] != 's'));
  }
  CHECK_FALSE(matches(lang, "c"));  // 0063: no 3
  CHECK_FALSE(matches(lang, "\t"));
  CHECK_FALSE(matches(lang, "\xF0\x9F\x98\x80"));
  CHECK(matches(lang, "\xE6\x88\xA2"));  // 6222
  CHECK(table.get(table.pattern(accent)).start() == kDeadLang);
  CHECK(table.pattern(any) == table.any_text());

  LangTable raw(ir, only("a\xC3\xA9\""), 5000);
  CHECK(matches(raw.get(raw.any_text()), "a\xC3\xA9"));
  CHECK_FALSE(matches(raw.get(raw.any_text()), "\""));
  LangTable pair(ir, only("\\udc830"), 5000);  // \ud83d\udc80
  CHECK(matches(pair.get(pair.any_text()), "\xF0\x9F\x92\x80"));
  CHECK_FALSE(matches(pair.get(pair.any_text()), "\xF0\x9F\x92\x81"));
  LangTable none(ir, only(""), 5000);
  Lang& blank = none.get(none.any_text());
  CHECK(matches(blank, ""));
  CHECK(blank.arcs(blank.start()).empty());
}

TEST_CASE("equal languages are one") {
  IrWriter writer;
  const uint32_t first =
      writer.choice({writer.literal("ab"), writer.literal("a"), writer.literal("ab")});
  const uint32_t second = writer.literal_set({"a", "ab"});
  const uint32_t star = writer.repeat(writer.any(), 0, kNone);
  const uint32_t any = writer.sequence({star, star});
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 5000);
  const LangId id = table.pattern(first);
  CHECK(table.pattern(second) == id);
  CHECK(table.literals(std::vector<std::string>{"ab", "a", "ab"}) == id);
  CHECK(table.pattern(any) == table.any_text());
  CHECK(table.intersection(std::vector<LangId>{id, table.any_text(), id}) == id);
  CHECK(table.intersection(std::vector<LangId>{table.any_text()}) == table.any_text());
  const LangId dead = table.literals(std::vector<std::string>{"\xFF"});
  CHECK(table.get(dead).start() == kDeadLang);
  CHECK(table.intersection(std::vector<LangId>{id, dead}) == dead);
}

TEST_CASE("literal lists against a set") {
  std::mt19937 random(7);
  const Ir ir = nothing();
  for (int round = 0; round < 60; ++round) {
    const auto word = [&] {
      static const std::vector<std::string> letters{"a", "b", "\xC3\xA9", "\xF0\x9F\x98\x80"};
      std::string text;
      const std::size_t used = 1 + static_cast<std::size_t>(round) % 4;
      for (auto n = random() % 6; n > 0; --n) text += letters[random() % used];
      return text;
    };
    std::set<std::string> texts;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(round) * 3; ++i) texts.insert(word());
    LangTable table(ir, everything(), 5000);
    Lang& lang = table.get(table.literals(std::vector<std::string>(texts.begin(), texts.end())));
    std::size_t longest = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string prefix = word();
      std::set<std::size_t> lengths;  // of completions, in code points
      for (const std::string& text : texts) {
        std::vector<uint32_t> all;
        std::vector<uint32_t> head;
        decode_utf8(text, all);
        decode_utf8(prefix, head);
        longest = std::max(longest, all.size());
        if (text.starts_with(prefix)) lengths.insert(all.size() - head.size());
      }
      const uint32_t state = run_from(lang, lang.start(), prefix);
      REQUIRE((state == kDeadLang) == lengths.empty());
      if (state == kDeadLang) continue;
      REQUIRE(lang.accepts(state) == texts.contains(prefix));
      for (uint32_t min = 0; min < 7; ++min) {
        for (uint32_t max = 0; max < 7; ++max) {
          const auto found = lengths.lower_bound(min);
          REQUIRE(lang.can_finish(state, min, max) == (found != lengths.end() && *found <= max));
        }
        const bool longer = lengths.lower_bound(min) != lengths.end();
        REQUIRE(lang.can_finish(state, min, kUnbounded) == longer);
      }
      const auto arcs = lang.arcs(state);
      const std::vector<Lang::Arc> row(arcs.begin(), arcs.end());
      for (const Lang::Arc& arc : row) REQUIRE(lang.move(state, arc.lo) == arc.target);
      REQUIRE(lang.move(state, 'z') == kDeadLang);
    }
    REQUIRE(lang.length_horizon() == longest + 1);
  }
}

TEST_CASE("texts of a list are counted by their length in code points") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 1000);
  const LangId list =
      table.literals(std::vector<std::string>{"a", "bb", "\xC3\xA9\xC3\xA9", "cccc"});
  CHECK(table.num_listed(list, 0, kUnbounded) == 4);
  CHECK(table.num_listed(list, 2, 3) == 2);
  CHECK(table.num_listed(list, 5, 9) == 0);
  CHECK(!table.num_listed(table.any_text(), 0, 3).has_value());
}

TEST_CASE("a literal list filtered by other languages") {
  IrWriter writer;
  const uint32_t pattern =
      writer.sequence({writer.repeat(writer.any(), 0, kNone), writer.literal("7")});
  const Ir ir = writer.finish();
  LangTable table(ir, everything(), 5000);
  std::vector<std::string> texts;
  for (int i = 0; i < 50000; ++i) texts.push_back("item/" + std::to_string(i * 7919 % 50000));
  const LangId list = table.literals(texts);
  const LangId id = table.intersection(std::vector<LangId>{table.pattern(pattern), list});
  Lang& lang = table.get(id);
  CHECK(matches(lang, "item/49997"));
  CHECK_FALSE(matches(lang, "item/49998"));
  CHECK(lang.length_horizon() == 11);
  const LangId other = table.literals(std::vector<std::string>{"item/3", "item/8"});
  CHECK(table.get(table.intersection(std::vector<LangId>{id, other})).start() == kDeadLang);
}

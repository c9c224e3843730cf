// Number languages against exact arithmetic: all short texts, and all live prefixes.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "maskwright/json/strings.h"
#include "maskwright/support/error.h"
#include "number_lang_testing.h"

using namespace maskwright;
using maskwright::test::Comparison;
using maskwright::test::completion;
using maskwright::test::everything;
using maskwright::test::Fixture;
using maskwright::test::matches;
using maskwright::test::nothing;
using maskwright::test::walk;

TEST_CASE("numbers without a restriction have the JSON grammar") {
  Fixture fixture;
  Lang& any = fixture.lang({});
  for (const char* text : {"0", "-0", "10", "0.50", "1e5", "1E+05", "-1.5e-99999", "0e0"}) {
    CHECK(matches(any, text));
  }
  for (const char* text : {"", "-", "01", ".5", "5.", "+1", "1e", "1e+", "--1", "1.2.3", "1e5.0"}) {
    CHECK_FALSE(matches(any, text));
  }
  Comparison({}, any, "-01.e", 6).run();
}

TEST_CASE("random specifications, all short texts") {
  uint32_t accepted = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    test::Specs specs(seed);
    const NumberSpec spec = specs.next();
    CAPTURE(test::describe(spec));
    Fixture fixture;
    const std::string digits = seed % 3 == 0 ? "012" : (seed % 3 == 1 ? "057" : "139");
    Comparison comparison(spec, fixture.lang(spec), "-.e" + digits, 6);
    comparison.run();
    accepted += comparison.accepted();
  }
  CHECK(accepted > 10000);
}

TEST_CASE("numbers at the ends of the exponents") {
  uint32_t accepted = 0;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    test::Specs specs(seed + 1000);
    const NumberSpec spec = specs.next();
    CAPTURE(test::describe(spec));
    Fixture fixture;
    Lang& lang = fixture.lang(spec);
    for (int i = 0; i < 60; ++i) {
      const std::string text = specs.long_text();
      CAPTURE(text);
      const bool valid = test::satisfies(spec, text);
      REQUIRE(matches(lang, text) == valid);
      accepted += valid ? 1 : 0;
      const std::string begun = text.substr(0, text.find('e'));
      const uint32_t state = walk(lang, begun);
      if (state == kDeadLang) continue;
      REQUIRE(matches(lang, begun + completion(lang, state)));
    }
  }
  CHECK(accepted > 500);
}

TEST_CASE("conjunctions without any number are empty") {
  Fixture fixture;
  NumberSpec spec;
  spec.integer = true;
  spec.within = {test::between("0.2", "0.8")};
  CHECK(fixture.is_empty(spec));
  spec.integer = false;
  CHECK_FALSE(fixture.is_empty(spec));
  spec.multiples_of = {"3"};
  CHECK(fixture.is_empty(spec));
  spec.within = {test::between("1", "2")};
  CHECK(fixture.is_empty(spec));
  spec.within = {test::between("-1", "2")};
  CHECK_FALSE(fixture.is_empty(spec));
  spec.excluded = {"0"};
  CHECK(fixture.is_empty(spec));
  spec = {};
  spec.fractional = true;
  spec.multiples_of = {"0.5"};
  spec.within = {test::between("7", "8")};
  CHECK_FALSE(fixture.is_empty(spec));
  spec.excluded = {"7.5"};
  CHECK(fixture.is_empty(spec));
  spec = {};
  spec.multiples_of = {"6"};
  spec.not_multiples_of = {"3"};
  CHECK(fixture.is_empty(spec));
  spec.not_multiples_of = {"4"};
  CHECK_FALSE(fixture.is_empty(spec));
  spec.has_values = true;
  spec.values = {"5", "12"};
  CHECK(fixture.is_empty(spec));
  spec.values = {"6"};
  CHECK_FALSE(fixture.is_empty(spec));
}

TEST_CASE("bounds and divisors beyond machine numbers") {
  Fixture fixture;
  NumberSpec spec;
  spec.within = {test::between("9007199254740993", "9007199254740993")};
  CHECK(matches(fixture.lang(spec), "9007199254740993.0"));
  CHECK(matches(fixture.lang(spec), "9007199254740993000e-3"));
  CHECK_FALSE(matches(fixture.lang(spec), "9007199254740992"));
  const std::string huge = "1" + std::string(308, '0');
  spec = {};
  spec.multiples_of = {huge};
  CHECK(matches(fixture.lang(spec), "3e308"));
  CHECK(matches(fixture.lang(spec), "3.0E+308"));
  CHECK_FALSE(matches(fixture.lang(spec), "3e307"));
  CHECK(matches(fixture.lang(spec), "0"));
  CHECK_FALSE(matches(fixture.lang(spec), "3e401"));
  spec.multiples_of = {"0.00000001"};
  CHECK(matches(fixture.lang(spec), "12.00000001"));
  CHECK(matches(fixture.lang(spec), "1e-8"));
  CHECK_FALSE(matches(fixture.lang(spec), "1e-9"));
  spec.multiples_of = {"0.01"};
  CHECK(matches(fixture.lang(spec), "19.99"));
  CHECK(walk(fixture.lang(spec), "19.999") != kDeadLang);  // 19.999e1
  spec.multiples_of = {"0.123456789012345", "7"};
  CHECK_FALSE(fixture.is_empty(spec));
  spec.multiples_of = {"0.1234567890123457", "0.9876543210987653"};
  CHECK_THROWS_WITH_AS(fixture.table.number(spec),
                       doctest::Contains("more than 17 significant digits"), Error);
}

TEST_CASE("endless spellings stay alive, their states are few") {
  Fixture fixture;
  NumberSpec spec;
  spec.integer = true;
  spec.within = {test::between("0", "100")};
  Lang& lang = fixture.lang(spec);
  CHECK(matches(lang, "1." + std::string(5000, '0')));
  CHECK(matches(lang, "60e-1"));
  CHECK(matches(lang, "0." + std::string(250, '0') + "7e251"));
  CHECK(matches(lang, "7" + std::string(400, '0') + "e-400"));
  CHECK(matches(lang, "7e" + std::string(5000, '0')));
  CHECK(walk(lang, "7" + std::string(401, '0')) != kDeadLang);
  CHECK(walk(lang, "7" + std::string(403, '0')) == kDeadLang);
  CHECK(walk(lang, "123") == kDeadLang);
  // All two-digit numbers without a zero are one state.
  CHECK(walk(lang, "23") == walk(lang, "99"));
  CHECK(walk(lang, "7" + std::string(2, '0')) == walk(lang, "9" + std::string(2, '0')));
}

TEST_CASE("a search among multiples ends") {
  Fixture fixture;
  NumberSpec spec;
  spec.integer = true;
  spec.within = {test::between("1", "30000")};
  for (int i = 1; i < 30000; ++i) spec.excluded.push_back(std::to_string(i));
  CHECK(matches(fixture.lang(spec), "30000"));
  CHECK_FALSE(matches(fixture.lang(spec), "29999"));
  CHECK(walk(fixture.lang(spec), "2") == kDeadLang);
  spec.excluded.emplace_back("30000");
  CHECK(fixture.is_empty(spec));
  spec = {};
  spec.integer = true;
  spec.within = {test::between("90", "96")};
  spec.not_multiples_of = {"2", "3", "5", "7"};
  CHECK(fixture.is_empty(spec));
  spec.within = {test::between("90", "97")};
  CHECK(matches(fixture.lang(spec), "97"));
  // Neither 5 nor any of 50, 50.5, ..., 59.5, but 5.5.
  spec = {};
  spec.multiples_of = {"0.5"};
  spec.within = {test::between("1", "99")};
  spec.excluded = {"5"};
  for (int i = 50; i < 60; ++i) {
    spec.excluded.push_back(std::to_string(i));
    spec.excluded.push_back(std::to_string(i) + ".5");
  }
  CHECK(matches(fixture.lang(spec), "5.5"));
  CHECK(walk(fixture.lang(spec), "50") == kDeadLang);
}

TEST_CASE("equal specifications are one language") {
  Fixture fixture;
  NumberSpec a;
  a.has_values = true;
  a.values = {"2", "1", "2"};
  NumberSpec b = a;
  b.values = {"1", "2"};
  CHECK(fixture.table.number(a) == fixture.table.number(b));
  a = b = {};
  a.within = {test::between("1", "5"), test::between("0", "3")};
  b.within = {test::between("1", "3")};
  CHECK(fixture.table.number(a) == fixture.table.number(b));
  a.multiples_of = {"0.5", "2", "6"};
  b.multiples_of = {"6"};
  CHECK(fixture.table.number(a) == fixture.table.number(b));
}

TEST_CASE("canonical numbers") {
  for (const char* text : {"0", "-0", "0.000", "0e99999999999999999999", "-0.0E-1"}) {
    CHECK(canonical_number(text) == "0");
  }
  for (const char* text : {"125", "125.000", "1.25e2", "12500E-2", "0.00125e+00005"}) {
    CHECK(canonical_number(text) == "125e0");
  }
  CHECK(canonical_number("-20.5") == "-205e-1");
  CHECK(canonical_number("1000") == "1e3");
  const std::string nines(30, '9');
  CHECK(canonical_number("10e" + nines) == "1e1" + std::string(30, '0'));
  CHECK(canonical_number("0.1e1" + std::string(30, '0')) == "1e" + nines);
  CHECK(canonical_number("0.1e-" + nines) == "1e-1" + std::string(30, '0'));
  CHECK(canonical_number("10e-1" + std::string(30, '0')) == "1e-" + nines);
}

TEST_CASE("the values of a language") {
  Fixture fixture;
  const auto values = [&](const NumberSpec& spec, std::size_t limit) {
    return fixture.table.number_values(fixture.table.number(spec), limit);
  };
  using Texts = std::vector<std::string>;
  NumberSpec spec;
  CHECK_FALSE(values(spec, 10).has_value());
  spec.within = {test::between("-1", "2")};
  CHECK_FALSE(values(spec, 10).has_value());
  spec.integer = true;
  CHECK(values(spec, 4) == Texts{"0", "1e0", "2e0", "-1e0"});
  CHECK_FALSE(values(spec, 3).has_value());
  spec.excluded = {"1"};
  CHECK(values(spec, 3) == Texts{"0", "2e0", "-1e0"});
  spec.integer = false;
  spec.within = {test::between("0.5", "0.5")};
  CHECK(values(spec, 3) == Texts{"5e-1"});
  spec = {};
  spec.has_values = true;
  spec.values = {"10", "-3"};
  CHECK(values(spec, 2) == Texts{"1e1", "-3e0"});
  CHECK_FALSE(values(spec, 1).has_value());
}

TEST_CASE("number frames return the alternatives that accept") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 50000);
  Store store(128);
  const auto family = make_number_family(store, table);
  store.register_family(FamilyId::kNumber, *family);
  NumberSpec small;
  small.within = {test::at_most("3")};
  NumberSpec integer;
  integer.integer = true;
  NumberSpec impossible;
  impossible.has_values = true;
  const std::vector<NumberItem> items{
      {9, table.number(integer)}, {4, table.number(small)}, {5, table.number(impossible)}};
  const StateId start = family->start(items);
  REQUIRE(start != kDead);
  const auto accepted = [&](const std::string& text) {
    StateId state = start;
    for (const char c : text) {
      const Edge* edge = store.row(state).find(static_cast<uint8_t>(c));
      if (edge == nullptr) return std::vector<uint32_t>{};
      state = edge->target;
    }
    const auto set = store.set(store.state(state).accepts);
    return std::vector<uint32_t>(set.begin(), set.end());
  };
  using Ids = std::vector<uint32_t>;
  CHECK(accepted("3") == Ids{4, 9});
  CHECK(accepted("4") == Ids{9});
  CHECK(accepted("2.5") == Ids{4});
  CHECK(accepted("2.0") == Ids{4, 9});
  CHECK(accepted("-") == Ids{});
  CHECK(accepted("01") == Ids{});
  CHECK(accepted("4.5") == Ids{});
  CHECK(family->start(std::vector<NumberItem>{{5, table.number(impossible)}}) == kDead);
}

TEST_CASE("a number that can't go on only returns") {
  const Ir ir = nothing();
  std::array<bool, 256> bytes{};
  bytes['7'] = true;
  LangTable table(ir, bytes, 50000);
  Store store(128);
  const auto family = make_number_family(store, table);
  store.register_family(FamilyId::kNumber, *family);
  NumberSpec seven;
  seven.has_values = true;
  seven.values = {"7"};
  const StateId start = family->start(std::vector<NumberItem>{{1, table.number(seven)}});
  CHECK(store.state(start).flags == 0);
  const StateId end = store.row(start).find('7')->target;
  CHECK(store.state(end).flags == (kAccepts | kReturnOnly));
  CHECK(store.row(end).edges.empty());
}

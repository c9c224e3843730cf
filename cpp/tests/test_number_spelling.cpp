// Numbers in other spellings, and for vocabularies that lack some characters.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "json/decimal.h"
#include "maskwright/support/error.h"
#include "maskwright/support/stop_flag.h"
#include "number_lang_testing.h"

using namespace maskwright;
using maskwright::test::bytes_of;
using maskwright::test::Comparison;
using maskwright::test::Fixture;
using maskwright::test::matches;
using maskwright::test::walk;

TEST_CASE("random specifications in other spellings, all short texts") {
  uint32_t accepted = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    test::Specs specs(seed / 2);
    NumberSpec spec = specs.next();
    spec.spelling = seed % 2 == 0 ? NumberSpelling::kPlain : NumberSpelling::kDecimal;
    CAPTURE(test::describe(spec));
    const std::string digits = seed % 3 == 0 ? "0125" : (seed % 3 == 1 ? "057" : "0139");
    Fixture fixture;
    Comparison comparison(spec, fixture.lang(spec), "-.e" + digits, 6);
    comparison.run();
    accepted += comparison.accepted();
    Fixture lacking(bytes_of("-." + digits));
    Comparison(spec, lacking.lang(spec), "-." + digits, 5).run();
  }
  CHECK(accepted > 10000);
}

TEST_CASE("plain spelling is one spelling of each number") {
  Fixture fixture;
  NumberSpec spec;
  spec.spelling = NumberSpelling::kPlain;
  Lang& any = fixture.lang(spec);
  Comparison(spec, any, "-01.e", 7).run();
  for (const char* text : {"0", "10", "-0.5", "1000000000000000000000.000000000001"}) {
    CHECK(matches(any, text));
  }
  for (const char* text : {"-0", "1.0", "0.0", "-0.0", "1e5", "1E5", "0.50", "1."}) {
    CHECK_FALSE(matches(any, text));
  }
  CHECK(walk(any, "1.000") != kDeadLang);
  CHECK_FALSE(fixture.table.is_any_number(fixture.table.number(spec)));
  spec.spelling = NumberSpelling::kDecimal;
  CHECK_FALSE(fixture.table.is_any_number(fixture.table.number(spec)));
  CHECK(matches(fixture.lang(spec), "-1.50"));
  CHECK_FALSE(matches(fixture.lang(spec), "1e5"));
  spec.spelling = NumberSpelling::kPlain;
  spec.has_values = true;
  spec.values = {"1e300", "-25e-2"};
  CHECK(matches(fixture.lang(spec), "1" + std::string(300, '0')));
  CHECK(matches(fixture.lang(spec), "-0.25"));
  CHECK(walk(fixture.lang(spec), "1" + std::string(300, '0') + ".") == kDeadLang);
}

TEST_CASE("a zero of a plain fraction is written only if a number goes on with it") {
  Fixture fixture;
  NumberSpec spec;
  spec.spelling = NumberSpelling::kPlain;
  spec.multiples_of = {"0.1"};
  CHECK(walk(fixture.lang(spec), "1.0") == kDeadLang);
  CHECK(walk(fixture.lang(spec), "-0.0") == kDeadLang);
  spec.multiples_of = {"0.25"};
  CHECK(walk(fixture.lang(spec), "1.0") == kDeadLang);
  spec.multiples_of = {"0.01"};
  CHECK(walk(fixture.lang(spec), "1.0") != kDeadLang);
  spec.integer = true;
  CHECK(walk(fixture.lang(spec), "1.") == kDeadLang);
  spec = {};
  spec.spelling = NumberSpelling::kPlain;
  spec.within = {test::between("0.5", "0.5")};
  CHECK(walk(fixture.lang(spec), "0.") != kDeadLang);
  CHECK(walk(fixture.lang(spec), "0.50") == kDeadLang);
  spec.within = {test::between("1", "1.05")};
  CHECK(walk(fixture.lang(spec), "1.0") != kDeadLang);
  CHECK(walk(fixture.lang(spec), "1.1") == kDeadLang);
  spec.within = {test::between("0", "0")};
  CHECK(walk(fixture.lang(spec), "-") == kDeadLang);
  CHECK(matches(fixture.lang(spec), "0"));
}

TEST_CASE("plain numbers without some values, and among some") {
  Fixture fixture;
  NumberSpec spec;
  spec.spelling = NumberSpelling::kPlain;
  const LangId any = fixture.table.number(spec);
  const std::vector<std::string> one{"1"};
  const auto without = fixture.table.number_without(any, one);
  CHECK_FALSE(matches(*without, "1"));
  CHECK(matches(*without, "1.5"));
  CHECK_FALSE(matches(*without, "1.50"));
  const auto among = fixture.table.number_among(any, one);
  CHECK(matches(*among, "1"));
  CHECK(walk(*among, "1.") == kDeadLang);
  // Of decimals that are no integers 1.0 is one, also where it is alone.
  spec.spelling = NumberSpelling::kDecimal;
  const auto alone = fixture.table.number_among(fixture.table.number(spec), one);
  CHECK(matches(*alone, "1.0"));
  CHECK_FALSE(matches(*alone, "10e-1"));
}

TEST_CASE("vocabularies without some characters") {
  uint32_t refused = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    test::Specs specs(seed + 500);
    const NumberSpec spec = specs.next();
    CAPTURE(test::describe(spec));
    static const std::array<std::string, 6> alphabets{"-.e012", "0123456789", ".-0123456789",
                                                      "-e157",  "E3.0",       "0123456789.eE"};
    const std::string& chars = alphabets[seed % alphabets.size()];
    Fixture fixture(bytes_of(chars));
    try {
      Comparison(spec, fixture.lang(spec), chars, chars.size() > 10 ? 4 : 6).run();
    } catch (const Error& error) {
      REQUIRE(error.code() == "json-number-divisor");
      ++refused;
    }
  }
  CHECK(refused == 1);
}

// All vocabularies here lack some digit.
TEST_CASE("what can be spelled is known when a language is made, or it is refused") {
  const auto refuses = [](const NumberSpec& spec, const std::string& chars) {
    Fixture fixture(bytes_of(chars));
    try {
      fixture.table.number(spec);
    } catch (const Error& error) {
      return error.code() == "json-number-divisor";
    }
    return false;
  };
  NumberSpec spec;
  spec.spelling = NumberSpelling::kDecimal;
  spec.multiples_of = {"9970"};
  CHECK_FALSE(refuses(spec, "-.123456789"));
  spec.not_multiples_of = {"9967"};
  CHECK(refuses(spec, "-.123456789"));
  CHECK_FALSE(refuses(spec, "-.0123456789"));
  spec = {};
  spec.multiples_of = {"0.07"};
  spec.not_multiples_of = {"12"};
  spec.outside = {test::at_most("1e400")};
  CHECK(refuses(spec, "1346789.+e"));
  CHECK_FALSE(refuses(spec, "01346789.+e25"));
  spec = {};
  spec.integer = true;
  CHECK_FALSE(refuses(spec, "1346789.+e"));
  spec.multiples_of = {"32"};
  CHECK_FALSE(refuses(spec, "01346789.+-e"));
  spec.multiples_of = {"33"};
  CHECK(refuses(spec, "01346789.+-e"));
  spec.spelling = NumberSpelling::kDecimal;
  CHECK_FALSE(refuses(spec, "01346789.+-e"));
}

TEST_CASE("a search for what can be spelled stops when nobody waits for it") {
  StopFlag flag;
  flag.set();
  NumberSpec spec;
  spec.spelling = NumberSpelling::kDecimal;
  const StopScope scope(&flag);
  for (const char* divisor : {"3", "9967"}) {
    spec.multiples_of = {divisor};
    Fixture fixture(bytes_of("-.124"));
    CHECK_THROWS_WITH_AS(fixture.table.number(spec),
                         doctest::Contains("nobody waits for this compilation"), Error);
  }
}

TEST_CASE("integers need no point") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    test::Specs specs(seed + 900);
    NumberSpec spec = specs.next();
    spec.integer = true;
    CAPTURE(test::describe(spec));
    Fixture fixture(bytes_of("-0123456789e"));
    Comparison(spec, fixture.lang(spec), "-0123456789e", 4).run();
  }
}

// Number languages against comparison of padded digits, and number frames over bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "json/number_lang.h"
#include "maskwright/json/lang.h"
#include "maskwright/json/strings.h"

using namespace maskwright;

namespace {

std::array<bool, 256> everything() {
  std::array<bool, 256> result{};
  result.fill(true);
  return result;
}

Ir nothing() {
  test::IrWriter writer;
  writer.empty();
  return writer.finish();
}

bool matches(Lang& lang, const std::string& text) {
  uint32_t state = lang.start();
  for (const char c : text) {
    if (state == kDeadLang) return false;
    state = lang.move(state, static_cast<uint8_t>(c));
  }
  return state != kDeadLang && lang.accepts(state);
}

// Exact order by padding both magnitudes to one width: independent of the code under test.
int order(const std::string& a, const std::string& b) {
  const auto padded = [](std::string text) {
    if (text.front() == '-') text.erase(0, 1);
    std::size_t dot = text.find('.');
    if (dot == std::string::npos) {
      dot = text.size();
      text += ".";
    }
    return std::string(400 - dot, '0') + text + std::string(400 - (text.size() - dot), '0');
  };
  const std::string x = padded(a);
  const std::string y = padded(b);
  const bool zero = x.find_first_of("123456789") == std::string::npos &&
                    y.find_first_of("123456789") == std::string::npos;
  if (zero) return 0;
  const int sign_a = a.front() == '-' ? -1 : 1;
  const int sign_b = b.front() == '-' ? -1 : 1;
  if (sign_a != sign_b) return sign_a;
  return x == y ? 0 : (x < y ? -sign_a : sign_a);
}

// The JSON grammar of numbers by hand; `fraction`: the digits allowed behind the point.
bool has_grammar(const std::string& text, const std::string& fraction, bool exponents) {
  std::size_t at = 0;
  const auto skip = [&](const std::string& letters) {
    const std::size_t from = at;
    while (at < text.size() && letters.find(text[at]) != std::string::npos) ++at;
    return at - from;
  };
  const auto one = [&](const std::string& letters) {
    if (at == text.size() || letters.find(text[at]) == std::string::npos) return false;
    ++at;
    return true;
  };
  one("-");
  if (!one("0") && skip("0123456789") == 0) return false;
  if (one(".") && skip(fraction) == 0) return false;
  if (exponents && one("eE")) {
    one("+-");
    if (skip("0123456789") == 0) return false;
  }
  return at == text.size();
}

bool expected(const NumberSpec& spec, const std::string& text) {
  if (!has_grammar(text, spec.integer ? "0" : "0123456789", false)) return false;
  const int below = spec.has_lo ? order(text, spec.lo) : 1;
  const int above = spec.has_hi ? order(text, spec.hi) : -1;
  if (below < 0 || (below == 0 && spec.lo_exclusive)) return false;
  if (above > 0 || (above == 0 && spec.hi_exclusive)) return false;
  if (!spec.has_values) return true;
  return std::any_of(spec.values.begin(), spec.values.end(),
                     [&](const std::string& value) { return order(text, value) == 0; });
}

class Decimals {
 public:
  explicit Decimals(uint32_t seed) : random_(seed) {}
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  std::string digits(uint32_t count) {
    static const std::string few = "0159";
    std::string out;
    for (uint32_t i = 0; i < count; ++i) out += few[pick(4)];
    return out;
  }
  std::string text(uint32_t width) {
    std::string out = pick(3) == 0 ? "-" : "";
    out += pick(4) == 0 ? "0" : std::to_string(1 + pick(9)) + digits(pick(width + 1));
    if (pick(2) == 0) out += "." + digits(1 + pick(width + 1));
    return out;
  }
  // A text close to `base`: one digit changed, cut or extended.
  std::string near(std::string base) {
    const auto at = pick(static_cast<uint32_t>(base.size()));
    switch (pick(5)) {
      case 0: break;
      case 1:
        if (base[at] >= '0' && base[at] <= '9') base[at] = digits(1)[0];
        break;
      case 2: base = base.substr(0, at + 1); break;
      case 3: base = base.front() == '-' ? base.substr(1) : "-" + base; break;
      default: base += digits(1);
    }
    if (pick(3) == 0) base += base.find('.') == std::string::npos ? ".00" : "00";
    return base;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("numbers without a restriction have the JSON grammar") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 50000);
  Lang& any = table.get(table.number({}));
  NumberSpec integer;
  integer.integer = true;
  Lang& whole = table.get(table.number(integer));
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    static const std::string letters = "01.-+eE";
    std::string text;
    for (auto n = random() % 8; n > 0; --n) text += letters[random() % letters.size()];
    CAPTURE(text);
    REQUIRE(matches(any, text) == has_grammar(text, "0123456789", true));
    REQUIRE(matches(whole, text) == expected(integer, text));
  }
  CHECK(matches(whole, "-0"));
  CHECK(matches(whole, "12.000"));
}

TEST_CASE("bounds compare exactly") {
  const Ir ir = nothing();
  for (uint32_t seed = 0; seed < 700; ++seed) {
    Decimals decimals(seed);
    const uint32_t width = seed % 50 == 49 ? 150 : 1 + seed % 4;
    NumberSpec spec;
    spec.integer = decimals.pick(3) == 0;
    spec.has_lo = decimals.pick(3) != 0;
    spec.has_hi = !spec.has_lo || decimals.pick(2) == 0;
    spec.lo_exclusive = decimals.pick(2) == 0;
    spec.hi_exclusive = decimals.pick(2) == 0;
    if (spec.has_lo) spec.lo = langs::normalise_decimal(decimals.text(width));
    if (spec.has_hi) {
      const std::string hi = spec.has_lo && decimals.pick(2) == 0 ? spec.lo : decimals.text(width);
      spec.hi = langs::normalise_decimal(hi);
    }
    LangTable table(ir, everything(), 50000);
    Lang& lang = table.get(table.number(spec));
    CAPTURE(seed);
    CAPTURE(spec.lo);
    CAPTURE(spec.hi);
    CAPTURE(spec.integer);
    for (int i = 0; i < 60; ++i) {
      const uint32_t kind = decimals.pick(3);
      std::string text = decimals.text(width);
      if (kind == 1 && spec.has_lo) text = decimals.near(spec.lo);
      if (kind == 2 && spec.has_hi) text = decimals.near(spec.hi);
      CAPTURE(text);
      REQUIRE(matches(lang, text) == expected(spec, text));
    }
  }
}

TEST_CASE("bounds without any number between them are empty") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 50000);
  const auto empty = [&](bool integer, const char* lo, bool lo_exclusive, const char* hi,
                         bool hi_exclusive) {
    NumberSpec spec;
    spec.integer = integer;
    spec.has_lo = spec.has_hi = true;
    spec.lo = lo;
    spec.hi = hi;
    spec.lo_exclusive = lo_exclusive;
    spec.hi_exclusive = hi_exclusive;
    return table.get(table.number(spec)).start() == kDeadLang;
  };
  CHECK(empty(true, "0.2", false, "0.8", false));
  CHECK_FALSE(empty(false, "0.2", true, "0.8", true));
  CHECK(empty(false, "1", true, "1", false));
  CHECK_FALSE(empty(false, "1", false, "1", false));
  CHECK(empty(true, "-1", true, "0", true));
  CHECK_FALSE(empty(true, "-1", true, "0", false));
  CHECK(empty(false, "2", false, "1", false));
  CHECK_FALSE(empty(false, "0", true, "0.0000001", true));
}

TEST_CASE("values in every plain spelling") {
  const Ir ir = nothing();
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Decimals decimals(seed + 1000);
    NumberSpec spec;
    spec.has_values = true;
    for (uint32_t i = 0; i <= seed % 12; ++i) {
      const std::string value = decimals.pick(6) == 0 ? "0" : decimals.text(2);
      spec.values.push_back(langs::normalise_decimal(value));
    }
    spec.integer = decimals.pick(4) == 0;
    spec.has_lo = decimals.pick(4) == 0;
    if (spec.has_lo) spec.lo = "0.5";
    LangTable table(ir, everything(), 50000);
    Lang& lang = table.get(table.number(spec));
    bool none = true;
    for (int i = 0; i < 80; ++i) {
      const auto index = decimals.pick(static_cast<uint32_t>(spec.values.size()));
      const std::string& value = spec.values[index];
      const std::string text = decimals.near(value);
      CAPTURE(text);
      REQUIRE(matches(lang, text) == expected(spec, text));
    }
    for (const std::string& value : spec.values) none = none && !expected(spec, value);
    REQUIRE((lang.start() == kDeadLang) == none);
  }
}

TEST_CASE("equal specifications are one language, spelling cuts") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 50000);
  NumberSpec a;
  a.has_values = true;
  a.values = {"2", "1", "2"};
  NumberSpec b = a;
  b.values = {"1", "2"};
  b.lo = "ignored without has_lo";
  CHECK(table.number(a) == table.number(b));
  std::array<bool, 256> bytes{};
  for (const char c : {'1', '.', '-'}) bytes[static_cast<uint8_t>(c)] = true;
  LangTable poor(ir, bytes, 50000);
  Lang& ones = poor.get(poor.number({}));
  CHECK(matches(ones, "-11.1"));
  CHECK_FALSE(matches(ones, "0"));
  NumberSpec integer;
  integer.integer = true;
  Lang& whole = poor.get(poor.number(integer));
  CHECK(matches(whole, "11"));
  CHECK(whole.move(whole.move(whole.start(), '1'), '.') == kDeadLang);
}

TEST_CASE("number frames return the alternatives that accept") {
  const Ir ir = nothing();
  LangTable table(ir, everything(), 50000);
  Store store(128);
  const auto family = make_number_family(store, table);
  store.register_family(FamilyId::kNumber, *family);
  NumberSpec small;
  small.has_hi = true;
  small.hi = "3";
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

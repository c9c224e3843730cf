// The values of number texts, and what they may go on to.
#include <doctest/doctest.h>

#include <string_view>

#include "json/number_reader.h"

namespace maskwright {

namespace {

NumberReader read(std::string_view text, RegisterPool& regs) {
  NumberReader reader;
  for (const char c : text) reader.read(static_cast<uint8_t>(c), regs);
  return reader;
}

ValueId value(std::string_view text, RegisterPool& regs) { return read(text, regs).value(regs); }

TEST_CASE("equal numbers have one value") {
  RegisterPool regs;
  for (const std::string_view text : {"120", "120.0", "1.2e2", "0.0012E+05", "12000e-2"}) {
    CHECK(value(text, regs) == value("12e1", regs));
  }
  for (const std::string_view text : {"0", "-0", "0.00", "0e17", "-0.0e-3"}) {
    CHECK(value(text, regs) == value("0", regs));
  }
  CHECK(value("1e99999999999999999999", regs) == value("10e99999999999999999998", regs));
  CHECK(value("1e-99999999999999999999", regs) == value("0.1e-99999999999999999998", regs));
}

TEST_CASE("different numbers have different values") {
  RegisterPool regs;
  CHECK(value("1", regs) != value("-1", regs));
  CHECK(value("1", regs) != value("10", regs));
  CHECK(value("1.01", regs) != value("1.1", regs));
  CHECK(value("0.1", regs) != value("0.01", regs));
  CHECK(value("1e99999999999999999999", regs) != value("1e99999999999999999998", regs));
}

TEST_CASE("a text may become what its digits allow") {
  RegisterPool regs;
  const ValueId number = value("1205", regs);
  for (const std::string_view text :
       {"", "0", "0.00", "1", "12", "1.2", "1205.00", "1205e", "12050"}) {
    CHECK(read(text, regs).may_become(number, regs));
  }
  for (const std::string_view text : {"-", "2", "13", "1200", "12051", "12e", "0e"}) {
    CHECK(!read(text, regs).may_become(number, regs));
  }
  CHECK(read("12", regs).may_become(number, regs, 0));
  CHECK(!read("12", regs).may_become(number, regs, 5));
  CHECK(read("120", regs).may_become(number, regs, 5));
  CHECK(read("0.", regs).may_become(number, regs, 0));
  CHECK(!read("0.", regs).may_become(number, regs, 2));
  CHECK(read("0e", regs).may_become(value("0", regs), regs));
  CHECK(!read("1", regs).may_become(value("0", regs), regs));
}

TEST_CASE("numbers are spelled for the languages") {
  RegisterPool regs;
  CHECK(number_text(value("-0.5", regs), regs) == "-5e-1");
  CHECK(number_text(value("1200", regs), regs) == "12e2");
  CHECK(number_text(value("0", regs), regs) == "0");
  CHECK(!number_text(value("1e99999999999999999999", regs), regs).has_value());
}

}  // namespace
}  // namespace maskwright

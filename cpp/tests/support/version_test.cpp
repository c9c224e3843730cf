// Tests of cpp/include/maskwright/support/version.h.
#include "maskwright/support/version.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

TEST_CASE("the engine version has the form major.minor.patch") {
  const std::string_view version = maskwright::engine_version();
  REQUIRE_FALSE(version.empty());
  CHECK(version.front() >= '0');
  CHECK(version.front() <= '9');
  CHECK(std::count(version.begin(), version.end(), '.') >= 2);
}

// Entry point of the C++ tests. Every other file in this folder only defines test cases.
//
//   maskwright_tests [--stress-steps=N] [doctest's own arguments]
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "stress_steps.h"

int main(int count, char** arguments) {
  constexpr std::string_view kSteps = "--stress-steps=";
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with(kSteps)) continue;
    maskwright::test::stress_steps = std::stoull(std::string(argument.substr(kSteps.size())));
  }
  return doctest::Context(count, arguments).run();
}

// Entry point of the C++ tests. Every other file in this folder only defines test cases.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

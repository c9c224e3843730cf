// The library version, compiled in from pyproject.toml by the build.
#include "maskwright/support/version.h"

#ifndef MASKWRIGHT_VERSION
#error "MASKWRIGHT_VERSION is not defined; build through CMakeLists.txt"
#endif

namespace maskwright {

std::string_view engine_version() noexcept { return MASKWRIGHT_VERSION; }

}  // namespace maskwright

// The release of the engine: SemVer, the same text as the Python package. The IR buffer has a
// version number of its own (ir/ir.h), because most releases do not change the buffer.
#pragma once

#include <string_view>

namespace maskwright {

// Release of the engine, for example "0.1.0". The text lives as long as the program.
std::string_view engine_version() noexcept;

}  // namespace maskwright

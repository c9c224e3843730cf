// Version numbers of the engine.
//
// Two independent numbers: the release of the library (SemVer, the same text as the Python
// package) and the version of the IR buffer that it reads. The second one is an integer of its
// own, because most releases do not change the buffer.
#ifndef MASKWRIGHT_VERSION_H_
#define MASKWRIGHT_VERSION_H_

#include <cstdint>
#include <string_view>

namespace maskwright {

// Version of the IR buffer format that this engine accepts.
inline constexpr std::uint32_t kIrFormatVersion = 1;

// Release of the library, for example "0.1.0". The text lives as long as the program.
std::string_view library_version() noexcept;

}  // namespace maskwright

#endif  // MASKWRIGHT_VERSION_H_

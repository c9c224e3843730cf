// The envelope of stored bytes: says what they are before anything in them is read.
//
//   offset  size
//        0     8  magic
//        8     4  byte order: 01 02 03 04 read as a word
//       12     4  format version
//       16     8  length of all, in bytes
//       24    32  fingerprint of the vocabulary
//       56     8  checksum of all but itself; against damage, not against intent
//       64        body
//
// Everything is little-endian, whatever the machine. Magic, byte order and version have their place
// in every version.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maskwright/serialize/stored_grammar.h"

namespace maskwright {

inline constexpr std::size_t kEnvelopeBytes = 64;

std::vector<std::byte> seal(std::span<const std::byte> body, const Fingerprint& fingerprint,
                            uint32_t version);

struct Opened {
  uint32_t version;
  std::span<const std::byte> body;
};
// Raises kStoredFormat and kStoredVersion.
Opened open_envelope(std::span<const std::byte> bytes, const Fingerprint& fingerprint);

}  // namespace maskwright

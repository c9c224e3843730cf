#include "serialize/envelope.h"

#include <algorithm>
#include <array>
#include <string>

#include "maskwright/support/error.h"
#include "serialize/bytes.h"

namespace maskwright {

namespace {

// A byte above 0x7F and both line ends, so that a transfer as text shows.
constexpr std::array<uint8_t, 8> kMagic{0x8D, 'M', 'W', 'C', 'G', '\r', '\n', '\n'};
constexpr uint32_t kByteOrder = 0x04030201;
constexpr std::size_t kVersionEnd = 16;
constexpr std::size_t kChecksumAt = 56;

// Every step can be undone, so damage within eight bytes always shows.
uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](std::span<const std::byte> part) {
    for (; !part.empty(); part = part.subspan(std::min<std::size_t>(part.size(), 8))) {
      uint64_t word = 0;
      const std::size_t size = std::min<std::size_t>(part.size(), 8);
      for (std::size_t i = 0; i < size; ++i) word |= static_cast<uint64_t>(part[i]) << 8 * i;
      hash = (hash ^ word) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    }
  };
  add(bytes.first(kChecksumAt));
  add(bytes.subspan(kEnvelopeBytes));
  return hash;
}

// Returns the version.
uint32_t check_kind(ByteReader& reader) {
  const auto same = [](uint8_t a, std::byte b) { return static_cast<std::byte>(a) == b; };
  if (reader.left() < kVersionEnd ||
      !std::ranges::equal(kMagic, reader.bytes(kMagic.size()), same)) {
    throw Error::stored("their magic number is missing", "deserialize-magic");
  }
  if (reader.word() != kByteOrder) {
    throw Error::stored("their byte order is another one, expected little-endian",
                        "deserialize-byte-order");
  }
  const uint32_t version = reader.word();
  if (version != kStoredVersion && version != kStoredMasksVersion) {
    throw Error(ErrorKind::kStoredVersion, "deserialize-version",
                "the stored grammar has format version " + std::to_string(version) + ", expected " +
                    std::to_string(kStoredVersion) + " or " + std::to_string(kStoredMasksVersion) +
                    ": compile the grammar again with this version of Maskwright");
  }
  return version;
}

}  // namespace

std::vector<std::byte> seal(std::span<const std::byte> body, const Fingerprint& fingerprint,
                            uint32_t version) {
  ByteWriter writer;
  writer.written().reserve(kEnvelopeBytes + body.size());
  writer.bytes(std::as_bytes(std::span(kMagic)));
  writer.word(kByteOrder);
  writer.word(version);
  writer.long_word(kEnvelopeBytes + body.size());
  writer.bytes(fingerprint);
  writer.long_word(0);
  writer.bytes(body);
  ByteWriter sum;
  sum.long_word(checksum(writer.written()));
  std::ranges::copy(sum.written(), writer.written().begin() + kChecksumAt);
  return std::move(writer.written());
}

Opened open_envelope(std::span<const std::byte> bytes, const Fingerprint& fingerprint) {
  ByteReader reader(bytes);
  const uint32_t version = check_kind(reader);
  const bool whole = bytes.size() >= kEnvelopeBytes;
  if (const uint64_t length = whole ? reader.long_word() : 0; !whole || length != bytes.size()) {
    throw Error::stored("there are " + std::to_string(bytes.size()) + " of them, expected " +
                            (whole ? std::to_string(length) : "a header of 64 at least"),
                        "deserialize-length");
  }
  const auto vocabulary = reader.bytes(fingerprint.size());
  if (reader.long_word() != checksum(bytes)) {
    throw Error::stored("their checksum is wrong: they were damaged", "deserialize-checksum");
  }
  if (!std::ranges::equal(vocabulary, fingerprint)) {
    throw Error::stored("it is of another vocabulary than the one that it is loaded for",
                        "deserialize-vocabulary");
  }
  return {version, bytes.subspan(kEnvelopeBytes)};
}

}  // namespace maskwright

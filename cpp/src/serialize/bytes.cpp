#include "serialize/bytes.h"

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

uint32_t word_of(std::span<const std::byte> part) {
  uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(part[i]) << 8 * i;
  return value;
}

}  // namespace

void ByteReader::fail(const std::string& what) const {
  throw Error::stored(std::string("its ") + part_ + ", at byte " + std::to_string(at_) + ": " +
                      what);
}

std::span<const std::byte> ByteReader::bytes(std::size_t size) {
  if (size > left()) fail("the bytes end in the middle of it");
  const auto part = bytes_.subspan(at_, size);
  at_ += size;
  return part;
}

uint32_t ByteReader::word() { return word_of(bytes(4)); }

std::vector<uint32_t> ByteReader::words(std::size_t number) {
  if (number > left() / 4) fail("the bytes end in the middle of it");
  const auto part = bytes(4 * number);
  std::vector<uint32_t> values(number);
  for (std::size_t i = 0; i < number; ++i) values[i] = word_of(part.subspan(4 * i, 4));
  return values;
}

uint64_t ByteReader::long_word() {
  const uint64_t low = word();
  return uint64_t{word()} << 32 | low;
}

uint32_t ByteReader::word_up_to(uint32_t most, const char* name) {
  const uint32_t value = word();
  if (value > most) {
    fail(std::string("its ") + name + " is " + std::to_string(value) + ", expected at most " +
         std::to_string(most));
  }
  return value;
}

uint32_t ByteReader::count(std::size_t bytes_each, const char* name) {
  const uint32_t value = word();
  if (value > left() / bytes_each) {
    fail(std::string("it has ") + std::to_string(value) + " " + name + ", and only " +
         std::to_string(left()) + " bytes follow");
  }
  return value;
}

}  // namespace maskwright

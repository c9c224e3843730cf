// Little-endian words and byte strings, written to a vector and read back with checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace maskwright {

class ByteWriter {
 public:
  void word(uint32_t value) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xFFU));
    }
  }
  void long_word(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }
  void bytes(std::span<const std::byte> text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  // With its length before it.
  void counted(std::span<const std::byte> text) {
    word(static_cast<uint32_t>(text.size()));
    bytes(text);
  }
  void words(std::span<const uint32_t> values) {
    bytes_.reserve(bytes_.size() + 4 * values.size());
    for (const uint32_t value : values) word(value);
  }
  // With their number before them.
  void counted_words(std::span<const uint32_t> values) {
    word(static_cast<uint32_t>(values.size()));
    words(values);
  }
  std::vector<std::byte>& written() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Every read is checked against the end; fail() names the place.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // What is being read, for messages.
  void begin(const char* part) { part_ = part; }
  std::size_t position() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  uint32_t word();
  uint64_t long_word();
  uint32_t word_up_to(uint32_t most, const char* name);
  // A number of items of so many bytes or more; all of them are there.
  uint32_t count(std::size_t bytes_each, const char* name);
  std::span<const std::byte> bytes(std::size_t size);
  std::span<const std::byte> counted() { return bytes(count(1, "bytes")); }
  std::vector<uint32_t> words(std::size_t number);
  std::vector<uint32_t> counted_words(const char* name) { return words(count(4, name)); }
  // Raises kStoredFormat: the part, the place and what is wrong.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  const char* part_ = "header";
};

}  // namespace maskwright

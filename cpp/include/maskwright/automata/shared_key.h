// What decides a mask whatever grammar it is of, in words: the content of states with nothing in it
// that is numbered by one grammar. Callees are numbered in the order of their first use.
//
// Who appends something of variable length says how much it is, so that different contents never
// give the same words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class SharedKey {
 public:
  // Masks of states that need more are not shared: to describe and compare them would cost as much
  // as a walk.
  static constexpr std::size_t kMaxWords = 1024;
  static constexpr std::size_t kMaxCallees = 64;

  void clear() {
    words_.clear();
    callees_.clear();
    open_.clear();
  }
  void add(uint32_t word) { words_.push_back(word); }
  void add(std::span<const uint32_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  // With its length.
  void add_text(std::string_view text) {
    words_.push_back(static_cast<uint32_t>(text.size()));
    for (const char unit : text) words_.push_back(static_cast<uint8_t>(unit));
  }
  void add_callee(uint32_t callee) { words_.push_back(number(callee)); }
  // With their number.
  void add_callees(std::span<const uint32_t> callees) {
    words_.push_back(static_cast<uint32_t>(callees.size()));
    for (const uint32_t callee : callees) add_callee(callee);
  }
  // What is said from here on to close() is about a state that may come again inside of it. False
  // if that is being said already: then this says which one it is.
  bool open(uint32_t state) {
    const auto at = static_cast<std::size_t>(std::ranges::find(open_, state) - open_.begin());
    words_.push_back(at == open_.size() ? 0 : static_cast<uint32_t>(at) + 1);
    if (at != open_.size()) return false;
    open_.push_back(state);
    return true;
  }
  void close() { open_.pop_back(); }
  bool fits() const { return words_.size() <= kMaxWords && callees_.size() <= kMaxCallees; }

  std::span<const uint32_t> words() const { return words_; }
  // By number.
  std::span<const uint32_t> callees() const { return callees_; }
  // callees().size() if it has none.
  uint32_t find(uint32_t callee) const {
    return static_cast<uint32_t>(std::ranges::find(callees_, callee) - callees_.begin());
  }
  std::size_t memory_bytes() const { return heap_bytes(words_, callees_, open_); }

 private:
  uint32_t number(uint32_t callee) {
    const uint32_t found = find(callee);
    if (found == callees_.size()) callees_.push_back(callee);
    return found;
  }

  std::vector<uint32_t> words_;
  std::vector<uint32_t> callees_;
  std::vector<uint32_t> open_;
};

}  // namespace maskwright

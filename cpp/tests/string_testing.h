// What the tests of JSON strings and names share: a plain decoder, a walker over one frame,
// exhaustive exploration, and small languages made from tables.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"

namespace maskwright::testing {

using CodePoints = std::vector<uint32_t>;

// The code points of `text`, which is the inside of a JSON string and its closing quote, by the
// letter of the RFCs; nothing if it is anything else.
std::optional<CodePoints> decode_json(std::string_view text);
std::string encode_utf8(uint32_t code_point);

struct Place {
  StateId state = kDead;
  Reg reg = 0;
  auto operator<=>(const Place&) const = default;
};

// One frame, without a stack.
class Walker {
 public:
  Walker(Store& store, RegisterPool& regs) : store_(store), regs_(regs) {}

  Place step(Place at, uint8_t byte);
  Place walk(Place at, std::string_view text);
  // The set that a frame at its end returns; nothing if it is not at its end.
  std::optional<std::vector<uint32_t>> returned(Place at) const;
  // All places that can be reached, by every byte.
  std::vector<Place> reachable(Place from, std::size_t limit);
  // How many of these cannot reach the end of the frame.
  std::size_t dead_ends(const std::vector<Place>& places);
  // Do both places do the same for all texts of at most `depth` bytes of the alphabet?
  bool same(Place a, Place b, std::string_view alphabet, unsigned depth);

 private:
  Store& store_;
  RegisterPool& regs_;
};

// A language from a table. The possible lengths are counted up to 80 code points.
class TableTestLang final : public Lang {
 public:
  TableTestLang(std::vector<std::vector<Arc>> arcs, std::vector<bool> accepting, uint32_t horizon);

  uint32_t start() override { return 0; }
  std::span<const Arc> arcs(uint32_t state) override { return arcs_[state]; }
  bool accepts(uint32_t state) override { return accepting_[state]; }
  bool can_finish(uint32_t state, uint32_t min, uint32_t max) override;
  uint32_t length_horizon() override { return horizon_; }
  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(arcs_, accepting_, lengths_);
  }

 private:
  static constexpr uint32_t kLongest = 80;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<bool> accepting_;
  uint32_t horizon_;
  std::vector<std::array<bool, kLongest + 1>> lengths_;
};

std::unique_ptr<Lang> any_lang();
std::unique_ptr<Lang> class_star_lang(std::vector<std::pair<uint32_t, uint32_t>> ranges);
std::unique_ptr<Lang> class_plus_lang(std::vector<std::pair<uint32_t, uint32_t>> ranges);
std::unique_ptr<Lang> literal_lang(const CodePoints& text);
std::unique_ptr<Lang> even_lang();  // an even number of code points: no horizon
// (x y)* with x in the ASCII letters and y beyond U+FFFF or a digit, then perhaps one more x.
std::unique_ptr<Lang> zigzag_lang();
// Digits, then "aaaaa": the shortest way out is long, so the horizon is 6.
std::unique_ptr<Lang> long_tail_lang();
// Digits, then 'a' and at most two more: the longest way out is short, so the horizon is 3.
std::unique_ptr<Lang> short_tail_lang();

// Calls `visit` with every sequence of at most `length` parts.
void for_each_sequence(const std::vector<std::string>& parts, unsigned length,
                       const std::function<void(const std::string&)>& visit);

}  // namespace maskwright::testing

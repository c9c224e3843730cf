// Which bytes lead a state back to itself (Store::free_run). Read off the rows: ASCII bytes with an
// edge to the state, and all other code points if the UTF-8 encodings of every range of them do.

#include "maskwright/automata/store.h"

namespace maskwright {

namespace {

struct ByteRange {
  uint8_t lo, hi;
};

// The encodings of U+0080 to U+10FFFF without surrogates (RFC 3629, section 4).
constexpr std::array<std::array<ByteRange, 4>, 8> kEncodings{{
    {{{0xC2, 0xDF}, {0x80, 0xBF}}},
    {{{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}}},
    {{{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {{{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}}},
    {{{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {{{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {{{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {{{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}}},
}};

}  // namespace

// The one state that all bytes of the range lead to; kDead if there is none.
StateId Store::follow(StateId from, uint8_t lo, uint8_t hi) {
  const Edge* edge = row(from).find(lo);
  if (edge == nullptr || edge->hi < hi) return kDead;
  return family(states_[from].family).unhindered(*edge);
}

const FreeRun& Store::find_free_run(StateId id) {
  auto run = std::make_unique<FreeRun>();
  Family& own = family(states_[id].family);
  for (const Edge& edge : row(id).edges) {
    if (own.unhindered(edge) != id) continue;
    for (uint32_t byte = edge.lo; byte <= edge.hi && byte < 0x80; ++byte) {
      run->ascii[byte / 64] |= uint64_t{1} << byte % 64;
    }
  }
  run->utf8 = true;
  for (const auto& encoding : kEncodings) {
    StateId state = id;
    for (const ByteRange& range : encoding) {
      if (range.lo == 0 || state == kDead) break;
      state = follow(state, range.lo, range.hi);
    }
    run->utf8 = run->utf8 && state == id;
  }
  free_runs_.push_back(std::move(run));
  states_[id].free_run = free_runs_.back().get();
  return *free_runs_.back();
}

}  // namespace maskwright

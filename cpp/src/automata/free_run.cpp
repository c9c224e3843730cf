// Which bytes lead a state back to itself (Store::free_run). Read off the rows: ASCII bytes with an
// edge to the state, and all other code points if the UTF-8 encodings of every range of them do.

#include <algorithm>

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

// Follows the encodings of all code points beyond ASCII. Returns whether they lead back;
// `exactly`: whether no other bytes are read on the way.
bool Store::follow_utf8(StateId id, bool& exactly) {
  uint32_t leads = 0;
  for (const auto& encoding : kEncodings) {
    StateId state = id;
    for (const ByteRange& range : encoding) {
      if (range.lo == 0) break;
      if (state != id) {
        const std::span<const Edge> edges = row(state).edges;
        exactly = exactly && edges.size() == 1 && edges[0].lo == range.lo &&
                  edges[0].hi == range.hi && (states_[state].flags & kNotPlain) == 0;
      }
      state = follow(state, range.lo, range.hi);
      if (state == kDead) return false;
    }
    if (state != id) return false;
    leads += encoding[0].hi - encoding[0].lo + 1U;
  }
  uint32_t read = 0;
  for (const Edge& edge : row(id).edges) {
    if (edge.hi >= 0x80) read += edge.hi - std::max<uint32_t>(edge.lo, 0x80) + 1;
  }
  exactly = exactly && read == leads;
  return true;
}

const FreeRun& Store::find_free_run(StateId id) {
  auto run = std::make_unique<FreeRun>();
  Family& own = family(states_[id].family);
  run->others_known = (states_[id].flags & kNotPlain) == 0;
  run->text.escapes = own.reads_escapes(id);
  // What is read by its escape leads back as it is, too.
  run->text.beyond_ascii = run->text.escapes || follow_utf8(id, run->others_known);
  for (const Edge& edge : row(id).edges) {
    const bool back = own.unhindered(edge) == id;
    for (uint32_t value = edge.lo; value <= edge.hi; ++value) {
      const auto byte = static_cast<uint8_t>(value);
      if (back && byte < 0x80) {
        run->text.add(byte);
      } else if (byte < 0x80 || !run->text.beyond_ascii) {
        run->others.add(byte);
      }
    }
  }
  if (run->text.escapes) run->others.remove('\\');
  free_runs_.push_back(std::move(run));
  states_[id].free_run = free_runs_.back().get();
  return *free_runs_.back();
}

}  // namespace maskwright

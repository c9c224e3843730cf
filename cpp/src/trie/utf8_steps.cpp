#include "trie/utf8_steps.h"

namespace maskwright {

namespace {

bool within(uint8_t byte, uint8_t lo, uint8_t hi) { return byte >= lo && byte <= hi; }

Utf8State after_lead(uint8_t byte) {
  if (byte < 0x80) return kBoundary;
  if (within(byte, 0xC2, 0xDF)) return kOne;
  if (byte == 0xE0) return kAfterE0;
  if (byte == 0xED) return kAfterED;
  if (within(byte, 0xE1, 0xEF)) return kTwo;
  if (byte == 0xF0) return kAfterF0;
  if (byte == 0xF4) return kAfterF4;
  return within(byte, 0xF1, 0xF3) ? kThree : kDeadUtf8;
}

}  // namespace

Utf8State utf8_step(Utf8State state, uint8_t byte) {
  const bool continuation = within(byte, 0x80, 0xBF);
  switch (state) {
    case kBoundary: return after_lead(byte);
    case kOne: return continuation ? kBoundary : kDeadUtf8;
    case kTwo: return continuation ? kOne : kDeadUtf8;
    case kThree: return continuation ? kTwo : kDeadUtf8;
    case kAfterE0: return within(byte, 0xA0, 0xBF) ? kOne : kDeadUtf8;
    case kAfterED: return within(byte, 0x80, 0x9F) ? kOne : kDeadUtf8;
    case kAfterF0: return within(byte, 0x90, 0xBF) ? kTwo : kDeadUtf8;
    case kAfterF4: return within(byte, 0x80, 0x8F) ? kTwo : kDeadUtf8;
    case kDeadUtf8: break;
  }
  return kDeadUtf8;
}

}  // namespace maskwright

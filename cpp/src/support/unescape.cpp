#include "support/unescape.h"

namespace maskwright {

namespace {

constexpr uint32_t kPlane1 = 0x10000;

Reach prefix(uint32_t value, unsigned bits, uint32_t base = 0) {
  return {{base + (value << bits), base + ((value + 1) << bits) - 1}};
}

class Steps {
 public:
  explicit Steps(std::vector<SpellingStep>& out) : out_(out) {}

  void one(uint32_t byte, Spelling next, uint32_t value) {
    out_.push_back({static_cast<uint8_t>(byte), 0, next, value});
  }
  // The bytes lo..hi; the value gets the bits of the byte below `mask`.
  void bytes(uint32_t lo, uint32_t hi, uint32_t mask, Spelling next, uint32_t high_bits = 0) {
    for (uint32_t byte = lo; byte <= hi; ++byte) one(byte, next, high_bits | (byte & mask));
  }
  // The hex digits lo..hi; `value` is that of digit lo and grows with the digit.
  void digits(uint32_t lo, uint32_t hi, Spelling next, uint32_t value) {
    for (uint32_t digit = lo; digit <= hi; ++digit, ++value) {
      const uint32_t byte = digit < 10 ? '0' + digit : 'a' + digit - 10;
      const uint32_t twin = digit < 10 ? 0 : 'A' + digit - 10;
      out_.push_back({static_cast<uint8_t>(byte), static_cast<uint8_t>(twin), next, value});
    }
  }

 private:
  std::vector<SpellingStep>& out_;
};

void between_steps(Steps steps) {
  for (uint32_t byte = 0x20; byte < 0x80; ++byte) {
    if (byte != '"' && byte != '\\') steps.one(byte, Spelling::kBetween, byte);
  }
  steps.bytes(0xC2, 0xDF, 0x1F, Spelling::kTail1);
  steps.one(0xE0, Spelling::kTailE0, 0);
  steps.bytes(0xE1, 0xEC, 0x0F, Spelling::kTail2);
  steps.one(0xED, Spelling::kTailED, 0);
  steps.bytes(0xEE, 0xEF, 0x0F, Spelling::kTail2);
  steps.one(0xF0, Spelling::kTailF0, 0);
  steps.bytes(0xF1, 0xF3, 0x07, Spelling::kTail3);
  steps.one(0xF4, Spelling::kTailF4, 0);
  steps.one('\\', Spelling::kEscape, 0);
}

void escape_steps(Steps steps) {
  for (const auto& [letter, code_point] : kShortEscapes) {
    steps.one(static_cast<uint8_t>(letter), Spelling::kBetween, code_point);
  }
  steps.one('u', Spelling::kHex4, 0);
}

}  // namespace

Reach reach(Spelling spelling, uint32_t value) {
  switch (spelling) {
    case Spelling::kBetween: return {{value, value}};
    case Spelling::kHexD: return {{0xD000, 0xD7FF}, {kPlane1, 0x10FFFF}};
    case Spelling::kHex3: return prefix(value, 12);
    case Spelling::kHex2: return prefix(value, 8);
    case Spelling::kHex1: return prefix(value, 4);
    case Spelling::kHigh2: return prefix(value, 18, kPlane1);
    case Spelling::kHigh1: return prefix(value, 14, kPlane1);
    case Spelling::kPair:
    case Spelling::kPairEscape:
    case Spelling::kPairHex4:
    case Spelling::kPairHexD: return prefix(value, 10, kPlane1);
    case Spelling::kTail1: return prefix(value, 6);
    case Spelling::kTail2: return prefix(value, 12);
    case Spelling::kTail3: return prefix(value, 18);
    case Spelling::kTailE0: return {{0x800, 0xFFF}};
    case Spelling::kTailED: return {{0xD000, 0xD7FF}};
    case Spelling::kTailF0: return {{0x10000, 0x3FFFF}};
    case Spelling::kTailF4: return {{0x100000, 0x10FFFF}};
    case Spelling::kEscape:
    case Spelling::kHex4:
    case Spelling::kCount: break;
  }
  return {{0, 0xD7FF}, {0xE000, 0x10FFFF}};
}

std::vector<CodeRange> reachable_ranges(Spelling spelling, uint32_t value) {
  const Reach possible = reach(spelling, value);
  std::vector<CodeRange> ranges{possible.first};
  if (possible.second.lo <= possible.second.hi) ranges.push_back(possible.second);
  return ranges;
}

void spelling_steps(Spelling spelling, uint32_t value, std::vector<SpellingStep>& out) {
  Steps steps(out);
  switch (spelling) {
    case Spelling::kBetween: between_steps(steps); break;
    case Spelling::kEscape: escape_steps(steps); break;
    case Spelling::kHex4:
      steps.digits(0x0, 0xC, Spelling::kHex3, 0);
      steps.digits(0xE, 0xF, Spelling::kHex3, 0xE);
      steps.digits(0xD, 0xD, Spelling::kHexD, 0);
      break;
    case Spelling::kHexD:
      steps.digits(0x0, 0x7, Spelling::kHex2, 0xD0);
      steps.digits(0x8, 0xB, Spelling::kHigh2, 0);
      break;
    case Spelling::kHex3: steps.digits(0x0, 0xF, Spelling::kHex2, value << 4); break;
    case Spelling::kHex2: steps.digits(0x0, 0xF, Spelling::kHex1, value << 4); break;
    case Spelling::kHex1: steps.digits(0x0, 0xF, Spelling::kBetween, value << 4); break;
    case Spelling::kHigh2: steps.digits(0x0, 0xF, Spelling::kHigh1, value << 4); break;
    case Spelling::kHigh1: steps.digits(0x0, 0xF, Spelling::kPair, value << 4); break;
    case Spelling::kPair: steps.one('\\', Spelling::kPairEscape, value); break;
    case Spelling::kPairEscape: steps.one('u', Spelling::kPairHex4, value); break;
    case Spelling::kPairHex4: steps.digits(0xD, 0xD, Spelling::kPairHexD, value); break;
    case Spelling::kPairHexD:
      // The code point without its last eight bits: a prefix like any other from here on.
      steps.digits(0xC, 0xF, Spelling::kHex2, (kPlane1 >> 8) + (value << 2));
      break;
    case Spelling::kTail1: steps.bytes(0x80, 0xBF, 0x3F, Spelling::kBetween, value << 6); break;
    case Spelling::kTail2: steps.bytes(0x80, 0xBF, 0x3F, Spelling::kTail1, value << 6); break;
    case Spelling::kTail3: steps.bytes(0x80, 0xBF, 0x3F, Spelling::kTail2, value << 6); break;
    case Spelling::kTailE0: steps.bytes(0xA0, 0xBF, 0x3F, Spelling::kTail1); break;
    case Spelling::kTailED: steps.bytes(0x80, 0x9F, 0x3F, Spelling::kTail1, 0xD << 6); break;
    case Spelling::kTailF0: steps.bytes(0x90, 0xBF, 0x3F, Spelling::kTail2); break;
    case Spelling::kTailF4: steps.bytes(0x80, 0x8F, 0x3F, Spelling::kTail2, 4 << 6); break;
    case Spelling::kCount: break;
  }
}

Spelled spell(Spelled from, uint8_t byte) {
  const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
  if (from.between() && plain) return {Spelling::kBetween, byte};
  std::vector<SpellingStep> steps;
  spelling_steps(from.spelling, from.between() ? 0 : from.value, steps);
  for (const SpellingStep& step : steps) {
    if (step.byte == byte || (step.twin != 0 && step.twin == byte)) return {step.next, step.value};
  }
  return {Spelling::kCount, 0};
}

std::optional<std::string> spelled_name(std::string_view spelled) {
  std::string name;
  Spelled at;
  for (const char unit : spelled) {
    if (unit == '"' && at.between()) return name;
    at = spell(at, static_cast<uint8_t>(unit));
    if (at.spelling == Spelling::kCount) return std::nullopt;
    if (!at.between()) continue;
    const Utf8 bytes = encode_utf8(at.value);
    for (const uint8_t byte : bytes.bytes()) name.push_back(static_cast<char>(byte));
  }
  return std::nullopt;
}

}  // namespace maskwright

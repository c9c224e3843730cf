// How JSON spells a code point, one byte at a time (RFC 8259, section 7).
//
// Between the quotes a code point is raw UTF-8 (from U+0020 on, without '"' and '\'; RFC 3629, so
// neither overlong forms nor surrogates), a short escape (\" \\ \/ \b \f \n \r \t), \uXXXX with hex
// digits of either case, or two such escapes that form a surrogate pair. Escapes of lone surrogates
// are refused: what follows a high surrogate must be a low one, and a low one never comes first.
//
// A partial spelling is {Spelling, value}: where it stands, and the bits of the code point read so
// far. The code points that it may still become are at most two ranges (Reach). Everything here is
// a constant-time function of the pair; languages are met in unescape_branch.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "maskwright/support/code_points.h"
#include "maskwright/support/text_class.h"

namespace maskwright {

enum class Spelling : uint8_t {
  kBetween,  // between two code points; value 0
  kEscape,   // after '\'
  kHex4,     // after \u
  kHexD,     // after \uD: a code point below U+D800 or a surrogate pair
  kHex3,     // three digits of a code point to come
  kHex2,
  kHex1,
  kHigh2,  // two digits of a high surrogate to come; value = its bits below D800
  kHigh1,
  kPair,        // after a high surrogate: '\' ...
  kPairEscape,  // ... 'u' ...
  kPairHex4,    // ... 'D' ...
  kPairHexD,    // ... 'C' to 'F', then two digits (kHex2)
  kTail1,       // one continuation byte of UTF-8 to come
  kTail2,
  kTail3,
  kTailE0,  // after E0: the second byte is A0..BF
  kTailED,  // after ED: 80..9F
  kTailF0,  // after F0: 90..BF
  kTailF4,  // after F4: 80..8F
  kCount,
};

// The characters that are spelled as they are.
inline constexpr TextClass kRawText{
    {(~uint64_t{0} << 0x20) & ~(uint64_t{1} << '"'), ~(uint64_t{1} << ('\\' - 0x40))}, true, false};

// All characters, however they are spelled.
inline constexpr TextClass kSpelledText{kRawText.ascii, true, true};

struct ShortEscape {
  char letter;  // after the backslash
  uint8_t code_point;
};
inline constexpr std::array<ShortEscape, 8> kShortEscapes{{{'b', 0x08},
                                                           {'t', 0x09},
                                                           {'n', 0x0A},
                                                           {'f', 0x0C},
                                                           {'r', 0x0D},
                                                           {'"', 0x22},
                                                           {'/', 0x2F},
                                                           {'\\', 0x5C}}};

// The code points that a partial spelling can still become, in order.
struct Reach {
  CodeRange first;
  CodeRange second = {1, 0};
};
Reach reach(Spelling spelling, uint32_t value);
// The same as a list of ranges that are not empty.
std::vector<CodeRange> reachable_ranges(Spelling spelling, uint32_t value);

// One way to go on. `twin` is a second byte with the same meaning (a hex digit of the other case),
// 0 = none. For next == kBetween, `value` is the code point that is now spelled in full.
struct SpellingStep {
  uint8_t byte;
  uint8_t twin;
  Spelling next;
  uint32_t value;
};

// Appends all steps: first those with one range each, by ascending disjoint ranges, then at most
// one into kEscape, kHex4 or kHexD, whose reach is wide and may overlap the others. The closing
// quote is not among them.
void spelling_steps(Spelling spelling, uint32_t value, std::vector<SpellingStep>& out);

// A partial spelling: where it stands, and its bits.
struct Spelled {
  Spelling spelling = Spelling::kBetween;
  uint32_t value = 0;

  bool between() const { return spelling == Spelling::kBetween; }
};
// The same with one byte more. The value is the code point that the byte ends, if it ends one; the
// spelling is kCount if the byte can't come.
Spelled spell(Spelled from, uint8_t byte);

// The text, as UTF-8, that is spelled up to the first quotation mark; nothing if there is none or
// something else comes before it.
std::optional<std::string> spelled_name(std::string_view spelled);

inline bool is_wide(Spelling next) {
  return next == Spelling::kEscape || next == Spelling::kHex4 || next == Spelling::kHexD;
}

}  // namespace maskwright

#include "json/text_region.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>
#include <vector>

#include "maskwright/support/code_points.h"
#include "support/unescape.h"

namespace maskwright {

namespace {

using Arcs = std::span<const Lang::Arc>;

constexpr std::size_t kMaxStates = 320;
constexpr uint32_t kMaxCuts = 8;
constexpr int kMostMissing = 4;  // of the bytes that begin code points beyond ASCII

// The code points that begin with a byte (RFC 3629, section 4; no surrogates).
CodeRange begun_by(uint8_t lead) {
  const uint32_t low = lead;
  if (lead < 0xE0) return {(low & 0x1F) << 6, ((low & 0x1F) << 6) + 0x3F};
  if (lead == 0xE0) return {0x800, 0xFFF};
  if (lead == 0xED) return {0xD000, 0xD7FF};
  if (lead < 0xF0) return {(low & 0xF) << 12, ((low & 0xF) << 12) + 0xFFF};
  if (lead == 0xF0) return {0x10000, 0x3FFFF};
  if (lead == 0xF4) return {0x100000, kMaxCodePoint};
  return {(low & 0x7) << 18, ((low & 0x7) << 18) + 0x3FFFF};
}

constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kLastSurrogate = 0xDFFF;
constexpr uint8_t kFirstLead = 0xC2;
constexpr uint8_t kLastLead = 0xF4;

// The bytes at which the spelling of a code point that is read may begin, and the class of those
// all of whose code points are.
struct Reads {
  ByteSet bytes;
  TextClass text;
};

Reads all_read() {
  static const Reads all = [] {
    Reads made{{}, kSpelledText};
    for (uint32_t byte = 0x20; byte <= kLastLead; ++byte) {
      if (byte < 0x80 ? kRawText.has(static_cast<uint8_t>(byte)) : byte >= kFirstLead) {
        made.bytes.add(static_cast<uint8_t>(byte));
      }
    }
    return made;
  }();
  return all;
}

bool is_all(std::span<const CodeRange> ranges) {
  uint32_t next = 0;
  for (const CodeRange range : ranges) {
    if (range.lo != next && !(next == kFirstSurrogate && range.lo == kLastSurrogate + 1)) break;
    next = range.hi + 1;
  }
  return next == kMaxCodePoint + 1;
}

Reads reads_of(Arcs arcs) {
  std::vector<CodeRange> covered;
  for (const Lang::Arc& arc : arcs) {
    if (!covered.empty() && covered.back().hi + 1 == arc.lo) {
      covered.back().hi = arc.hi;
    } else {
      covered.push_back({arc.lo, arc.hi});
    }
  }
  if (is_all(covered)) return all_read();
  Reads reads;
  uint64_t present = 0;
  for (const CodeRange range : covered) {
    for (uint32_t c = range.lo; c <= std::min<uint32_t>(range.hi, 0x7F); ++c) {
      const auto byte = static_cast<uint8_t>(c);
      if (!kRawText.has(byte)) continue;
      reads.text.add(byte);
      reads.bytes.add(byte);
    }
    if (range.hi < 0x80) continue;
    for (uint32_t lead = kFirstLead; lead <= kLastLead; ++lead) {
      const CodeRange own = begun_by(static_cast<uint8_t>(lead));
      if (own.lo > range.hi || own.hi < range.lo) continue;
      reads.bytes.add(static_cast<uint8_t>(lead));
      if (range.lo <= own.lo && own.hi <= range.hi) present |= uint64_t{1} << (lead - 0xC0);
    }
  }
  constexpr uint64_t kAll = ((uint64_t{1} << (kLastLead - 0xC0 + 1)) - 1) & ~uint64_t{3};
  reads.text.beyond_ascii = std::popcount(kAll & ~present) <= kMostMissing;
  reads.text.missing = reads.text.beyond_ascii ? kAll & ~present : 0;
  return reads;
}

bool within(const TextClass& inner, const TextClass& outer) {
  return outer.covers_ascii_of(inner) && (outer.escapes || !inner.escapes) &&
         (!inner.beyond_ascii || (outer.beyond_ascii && (outer.missing & ~inner.missing) == 0));
}

TextClass both(const TextClass& a, const TextClass& b) {
  TextClass out;
  for (std::size_t i = 0; i < 2; ++i) out.ascii[i] = a.ascii[i] & b.ascii[i];
  out.escapes = a.escapes && b.escapes;
  out.missing = a.missing | b.missing;
  out.beyond_ascii = a.beyond_ascii && b.beyond_ascii && std::popcount(out.missing) <= kMostMissing;
  if (!out.beyond_ascii) out.missing = 0;
  return out;
}

bool in_class(const TextClass& text, uint8_t byte) {
  return byte < 0x80 ? text.has(byte) : text.beyond_ascii && !text.misses(byte);
}

// The bytes of `reads` that are not of the class.
void add_others(const Reads& reads, const TextClass& text, ByteSet& others) {
  reads.bytes.each([&](uint8_t byte) {
    if (!in_class(text, byte)) others.add(byte);
  });
}

// A code point of the range can be part of a text of the class.
bool meets(const TextClass& text, const Lang::Arc& arc) {
  if (text.escapes || (text.beyond_ascii && arc.hi >= 0x80)) return true;
  for (uint32_t c = arc.lo; c <= std::min<uint32_t>(arc.hi, 0x7F); ++c) {
    if (text.has(static_cast<uint8_t>(c))) return true;
  }
  return false;
}

// Follows text of a class until that is the class of a region.
class Search {
 public:
  Search(const RegionArcs& arcs, uint32_t start, uint32_t longest)
      : arcs_(arcs), start_(start), longest_(longest) {}

  TextRegion run() {
    text_ = reads_of(arcs_(start_)).text;
    for (uint32_t cut = 0; cut < kMaxCuts && !text_.empty(); ++cut) {
      const std::optional<TextClass> cut_down = follow();
      if (!cut_down.has_value()) return closed_ ? region() : TextRegion{};
      text_ = *cut_down;
    }
    return {};
  }

 private:
  // What is left of the class where it is too large; nothing if it isn't, or at a limit.
  std::optional<TextClass> follow() {
    others_ = {};
    closed_ = false;
    std::unordered_set<uint32_t> seen{start_};
    std::vector<uint32_t> layer{start_};
    for (uint32_t depth = 0; depth < longest_ && !layer.empty(); ++depth) {
      std::vector<uint32_t> next;
      for (const uint32_t state : layer) {
        const Arcs arcs = arcs_(state);
        const Reads reads = reads_of(arcs);
        if (!within(text_, reads.text)) return both(text_, reads.text);
        add_others(reads, text_, others_);
        for (const Lang::Arc& arc : arcs) {
          if (meets(text_, arc) && seen.insert(arc.target).second) next.push_back(arc.target);
        }
        if (seen.size() > kMaxStates) return std::nullopt;
      }
      layer = std::move(next);
    }
    // Behind so long a text no token reads on.
    closed_ = true;
    states_.assign(seen.begin(), seen.end());
    return std::nullopt;
  }

  TextRegion region() const {
    TextRegion found{{text_, others_, true}, kUnbounded, states_};
    found.run.others.add('"');
    if (!text_.escapes) found.run.others.add('\\');
    return found;
  }

  const RegionArcs& arcs_;
  uint32_t start_, longest_;
  TextClass text_;
  ByteSet others_;
  bool closed_ = false;
  std::vector<uint32_t> states_;
};

// Where the characters of the class that are read lead, if that is one state.
uint32_t next_in_chain(Arcs arcs, TextClass& text) {
  uint32_t target = kDeadLang;
  for (const Lang::Arc& arc : arcs) {
    if (arc.hi >= 0x80 || (target != kDeadLang && target != arc.target)) return kDeadLang;
    target = arc.target;
  }
  text = reads_of(arcs).text;
  return target;
}

TextRegion find_chain(const RegionArcs& arcs, uint32_t state) {
  constexpr uint32_t kMaxSteps = 256;
  TextRegion chain;
  chain.run.others_known = true;
  chain.run.others.add('\\');
  chain.run.others.add('"');
  for (uint32_t at = state; chain.length < kMaxSteps; ++chain.length) {
    TextClass text;
    const uint32_t target = next_in_chain(arcs(at), text);
    if (chain.length == 0) chain.run.text = text;
    if (target != kDeadLang && target != at && text == chain.run.text) {
      at = target;
      continue;
    }
    const Reads reads = reads_of(arcs(at));
    if (reads.text.has_any_of(chain.run.text)) return {};
    add_others(reads, chain.run.text, chain.run.others);
    return chain;
  }
  return {};
}

}  // namespace

void add_bytes_read(Arcs arcs, const TextClass& text, ByteSet& bytes) {
  add_others(reads_of(arcs), text, bytes);
}

bool all_lead_to(uint32_t target, std::span<const Lang::Arc> arcs) {
  std::vector<CodeRange> ranges;
  for (const Lang::Arc& arc : arcs) {
    if (arc.target != target) return false;
    ranges.push_back({arc.lo, arc.hi});
  }
  return is_all(ranges);
}

TextRegion find_text_region(const RegionArcs& arcs, uint32_t state, uint32_t longest) {
  const TextRegion region = Search(arcs, state, longest).run();
  return region.length != 0 ? region : find_chain(arcs, state);
}

}  // namespace maskwright

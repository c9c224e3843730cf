#include "json/text_region.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>
#include <vector>

#include "json/lang_chars.h"
#include "maskwright/support/code_points.h"
#include "support/unescape.h"
#include "support/utf8_leads.h"

namespace maskwright {

namespace {

using Arcs = std::span<const Lang::Arc>;

uint32_t no_class(std::span<const CodeRange> /*ranges*/) { return 0; }

constexpr std::size_t kMaxStates = 320;
constexpr uint32_t kMaxCuts = 8;
constexpr int kMostMissing = 4;  // of the bytes that begin code points beyond ASCII

constexpr uint32_t kFirstBeyond = 0x80;
constexpr uint32_t kFirstSurrogate = 0xD800;
constexpr uint32_t kLastSurrogate = 0xDFFF;

// The bytes at which the spelling of a code point that is read may begin, and the class of those
// all of whose code points are.
struct Reads {
  ByteSet bytes;
  TextClass text;
  std::vector<CodeRange> beyond;  // the code points beyond ASCII
};

Reads all_read() {
  static const Reads all = [] {
    Reads made{{},
               kSpelledText,
               {{kFirstBeyond, kFirstSurrogate - 1}, {kLastSurrogate + 1, kMaxCodePoint}}};
    for (uint32_t byte = 0x20; byte <= kLastLead; ++byte) {
      if (byte < 0x80 ? kRawText.has(static_cast<uint8_t>(byte)) : byte >= kFirstLead) {
        made.bytes.add(static_cast<uint8_t>(byte));
      }
    }
    return made;
  }();
  return all;
}

std::vector<CodeRange> without(std::span<const CodeRange> ranges,
                               std::span<const CodeRange> removed) {
  std::vector<CodeRange> left;
  std::size_t i = 0;
  for (CodeRange range : ranges) {
    while (i < removed.size() && removed[i].hi < range.lo) ++i;
    for (std::size_t j = i; j < removed.size() && removed[j].lo <= range.hi; ++j) {
      if (removed[j].lo > range.lo) left.push_back({range.lo, removed[j].lo - 1});
      range.lo = removed[j].hi + 1;
      if (range.lo > range.hi) break;
    }
    if (range.lo <= range.hi) left.push_back(range);
  }
  return left;
}

std::vector<CodeRange> read_by(Arcs arcs) {
  std::vector<CodeRange> covered;
  for (const Lang::Arc& arc : arcs) {
    if (!covered.empty() && covered.back().hi + 1 == arc.lo) {
      covered.back().hi = arc.hi;
    } else {
      covered.push_back({arc.lo, arc.hi});
    }
  }
  return covered;
}

Reads reads_of(Arcs arcs, const CodeClassOf& code_class) {
  const std::vector<CodeRange> covered = read_by(arcs);
  if (langs::is_all_code_points(covered)) return all_read();
  Reads reads;
  for (const CodeRange range : covered) {
    for (uint32_t c = range.lo; c <= std::min<uint32_t>(range.hi, 0x7F); ++c) {
      const auto byte = static_cast<uint8_t>(c);
      if (!kRawText.has(byte)) continue;
      reads.text.add(byte);
      reads.bytes.add(byte);
    }
    if (range.hi < kFirstBeyond) continue;
    reads.beyond.push_back({std::max(range.lo, kFirstBeyond), range.hi});
    for (uint32_t lead = kFirstLead; lead <= kLastLead; ++lead) {
      const CodeRange own = begun_by(static_cast<uint8_t>(lead));
      if (own.lo > range.hi || own.hi < range.lo) continue;
      reads.bytes.add(static_cast<uint8_t>(lead));
    }
  }
  if (!reads.beyond.empty()) reads.text.kept = code_class(reads.beyond);
  if (reads.text.kept != 0) return reads;
  const uint64_t missing = missing_leads(reads.beyond);
  reads.text.beyond_ascii = std::popcount(missing) <= kMostMissing;
  reads.text.missing = reads.text.beyond_ascii ? missing : 0;
  return reads;
}

bool has_all_beyond(const TextClass& text) { return text.beyond_ascii && text.missing == 0; }

bool within(const TextClass& inner, const TextClass& outer) {
  return outer.covers(inner) && (outer.escapes || !inner.escapes) &&
         (inner.kept == 0 || inner.kept == outer.kept || has_all_beyond(outer));
}

TextClass both(const TextClass& a, const TextClass& b) {
  TextClass out;
  for (std::size_t i = 0; i < 2; ++i) out.ascii[i] = a.ascii[i] & b.ascii[i];
  out.escapes = a.escapes && b.escapes;
  out.missing = a.missing | b.missing;
  out.beyond_ascii = a.beyond_ascii && b.beyond_ascii && std::popcount(out.missing) <= kMostMissing;
  if (!out.beyond_ascii) out.missing = 0;
  if (a.kept == b.kept || has_all_beyond(b)) out.kept = a.kept;
  if (has_all_beyond(a)) out.kept = b.kept;
  return out;
}

// The bytes of `reads` that are not of the class.
void add_others(const Reads& reads, const TextClass& text, ByteSet& others) {
  reads.bytes.each([&](uint8_t byte) {
    if (!text.begins(byte)) others.add(byte);
  });
}

// A code point of the range can be part of a text of the class; `kept`: those that it keeps.
bool meets(const TextClass& text, std::span<const CodeRange> kept, const Lang::Arc& arc) {
  if (text.escapes || (text.beyond_ascii && arc.hi >= kFirstBeyond)) return true;
  const auto next = std::ranges::lower_bound(kept, arc.lo, {}, &CodeRange::hi);
  if (next != kept.end() && next->lo <= arc.hi) return true;
  for (uint32_t c = arc.lo; c <= std::min<uint32_t>(arc.hi, 0x7F); ++c) {
    if (text.has(static_cast<uint8_t>(c))) return true;
  }
  return false;
}

std::vector<CodeRange> joined(std::vector<CodeRange> ranges) {
  std::ranges::sort(ranges, {}, &CodeRange::lo);
  std::vector<CodeRange> out;
  for (const CodeRange range : ranges) {
    if (!out.empty() && range.lo <= out.back().hi + 1) {
      out.back().hi = std::max(out.back().hi, range.hi);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

// Follows text of a class until that is the class of a region.
class RegionFinder {
 public:
  RegionFinder(const RegionArcs& arcs, const CodeClassOf& code_class, uint32_t start,
               uint32_t longest)
      : arcs_(arcs), code_class_(code_class), start_(start), longest_(longest) {}

  TextRegion run() {
    take(reads_of(arcs_(start_), code_class_));
    for (uint32_t cut = 0; cut < kMaxCuts && !text_.empty(); ++cut) {
      const std::optional<Reads> cut_down = follow();
      if (!cut_down.has_value()) return closed_ ? region() : TextRegion{};
      take(*cut_down);
    }
    return {};
  }

  // Of the text that leads the start back to itself.
  TextRegion run_own() {
    std::vector<Lang::Arc> back;
    for (const Lang::Arc& arc : arcs_(start_)) {
      if (arc.target == start_) back.push_back(arc);
    }
    take(reads_of(back, code_class_));
    if (text_.empty()) return {};
    add(reads_of(arcs_(start_), code_class_));
    states_ = {start_};
    return region();
  }

 private:
  void take(const Reads& reads) {
    text_ = reads.text;
    kept_ = reads.text.kept == 0 ? std::vector<CodeRange>{} : reads.beyond;
  }

  // Notes what is read and not of the class.
  void add(const Reads& reads) {
    if (text_.kept == 0) {
      add_others(reads, text_, others_);
      return;
    }
    reads.bytes.each([&](uint8_t byte) {
      if (byte < kFirstBeyond && !text_.has(byte)) others_.add(byte);
    });
    const auto left = without(reads.beyond, kept_);
    other_codes_.insert(other_codes_.end(), left.begin(), left.end());
  }

  // What is left of the class where it is too large; nothing if it isn't, or at a limit.
  std::optional<Reads> follow() {
    others_ = {};
    other_codes_.clear();
    closed_ = false;
    std::unordered_set<uint32_t> seen{start_};
    std::vector<uint32_t> layer{start_};
    for (uint32_t depth = 0; depth < longest_ && !layer.empty(); ++depth) {
      std::vector<uint32_t> next;
      for (const uint32_t state : layer) {
        const Arcs arcs = arcs_(state);
        const Reads reads = reads_of(arcs, code_class_);
        if (!within(text_, reads.text)) {
          const TextClass text = both(text_, reads.text);
          return Reads{{}, text, text.kept == text_.kept ? kept_ : reads.beyond};
        }
        add(reads);
        for (const Lang::Arc& arc : arcs) {
          if (meets(text_, kept_, arc) && seen.insert(arc.target).second)
            next.push_back(arc.target);
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

  TextRegion region() {
    TextRegion found{{text_, others_, 0, true}, kUnbounded, states_};
    if (!other_codes_.empty()) {
      found.run.other_codes = code_class_(joined(std::move(other_codes_)));
      if (found.run.other_codes == 0) return {};
    }
    found.run.others.add('"');
    if (!text_.escapes) found.run.others.add('\\');
    return found;
  }

  const RegionArcs& arcs_;
  const CodeClassOf& code_class_;
  uint32_t start_, longest_;
  TextClass text_;
  std::vector<CodeRange> kept_;  // those that text_.kept stands for
  ByteSet others_;
  std::vector<CodeRange> other_codes_;  // in any order
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
  text = reads_of(arcs, no_class).text;
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
    const Reads reads = reads_of(arcs(at), no_class);
    if (reads.text.has_any_of(chain.run.text)) return {};
    add_others(reads, chain.run.text, chain.run.others);
    return chain;
  }
  return {};
}

}  // namespace

void add_bytes_read(Arcs arcs, const TextClass& text, ByteSet& bytes) {
  add_others(reads_of(arcs, no_class), text, bytes);
}

bool all_lead_to(uint32_t target, std::span<const Lang::Arc> arcs) {
  const auto leads_there = [&](const Lang::Arc& arc) { return arc.target == target; };
  return std::ranges::all_of(arcs, leads_there) && langs::is_all_code_points(read_by(arcs));
}

TextRegion find_own_region(const RegionArcs& arcs, const CodeClassOf& code_class, uint32_t state) {
  return RegionFinder(arcs, code_class, state, 0).run_own();
}

TextRegion find_text_region(const RegionArcs& arcs, const CodeClassOf& code_class, uint32_t state,
                            uint32_t longest) {
  const TextRegion region = RegionFinder(arcs, code_class, state, longest).run();
  return region.length != 0 ? region : find_chain(arcs, state);
}

}  // namespace maskwright

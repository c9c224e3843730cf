// Which bytes lead a state back to itself (Store::free_run). Read off the rows: ASCII bytes with an
// edge to the state, and the other code points whose UTF-8 encodings do.

#include <algorithm>

#include "maskwright/automata/store.h"
#include "support/utf8_leads.h"

namespace maskwright {

namespace {

// Code points that are read, and whether they lead back.
struct CodeRun {
  uint32_t lo, hi;
  bool back;
};

void append(std::vector<CodeRun>& runs, const CodeRun& run) {
  if (!runs.empty() && runs.back().hi + 1 == run.lo && runs.back().back == run.back) {
    runs.back().hi = run.hi;
  } else {
    runs.push_back(run);
  }
}

// UTF-8 lead bytes of one length (RFC 3629, section 3).
struct Leads {
  uint8_t lo, hi;
  uint32_t missing;  // bytes behind the lead
  uint32_t least;    // code point
};
constexpr std::array<Leads, 3> kLeads{
    {{0xC2, 0xDF, 1, 0x80}, {0xE0, 0xEF, 2, 0x800}, {0xF0, 0xF4, 3, 0x10000}}};

bool is_code_point(const CodeRun& run, uint32_t least) {
  return run.lo >= least && run.hi <= kMaxCodePoint && (run.hi < 0xD800 || run.lo > 0xDFFF);
}

constexpr uint32_t kAllBeyond = kMaxCodePoint + 1 - 0x80 - 0x800;  // without surrogates

// Code points beyond ASCII, read from a state on. `all`: stops where not all of them lead back.
class CodeReader {
 public:
  CodeReader(Store& store, StateId id, bool all) : store_(store), id_(id), all_(all) {}

  // False if it stopped, if anything else is read on the way, or if that can't be said.
  bool run(std::vector<CodeRun>& out) {
    for (const Edge& edge : store_.row(id_).edges) {
      if (edge.hi < 0x80) continue;
      uint32_t bytes = edge.hi - std::max<uint32_t>(edge.lo, 0x80) + 1;
      for (const Leads& leads : kLeads) {
        const uint32_t lo = std::max(edge.lo, leads.lo);
        const uint32_t hi = std::min(edge.hi, leads.hi);
        if (lo > hi) continue;
        bytes -= hi - lo + 1;
        if (!add(edge, lo, hi, leads, out)) return false;
      }
      if (bytes != 0) return false;
    }
    return true;
  }

 private:
  bool add(const Edge& edge, uint32_t lo, uint32_t hi, const Leads& leads,
           std::vector<CodeRun>& out) const {
    std::vector<CodeRun> behind;
    if (!follow(edge, leads.missing, behind)) return false;
    for (uint32_t lead = lo; lead <= hi; ++lead) {
      const uint32_t base = (lead & (0x3FU >> leads.missing)) << 6 * leads.missing;
      for (const CodeRun& run : behind) {
        const CodeRun code{base + run.lo, base + run.hi, run.back};
        if (!is_code_point(code, leads.least)) return false;
        append(out, code);
      }
    }
    return true;
  }

  // What is read behind the edge, by the bits of so many bytes.
  bool follow(const Edge& edge, uint32_t missing, std::vector<CodeRun>& out) const {
    const StateId state = store_.unhindered(id_, edge);
    if (state == kDead || state == id_ || (store_.state(state).flags & kNotPlain) != 0) {
      return false;
    }
    if (all_ && store_.row(state).edges.size() != 1) return false;
    for (const Edge& next : store_.row(state).edges) {
      if (next.lo < 0x80 || next.hi > 0xBF) return false;
      if (missing == 1) {
        const StateId target = store_.unhindered(id_, next);
        if (target == kDead || (all_ && target != id_)) return false;
        append(out, {next.lo & 0x3FU, next.hi & 0x3FU, target == id_});
        continue;
      }
      std::vector<CodeRun> behind;
      if (!follow(next, missing - 1, behind)) return false;
      for (uint32_t byte = next.lo; byte <= next.hi; ++byte) {
        const uint32_t base = (byte & 0x3FU) << 6 * (missing - 1);
        for (const CodeRun& run : behind) append(out, {base + run.lo, base + run.hi, run.back});
      }
    }
    return true;
  }

  Store& store_;
  StateId id_;
  bool all_;
};

std::vector<CodeRange> ranges_of(std::span<const CodeRun> runs, bool back) {
  std::vector<CodeRange> ranges;
  for (const CodeRun& run : runs) {
    if (run.back == back) ranges.push_back({run.lo, run.hi});
  }
  return ranges;
}

}  // namespace

StateId Store::unhindered(StateId from, const Edge& edge) const {
  return family(states_[from].family).unhindered(edge);
}

// The code points beyond ASCII that lead back, if all that is read there is known. Of families
// whose states know their regions (reads_all) only all of them, since that takes fewer rows.
void Store::find_codes(StateId id, FreeRun& run) {
  const FamilyId family = states_[id].family;
  const bool all = family != FamilyId::kRules && family != FamilyId::kRepeat;
  std::vector<CodeRun> runs;
  if (!CodeReader(*this, id, all).run(runs)) return;
  const auto back = ranges_of(runs, true);
  const auto others = ranges_of(runs, false);
  uint32_t count = 0;
  for (const CodeRange range : back) count += range.hi - range.lo + 1;
  run.text.beyond_ascii = count == kAllBeyond;
  const uint64_t missing = missing_leads(back);
  run.by_leads.beyond_ascii = missing != kAllLeads;
  run.by_leads.missing = run.by_leads.beyond_ascii ? missing : 0;
  if (run.text.beyond_ascii || back.empty() || all) return;
  if (!others.empty()) run.other_codes = code_class(others);
  if (others.empty() || run.other_codes != 0) run.text.kept = code_class(back);
}

const FreeRun& Store::find_free_run(StateId id) {
  auto run = std::make_unique<FreeRun>();
  Family& own = family(states_[id].family);
  run->others_known = (states_[id].flags & kNotPlain & ~kAccepts) == 0;
  run->text.escapes = own.reads_escapes(id);
  // What is read by its escape leads back as it is, too.
  run->text.beyond_ascii = run->text.escapes;
  run->by_leads.beyond_ascii = run->text.escapes;
  if (!run->text.escapes) find_codes(id, *run);
  for (const Edge& edge : row(id).edges) {
    const bool back = own.unhindered(edge) == id;
    for (uint32_t value = edge.lo; value <= edge.hi; ++value) {
      const auto byte = static_cast<uint8_t>(value);
      if (back && byte < 0x80) {
        run->text.add(byte);
      } else if (byte < 0x80 || (!run->text.beyond_ascii && run->text.kept == 0)) {
        run->others.add(byte);
      }
    }
  }
  if (run->text.escapes) run->others.remove('\\');
  run->by_leads.ascii = run->text.ascii;
  free_runs_.push_back(std::move(run));
  states_[id].free_run = free_runs_.back().get();
  return *free_runs_.back();
}

}  // namespace maskwright

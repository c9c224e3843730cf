#include "json/number_lang.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json/exponent_set.h"
#include "json/lang_dfa.h"
#include "json/number_alphabet.h"
#include "json/number_side.h"
#include "maskwright/automata/store.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/stable_pool.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright::langs {

namespace {

// What may be visited before a language is handed out: states, each times the parts of the set.
constexpr std::size_t kMaxVisitedParts = 100000;
// With so few residues a search among exponents met a known state within some hundred states,
// whatever was tried; with more of them all are explored.
constexpr uint64_t kFewResidues = 32;

enum class Phase : uint8_t {
  kStart,
  kMinus,
  kZero,
  kWhole,
  kDot,
  kFraction,
  kFractionZero,  // of plain numbers: the fraction ends with a zero so far
  kE,
  kExponentSign,
  kExponent,
};

class NumberLang final : public TableLang {
 public:
  NumberLang(std::shared_ptr<const NumberSet> set, NumberSpelling spelling, NumberAlphabet alphabet,
             std::vector<uint32_t> labels = {})
      : set_(std::move(set)),
        labels_(std::move(labels)),
        spelling_(spelling),
        plain_(spelling == NumberSpelling::kPlain),
        alphabet_(std::move(alphabet)),
        sides_{NumberSide(*set_, false, alphabet_.min, alphabet_.max),
               NumberSide(*set_, true, alphabet_.min, alphabet_.max)} {
    intern({}, 0, '\0');
  }

  // Decides for all mantissas at once whether they can be completed, so that no search comes later;
  // returns false if they are too many.
  bool explore();
  // Decides whether there is any text; returns false if that takes too long.
  bool find_start() { return judged(0) || search(0, max_visited()); }

  uint32_t start() override { return is_alive(0) ? 0 : kDeadLang; }
  bool accepts(uint32_t state) override { return states_[state].accepts; }
  uint32_t label(uint32_t state) override;
  bool labels_ahead(uint32_t state, std::vector<uint32_t>& out) override;
  std::span<const Arc> arcs(uint32_t state) override;
  bool continues(uint32_t state) override;
  // Numbers have no bounds on their length.
  bool can_finish(uint32_t, uint32_t, uint32_t) override { return true; }
  uint32_t length_horizon() override { return kUnbounded; }

  // The digits that were read matter only as far as the content says.
  bool append_rest(uint32_t state, SharedKey& key) override {
    if (!labels_.empty()) return false;
    const std::vector<uint32_t> words = words_of(states_[state].content);
    key.add(RestKind::kNumber);
    key.add(static_cast<uint32_t>(spelling_));
    key.add_text(set_->key());
    key.add(static_cast<uint32_t>(words.size()));
    key.add(words);
    return key.fits();
  }

  std::size_t footprint() const override {
    return heap_block(sizeof(*this)) + heap_bytes(labels_, alphabet_, sides_, index_, states_);
  }

 private:
  enum class Verdict : uint8_t { kUnknown, kAlive, kDead };

  // What a state means; equal contents are one state.
  struct Content {
    Phase phase = Phase::kStart;
    bool negative = false;  // the number
    bool lowers = false;    // with labels: the exponent is negative
    Reading reading;        // of the mantissa; from kE on only with labels
    ExponentSet exponents;  // from kE on: those that are possible; sizes behind their sign
    int32_t exponent = 0;   // the size of the exponent so far

    std::size_t memory_bytes() const { return heap_bytes(reading, exponents); }
  };
  struct State {
    Content content;
    bool accepts = false;
    bool expanded = false, trimmed = false;
    Verdict verdict = Verdict::kUnknown;
    uint32_t parent = 0;
    char last = '\0';       // leads here from the parent
    ExponentSet exponents;  // of a mantissa that may end
    std::vector<Arc> arcs;  // of single characters, and to any state, before `trimmed`

    std::size_t memory_bytes() const { return heap_bytes(content, exponents, arcs); }
  };

  uint32_t intern(Content content, uint32_t parent, char last);
  std::vector<uint32_t> words_of(const Content& content) const;
  bool may_end(const Content& content) const;
  bool step(const State& state, char c, Content& next) const;
  bool step_mantissa(const State& state, char c, Content& next) const;
  bool step_exponent(char c, Content& next) const;
  void expand(uint32_t state);
  bool is_alive(uint32_t state);
  bool judged(uint32_t state);
  Verdict judge(const State& state) const;
  bool can_go_on(const State& state) const;
  bool search(uint32_t state, std::size_t most);
  bool ends(const State& state) const;
  std::size_t max_visited() const;

  std::shared_ptr<const NumberSet> set_;
  std::vector<uint32_t> labels_;  // of the values in their order; none: there are no labels
  NumberSpelling spelling_;
  bool plain_;
  NumberAlphabet alphabet_;
  std::array<NumberSide, 2> sides_;
  WordInterner index_;
  StablePool<State> states_;
};

std::vector<uint32_t> NumberLang::words_of(const Content& content) const {
  std::vector<uint32_t> words{static_cast<uint32_t>(content.phase) * 4 +
                              (content.negative ? 2U : 0U) +
                              (content.reading.significant ? 1U : 0U)};
  const auto add = [&](auto... values) { (words.push_back(static_cast<uint32_t>(values)), ...); };
  if (content.phase >= Phase::kE) {
    add(content.exponent);
    for (const auto& span : content.exponents.spans()) add(span.lo, span.hi);
    if (labels_.empty()) return words;
    add(content.lowers ? 1 : 0);
  }
  const Reading& reading = content.reading;
  add(reading.magnitude, reading.fraction, reading.last);
  for (const auto& place : {reading.bounds, reading.points}) {
    add(place.first, place.last, place.depth);
  }
  for (const Residue& residue : reading.residues) {
    add(residue.prime, residue.prime >> 32, residue.power, residue.power >> 32, residue.factors);
  }
  return words;
}

// Behind its mantissa.
bool NumberLang::may_end(const Content& content) const {
  switch (content.phase) {
    case Phase::kZero: return !(plain_ && content.negative);
    case Phase::kWhole:
    case Phase::kFraction: return true;
    default: return false;
  }
}

uint32_t NumberLang::intern(Content content, uint32_t parent, char last) {
  const auto [id, inserted] = index_.intern(words_of(content));
  if (!inserted) return id;
  State& state = states_[states_.grow()];
  state.parent = parent;
  state.last = last;
  if (may_end(content)) {
    state.exponents = sides_[content.negative].exponents(content.reading);
    state.accepts = state.exponents.contains(0);
  } else if (content.phase == Phase::kExponent) {
    state.accepts = content.exponents.contains(content.exponent);
  }
  state.content = std::move(content);
  return id;
}

bool NumberLang::step(const State& state, char c, Content& next) const {
  const bool at_start = state.content.phase == Phase::kStart || state.content.phase == Phase::kE;
  if (!is_digit(c) && (c == '+' || c == '-') != at_start) return false;
  next = state.content;
  if (state.content.phase >= Phase::kE) return step_exponent(c, next);
  if (c != 'e' && c != 'E') return step_mantissa(state, c, next);
  if (!may_end(state.content)) return false;
  if (labels_.empty()) next = {};
  next.phase = Phase::kE;
  next.exponents = state.exponents.meet(alphabet_.written);
  return !next.exponents.is_empty();
}

bool NumberLang::step_mantissa(const State& state, char c, Content& next) const {
  const Phase phase = state.content.phase;
  const NumberSide& side = sides_[next.negative];
  if (phase == Phase::kStart && c == '-') {
    next.phase = Phase::kMinus;
    next.negative = true;
    return true;
  }
  if (c == '.') {
    next.phase = Phase::kDot;
    next.reading = side.point(std::move(next.reading));
    return phase == Phase::kZero || phase == Phase::kWhole;
  }
  if (!is_digit(c)) return false;
  switch (phase) {
    case Phase::kStart:
    case Phase::kMinus:
      next.phase = c == '0' ? Phase::kZero : Phase::kWhole;
      next.reading = side.whole_digit(side.start(), c);
      return true;
    case Phase::kWhole: next.reading = side.whole_digit(std::move(next.reading), c); return true;
    case Phase::kDot:
    case Phase::kFraction:
    case Phase::kFractionZero:
      next.phase = plain_ && c == '0' ? Phase::kFractionZero : Phase::kFraction;
      next.reading = side.fraction_digit(std::move(next.reading), c);
      return true;
    default: return false;
  }
}

bool NumberLang::step_exponent(char c, Content& next) const {
  if (!is_digit(c)) {
    if (next.phase != Phase::kE || (c != '+' && c != '-')) return false;
    next.phase = Phase::kExponentSign;
    if (c == '-') next.exponents = next.exponents.negated();
    next.lowers = c == '-' && !labels_.empty();
    next.exponents.clip(0, NumberAlphabet::kMaxExponent);
    return !next.exponents.is_empty();
  }
  next.phase = Phase::kExponent;
  next.exponents.clip(0, NumberAlphabet::kMaxExponent);
  next.exponent = next.exponent * 10 + (c - '0');
  if (next.exponent == 0) return !next.exponents.is_empty();
  // The exponent is this one, or goes on with further digits.
  ExponentSet possible;
  int32_t most = 0;
  for (int32_t least = next.exponent; least <= NumberAlphabet::kMaxExponent;
       least *= 10, most = most * 10 + 9) {
    ExponentSet part = next.exponents;
    part.clip(least, least + most);
    for (const auto& span : part.spans()) possible.append(span.lo, span.hi);
  }
  next.exponents = std::move(possible);
  return !next.exponents.is_empty();
}

uint32_t NumberLang::label(uint32_t state) {
  const Content& content = states_[state].content;
  const int64_t exponent = content.lowers ? -content.exponent : content.exponent;
  const Decimal value = sides_[content.negative].value(content.reading, exponent);
  return labels_[set_->index_of(value)];
}

// By the digits alone; of zero so far all labels.
bool NumberLang::labels_ahead(uint32_t state, std::vector<uint32_t>& out) {
  if (labels_.empty()) return false;
  const Content& content = states_[state].content;
  if (content.phase < Phase::kZero || !content.reading.significant) {
    if (labels_.size() > kFewAhead) return false;
    out.insert(out.end(), labels_.begin(), labels_.end());
    return true;
  }
  const std::vector<Decimal> values =
      sides_[content.negative].values_of(content.reading, kFewAhead);
  for (const Decimal& value : values) out.push_back(labels_[set_->index_of(value)]);
  return !values.empty();
}

void NumberLang::expand(uint32_t id) {
  if (states_[id].expanded) return;
  states_[id].expanded = true;
  Content next;
  for (const char c : alphabet_.chars) {
    auto& arcs = states_[id].arcs;
    const auto code = static_cast<uint32_t>(c);
    if (c == 'e' && !arcs.empty() && arcs.back().lo == 'E') {
      arcs.push_back({code, code, arcs.back().target});
    } else if (step(states_[id], c, next)) {
      arcs.push_back({code, code, intern(std::move(next), id, c)});
    }
  }
}

std::span<const Lang::Arc> NumberLang::arcs(uint32_t id) {
  expand(id);
  State& state = states_[id];
  if (state.trimmed) return state.arcs;
  std::vector<Arc> alive;
  for (const Arc& arc : state.arcs) {
    if (!is_alive(arc.target)) continue;
    if (!alive.empty() && alive.back().hi + 1 == arc.lo && alive.back().target == arc.target) {
      alive.back().hi = arc.hi;
    } else {
      alive.push_back(arc);
    }
  }
  state.arcs = std::move(alive);
  state.trimmed = true;
  return state.arcs;
}

bool NumberLang::continues(uint32_t id) {
  const State& state = states_[id];
  if (plain_ || !state.accepts || !may_end(state.content) || !alphabet_.has('0')) {
    return !arcs(id).empty();
  }
  // A zero behind the point changes nothing.
  return state.content.phase == Phase::kFraction || alphabet_.has('.') || !arcs(id).empty();
}

bool NumberLang::is_alive(uint32_t id) {
  if (!judged(id)) search(id, std::numeric_limits<std::size_t>::max());
  return states_[id].verdict == Verdict::kAlive;
}

// Is the verdict known without a search?
bool NumberLang::judged(uint32_t id) {
  State& state = states_[id];
  if (state.verdict == Verdict::kUnknown) state.verdict = judge(state);
  return state.verdict != Verdict::kUnknown;
}

// Is there a number in the set already, with an exponent that can be written or is begun?
bool NumberLang::ends(const State& state) const {
  return state.content.phase >= Phase::kE || state.accepts ||
         !state.exponents.meet(alphabet_.written).is_empty();
}

// Unknown: a search must tell.
NumberLang::Verdict NumberLang::judge(const State& state) const {
  if (ends(state)) return Verdict::kAlive;
  if (!can_go_on(state)) return Verdict::kDead;
  return alphabet_.complete ? Verdict::kAlive : Verdict::kUnknown;
}

// With all digits, and the point if it matters.
bool NumberLang::can_go_on(const State& state) const {
  const Content& content = state.content;
  if (content.phase == Phase::kStart) {
    return sides_[0].is_possible(false) || (alphabet_.has('-') && sides_[1].is_possible(plain_));
  }
  if (content.phase == Phase::kZero && !alphabet_.has('.')) return false;
  const NumberSide& side = sides_[content.negative];
  if (content.phase == Phase::kMinus) return side.is_possible(plain_);
  if (side.goes_on_anyway(content.reading, content.phase == Phase::kWhole)) return true;
  std::string digits;
  int64_t fraction = 0;
  bool in_fraction = content.phase == Phase::kFraction || content.phase == Phase::kFractionZero;
  for (const State* at = &state; at->content.phase > Phase::kMinus; at = &states_[at->parent]) {
    if (at->last == '.') in_fraction = false;
    if (!is_digit(at->last)) continue;
    digits += at->last;
    if (in_fraction) ++fraction;
  }
  std::reverse(digits.begin(), digits.end());
  const bool more_whole = content.phase == Phase::kWhole;
  // Digits of a plain fraction make another number of it; "10" is 1 at another scale.
  return side.can_go_on(digits, fraction, more_whole, plain_ && !more_whole);
}

std::size_t NumberLang::max_visited() const {
  std::size_t parts = 2 + set_->excluded_divisors().size();
  for (const bool negative : {false, true}) {
    parts += set_->intervals(negative).size() + set_->excluded(negative).size();
  }
  return kMaxVisitedParts / parts;
}

bool NumberLang::explore() {
  const std::size_t most = max_visited();
  std::vector<std::pair<uint32_t, uint32_t>> ways;  // from the later state to the earlier
  for (uint32_t id = 0; id < states_.size(); ++id) {
    check_stop();
    if (states_[id].content.phase >= Phase::kE) continue;
    if (states_.size() > most) return false;
    expand(id);
    for (const Arc& arc : states_[id].arcs) ways.emplace_back(arc.target, id);
  }
  make_set(ways);
  std::vector<uint32_t> alive;
  for (uint32_t id = 0; id < states_.size(); ++id) {
    states_[id].verdict = ends(states_[id]) ? Verdict::kAlive : Verdict::kDead;
    if (ends(states_[id])) alive.push_back(id);
  }
  while (!alive.empty()) {
    const uint32_t id = alive.back();
    alive.pop_back();
    auto way = std::lower_bound(ways.begin(), ways.end(), std::pair(id, uint32_t{0}));
    for (; way != ways.end() && way->first == id; ++way) {
      State& before = states_[way->second];
      if (before.verdict == Verdict::kAlive) continue;
      before.verdict = Verdict::kAlive;
      alive.push_back(way->second);
    }
  }
  return true;
}

// Breadth first until a state that is known to be alive; without one all that were met are dead.
// False: more than `most` were met, and it is still unknown.
bool NumberLang::search(uint32_t from, std::size_t most) {
  std::vector<std::pair<uint32_t, std::size_t>> met{{from, 0}};  // with the place of its parent
  std::unordered_set<uint32_t> seen{from};
  for (std::size_t at = 0; at < met.size(); ++at) {
    check_stop();
    if (met.size() > most) return false;
    expand(met[at].first);
    for (const Arc& arc : states_[met[at].first].arcs) {
      if (!seen.insert(arc.target).second) continue;
      if (!judged(arc.target)) met.emplace_back(arc.target, at);
      if (states_[arc.target].verdict != Verdict::kAlive) continue;
      while (true) {
        states_[met[at].first].verdict = Verdict::kAlive;
        if (at == 0) return true;
        at = met[at].second;
      }
    }
  }
  for (const auto& [state, parent] : met) states_[state].verdict = Verdict::kDead;
  return true;
}

}  // namespace

std::unique_ptr<TableLang> make_labelled_numbers(std::shared_ptr<const NumberSet> set,
                                                 NumberSpelling spelling,
                                                 std::span<const CodeRange> alphabet,
                                                 std::vector<uint32_t> labels) {
  NumberAlphabet spelled(alphabet, spelling == NumberSpelling::kAny);
  return std::make_unique<NumberLang>(std::move(set), spelling, std::move(spelled),
                                      std::move(labels));
}

std::unique_ptr<TableLang> make_number_lang(std::shared_ptr<const NumberSet> set,
                                            NumberSpelling spelling,
                                            std::span<const CodeRange> alphabet,
                                            const LangLimits& limits, Completions completions) {
  NumberAlphabet spelled(alphabet, spelling == NumberSpelling::kAny);
  if (set->is_everything() && spelling != NumberSpelling::kPlain)
    return std::make_unique<DfaLang>(any_number(spelled), limits);
  // What integers have behind the digits read can all be written without a point.
  if (spelled.has_digits && set->only_integers()) spelled.complete = true;
  const bool checks = completions == Completions::kKnown && !spelled.complete;
  // Exponents multiply the states, but mostly have one that ends a number near.
  const uint64_t few = spelled.max > 0 ? kFewResidues : 1;
  const bool explores = checks && set->num_residues(few) > few;
  auto lang = std::make_unique<NumberLang>(std::move(set), spelling, std::move(spelled));
  if (checks && !(explores ? lang->explore() : lang->find_start())) {
    throw Error::unsupported(
        "json-number-divisor",
        "the keyword \"multipleOf\" is not supported here: the vocabulary is without some digit or "
        "the point, and it would take too long to tell which numbers can be spelled",
        "multipleOf");
  }
  return lang;
}

}  // namespace maskwright::langs

// Languages of numbers.
//
// Bounds: a text is read digit by digit as sign and magnitude. For each sign the bounds become at
// most one lower and one upper bound on the magnitude, and a comparator follows each: how many
// digits of the bound's integer part were met, how the digits so far compare, then the same for the
// fraction. An integer part has no leading zeros, so fewer digits mean a smaller number. The
// comparison is exact for bounds of any length; states are linear in the digits of both bounds.
// States that can't be completed any more (integers between 0.2 and 0.8) are trimmed.
//
// Values: a trie of the values, whose ends lead to shared tails for ".000" or further zeros; as an
// automaton it is made lazily, so that 50,000 values cost one pass.
#include "json/number_lang.h"

#include <algorithm>
#include <array>

#include "json/lang_dfa.h"
#include "json/lang_nfa.h"

namespace maskwright::langs {

namespace {

constexpr std::string_view kNumberChars = "+-.0123456789Ee";

struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;

  explicit Decimal(std::string_view text) {
    if (!text.empty() && text.front() == '-') {
      negative = true;
      text.remove_prefix(1);
    }
    const std::size_t dot = text.find('.');
    whole = text.substr(0, dot);
    if (dot != std::string_view::npos) fraction = text.substr(dot + 1);
  }
};

int sign_of(int value) { return value < 0 ? -1 : (value > 0 ? 1 : 0); }

// Follows the magnitude of a text against one bound.
class Comparator {
 public:
  enum Order : uint32_t { kLess, kEqual, kGreater };

  Comparator() = default;
  Comparator(std::string_view whole, std::string_view fraction, bool exclusive)
      : has_(true), exclusive_(exclusive), whole_(whole), fraction_(fraction) {}

  bool has() const { return has_; }
  bool exclusive() const { return exclusive_; }
  uint32_t start() const { return has_ ? pack(0, kEqual) : 0; }

  uint32_t whole_digit(uint32_t state, char digit) const {
    if (!has_) return 0;
    const uint32_t at = state / 3;
    if (at >= whole_.size()) return pack(whole_.size() + 1, kGreater);
    const auto order = static_cast<Order>(state % 3);
    return pack(at + std::size_t{1}, order == kEqual ? compare(digit, whole_[at]) : order);
  }
  uint32_t dot(uint32_t state) const { return has_ ? pack(0, whole_order(state)) : 0; }
  uint32_t fraction_digit(uint32_t state, char digit) const {
    if (!has_) return 0;
    const uint32_t at = state / 3;
    if (state % 3 != kEqual) return state;
    const Order order = compare(digit, at < fraction_.size() ? fraction_[at] : '0');
    if (order != kEqual) return pack(0, order);
    return pack(std::min<std::size_t>(at + 1, fraction_.size()), kEqual);
  }
  // The order of the number, if the text ends here.
  Order result(uint32_t state, bool in_fraction) const {
    const auto order = in_fraction ? static_cast<Order>(state % 3) : whole_order(state);
    const std::size_t at = in_fraction ? state / 3 : 0;
    return order == kEqual && at < fraction_.size() ? kLess : order;
  }

 private:
  static Order compare(char a, char b) { return a < b ? kLess : (a > b ? kGreater : kEqual); }
  static uint32_t pack(std::size_t at, Order order) {
    return static_cast<uint32_t>(at * 3 + order);
  }
  Order whole_order(uint32_t state) const {
    return state / 3 < whole_.size() ? kLess : static_cast<Order>(state % 3);
  }

  bool has_ = false;
  bool exclusive_ = false;
  std::string_view whole_, fraction_;
};

// What one sign allows.
struct Side {
  bool possible = true;
  Comparator lower, upper;

  // Of non-negative numbers between lo and hi; for negative ones with both negated and swapped.
  Side(bool has_lo, Decimal lo, bool lo_exclusive, bool has_hi, Decimal hi, bool hi_exclusive) {
    const auto zero = [](const Decimal& d) { return d.whole == "0" && d.fraction.empty(); };
    if (has_lo && (!lo.negative || zero(lo))) lower = {lo.whole, lo.fraction, lo_exclusive};
    if (!has_hi) return;
    possible = !hi.negative || zero(hi);
    upper = {hi.whole, hi.fraction, hi_exclusive};
  }

  bool accepts(uint32_t low, uint32_t high, bool in_fraction) const {
    if (lower.has()) {
      const Comparator::Order order = lower.result(low, in_fraction);
      if (order == Comparator::kLess) return false;
      if (order == Comparator::kEqual && lower.exclusive()) return false;
    }
    if (!upper.has()) return true;
    const Comparator::Order order = upper.result(high, in_fraction);
    return order == Comparator::kLess || (order == Comparator::kEqual && !upper.exclusive());
  }
};

class NumberBuilder {
 public:
  NumberBuilder(const NumberSpec& spec, std::span<const CodeRange> alphabet,
                const LangLimits& limits)
      : limits_(limits),
        exponents_(!spec.integer && !spec.has_lo && !spec.has_hi),
        integer_(spec.integer),
        sides_{make_side(spec, false), make_side(spec, true)} {
    for (const char c : kNumberChars) {
      if (contains(alphabet, static_cast<uint8_t>(c))) chars_.push_back(c);
    }
  }

  Dfa run() {
    Dfa dfa;
    states_.intern(std::array<uint32_t, 4>{kStart, 0, 0, 0});
    for (uint32_t id = 0; id < states_.size(); ++id) {
      if (id > limits_.nfa_nodes()) limits_.exceeded("the length of a number's bounds");
      const auto words = states_.get(id);
      const State state{words[0], words[1], words[2], words[3]};
      dfa.add_state(accepts(state));
      for (const char c : chars_) {
        const State next = step(state, c);
        if (next.phase == kNowhere) continue;
        const std::array<uint32_t, 4> key{next.phase, next.sign, next.low, next.high};
        const auto code = static_cast<uint32_t>(c);
        dfa.add_arc(code, code, states_.intern(key).id);
      }
    }
    return trim(dfa);
  }

 private:
  enum Phase : uint32_t {
    kNowhere,
    kStart,
    kMinus,
    kZero,
    kWhole,
    kDot,
    kFraction,
    kE,
    kExponentSign,
    kExponent,
  };
  struct State {
    uint32_t phase, sign, low, high;
  };

  static Side make_side(const NumberSpec& spec, bool negative) {
    Decimal lo(spec.lo);
    Decimal hi(spec.hi);
    if (!negative) return {spec.has_lo, lo, spec.lo_exclusive, spec.has_hi, hi, spec.hi_exclusive};
    lo.negative = !lo.negative;
    hi.negative = !hi.negative;
    return {spec.has_hi, hi, spec.hi_exclusive, spec.has_lo, lo, spec.lo_exclusive};
  }

  bool accepts(const State& state) const {
    const bool in_fraction = state.phase == kFraction;
    if (state.phase == kExponent) return true;
    if (state.phase != kZero && state.phase != kWhole && !in_fraction) return false;
    return sides_[state.sign].accepts(state.low, state.high, in_fraction);
  }

  State step(const State& state, char c) const {
    static constexpr State kNone{kNowhere, 0, 0, 0};
    const bool digit = c >= '0' && c <= '9';
    State next = state;
    switch (state.phase) {
      case kStart:
        if (c == '-') return begin(kMinus, 1);
        return digit ? first_digit(begin(kMinus, 0), c) : kNone;
      case kMinus: return digit ? first_digit(state, c) : kNone;
      case kZero:
      case kWhole:
        if (c == '.') return dot(state);
        if (digit && state.phase == kWhole) return whole_digit(state, c);
        next.phase = c == 'e' || c == 'E' ? kE : kNowhere;
        return exponents_ ? next : kNone;
      case kDot:
      case kFraction:
        if (digit) return integer_ && c != '0' ? kNone : fraction_digit(state, c);
        next.phase = state.phase == kFraction && (c == 'e' || c == 'E') ? kE : kNowhere;
        return exponents_ ? next : kNone;
      case kE:
        if (c == '+' || c == '-')
          next.phase = kExponentSign;
        else
          next.phase = digit ? kExponent : kNowhere;
        return next;
      default: next.phase = digit ? kExponent : kNowhere; return next;
    }
  }

  State begin(uint32_t phase, uint32_t sign) const {
    const Side& side = sides_[sign];
    if (!side.possible) return {kNowhere, 0, 0, 0};
    return {phase, sign, side.lower.start(), side.upper.start()};
  }
  State first_digit(const State& state, char c) const {
    if (state.phase == kNowhere) return state;
    State next = whole_digit(state, c);
    next.phase = c == '0' ? kZero : kWhole;
    return next;
  }
  State whole_digit(const State& state, char c) const {
    const Side& side = sides_[state.sign];
    return {kWhole, state.sign, side.lower.whole_digit(state.low, c),
            side.upper.whole_digit(state.high, c)};
  }
  State dot(const State& state) const {
    const Side& side = sides_[state.sign];
    return {kDot, state.sign, side.lower.dot(state.low), side.upper.dot(state.high)};
  }
  State fraction_digit(const State& state, char c) const {
    const Side& side = sides_[state.sign];
    return {kFraction, state.sign, side.lower.fraction_digit(state.low, c),
            side.upper.fraction_digit(state.high, c)};
  }

  const LangLimits& limits_;
  bool exponents_;
  bool integer_;
  std::array<Side, 2> sides_;
  std::string chars_;
  WordInterner states_;
};

class ValueBuilder {
 public:
  ValueBuilder(std::span<const CodeRange> alphabet, ClassPool& classes)
      : alphabet_(alphabet), classes_(classes) {
    nfa_.start = nfa_.add_node();
    nfa_.final = nfa_.add_node();
    whole_end_ = nfa_.add_node();
    fraction_end_ = nfa_.add_node();
    nfa_.add_epsilon(whole_end_, nfa_.final);
    nfa_.add_epsilon(fraction_end_, nfa_.final);
    if (!spelled("0")) return;
    add_char(fraction_end_, '0', fraction_end_);
    if (!spelled(".")) return;
    const uint32_t dot = nfa_.add_node();
    add_char(whole_end_, '.', dot);
    add_char(dot, '0', fraction_end_);
  }

  bool spelled(std::string_view text) const {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return contains(alphabet_, static_cast<uint8_t>(c)); });
  }

  // Values sorted; each goes on from the common prefix with the one before.
  void add(std::string_view value) {
    std::size_t common = 0;
    const std::size_t shorter = std::min(value.size(), previous_.size());
    while (common < shorter && value[common] == previous_[common]) ++common;
    path_.resize(common);
    for (std::size_t i = common; i < value.size(); ++i) {
      const uint32_t from = i == 0 ? nfa_.start : path_.back();
      path_.push_back(nfa_.add_node());
      add_char(from, value[i], path_.back());
    }
    const bool whole = value.find('.') == std::string_view::npos;
    nfa_.add_epsilon(path_.back(), whole ? whole_end_ : fraction_end_);
    previous_ = value;
  }

  Nfa take() { return std::move(nfa_); }

 private:
  void add_char(uint32_t from, char c, uint32_t to) {
    nfa_.add_edge(from, classes_.intern(static_cast<uint32_t>(c)), to);
  }

  std::span<const CodeRange> alphabet_;
  ClassPool& classes_;
  Nfa nfa_;
  uint32_t whole_end_ = 0;
  uint32_t fraction_end_ = 0;
  std::string_view previous_;
  std::vector<uint32_t> path_;  // the nodes of `previous_`
};

}  // namespace

int compare_decimals(std::string_view a, std::string_view b) {
  const Decimal x(a);
  const Decimal y(b);
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  int order = x.whole.size() != y.whole.size() ? (x.whole.size() < y.whole.size() ? -1 : 1)
                                               : sign_of(x.whole.compare(y.whole));
  // Normalised fractions compare as texts.
  if (order == 0) order = sign_of(x.fraction.compare(y.fraction));
  return x.negative ? -order : order;
}

std::string normalise_decimal(std::string_view text) {
  Decimal decimal(text);
  while (decimal.whole.size() > 1 && decimal.whole.front() == '0') decimal.whole.remove_prefix(1);
  while (decimal.fraction.ends_with('0')) decimal.fraction.remove_suffix(1);
  const bool zero = decimal.whole == "0" && decimal.fraction.empty();
  std::string result = decimal.negative && !zero ? "-" : "";
  result += decimal.whole;
  if (!decimal.fraction.empty()) result.append(".").append(decimal.fraction);
  return result;
}

bool satisfies(const NumberSpec& spec, std::string_view value) {
  if (spec.integer && value.find('.') != std::string_view::npos) return false;
  if (spec.has_lo) {
    const int order = compare_decimals(value, spec.lo);
    if (order < 0 || (order == 0 && spec.lo_exclusive)) return false;
  }
  if (!spec.has_hi) return true;
  const int order = compare_decimals(value, spec.hi);
  return order < 0 || (order == 0 && !spec.hi_exclusive);
}

std::unique_ptr<TableLang> make_number_lang(const NumberSpec& spec,
                                            std::span<const CodeRange> alphabet, ClassPool& classes,
                                            const LangLimits& limits) {
  if (!spec.has_values) {
    return std::make_unique<DfaLang>(NumberBuilder(spec, alphabet, limits).run(), limits);
  }
  ValueBuilder builder(alphabet, classes);
  std::vector<std::string> texts;
  for (const std::string& value : spec.values) {
    if (!satisfies(spec, value)) continue;
    texts.push_back(value);
    if (value == "0") texts.emplace_back("-0");
  }
  std::erase_if(texts, [&](const std::string& text) { return !builder.spelled(text); });
  std::sort(texts.begin(), texts.end());
  if (texts.empty()) return std::make_unique<DfaLang>(Dfa{}, limits);
  for (const std::string& text : texts) builder.add(text);
  return std::make_unique<SubsetLang>(builder.take(), classes, limits);
}

}  // namespace maskwright::langs

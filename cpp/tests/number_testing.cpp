#include "number_testing.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace maskwright::test {

namespace {

// units * 10^exponent.
struct Value {
  int64_t units = 0;
  int64_t exponent = 0;
  int64_t written = 0;  // the exponent in the text
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::optional<Value> run() {
    const bool negative = take('-');
    if (!take('0') && !mantissa_digits()) return std::nullopt;
    if (take('.')) {
      const std::size_t from = at_;
      if (!mantissa_digits()) return std::nullopt;
      value_.exponent -= static_cast<int64_t>(at_ - from);
    }
    if (take('e') || take('E')) {
      const bool minus = take('-');
      if (!minus) take('+');
      if (!digits(value_.written)) return std::nullopt;
      if (minus) value_.written = -value_.written;
    }
    if (at_ != text_.size()) return std::nullopt;
    value_.exponent += value_.written + zeros_;
    if (negative) value_.units = -value_.units;
    return value_;
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Zeros at the end are only counted.
  bool mantissa_digits() {
    const std::size_t from = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++zeros_) {
      if (text_[at_] == '0') continue;
      for (; zeros_ >= 0; --zeros_) value_.units *= 10;
      value_.units += text_[at_] - '0';
    }
    return at_ > from;
  }
  bool digits(int64_t& number) {
    const std::size_t from = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      number = number * 10 + (text_[at_] - '0');
    }
    return at_ > from;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int64_t zeros_ = 0;  // read, but not yet in the units
  Value value_;
};

Value value_of(const std::string& text) { return *Parser(text).run(); }

int order(int64_t a, int64_t b) { return a < b ? -1 : (a > b ? 1 : 0); }

int64_t width(int64_t units) {
  return static_cast<int64_t>(std::to_string(units < 0 ? -units : units).size());
}

int compare(Value a, Value b) {
  if (a.units == 0 || b.units == 0 || (a.units < 0) != (b.units < 0)) {
    return order(a.units, b.units);
  }
  const int sign = a.units < 0 ? -1 : 1;
  const int64_t top_a = width(a.units) + a.exponent;
  const int64_t top_b = width(b.units) + b.exponent;
  if (top_a != top_b) return order(top_a, top_b) * sign;
  // Of equal width, digits compare as numbers.
  for (; width(a.units) < width(b.units); a.units *= 10) {
  }
  for (; width(b.units) < width(a.units); b.units *= 10) {
  }
  return order(a.units, b.units);
}

bool is_multiple(const Value& value, const Value& divisor) {
  int64_t units = value.units;
  int64_t exponent = value.exponent - divisor.exponent;
  if (units == 0) return true;
  for (; exponent < 0; ++exponent, units /= 10) {
    if (units % 10 != 0) return false;
  }
  units %= divisor.units;
  for (; exponent > 0 && units != 0; --exponent) units = units * 10 % divisor.units;
  return units == 0;
}

bool is_within(const Value& value, const NumberRange& range) {
  if (range.has_lo) {
    const int below = compare(value, value_of(range.lo));
    if (below < 0 || (below == 0 && range.lo_exclusive)) return false;
  }
  if (!range.has_hi) return true;
  const int above = compare(value, value_of(range.hi));
  return above < 0 || (above == 0 && !range.hi_exclusive);
}

bool is_everything(const NumberSpec& spec) {
  return !spec.integer && !spec.fractional && spec.within.empty() && spec.outside.empty() &&
         spec.multiples_of.empty() && spec.not_multiples_of.empty() && !spec.has_values &&
         spec.excluded.empty();
}

bool is_plain(const std::string& text) {
  if (text == "-0" || text.find_first_of("eE") != std::string::npos) return false;
  return text.find('.') == std::string::npos || text.back() != '0';
}

// Of its divisors alone.
bool has_integer_divisor(const NumberSpec& spec) {
  constexpr int64_t kOne = 10000;
  int64_t common = spec.integer ? kOne : 1;
  for (const std::string& text : spec.multiples_of) {
    Value divisor = value_of(text);
    for (divisor.exponent += 4; divisor.exponent > 0; --divisor.exponent) divisor.units *= 10;
    for (; divisor.exponent < 0; ++divisor.exponent) divisor.units /= 10;
    common = std::lcm(common, divisor.units);
  }
  return common % kOne == 0;
}

// All its numbers are integers, as its divisors or its list say.
bool names_integers(const NumberSpec& spec) {
  if (!spec.has_values) return has_integer_divisor(spec);
  NumberSpec in_any_spelling = spec;
  in_any_spelling.spelling = NumberSpelling::kAny;
  return std::all_of(spec.values.begin(), spec.values.end(), [&](const std::string& text) {
    return is_multiple(value_of(text), {1, 0, 0}) || !satisfies(in_any_spelling, text);
  });
}

bool is_spelled(const NumberSpec& spec, const std::string& text) {
  if (spec.spelling == NumberSpelling::kAny) return true;
  if (spec.spelling == NumberSpelling::kPlain || names_integers(spec)) return is_plain(text);
  return text.find_first_of("eE") == std::string::npos;
}

}  // namespace

bool satisfies(const NumberSpec& spec, const std::string& text) {
  const auto parsed = Parser(text).run();
  if (!parsed || !is_spelled(spec, text)) return false;
  if (is_everything(spec)) return true;
  const Value value = *parsed;
  if (value.written < -400 || value.written > 400) return false;
  const bool whole = is_multiple(value, {1, 0, 0});
  if ((spec.integer && !whole) || (spec.fractional && whole)) return false;
  const auto within = [&](const NumberRange& range) { return is_within(value, range); };
  const auto multiple = [&](const std::string& of) { return is_multiple(value, value_of(of)); };
  const auto equal = [&](const std::string& to) { return compare(value, value_of(to)) == 0; };
  const auto any = [](const auto& list, const auto& test) {
    return std::any_of(list.begin(), list.end(), test);
  };
  return std::all_of(spec.within.begin(), spec.within.end(), within) &&
         std::all_of(spec.multiples_of.begin(), spec.multiples_of.end(), multiple) &&
         !any(spec.outside, within) && !any(spec.not_multiples_of, multiple) &&
         !any(spec.excluded, equal) && (!spec.has_values || any(spec.values, equal));
}

NumberRange at_most(const std::string& hi) {
  NumberRange range;
  range.has_hi = true;
  range.hi = hi;
  return range;
}

NumberRange between(const std::string& lo, const std::string& hi) {
  NumberRange range = at_most(hi);
  range.has_lo = true;
  range.lo = lo;
  return range;
}

std::string describe(const NumberSpec& spec) {
  static const std::array<const char*, 3> spellings{"", "decimal ", "plain "};
  std::string out = spellings[static_cast<std::size_t>(spec.spelling)];
  out += spec.integer ? "integer" : "";
  out += spec.fractional ? "fractional" : "";
  const auto ranges = [&](const char* name, const std::vector<NumberRange>& list) {
    for (const NumberRange& range : list) {
      out += std::string(name) + (range.lo_exclusive ? "(" : "[") + range.lo + "," + range.hi +
             (range.hi_exclusive ? ")" : "]");
    }
  };
  const auto texts = [&](const char* name, const std::vector<std::string>& list) {
    if (!list.empty()) out += name;
    for (const std::string& text : list) out += text + " ";
  };
  ranges(" within ", spec.within);
  ranges(" outside ", spec.outside);
  texts(" multiples of ", spec.multiples_of);
  texts(" no multiples of ", spec.not_multiples_of);
  texts(spec.has_values ? " values " : "", spec.values);
  texts(" excluded ", spec.excluded);
  return out;
}

std::string Specs::decimal() {
  static const std::array<const char*, 28> all{
      "0",    "1",    "-1",   "2",    "5",     "-0.5", "0.5",   "10",    "12",   "100",
      "-2.5", "1.9",  "0.01", "19.9", "-10",   "1000", "0.002", "-0.02", "30.5", "0.2",
      "11.1", "2000", "-7",   "99",   "1.001", "101",  "10.01", "-10010"};
  return all[pick(all.size())];
}

NumberRange Specs::range() {
  NumberRange range;
  const std::string a = decimal();
  const std::string b = pick(6) == 0 ? a : decimal();
  const bool ordered = compare(value_of(a), value_of(b)) <= 0;
  const uint32_t sides = pick(5);
  range.has_lo = sides != 0;
  range.has_hi = sides != 1;
  if (range.has_lo) range.lo = ordered ? a : b;
  if (range.has_hi) range.hi = ordered ? b : a;
  range.lo_exclusive = range.has_lo && pick(3) == 0;
  range.hi_exclusive = range.has_hi && pick(3) == 0;
  return range;
}

std::string Specs::long_text() {
  static const std::array<const char*, 10> heads{"1",    "5",   "12",  "35",  "99",
                                                 "1001", "0.7", "2.5", "1.9", "-0.5"};
  const auto zeros = [&] { return std::string(395 + pick(12), '0'); };
  const auto exponent = [&](const char* sign) {
    return std::string("e") + sign + std::to_string(390 + pick(13));
  };
  const std::string head = heads[pick(heads.size())];
  const std::string tail = pick(2) == 0 ? "" : std::string(pick(3), '0');
  if (head.find('.') != std::string::npos)
    return head + zeros() + exponent(pick(2) == 0 ? "-" : "");
  if (pick(2) == 0) return "0." + zeros() + head + tail + exponent("");
  return head + zeros() + (pick(2) == 0 ? ".0" : "") + exponent("-");
}

NumberSpec Specs::next() {
  static const std::array<const char*, 16> divisors{"1",   "2",    "3",   "5",   "7",  "0.1",
                                                    "0.2", "0.01", "1.5", "4",   "10", "100",
                                                    "12",  "8",    "0.7", "0.25"};
  NumberSpec spec;
  spec.integer = pick(4) == 0;
  spec.fractional = !spec.integer && pick(6) == 0;
  for (uint32_t n = pick(3); n > 0; --n) spec.within.push_back(range());
  if (pick(3) == 0) spec.outside.push_back(range());
  for (uint32_t n = pick(5) / 2; n > 0; --n) {
    spec.multiples_of.emplace_back(divisors[pick(divisors.size())]);
  }
  while (pick(4) == 0) spec.not_multiples_of.emplace_back(divisors[pick(divisors.size())]);
  spec.has_values = pick(5) == 0;
  for (uint32_t n = spec.has_values ? 1 + pick(8) : 0; n > 0; --n) {
    spec.values.push_back(decimal());
  }
  for (uint32_t n = pick(4) == 0 ? 1 + pick(3) : 0; n > 0; --n) spec.excluded.push_back(decimal());
  return spec;
}

}  // namespace maskwright::test

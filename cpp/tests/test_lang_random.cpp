// Random regular expressions over two letters against the definition of their languages, on all
// short texts; lengths and the length horizon against counting on the automaton.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"

using namespace maskwright;
using test::IrWriter;

namespace {

constexpr std::size_t kMaxLength = 6;
constexpr uint32_t kCounted = 90;  // lengths counted on the automaton

using Texts = std::set<std::string>;

std::array<bool, 256> only(const std::string& bytes) {
  std::array<bool, 256> result{};
  for (const char c : bytes) result[static_cast<uint8_t>(c)] = true;
  return result;
}

const Texts& all_texts() {
  static const Texts texts = [] {
    Texts out{""};
    Texts last{""};
    for (std::size_t length = 0; length < kMaxLength; ++length) {
      Texts next;
      for (const std::string& text : last) next.insert({text + "a", text + "b"});
      out.insert(next.begin(), next.end());
      last = next;
    }
    return out;
  }();
  return texts;
}

Texts concatenate(const Texts& a, const Texts& b) {
  Texts out;
  for (const std::string& x : a) {
    for (const std::string& y : b) {
      if (x.size() + y.size() <= kMaxLength) out.insert(x + y);
    }
  }
  return out;
}

Texts repeat_texts(const Texts& body, uint32_t min, uint32_t max) {
  Texts power{""};
  Texts out;
  // More than kMaxLength + min copies add nothing new.
  for (uint32_t count = 0; count <= std::min<uint32_t>(max, min + kMaxLength + 1); ++count) {
    if (count >= min) out.insert(power.begin(), power.end());
    power = concatenate(power, body);
  }
  return out;
}

Texts until_texts(const std::vector<std::string>& stops, const std::vector<std::string>& excludes) {
  Texts out;
  for (const std::string& text : all_texts()) {
    std::size_t first_end = std::string::npos;  // of a stop
    for (const std::string& stop : stops) {
      const std::size_t at = text.find(stop);
      if (at != std::string::npos) first_end = std::min(first_end, at + stop.size());
    }
    bool excluded = false;
    for (const std::string& exclude : excludes) excluded |= text.find(exclude) != std::string::npos;
    if (first_end == text.size() && !excluded) out.insert(text);
  }
  return out;
}

// Writes random expressions and computes their short texts at the same time.
class Generator {
 public:
  Generator(uint32_t seed, IrWriter& writer) : random_(seed), writer_(writer) {}

  struct Made {
    uint32_t id;
    Texts texts;
  };

  Made make(uint32_t depth) {
    const uint32_t kind = depth == 0 ? pick(4) : pick(11);
    switch (kind) {
      case 0: return {writer_.char_class({{'a', 'b'}}), {"a", "b"}};
      case 1: return letters();
      case 2: return depth == 0 && pick(3) != 0 ? letters() : Made{writer_.empty(), {""}};
      case 3: {
        const std::string text = word(3);
        return text.empty() ? letters() : Made{writer_.literal(text), {text}};
      }
      case 4: {
        const std::vector<std::string> words{word(3), word(3), word(4)};
        return {writer_.literal_set(words), {words.begin(), words.end()}};
      }
      case 5: return text_until();
      case 6: {
        const Made a = make(depth - 1);
        Texts rest;
        std::set_difference(all_texts().begin(), all_texts().end(), a.texts.begin(), a.texts.end(),
                            std::inserter(rest, rest.end()));
        return {writer_.complement(a.id), rest};
      }
      case 7: return repeat(depth);
      default: return pair(depth);
    }
  }

 private:
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  std::string word(uint32_t max) {
    std::string text;
    for (uint32_t i = pick(max + 1); i > 0; --i) text += pick(2) == 0 ? 'a' : 'b';
    return text;
  }

  Made letters() {
    const char c = pick(2) == 0 ? 'a' : 'b';
    const auto code = static_cast<uint32_t>(c);
    return {writer_.char_class({{code, code}, {'x', 'z'}}), {std::string(1, c)}};
  }

  Made text_until() {
    const std::vector<std::string> stops{word(2) + (pick(2) == 0 ? "a" : "b"), word(2) + "a"};
    std::vector<std::string> excludes;
    if (pick(2) == 0) excludes.push_back(word(2) + "b");
    return {writer_.text_until(stops, excludes), until_texts(stops, excludes)};
  }

  Made repeat(uint32_t depth) {
    const Made body = make(depth - 1);
    const uint32_t min = pick(3);
    const uint32_t max = pick(3) == 0 ? kNone : std::max(1U, min + pick(3));
    return {writer_.repeat(body.id, min, max), repeat_texts(body.texts, min, max)};
  }

  Made pair(uint32_t depth) {
    const Made a = make(depth - 1);
    const Made b = make(depth - 1);
    const uint32_t kind = pick(5);
    if (kind < 2) return {writer_.sequence({a.id, b.id}), concatenate(a.texts, b.texts)};
    Texts out;
    if (kind < 4) {
      std::set_union(a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(),
                     std::inserter(out, out.end()));
      return {writer_.choice({a.id, b.id}), out};
    }
    std::set_intersection(a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(),
                          std::inserter(out, out.end()));
    return {writer_.intersect({a.id, b.id}), out};
  }

  std::mt19937 random_;
  IrWriter& writer_;
};

uint32_t run(Lang& lang, const std::string& text) {
  uint32_t state = lang.start();
  for (const char c : text) {
    if (state == kDeadLang) break;
    state = lang.move(state, static_cast<uint8_t>(c));
  }
  return state;
}

Texts texts_of(Lang& lang) {
  Texts out;
  for (const std::string& text : all_texts()) {
    const uint32_t state = run(lang, text);
    if (state != kDeadLang && lang.accepts(state)) out.insert(text);
  }
  return out;
}

std::set<uint32_t> short_states(Lang& lang) {
  std::set<uint32_t> states;
  for (const std::string& text : all_texts()) {
    const uint32_t state = run(lang, text);
    if (state != kDeadLang) states.insert(state);
  }
  return states;
}

// lengths[n]: some completion has n code points.
std::vector<bool> count_lengths(Lang& lang, uint32_t state) {
  std::vector<bool> lengths;
  std::set<uint32_t> layer{state};
  for (uint32_t n = 0; n <= kCounted; ++n) {
    const auto accepts = [&](uint32_t s) { return lang.accepts(s); };
    lengths.push_back(std::any_of(layer.begin(), layer.end(), accepts));
    std::set<uint32_t> next;
    for (const uint32_t s : layer) {
      for (const Lang::Arc& arc : lang.arcs(s)) next.insert(arc.target);
    }
    layer = next;
  }
  return lengths;
}

bool counted(const std::vector<bool>& lengths, uint32_t min, uint32_t max) {
  for (uint32_t n = min; n <= std::min(max, kCounted); ++n) {
    if (lengths[n]) return true;
  }
  return false;
}

// The first broken query, or an empty text.
std::string check_lengths(Lang& lang, uint32_t state) {
  const std::vector<bool> lengths = count_lengths(lang, state);
  if (std::find(lengths.begin(), lengths.end(), true) == lengths.end()) return "not live";
  std::vector<uint32_t> bounds{0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 20, 21, 30, kUnbounded};
  for (const uint32_t min : bounds) {
    for (const uint32_t max : bounds) {
      if (min == kUnbounded) continue;
      if (lang.can_finish(state, min, max) != counted(lengths, min, max)) {
        return std::to_string(min) + ".." + std::to_string(max);
      }
    }
  }
  return "";
}

std::string check_horizon(Lang& lang, uint32_t state) {
  const uint32_t p = lang.length_horizon();
  if (p > 40) return "";
  for (uint32_t a = p; a < p + 6; ++a) {
    for (uint32_t b = p; b < p + 6; ++b) {
      for (uint32_t width = 0; width < p + 4; ++width) {
        const uint32_t other = width >= p ? (width + a + b) % 5 + p : width;
        if (lang.can_finish(state, a, a + width) != lang.can_finish(state, b, b + other)) {
          return std::to_string(a) + "+" + std::to_string(width) + " " + std::to_string(b);
        }
      }
      if (lang.can_finish(state, a, kUnbounded) != lang.can_finish(state, b, b + p)) return "open";
    }
  }
  return "";
}

bool rows_are_tidy(Lang& lang, uint32_t state) {
  const auto row = lang.arcs(state);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].lo > row[i].hi || row[i].target == kDeadLang) return false;
    if (i == 0) continue;
    if (row[i].lo <= row[i - 1].hi) return false;
    if (row[i].lo == row[i - 1].hi + 1 && row[i].target == row[i - 1].target) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("random expressions have the language of their definition") {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    IrWriter writer;
    Generator generator(seed, writer);
    const auto made = generator.make(1 + seed % 5);
    const Ir ir = writer.finish();
    LangTable table(ir, only("ab"), 50000);
    Lang& lang = table.get(table.pattern(made.id));
    INFO("seed ", seed);
    REQUIRE(texts_of(lang) == made.texts);
    if (lang.start() == kDeadLang) continue;
    for (const uint32_t state : short_states(lang)) {
      REQUIRE(rows_are_tidy(lang, state));
      REQUIRE(check_lengths(lang, state) == "");
      REQUIRE(check_horizon(lang, state) == "");
    }
  }
}

TEST_CASE("random intersections") {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    IrWriter writer;
    Generator generator(seed + 5000, writer);
    const auto a = generator.make(3);
    const auto b = generator.make(2);
    const auto c = generator.make(seed % 2);
    const Ir ir = writer.finish();
    LangTable table(ir, only("ab"), 50000);
    const std::vector<LangId> ids{table.pattern(a.id), table.pattern(b.id), table.pattern(c.id),
                                  table.any_text()};
    const LangId id = table.intersection(ids);
    Texts both;
    for (const std::string& text : a.texts) {
      if (b.texts.contains(text) && c.texts.contains(text)) both.insert(text);
    }
    INFO("seed ", seed);
    Lang& lang = table.get(id);
    REQUIRE(texts_of(lang) == both);
    REQUIRE(table.intersection(std::vector<LangId>{ids[2], ids[0], ids[1], ids[0]}) == id);
    if (lang.start() == kDeadLang) continue;
    for (const uint32_t state : short_states(lang)) {
      REQUIRE(rows_are_tidy(lang, state));
      REQUIRE(check_lengths(lang, state) == "");
      REQUIRE(check_horizon(lang, state) == "");
    }
  }
}

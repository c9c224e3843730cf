// Languages of numbers in tests: made, walked, and compared with their specifications.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir_writer.h"
#include "maskwright/json/lang.h"
#include "number_testing.h"

namespace maskwright::test {

inline std::array<bool, 256> everything() {
  std::array<bool, 256> result{};
  result.fill(true);
  return result;
}

inline std::array<bool, 256> bytes_of(const std::string& chars) {
  std::array<bool, 256> result{};
  for (const char c : chars) result[static_cast<uint8_t>(c)] = true;
  return result;
}

inline Ir nothing() {
  IrWriter writer;
  writer.empty();
  return writer.finish();
}

struct Fixture {
  Ir ir = nothing();
  LangTable table;
  explicit Fixture(const std::array<bool, 256>& spellable = everything())
      : table(ir, spellable, 50000) {}
  Lang& lang(const NumberSpec& spec) { return table.get(table.number(spec)); }
  bool is_empty(const NumberSpec& spec) { return lang(spec).start() == kDeadLang; }
};

inline uint32_t walk(Lang& lang, const std::string& text) {
  uint32_t state = lang.start();
  for (const char c : text) {
    if (state == kDeadLang) return state;
    state = lang.move(state, static_cast<uint8_t>(c));
  }
  return state;
}

inline bool matches(Lang& lang, const std::string& text) {
  const uint32_t state = walk(lang, text);
  return state != kDeadLang && lang.accepts(state);
}

// The shortest way from a state to acceptance.
inline std::string completion(Lang& lang, uint32_t from) {
  std::unordered_map<uint32_t, std::string> ways{{from, ""}};
  std::deque<uint32_t> queue{from};
  while (!queue.empty()) {
    const uint32_t state = queue.front();
    queue.pop_front();
    if (lang.accepts(state)) return ways[state];
    const auto row = lang.arcs(state);
    for (const Lang::Arc& arc : std::vector<Lang::Arc>(row.begin(), row.end())) {
      const std::string way = ways[state] + static_cast<char>(arc.lo);
      if (ways.emplace(arc.target, way).second) queue.push_back(arc.target);
    }
  }
  return "none";
}

// Compares a language with its specification on all texts up to a length, and completes what is
// alive on the way.
class Comparison {
 public:
  Comparison(const NumberSpec& spec, Lang& lang, std::string chars, std::size_t length)
      : spec_(spec), lang_(lang), chars_(std::move(chars)), length_(length) {}

  void run() { visit(lang_.start()); }
  uint32_t accepted() const { return accepted_; }

 private:
  void visit(uint32_t state) {
    const bool valid = satisfies(spec_, text_);
    const bool accepted = state != kDeadLang && lang_.accepts(state);
    if (valid != accepted) {
      CAPTURE(text_);
      REQUIRE(accepted == valid);
    }
    accepted_ += accepted ? 1 : 0;
    if (state != kDeadLang && completed_.emplace(state, true).second) {
      const std::string text = text_ + completion(lang_, state);
      CAPTURE(text);
      REQUIRE(matches(lang_, text));
      if (text.size() <= kMaxLength) REQUIRE(satisfies(spec_, text));
    }
    if (text_.size() == length_) return;
    for (const char c : chars_) {
      text_ += c;
      visit(state == kDeadLang ? state : lang_.move(state, static_cast<uint8_t>(c)));
      text_.pop_back();
    }
  }

  const NumberSpec& spec_;
  Lang& lang_;
  std::string chars_;
  std::size_t length_;
  std::string text_;
  std::unordered_map<uint32_t, bool> completed_;
  uint32_t accepted_ = 0;
};

}  // namespace maskwright::test

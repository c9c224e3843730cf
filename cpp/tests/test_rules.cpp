// Rules, stacks and masks: random grammars over two letters, with every kind of recursion, against
// the set of their short texts; and for every token at every step, mask bit == accept_token.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "maskwright/matcher/matcher.h"
#include "maskwright/serialize/stored_grammar.h"
#include "maskwright/support/error.h"

namespace {

using namespace maskwright;
using maskwright::test::IrWriter;
using Texts = std::set<std::string>;

constexpr std::size_t kLongest = 5;
constexpr uint32_t kRules = 3;

// An expression tree that both sides are built from.
struct Tree {
  ExprKind kind = ExprKind::kEmpty;
  std::string text;
  uint32_t rule = 0, min = 0, max = 0;
  std::vector<Tree> parts;
};

Tree random_tree(std::mt19937& random, uint32_t depth) {
  const auto choice = static_cast<uint32_t>(random() % (depth == 0 ? 5 : 11));
  if (choice < 2) return {ExprKind::kLiteral, choice == 0 ? "a" : "b", 0, 0, 0, {}};
  if (choice == 2) return {ExprKind::kLiteral, random() % 2 == 0 ? "ab" : "ba", 0, 0, 0, {}};
  if (choice == 3) return {};
  if (choice == 4) return {ExprKind::kRef, "", static_cast<uint32_t>(random() % kRules), 0, 0, {}};
  if (choice >= 9) {
    static constexpr std::pair<uint32_t, uint32_t> kCounts[] = {
        {0, 1}, {0, kNone}, {1, kNone}, {2, 2}, {1, 3}, {0, 300}, {2, 400}, {3, kNone}};
    const auto [min, max] = kCounts[random() % std::size(kCounts)];
    return {ExprKind::kRepeat, "", 0, min, max, {random_tree(random, depth - 1)}};
  }
  const ExprKind kind = choice < 7 ? ExprKind::kSequence : ExprKind::kChoice;
  return {kind, "", 0, 0, 0, {random_tree(random, depth - 1), random_tree(random, depth - 1)}};
}

uint32_t write(const Tree& tree, IrWriter& writer) {
  std::vector<uint32_t> parts;
  for (const Tree& part : tree.parts) parts.push_back(write(part, writer));
  switch (tree.kind) {
    case ExprKind::kLiteral: return writer.literal(tree.text);
    case ExprKind::kRef: return writer.ref(tree.rule);
    case ExprKind::kRepeat: return writer.repeat(parts[0], tree.min, tree.max);
    case ExprKind::kEmpty: return writer.empty();
    default: return writer.list(tree.kind, parts);
  }
}

Texts join(const Texts& left, const Texts& right) {
  Texts out;
  for (const std::string& a : left) {
    for (const std::string& b : right) {
      if (a.size() + b.size() <= kLongest) out.insert(a + b);
    }
  }
  return out;
}

Texts texts_of(const Tree& tree, const std::vector<Texts>& rules) {
  switch (tree.kind) {
    case ExprKind::kLiteral: return {tree.text};
    case ExprKind::kRef: return rules[tree.rule];
    case ExprKind::kEmpty: return {""};
    case ExprKind::kSequence:
      return join(texts_of(tree.parts[0], rules), texts_of(tree.parts[1], rules));
    case ExprKind::kChoice: {
      Texts out = texts_of(tree.parts[0], rules);
      out.merge(texts_of(tree.parts[1], rules));
      return out;
    }
    default: break;
  }
  // A repeat: beyond the longest text more rounds can only add empty ones.
  const Texts body = texts_of(tree.parts[0], rules);
  const uint32_t last = std::min<uint32_t>(tree.max, tree.min + kLongest + 1);
  Texts round{""}, out;
  for (uint32_t i = 0; i <= last; ++i) {
    if (i >= tree.min) out.insert(round.begin(), round.end());
    round = join(round, body);
  }
  return out;
}

std::vector<Texts> languages(const std::vector<Tree>& trees) {
  std::vector<Texts> rules(trees.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      Texts next = texts_of(trees[i], rules);
      next.insert(rules[i].begin(), rules[i].end());
      changed = changed || next.size() != rules[i].size();
      rules[i] = std::move(next);
    }
  }
  return rules;
}

std::shared_ptr<const Vocabulary> vocabulary() {
  static const auto shared = std::make_shared<const Vocabulary>(
      std::vector<std::string>{"a", "b", "ab", "ba", "aa", "bbb", "aba", ""}, 8,
      std::vector<uint32_t>{}, std::vector<uint32_t>{7});
  return shared;
}

void check_texts(const std::shared_ptr<CompiledGrammar>& grammar, const Texts& language) {
  Matcher matcher(grammar, std::nullopt, false);
  for (uint32_t length = 0; length <= kLongest; ++length) {
    for (uint32_t bits = 0; bits < 1U << length; ++bits) {
      std::string text;
      for (uint32_t i = 0; i < length; ++i) text += (bits >> i & 1) != 0 ? 'b' : 'a';
      const bool read = matcher.accept_bytes(text);
      CHECK((read && matcher.is_completed()) == language.contains(text));
      if (read) matcher.rollback(1);
      CHECK(matcher.num_steps() == 0);
    }
  }
}

void check_masks(const std::shared_ptr<CompiledGrammar>& grammar, std::mt19937& random) {
  Matcher matcher(grammar, std::nullopt, false);
  for (uint32_t step = 0; step < 8 && !matcher.is_terminated(); ++step) {
    uint32_t row = 0;
    matcher.fill_bitmask({&row, 1}, true);
    std::vector<uint32_t> allowed;
    for (uint32_t id = 0; id < 8; ++id) {
      Matcher fork = matcher.fork();
      const bool accepted = fork.accept_token(id);
      CHECK(accepted == ((row >> id & 1) != 0));
      if (accepted) allowed.push_back(id);
    }
    REQUIRE_FALSE(allowed.empty());
    REQUIRE(matcher.accept_token(allowed[random() % allowed.size()]));
  }
}

std::shared_ptr<CompiledGrammar> stored_and_loaded(const CompiledGrammar& grammar,
                                                   const std::vector<std::byte>& ir) {
  const auto bytes = store(grammar, {ir, {}}, {});
  return load(bytes, vocabulary(), {}, {}).grammar;
}

}  // namespace

TEST_CASE("random grammars accept exactly their texts and have exact masks") {
  uint32_t empty = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    std::vector<Tree> trees;
    IrWriter writer;
    for (uint32_t rule = 0; rule < kRules; ++rule) {
      trees.push_back(random_tree(random, 3));
      writer.rule("r" + std::to_string(rule), write(trees.back(), writer));
    }
    const Texts language = languages(trees)[0];
    CAPTURE(seed);
    std::shared_ptr<CompiledGrammar> grammar;
    try {
      grammar = std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsatisfiable);
      CHECK(language.empty());
      ++empty;
      continue;
    }
    check_texts(grammar, language);
    check_masks(grammar, random);
    const auto loaded = stored_and_loaded(*grammar, writer.buffer(0));
    CHECK(loaded->tables() == grammar->tables());
    check_texts(loaded, language);
    check_masks(loaded, random);
  }
  CHECK(empty > 50);
  CHECK(empty < 500);
}

TEST_CASE("right recursion keeps the stack flat") {
  IrWriter writer;
  const uint32_t end = writer.literal("b");
  const uint32_t more = writer.sequence({writer.literal("a"), writer.ref(0)});
  writer.rule("list", writer.choice({end, more}));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false);
  for (uint32_t i = 0; i < 10000; ++i) REQUIRE(matcher.accept_token(0));
  CHECK(grammar->counters().states < 20);
  uint32_t row = 0;
  matcher.fill_bitmask({&row, 1}, true);
  CHECK(grammar->counters().masks.cold_walks < 4);
}

TEST_CASE("ambiguous recursion keeps the stack flat") {
  IrWriter writer;
  const uint32_t twice = writer.sequence({writer.ref(0), writer.ref(0)});
  const uint32_t joined = writer.sequence({writer.ref(0), writer.literal("b"), writer.ref(0)});
  writer.rule("s", writer.choice({writer.literal("a"), twice, joined}));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false);
  const auto read = [&](uint32_t times) {
    for (uint32_t i = 0; i < times; ++i) REQUIRE(matcher.accept_bytes(i % 3 == 1 ? "ba" : "a"));
  };
  REQUIRE(matcher.accept_bytes("a"));
  read(9);
  uint32_t row = 0;
  matcher.fill_bitmask({&row, 1}, true);
  const auto walks = grammar->counters().masks.cold_walks;
  read(900);
  matcher.fill_bitmask({&row, 1}, true);
  CHECK(grammar->counters().masks.cold_walks == walks);
  CHECK(grammar->counters().states < 20);
  CHECK(matcher.is_completed());
}

TEST_CASE("characters that a repeat counts are read without calls") {
  IrWriter writer;
  writer.rule("many",
              writer.repeat(writer.choice({writer.literal("a"), writer.literal("bb")}), 2, 100000));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false);
  REQUIRE(matcher.accept_bytes("abb"));
  CHECK(matcher.is_completed());
  REQUIRE(matcher.accept_bytes("b"));
  CHECK_FALSE(matcher.is_completed());
  CHECK_FALSE(matcher.accept_bytes("a"));
  REQUIRE(matcher.accept_bytes("b"));
  for (uint32_t i = 0; i < 3000; ++i) REQUIRE(matcher.accept_bytes("a"));
  CHECK(grammar->counters().states < 12);
}

TEST_CASE("a counter far from its bounds shares one mask") {
  IrWriter writer;
  writer.rule("many", writer.repeat(writer.literal("a"), 0, 100000));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false);
  uint32_t row = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    matcher.fill_bitmask({&row, 1}, true);
    REQUIRE(matcher.accept_token(0));
  }
  CHECK(grammar->counters().masks.entries < 12);
  CHECK(grammar->counters().states < 12);
}

TEST_CASE("a token symbol is one step of its own, text never matches it") {
  IrWriter writer;
  const uint32_t symbol = writer.add(ExprKind::kTokenSet, {0, 1, 1});
  writer.rule("root", writer.sequence({symbol, writer.literal("a")}));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary(), CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false);
  uint32_t row = 0;
  matcher.fill_bitmask({&row, 1}, true);
  CHECK(row == 1U << 1);
  CHECK_FALSE(matcher.accept_bytes("b"));
  REQUIRE(matcher.accept_token(1));
  REQUIRE(matcher.accept_token(0));
  CHECK(matcher.is_completed());
}

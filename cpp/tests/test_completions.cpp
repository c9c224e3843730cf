#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "maskwright/matcher/matcher.h"
#include "matcher/completion_store.h"
#include "matcher/frame_search.h"
#include "matcher/speller.h"

using maskwright::CompiledGrammar;
using maskwright::CompileLimits;
using maskwright::Completions;
using maskwright::CompletionStore;
using maskwright::FrameSearch;
using maskwright::kUnbounded;
using maskwright::Matcher;
using maskwright::Speller;
using maskwright::TokenReader;
using maskwright::Vocabulary;
using maskwright::test::IrWriter;

namespace {

using Texts = std::vector<std::string>;

// Single bytes, then these, then a stop token.
std::shared_ptr<const Vocabulary> vocabulary_of(const Texts& texts) {
  Texts all;
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(1, static_cast<char>(byte));
  all.insert(all.end(), texts.begin(), texts.end());
  all.emplace_back("</s>");
  const auto size = static_cast<uint32_t>(all.size());
  return std::make_shared<const Vocabulary>(all, size, std::vector<uint32_t>{size - 1},
                                            std::vector<uint32_t>{size - 1});
}

// root ::= "(" root ")" | "x" "y"{3} | "zz"
std::shared_ptr<CompiledGrammar> nested(const std::shared_ptr<const Vocabulary>& vocabulary) {
  IrWriter writer;
  const uint32_t open = writer.literal("(");
  const uint32_t inside = writer.ref(0);
  const uint32_t close = writer.literal(")");
  const uint32_t pair = writer.sequence({open, inside, close});
  const uint32_t letters =
      writer.sequence({writer.literal("x"), writer.repeat(writer.literal("y"), 3, 3)});
  const uint32_t root = writer.rule("root", writer.choice({pair, letters, writer.literal("zz")}));
  return std::make_shared<CompiledGrammar>(writer.buffer(root), vocabulary, CompileLimits{});
}

std::vector<uint32_t> stops_of(const Vocabulary& vocabulary) {
  const auto ids = vocabulary.stop_token_ids();
  return {ids.begin(), ids.end()};
}

std::string text_of(const Vocabulary& vocabulary, const Completions::Plan& plan) {
  std::string text;
  for (const uint32_t token : plan) text += vocabulary.text(token);
  return text;
}

uint32_t least_by_hand(const Texts& tokens, const std::string& text,
                       std::map<std::string, uint32_t>& known) {
  if (text.empty()) return 0;
  if (const auto found = known.find(text); found != known.end()) return found->second;
  uint32_t least = kUnbounded;
  for (const std::string& token : tokens) {
    if (!text.starts_with(token)) continue;
    const uint32_t rest = least_by_hand(tokens, text.substr(token.size()), known);
    if (rest != kUnbounded) least = std::min(least, rest + 1);
  }
  return known[text] = least;
}

}  // namespace

TEST_CASE("the fewest tokens spell a text, whatever was spelled before") {
  const Texts tokens{"a", "ab", "bab", "bb", "aba", "c"};
  const auto vocabulary = std::make_shared<const Vocabulary>(tokens, 6U, std::vector<uint32_t>{5},
                                                             std::vector<uint32_t>{5});
  IrWriter writer;
  const uint32_t root = writer.rule("root", writer.literal("a"));
  CompiledGrammar grammar(writer.buffer(root), vocabulary, CompileLimits{});
  const TokenReader reader(grammar, stops_of(*vocabulary));
  Speller used(*vocabulary, reader);
  const Texts readable(tokens.begin(), tokens.end() - 1);
  std::map<std::string, uint32_t> known;
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    if (text.size() > 14 || random() % 4 == 0) text = text.substr(text.size() / 2);
    text.insert(0, 1, "abc"[random() % 9 == 0 ? 2 : random() % 2]);
    const uint32_t least = least_by_hand(readable, text, known);
    CHECK(used.count(text) == least);
    const auto plan = used.spell(text);
    REQUIRE(plan.has_value() == (least != kUnbounded));
    if (!plan.has_value()) continue;
    CHECK(plan->size() == least);
    CHECK(text_of(*vocabulary, *plan) == text);
  }
}

TEST_CASE("the least text of a frame is found within a bound, and what it leads by") {
  const auto vocabulary = vocabulary_of({});
  const auto grammar = nested(vocabulary);
  maskwright::Arena arena;
  const maskwright::Target start{grammar->start().state, 0};
  FrameSearch search(grammar->store(), grammar->rules(), vocabulary->spellable(), 1000, arena);
  const auto found = search.find(start, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "zz");
  CHECK(found[0].doubts.none());
  CHECK(search.in_half_of_bound());
  std::vector<uint32_t> bytes;
  for (const FrameSearch::Stop& stop : search.way()) bytes.push_back(stop.bytes);
  CHECK(bytes == std::vector<uint32_t>{2, 1, 0});
  FrameSearch bounded(grammar->store(), grammar->rules(), vocabulary->spellable(), 2, arena);
  CHECK(bounded.find(start, 1).empty());
}

TEST_CASE("the shortest text of the open frames is found, and its fewest tokens") {
  const auto vocabulary = vocabulary_of({"))", "zz)", "xyyy)"});
  const auto grammar = nested(vocabulary);
  const TokenReader reader(*grammar, stops_of(*vocabulary));
  Completions known(*grammar, reader, 1);
  const auto finish = [&](const std::string& text) {
    return text_of(*vocabulary, known.plan(known.read_text(known.start(), text)));
  };
  CHECK(finish("") == "zz");
  CHECK(finish("((") == "zz))");
  CHECK(finish("((x") == "yyy))");
  CHECK(finish("((zz") == "))");
  CHECK(known.least_tokens(known.read_text(known.start(), "((")) == 2);
  CHECK(known.least_tokens(known.read_text(known.start(), "((xyyy)")) == 1);
  CHECK(known.least_tokens(known.read_text(known.start(), "zz")) == 0);
  CHECK(known.read_text(known.start(), "y") == Completions::kNoPlace);
}

TEST_CASE("the same is known whatever was asked before") {
  const auto vocabulary = vocabulary_of({"))", "((", "yyy", "y)", "zz))"});
  const auto grammar = nested(vocabulary);
  const TokenReader reader(*grammar, stops_of(*vocabulary));
  Texts texts{"", "(", "((", "(((", "(x", "(xy", "xyy", "((zz", "(z", "((((z", "(zz)"};
  std::vector<Completions::Plan> plans;
  for (const std::string& text : texts) {
    Completions alone(*grammar, reader, 1);
    plans.push_back(alone.plan(alone.read_text(alone.start(), text)));
  }
  Completions used(*grammar, reader, 2);
  for (std::size_t i = texts.size(); i-- > 0;) {
    CHECK(used.plan(used.read_text(used.start(), texts[i])) == plans[i]);
  }
}

TEST_CASE("what one text has found out serves the next one") {
  const auto vocabulary = vocabulary_of({"))", "(((("});
  const auto grammar = nested(vocabulary);
  Matcher first(grammar, std::nullopt, false, 6);
  std::vector<uint32_t> row(vocabulary->mask_words());
  CHECK(first.fill_bitmask(row, false) == Matcher::Fill::kCold);
  CHECK(first.fill_bitmask(row, true) == Matcher::Fill::kSome);
  REQUIRE(first.accept_token('('));
  first.fill_bitmask(row, true);
  const auto before = grammar->counters();
  CHECK(before.budget_searches > 0);
  CHECK(before.budget_walks == 2);
  Matcher second(grammar, std::nullopt, false, 6);
  std::vector<uint32_t> again(vocabulary->mask_words());
  CHECK(second.fill_bitmask(again, false) == Matcher::Fill::kSome);
  REQUIRE(second.accept_token('('));
  CHECK(second.fill_bitmask(again, false) == Matcher::Fill::kSome);
  CHECK(again == row);
  CHECK(grammar->counters().budget_searches == before.budget_searches);
  CHECK(grammar->counters().budget_walks == before.budget_walks);
}

TEST_CASE("a store that has become too large is begun anew") {
  const auto vocabulary = vocabulary_of({"))"});
  const auto grammar = nested(vocabulary);
  const TokenReader reader(*grammar, stops_of(*vocabulary));
  CompletionStore store(1000);
  Completions& first = store.completions(*grammar, reader);
  const uint64_t generation = first.generation();
  std::string text;
  for (int i = 0; i < 300; ++i) first.least_tokens(first.read_text(first.start(), text += '('));
  const auto plan = first.plan(first.read_text(first.start(), "((("));
  const uint64_t searches = store.searches();
  const uint64_t revision = store.revision();
  Completions& second = store.completions(*grammar, reader);
  CHECK(second.generation() != generation);
  CHECK(store.searches() == searches);
  CHECK(store.revision() >= revision);
  CHECK(second.plan(second.read_text(second.start(), "(((")) == plan);
}

TEST_CASE("few sets of stop tokens are kept, each with answers of its own") {
  const auto vocabulary = vocabulary_of({"zz", "zz)", "))"});
  const auto grammar = nested(vocabulary);
  CompletionStore store;
  const auto least = [&](const std::vector<uint32_t>& stops) {
    Completions& known = store.completions(*grammar, TokenReader(*grammar, stops));
    CHECK(known.stop_ids() == stops);
    return known.least_tokens(known.read_text(known.start(), "("));
  };
  CHECK(least({259}) == 1);       // zz)
  CHECK(least({257}) == 2);       // zz and )
  CHECK(least({256, 257}) == 3);  // z, z and )
  const uint64_t generations = store.generations();
  CHECK(least({259}) == 1);
  CHECK(store.generations() == generations);
  for (uint32_t id = 0; id < CompletionStore::kMaxKinds; ++id) CHECK(least({id}) == 1);
  CHECK(least({259}) == 1);
  CHECK(store.generations() == generations + CompletionStore::kMaxKinds + 1);
}

// Masks of half a million tokens fill the store within a text.
TEST_CASE("a budget goes on when what is known is begun anew") {
  constexpr uint32_t kDummies = 500'000;
  constexpr uint32_t kParts = 600;
  Texts dummies;
  for (uint32_t i = 0; i < kDummies; ++i) dummies.push_back("-" + std::to_string(i));
  const auto vocabulary = vocabulary_of(dummies);
  IrWriter writer;
  const uint32_t part = writer.choice({writer.literal("a"), writer.literal("bcccc")});
  const uint32_t root = writer.rule("root", writer.repeat(part, kParts, kParts));
  const auto grammar =
      std::make_shared<CompiledGrammar>(writer.buffer(root), vocabulary, CompileLimits{});
  Matcher matcher(grammar, std::nullopt, false, kParts + 1);
  const Matcher waiting = matcher.fork();
  std::vector<uint32_t> row(vocabulary->mask_words());
  for (uint32_t i = 0; i < kParts; ++i) {
    REQUIRE(matcher.fill_bitmask(row, true) == Matcher::Fill::kSome);
    REQUIRE((row['a' / 32] >> 'a' % 32 & 1U) == 1);
    REQUIRE((row['b' / 32] >> 'b' % 32 & 1U) == 0);
    REQUIRE_FALSE(matcher.accept_token('b'));
    REQUIRE(matcher.accept_token('a'));
  }
  CHECK(grammar->memory_bytes() < 2 * CompletionStore::kMaxBytes);
  CHECK(matcher.is_completed());
  Matcher late = waiting.fork();
  CHECK(late.fill_bitmask(row, false) == Matcher::Fill::kCold);  // the first mask is forgotten
  CHECK(late.min_tokens_to_finish() == kParts + 1);
  REQUIRE(late.accept_token('a'));
  CHECK_FALSE(late.accept_token('b'));
}

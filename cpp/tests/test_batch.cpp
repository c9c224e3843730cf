// Batch calls against the same calls one by one: masks, draft trees, what is refused; and random
// steps of many threads on matchers that share grammars and histories.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ir_writer.h"
#include "maskwright/batch/batch.h"
#include "maskwright/support/error.h"
#include "stress_steps.h"

namespace {

using namespace maskwright;
using maskwright::test::IrWriter;
using Grammar = std::shared_ptr<CompiledGrammar>;
using Rows = std::vector<uint32_t>;

constexpr uint32_t kStop = 7;
constexpr uint32_t kUntouched = 0x5A5A5A5A;

Grammar compiled(const IrWriter& writer) {
  static const auto vocabulary = std::make_shared<const Vocabulary>(
      std::vector<std::string>{"a", "b", "ab", "ba", "aa", "bbb", "aba", ""}, 8,
      std::vector<uint32_t>{}, std::vector<uint32_t>{kStop});
  return std::make_shared<CompiledGrammar>(writer.buffer(0), vocabulary, CompileLimits{});
}

// a^n b^n; a counted repeat; right recursion with a choice.
std::vector<Grammar> make_grammars() {
  IrWriter nested, counted, list;
  const uint32_t inner = nested.sequence({nested.literal("a"), nested.ref(0), nested.literal("b")});
  nested.rule("s", nested.choice({inner, nested.literal("ab")}));
  const uint32_t letter = counted.choice({counted.literal("a"), counted.literal("bb")});
  counted.rule("s", counted.repeat(letter, 2, 300));
  const uint32_t more = list.sequence({list.literal("a"), list.ref(0)});
  list.rule("s", list.choice({more, list.literal("b"), list.empty()}));
  return {compiled(nested), compiled(counted), compiled(list)};
}

BitmaskRows rows_of(Rows& rows) { return {rows.data(), static_cast<int64_t>(rows.size()), 1, 1}; }

uint32_t mask_of(Matcher& matcher) {
  uint32_t row = 0;
  matcher.fill_bitmask({&row, 1}, true);
  return row;
}

std::vector<Matcher*> pointers(std::vector<Matcher>& matchers) {
  std::vector<Matcher*> out;
  for (Matcher& matcher : matchers) out.push_back(&matcher);
  return out;
}

std::vector<Matcher> some_matchers(const std::vector<Grammar>& grammars, std::size_t count) {
  std::vector<Matcher> matchers;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 4 == 3) {
      matchers.push_back(matchers[i - 2].fork());
    } else {
      matchers.emplace_back(grammars[i % grammars.size()], std::nullopt, false);
    }
  }
  return matchers;
}

struct Links {
  std::vector<int64_t> child, sibling, parent;
};

Links random_links(std::mt19937& random, std::size_t n) {
  Links links{std::vector<int64_t>(n, -1), std::vector<int64_t>(n, -1),
              std::vector<int64_t>(n, -1)};
  for (std::size_t i = 1; i < n; ++i) {
    if (random() % 8 == 0) continue;  // not reached
    const auto parent = static_cast<int64_t>(random() % i);
    int64_t& first = links.child[static_cast<std::size_t>(parent)];
    links.parent[i] = parent;
    links.sibling[i] = first;
    first = static_cast<int64_t>(i);
  }
  return links;
}

// Row by row, with a fork for each node.
Rows expected_rows(Matcher& matcher, const Links& links, const std::vector<int64_t>& tokens) {
  Rows rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::vector<int64_t> path;
    auto at = static_cast<int64_t>(i);
    for (; at > 0; at = links.parent[static_cast<std::size_t>(at)]) {
      path.insert(path.begin(), tokens[static_cast<std::size_t>(at)]);
    }
    Matcher fork = matcher.fork();
    const bool alive = at == 0 && std::ranges::all_of(path, [&](int64_t token) {
                         return fork.accept_token(token);
                       });
    rows.push_back(alive && !fork.is_terminated() ? mask_of(fork) : 0);
  }
  return rows;
}

std::vector<int64_t> random_tokens(std::mt19937& random, std::size_t n) {
  std::vector<int64_t> tokens(n);
  for (int64_t& token : tokens) token = static_cast<int64_t>(random() % 10) - 1;
  return tokens;
}

template <typename Call>
std::string code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

}  // namespace

TEST_CASE("batches do what the calls do one by one") {
  const auto grammars = make_grammars();
  std::mt19937 random(3);
  for (const uint32_t threads : {1U, 4U}) {
    Batch batch(threads);
    std::vector<Matcher> matchers = some_matchers(grammars, 23);
    for (int step = 0; step < 60; ++step) {
      std::vector<Matcher> alone;
      for (const Matcher& matcher : matchers) alone.push_back(matcher.fork());
      const auto all = pointers(matchers);
      std::vector<int64_t> rows(matchers.size());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(2 * i);
      std::ranges::shuffle(rows, random);
      Rows bitmask(2 * rows.size(), kUntouched);
      batch.fill(all, rows, rows_of(bitmask));
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(bitmask[static_cast<std::size_t>(rows[i])] == mask_of(alone[i]));
        CHECK(bitmask[2 * i + 1] == kUntouched);
      }
      const auto tokens = random_tokens(random, all.size());
      const auto accepted = accept_tokens(all, tokens);
      std::vector<int64_t> back(all.size(), 0);
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(accepted[i] == alone[i].accept_token(tokens[i]));
        if (matchers[i].is_terminated() || random() % 4 == 0) {
          back[i] = static_cast<int64_t>(std::min<uint64_t>(alone[i].num_steps(), 2));
        }
        alone[i].rollback(static_cast<uint64_t>(back[i]));
      }
      roll_back(all, back);
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(matchers[i].num_steps() == alone[i].num_steps());
        CHECK(mask_of(matchers[i]) == mask_of(alone[i]));
      }
    }
  }
}

TEST_CASE("texts of a batch, none among them") {
  auto matchers = some_matchers(make_grammars(), 3);
  using namespace std::string_view_literals;
  const std::vector<std::string_view> texts{"aab"sv, ""sv, std::string_view()};
  CHECK(accept_texts(pointers(matchers), texts) == std::vector<uint8_t>{1, 1, 0});
  CHECK(matchers[1].num_steps() == 1);
  CHECK(matchers[2].num_steps() == 0);
}

TEST_CASE("draft trees have the masks of their paths, and leave no trace") {
  const auto grammars = make_grammars();
  std::mt19937 random(4);
  Batch batch(2);
  for (int round = 0; round < 200; ++round) {
    auto matchers = some_matchers(grammars, 6);
    for (Matcher& matcher : matchers) matcher.accept_token(static_cast<int64_t>(random() % 2));
    const std::size_t n = 1 + random() % 9;
    std::vector<DraftTree> trees;
    std::vector<std::vector<int64_t>> tokens;
    std::vector<Rows> expected;
    for (Matcher& matcher : matchers) {
      const Links links = random_links(random, n);
      trees.emplace_back(links.child, links.sibling, 0);
      tokens.push_back(random_tokens(random, n));
      expected.push_back(expected_rows(matcher, links, tokens.back()));
    }
    std::vector<Batch::Draft> drafts;
    for (std::size_t i = 0; i < matchers.size(); ++i) {
      drafts.push_back({&trees[i], tokens[i], static_cast<int64_t>((i + 1) * n)});
    }
    Rows bitmask((matchers.size() + 2) * n, kUntouched);
    const auto steps = matchers[0].num_steps();
    const auto complete = batch.traverse(pointers(matchers), drafts, rows_of(bitmask));
    CHECK(std::ranges::count(complete, 1) == 6);
    CHECK(matchers[0].num_steps() == steps);
    for (std::size_t i = 0; i < bitmask.size(); ++i) {
      const std::size_t block = i / n;
      const bool inside = block != 0 && block <= matchers.size();
      CHECK(bitmask[i] == (inside ? expected[block - 1][i % n] : kUntouched));
    }
  }
}

TEST_CASE("traversals keep no memory while forks are alive") {
  const auto grammars = make_grammars();
  Matcher matcher(grammars[1], std::nullopt, false);
  const Matcher fork = matcher.fork();
  const std::vector<int64_t> child{1, 2, -1}, sibling{-1, -1, -1}, tokens{0, 0, 0};
  const DraftTree tree(child, sibling, 0);
  Rows rows(3);
  std::size_t before = 0;
  for (int round = 0; round < 5000; ++round) {
    traverse_draft_tree(matcher, tree, tokens, rows_of(rows), {}, {});
    if (round == 10) before = matcher.memory_bytes();
  }
  CHECK(matcher.memory_bytes() == before);
}

TEST_CASE("links that are no tree are refused by name") {
  using Nodes = std::vector<int64_t>;
  const auto code = [](const Nodes& child, const Nodes& sibling, int64_t root = 0) {
    return code_of([&] { DraftTree(child, sibling, root); });
  };
  CHECK(code({1, -1}, {-1, -1}) == "");
  CHECK(code({1, -1}, {-1, -1}, 1) == "");
  CHECK(code({1, -1}, {-1}) == "draft-tree-sizes");
  CHECK(code({2, -1}, {-1, -1}) == "draft-tree-link");
  CHECK(code({1, -1}, {-1, -2}) == "draft-tree-link");
  CHECK(code({1, 0}, {-1, -1}) == "draft-tree-loop");
  CHECK(code({-1, 1}, {-1, -1}) == "draft-tree-loop");  // the root does not lead there
  CHECK(code({-1, -1, -1}, {-1, 2, 1}) == "draft-tree-loop");
  CHECK(code({1, 2, -1}, {-1, 2, -1}) == "draft-tree-shared-node");
  CHECK(code({-1, 2, -1}, {-1, 2, -1}) == "");  // not below the root
  CHECK(code({-1}, {-1}, 1) == "draft-tree-root");
  CHECK(code({-1}, {-1}, -1) == "draft-tree-root");
  CHECK(code({-1}, {-1}, int64_t{1} << 32) == "draft-tree-root");
  CHECK(code({}, {}) == "draft-tree-root");
}

TEST_CASE("a refused batch has changed nothing") {
  auto matchers = some_matchers(make_grammars(), 6);
  auto all = pointers(matchers);
  matchers[2].accept_bytes("ab");
  REQUIRE(matchers[2].accept_token(kStop));
  Batch batch(2);
  Rows bitmask(6, kUntouched);
  const std::vector<int64_t> rows{0, 1, 2, 3, 4, 5}, steps{0, 0, 2, 0, 0, 1};
  CHECK(code_of([&] { batch.fill(all, rows, rows_of(bitmask)); }) == "matcher-terminated");
  CHECK(code_of([&] { roll_back(all, steps); }) == "matcher-rollback-too-far");
  CHECK(matchers[2].num_steps() == 2);
  const DraftTree tree(std::vector<int64_t>{-1}, std::vector<int64_t>{-1}, 0);
  const std::vector<int64_t> tokens{0, 0, 0, 0, 0, 0};
  std::vector<Batch::Draft> drafts;
  for (const int64_t row : rows) drafts.push_back({&tree, std::span(tokens).first(1), row});
  CHECK(code_of([&] { batch.traverse(all, drafts, rows_of(bitmask)); }) == "matcher-terminated");
  all[5] = all[0];
  CHECK(code_of([&] { accept_tokens(all, tokens); }) == "batch-same-matcher");
  CHECK(matchers[0].num_steps() == 0);
  CHECK(bitmask == Rows(6, kUntouched));
}

// Matchers move between threads through a box, so that forks of one history are used by several.
TEST_CASE("many threads, mixed steps") {
  const auto grammars = make_grammars();
  Batch batch(4);
  std::mutex mutex;
  std::vector<Matcher> box = some_matchers(grammars, 32);
  std::atomic<uint64_t> steps = 0;
  std::atomic<uint32_t> wrong = 0;
  const auto run = [&](uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<Matcher> own = some_matchers(grammars, 5);
    const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
    while (steps.fetch_add(1) < maskwright::test::stress_steps) {
      const auto all = pointers(own);
      const std::size_t one = random() % own.size();
      switch (random() % 6) {
        case 0: {
          const auto tokens = random_tokens(random, own.size());
          Matcher fork = own[one].fork();
          const bool accepted = fork.accept_token(tokens[one]);
          expect(accept_tokens(all, tokens)[one] == accepted);
          break;
        }
        case 1: {
          std::vector<int64_t> back(own.size());
          for (std::size_t i = 0; i < own.size(); ++i) {
            back[i] = static_cast<int64_t>(random() % (own[i].num_steps() + 1));
          }
          roll_back(all, back);
          break;
        }
        case 2: own[one] = own[random() % own.size()].fork(); break;
        case 3: {
          const std::lock_guard lock(mutex);
          std::swap(own[one], box[random() % box.size()]);
          break;
        }
        default: {
          for (Matcher& matcher : own) {
            if (matcher.is_terminated()) matcher.rollback(1);
          }
          const Links links = random_links(random, 6);
          const DraftTree tree(links.child, links.sibling, 0);
          const auto tokens = random_tokens(random, 6);
          std::vector<Batch::Draft> drafts;
          for (std::size_t i = 0; i < own.size(); ++i) {
            drafts.push_back({&tree, tokens, static_cast<int64_t>(6 * i)});
          }
          Rows bitmask(6 * own.size(), kUntouched), masks(own.size());
          batch.traverse(all, drafts, rows_of(bitmask));
          std::vector<int64_t> rows(own.size());
          for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
          batch.fill(all, rows, rows_of(masks));
          expect(masks[one] == mask_of(own[one]) && masks[one] == bitmask[6 * one]);
          const Rows expected = expected_rows(own[one], links, tokens);
          expect(std::ranges::equal(expected, std::span(bitmask).subspan(6 * one, 6)));
        }
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (uint32_t seed = 0; seed < 32; ++seed) threads.emplace_back(run, seed);
  }
  CHECK(wrong == 0);
}

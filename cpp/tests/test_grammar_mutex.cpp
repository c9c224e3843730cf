#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ir_writer.h"
#include "maskwright/matcher/compiled.h"

using maskwright::CompiledGrammar;
using maskwright::CompileLimits;
using maskwright::GrammarMutex;
using maskwright::Vocabulary;
using maskwright::test::IrWriter;

namespace {

std::atomic<int> waits = 0;

struct OwnWay {
  OwnWay() {
    GrammarMutex::wait = [](std::mutex& mutex) {
      ++waits;
      mutex.lock();
    };
  }
  ~OwnWay() { GrammarMutex::wait = before; }
  void (*before)(std::mutex&) = GrammarMutex::wait;
};

std::unique_ptr<const CompiledGrammar> letter_a() {
  const std::vector<std::string> texts{"a", "</s>"};
  const std::vector<uint32_t> stops{1};
  const auto vocabulary = std::make_shared<const Vocabulary>(texts, 2, stops, stops);
  IrWriter writer;
  const uint32_t root = writer.rule("root", writer.literal("a"));
  return std::make_unique<const CompiledGrammar>(writer.buffer(root), vocabulary, CompileLimits{});
}

}  // namespace

TEST_CASE("counters wait for nobody") {
  const auto grammar = letter_a();
  const auto before = grammar->counters();
  CHECK(before.frames == 1);
  CHECK(before.states > 0);
  const std::lock_guard lock(grammar->mutex());
  const auto during = grammar->counters();
  CHECK(during.frames == before.frames);
  CHECK(during.states == before.states);
}

TEST_CASE("who has to wait for a grammar does it in the way that was set") {
  const auto grammar = letter_a();
  const OwnWay own_way;
  GrammarMutex& mutex = grammar->mutex();
  CHECK_FALSE(mutex.is_taken());
  mutex.lock();
  CHECK(waits == 0);
  CHECK(mutex.is_taken());
  auto other = std::async(std::launch::async, [&] { const std::lock_guard lock(mutex); });
  while (!mutex.is_awaited()) std::this_thread::yield();
  mutex.unlock();
  other.get();
  CHECK(waits == 1);
  CHECK_FALSE(mutex.is_taken());
}

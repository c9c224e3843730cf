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

}  // namespace

TEST_CASE("who has to wait for a grammar does it in the way that was set") {
  const std::vector<std::string> texts{"a", "</s>"};
  const std::vector<uint32_t> stops{1};
  const auto vocabulary = std::make_shared<const Vocabulary>(texts, 2, stops, stops);
  IrWriter writer;
  const uint32_t root = writer.rule("root", writer.literal("a"));
  const CompiledGrammar grammar(writer.buffer(root), vocabulary, CompileLimits{});
  const OwnWay own_way;
  GrammarMutex& mutex = grammar.mutex();
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

// The worker pool: everything runs once, failures reach whoever waits, and nothing hangs. Threads
// meet at latches; there are no sleeps.
#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "maskwright/pool/worker_pool.h"

namespace {

using maskwright::WorkerPool;

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  }
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(what); }

}  // namespace

TEST_CASE("submitted tasks run once, and waiting can be repeated") {
  WorkerPool pool(3);
  pool.wait();
  std::atomic<int> sum = 0;
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 10; ++i) pool.submit([&] { ++sum; });
    pool.wait();
    CHECK(sum == round * 10);
    pool.wait();
  }
}

TEST_CASE("a worker holds one task at most: submitting waits for a free one") {
  WorkerPool pool(2);
  std::latch begun(2), release(1);
  std::atomic<int> done = 0;
  const auto blocked = [&] {
    begun.count_down();
    release.wait();
    ++done;
  };
  pool.submit(blocked);
  pool.submit(blocked);
  begun.wait();
  std::atomic<bool> submitted = false;
  std::jthread third([&] {
    pool.submit([&] { ++done; });
    submitted = true;
  });
  CHECK_FALSE(submitted);  // both workers are held
  release.count_down();
  third.join();
  pool.wait();
  CHECK(done == 3);
}

TEST_CASE("tasks run at the same time") {
  WorkerPool pool(4);
  std::latch all(4);  // each waits for all others
  for (int i = 0; i < 4; ++i) pool.submit([&] { all.arrive_and_wait(); });
  pool.wait();
}

TEST_CASE("without workers a task runs in the caller, and its failure waits for wait()") {
  WorkerPool pool(0);
  std::thread::id ran;
  pool.submit([&] { ran = std::this_thread::get_id(); });
  CHECK(ran == std::this_thread::get_id());
  pool.submit([] { fail("alone"); });
  CHECK_THROWS_WITH(pool.wait(), "alone");
  pool.wait();
}

TEST_CASE("the first failure reaches wait() after all tasks, once, and the pool works on") {
  WorkerPool pool(1);
  std::atomic<int> done = 0;
  for (int round = 0; round < 5; ++round) {
    pool.submit([] { fail("first"); });
    pool.submit([&] { ++done; });
    pool.submit([] { fail("second"); });
    pool.submit([&] { ++done; });
    CHECK_THROWS_WITH(pool.wait(), "first");
    CHECK(done == 2 * (round + 1));
    pool.wait();
  }
}

TEST_CASE("execute runs every item once, alone or with workers") {
  for (const uint32_t workers : {0U, 1U, 3U}) {
    WorkerPool pool(workers);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> runs(40);
      pool.execute(runs.size(), [&](std::size_t item, WorkerPool::Crew& crew) {
        if (round % 2 == 0) crew.enlist();
        ++runs[item];
      });
      for (const auto& each : runs) CHECK(each == 1);
    }
    pool.execute(0, [](std::size_t, WorkerPool::Crew&) { fail("no item"); });
  }
}

TEST_CASE("all workers join once somebody asks, and nobody does before") {
  WorkerPool pool(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto note = [&] {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  pool.execute(8, [&](std::size_t, WorkerPool::Crew&) { note(); });
  CHECK(threads.size() == 1);
  threads.clear();
  std::latch all(4);
  pool.execute(4, [&](std::size_t, WorkerPool::Crew& crew) {
    crew.enlist();
    note();
    all.arrive_and_wait();  // needs four threads
  });
  CHECK(threads.size() == 4);
}

TEST_CASE("a failed item reaches execute() after all others, and nothing is tried again") {
  WorkerPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::atomic<int>> runs(30);
    const auto body = [&](std::size_t item, WorkerPool::Crew& crew) {
      crew.enlist();
      ++runs[item];
      if (item % 7 == 3) fail("item");
    };
    CHECK_THROWS_WITH(pool.execute(runs.size(), body), "item");
    for (const auto& each : runs) CHECK(each == 1);
    pool.wait();  // the failures of others are not its own
  }
}

TEST_CASE("execute goes on alone while all workers are busy") {
  WorkerPool pool(1);
  std::latch begun(1), release(1);
  pool.submit([&] {
    begun.count_down();
    release.wait();
  });
  begun.wait();
  std::atomic<int> done = 0;
  pool.execute(5, [&](std::size_t, WorkerPool::Crew& crew) {
    crew.enlist();
    ++done;
  });
  CHECK(done == 5);
  release.count_down();
  pool.wait();
}

TEST_CASE("several threads may execute at once, and each gets its own failure") {
  WorkerPool pool(2);
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&pool, caller] {
      const std::string mine = "caller " + std::to_string(caller);
      for (int round = 0; round < 50; ++round) {
        std::atomic<int> done = 0;
        std::string got;
        try {
          pool.execute(9, [&](std::size_t item, WorkerPool::Crew& crew) {
            crew.enlist();
            ++done;
            if (item == 4 && caller % 2 == 0) throw std::runtime_error(mine);
          });
        } catch (const std::runtime_error& error) {
          got = error.what();
        }
        CHECK(got == (caller % 2 == 0 ? mine : ""));
        CHECK(done == 9);
      }
    });
  }
}

TEST_CASE("destruction runs what was handed out to its end") {
  std::atomic<int> done = 0;
  for (int round = 0; round < 20; ++round) {
    WorkerPool pool(3);
    for (int i = 0; i < 6; ++i) pool.submit([&] { ++done; });
  }
  CHECK(done == 120);
}

TEST_CASE("an exception that nobody collected is not lost") {
  std::vector<std::string> seen;
  {
    WorkerPool pool(2, [&](const std::exception_ptr& error) { seen.push_back(text_of(error)); });
    pool.submit([] { fail("collected"); });
    CHECK_THROWS_WITH(pool.wait(), "collected");
  }
  CHECK(seen.empty());
  {
    WorkerPool pool(2, [&](const std::exception_ptr& error) { seen.push_back(text_of(error)); });
    pool.submit([] { fail("left"); });
  }
  CHECK(seen == std::vector<std::string>{"left"});
}

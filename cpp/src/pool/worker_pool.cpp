#include "maskwright/pool/worker_pool.h"

#include <cstdio>
#include <system_error>
#include <utility>

namespace maskwright {

void WorkerPool::report(const std::exception_ptr& error) {
  const char* what = "an exception without a text";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    what = known.what();
    std::fprintf(stderr, "maskwright: a task of a worker pool failed: %s\n", what);
  } catch (...) {
    std::fprintf(stderr, "maskwright: a task of a worker pool failed: %s\n", what);
  }
}

WorkerPool::WorkerPool(uint32_t max_workers, Handler uncollected)
    : max_workers_(max_workers), uncollected_(std::move(uncollected)) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  handed_out_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (error_ != nullptr) uncollected_(error_);
}

// One thread for each task that runs or waits, as far as there are any.
void WorkerPool::start_thread() {
  if (threads_.size() >= handed_.size() + running_) return;
  try {
    threads_.emplace_back([this] { run_worker(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // else those there are get to it
  }
}

void WorkerPool::submit(Task task) {
  if (max_workers_ == 0) {
    const std::exception_ptr error = run({std::move(task), nullptr});
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) error_ = error;
    return;
  }
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return has_room(); });
  handed_.push_back({std::move(task), nullptr});
  try {
    start_thread();
  } catch (...) {
    handed_.pop_back();
    throw;
  }
  ++submitted_;
  handed_out_.notify_one();
}

void WorkerPool::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return submitted_ == 0; });
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerPool::execute(std::size_t count, const Body& body) {
  Crew crew(*this, count, body);
  crew.work();
  {
    std::unique_lock lock(mutex_);
    if (std::erase_if(handed_, [&](const Handed& each) { return each.crew == &crew; }) != 0) {
      finished_.notify_all();  // there is room now
    }
    finished_.wait(lock, [&] { return crew.members_ == 0; });
  }
  if (crew.error_ != nullptr) std::rethrow_exception(crew.error_);
}

void WorkerPool::run_worker() {
  std::unique_lock lock(mutex_);
  while (true) {
    handed_out_.wait(lock, [&] { return is_stopping_ || !handed_.empty(); });
    if (handed_.empty()) return;
    Handed next = std::move(handed_.front());
    handed_.pop_front();
    ++running_;
    Crew* crew = next.crew;
    if (crew != nullptr) ++crew->members_;
    lock.unlock();
    const std::exception_ptr error = run(std::move(next));
    lock.lock();
    --running_;
    if (crew != nullptr) {
      --crew->members_;  // the crew may be gone once the lock is released
    } else {
      --submitted_;
      if (error_ == nullptr) error_ = error;
    }
    finished_.notify_all();
  }
}

// What the task holds is gone when it counts as finished.
std::exception_ptr WorkerPool::run(Handed handed) {
  if (handed.crew != nullptr) {
    handed.crew->join();
    return nullptr;
  }
  try {
    handed.task();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void WorkerPool::Crew::enlist() {
  if (next_.load() >= count_ || is_open_.exchange(true)) return;
  pool_.hand_to_crew(*this);
}

// Each member asks for the next one, so that nobody wakes more than one thread.
void WorkerPool::Crew::join() {
  pool_.hand_to_crew(*this);
  work();
}

// Under the mutex nobody hands to a crew whose items are all taken: its caller has looked for
// workers that have not begun, or will.
void WorkerPool::hand_to_crew(Crew& crew) {
  {
    const std::lock_guard lock(mutex_);
    if (crew.next_.load() >= crew.count_ || !has_room()) return;
    handed_.push_back({nullptr, &crew});
    try {
      start_thread();
    } catch (const std::system_error&) {
      handed_.pop_back();
      return;
    }
  }
  handed_out_.notify_one();
}

void WorkerPool::Crew::work() {
  while (true) {
    const std::size_t item = next_.fetch_add(1);
    if (item >= count_) return;
    try {
      body_(item, *this);
    } catch (...) {
      const std::lock_guard lock(pool_.mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
  }
}

}  // namespace maskwright

// A few threads that stay, for work that is handed out piece by piece.
//
// There is no queue: a worker holds at most one task, and whoever has one to hand out waits until
// some worker is free. Threads start with the first task that needs them.
//
// Failures: what a task throws reaches the caller that waits for it, after all work has drained;
// the first exception counts, is forgotten then, and the pool works on. Nothing is tried a second
// time. An exception that nobody collected is given to a handler when the pool is destroyed.
//
// After fork() a child has none of the threads: it must not touch the pool, nor destroy it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace maskwright {

class WorkerPool {
 public:
  using Task = std::function<void()>;
  using Handler = std::function<void(const std::exception_ptr&)>;

  // Writes what the exception says to standard error.
  static void report(const std::exception_ptr& error);

  explicit WorkerPool(uint32_t max_workers, Handler uncollected = report);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Runs to the end what was handed out.
  ~WorkerPool();

  uint32_t max_workers() const { return max_workers_; }

  // Hands the task to a worker; waits while all are busy, so a task must not submit. Without
  // workers it is run here. Raises std::system_error if not a single thread can be started.
  void submit(Task task);
  // Waits until all submitted tasks have run. Raises the first exception since the last wait.
  void wait();

  // The threads that share the items of one execute().
  class Crew {
   public:
    // Asks for workers to join, for as long as items are left. Only the first call does something.
    // Never fails: without workers the caller does it all.
    void enlist();

   private:
    friend class WorkerPool;
    using Body = std::function<void(std::size_t item, Crew& crew)>;
    Crew(WorkerPool& pool, std::size_t count, const Body& body)
        : pool_(pool), count_(count), body_(body) {}

    void work();
    void join();

    WorkerPool& pool_;
    const std::size_t count_;
    const Body& body_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<bool> is_open_ = false;  // enlist() was called
    // Guarded by the pool's mutex.
    uint32_t members_ = 0;  // workers that have begun
    std::exception_ptr error_;
  };
  using Body = Crew::Body;

  // Runs the body for each item below `count`, in this thread and in those that it enlists; all
  // items, whatever some of them throw. Then raises the first exception. May be called from several
  // threads.
  void execute(std::size_t count, const Body& body);

 private:
  struct Handed {
    Task task;
    Crew* crew = nullptr;  // instead of a task
  };

  bool has_room() const { return handed_.size() + running_ < max_workers_; }
  void start_thread();
  void hand_to_crew(Crew& crew);
  void run_worker();
  std::exception_ptr run(Handed handed);

  const uint32_t max_workers_;
  const Handler uncollected_;
  std::mutex mutex_;  // guards all below
  std::condition_variable handed_out_, finished_;
  std::deque<Handed> handed_;  // not begun; with the running ones at most one for each worker
  uint32_t running_ = 0;
  uint32_t submitted_ = 0;  // tasks that are not finished
  bool is_stopping_ = false;
  std::exception_ptr error_;  // of the submitted ones
  std::vector<std::thread> threads_;
};

}  // namespace maskwright

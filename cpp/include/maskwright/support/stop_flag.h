// A request to stop a compilation, from another thread.
//
// Limits bound what a compilation may take, yet within them it can take seconds, and nobody may
// wait for it any longer. The loops that can run long ask check_stop(). They find the flag by their
// thread, for as long as a StopScope lives there, so that the tables on the way need not carry it.
//
// Cost: a thread-local pointer is read, and an atomic where there is a flag.
#pragma once

#include <atomic>

#include "maskwright/support/error.h"

namespace maskwright {

class StopFlag {
 public:
  void set() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_ = false;
};

inline constinit thread_local const StopFlag* stop_flag_of_thread = nullptr;

// Has check_stop() ask a flag in this thread; null: none.
class StopScope {
 public:
  explicit StopScope(const StopFlag* flag) : before_(stop_flag_of_thread) {
    stop_flag_of_thread = flag;
  }
  ~StopScope() { stop_flag_of_thread = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* before_;
};

// Raises a kStopped error if the flag of this thread is set.
inline void check_stop() {
  if (stop_flag_of_thread == nullptr || !stop_flag_of_thread->is_set()) return;
  throw Error(ErrorKind::kStopped, "compile-stopped", "nobody waits for this compilation");
}

}  // namespace maskwright

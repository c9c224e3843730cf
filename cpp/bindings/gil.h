// Waiting for a grammar without Python's global lock.
//
// A grammar's mutex may be held for long. A thread that has to wait for it gives the global lock up
// meanwhile: only where its caller says so (HoldsGil), since Python code may run then that changes
// what the caller looks at. Nobody waits for the global lock while it holds a grammar's mutex, so
// that waiting for the mutex with the global lock held takes time and is no deadlock.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>

// For the calls of a function that holds the global lock and can do without it at any time.
class HoldsGil {
 public:
  explicit HoldsGil(bool held = true) : before_(held_) { held_ = held; }
  ~HoldsGil() { held_ = before_; }
  HoldsGil(const HoldsGil&) = delete;
  HoldsGil& operator=(const HoldsGil&) = delete;

  static bool held() { return held_; }

 private:
  static inline thread_local bool held_ = false;
  bool before_;
};

class ReleasesGil {
  HoldsGil held_{false};
  nanobind::gil_scoped_release release_;
};

// GrammarMutex::wait.
inline void wait_without_gil(std::mutex& mutex) {
  if (!HoldsGil::held()) {
    mutex.lock();
    return;
  }
  constexpr int kMaxTries = 100;  // others may always be faster
  for (int i = 0; i < kMaxTries; ++i) {
    {
      const ReleasesGil released;
      mutex.lock();
      mutex.unlock();
    }
    if (mutex.try_lock()) return;
  }
  mutex.lock();
}

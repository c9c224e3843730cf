// Waiting for a mutex a little, and no longer: in a forked process the thread that holds it may not
// be there.
#pragma once

#include <cstdint>
#include <mutex>
#include <thread>

namespace maskwright {

// Locked, or not if it was taken each time.
template <typename Mutex>
std::unique_lock<Mutex> lock_soon(Mutex& mutex) {
  constexpr uint32_t kMaxTries = 100;
  std::unique_lock locked(mutex, std::try_to_lock);
  for (uint32_t i = 0; i < kMaxTries && !locked; ++i) {
    std::this_thread::yield();
    locked.try_lock();
  }
  return locked;
}

}  // namespace maskwright

// Who holds how many bytes: a ledger has the sum of the charges of its debtors.
//
// Each debtor keeps its own charge up to date, so that a cache knows its size at any moment without
// asking its entries. A charge moves to another ledger, or to none, in one step. A ledger may have
// a limit, which is asked by debtors that can do with less. The ledger is one atomic number; a
// charge has a mutex of its own, which nothing else is done under. All thread safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace maskwright {

class ByteLedger {
 public:
  static constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);

  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // What debtors may take from now on that can do with less (ByteCharge::try_set).
  void set_limit(std::size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

 private:
  friend class ByteCharge;
  // Wraps around, so that taking away is adding, too.
  void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // One step: two debtors can't both take what is left.
  bool try_add(std::size_t more) {
    const std::size_t limit = limit_.load(std::memory_order_relaxed);
    std::size_t bytes = this->bytes();
    do {
      if (bytes > limit || more > limit - bytes) return false;
    } while (!bytes_.compare_exchange_weak(bytes, bytes + more, std::memory_order_relaxed));
    return true;
  }

  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> limit_{kUnlimited};
};

class ByteCharge {
 public:
  ByteCharge() = default;
  ByteCharge(const ByteCharge&) = delete;
  ByteCharge& operator=(const ByteCharge&) = delete;
  ~ByteCharge() { charge_to(nullptr); }

  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  void set(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (ledger_ != nullptr) ledger_->add(bytes - this->bytes());
    bytes_.store(bytes, std::memory_order_relaxed);
  }

  // False, and nothing changed, if that is more than before and more than the ledger's limit.
  bool try_set(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t before = this->bytes();
    if (ledger_ != nullptr) {
      if (bytes <= before) {
        ledger_->add(bytes - before);
      } else if (!ledger_->try_add(bytes - before)) {
        return false;
      }
    }
    bytes_.store(bytes, std::memory_order_relaxed);
    return true;
  }

  // null: to nobody.
  void charge_to(std::shared_ptr<ByteLedger> ledger) {
    const std::lock_guard lock(mutex_);
    if (ledger_ != nullptr) ledger_->add(std::size_t{0} - bytes());
    ledger_ = std::move(ledger);
    if (ledger_ != nullptr) ledger_->add(bytes());
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<ByteLedger> ledger_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace maskwright

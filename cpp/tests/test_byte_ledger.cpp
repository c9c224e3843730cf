#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "maskwright/support/byte_ledger.h"

using maskwright::ByteCharge;
using maskwright::ByteLedger;

TEST_CASE("a charge grows only as far as its ledger allows") {
  const auto ledger = std::make_shared<ByteLedger>();
  ByteCharge one, other;
  CHECK(one.try_set(50));  // nobody counts it
  one.charge_to(ledger);
  other.charge_to(ledger);
  CHECK(other.try_set(1000));
  ledger->set_limit(100);
  CHECK_FALSE(one.try_set(51));
  CHECK(one.bytes() == 50);
  CHECK(ledger->bytes() == 1050);
  CHECK(other.try_set(999));  // less is always taken
  CHECK(other.try_set(40));
  CHECK_FALSE(one.try_set(61));
  CHECK(one.try_set(60));
  CHECK(ledger->bytes() == 100);
  one.set(70);  // what cannot do with less
  CHECK(ledger->bytes() == 110);
}

TEST_CASE("debtors on several threads never take more than there is") {
  constexpr std::size_t kLimit = 1000;
  const auto ledger = std::make_shared<ByteLedger>();
  ledger->set_limit(kLimit);
  std::deque<ByteCharge> charges(4);
  std::atomic<bool> exceeded = false;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < charges.size(); ++t) {
    charges[t].charge_to(ledger);
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 5000; ++i) {
        if (!charges[t].try_set((i * 37 + t * 11) % 600)) charges[t].set(0);
        if (ledger->bytes() > kLimit) exceeded = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(exceeded);
  std::size_t sum = 0;
  for (const ByteCharge& charge : charges) sum += charge.bytes();
  CHECK(ledger->bytes() == sum);
}

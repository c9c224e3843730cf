#include "matcher/completion_store.h"

#include <algorithm>

namespace maskwright {

Completions& CompletionStore::completions(CompiledGrammar& grammar, const TokenReader& tokens) {
  auto found = std::ranges::find_if(
      kinds_, [&](const Kind& kind) { return kind.completions->stop_ids() == tokens.stop_ids(); });
  if (found != kinds_.end()) {
    measure(*found);
    if (found->measured_bytes <= max_bytes_) return *found->completions;
    drop(*found);
  } else if (kinds_.size() == kMaxKinds) {
    drop(kinds_.front());
    std::ranges::rotate(kinds_, kinds_.begin() + 1);
    found = kinds_.end() - 1;
  } else {
    kinds_.emplace_back();
    found = kinds_.end() - 1;
  }
  *found = {std::make_unique<Completions>(grammar, tokens, ++generations_, max_work_)};
  return *found->completions;
}

// Takes time that grows with what there is, so it is done when there is a part more.
void CompletionStore::measure(Kind& kind) {
  constexpr std::size_t kPart = 8;
  constexpr std::size_t kFew = 256;
  const std::size_t size = kind.completions->size();
  if (size <= kind.measured_size + kind.measured_size / kPart + kFew) return;
  kind.measured_size = size;
  kind.measured_bytes = kind.memory_bytes();
}

void CompletionStore::drop(Kind& kind) {
  dropped_searches_ += kind.completions->searches();
  dropped_walks_ += kind.completions->walks();
  dropped_most_work_ = std::max(dropped_most_work_, kind.completions->most_work());
  dropped_size_ += kind.completions->size();
}

uint64_t CompletionStore::searches() const {
  uint64_t searches = dropped_searches_;
  for (const Kind& kind : kinds_) searches += kind.completions->searches();
  return searches;
}

uint64_t CompletionStore::walks() const {
  uint64_t walks = dropped_walks_;
  for (const Kind& kind : kinds_) walks += kind.completions->walks();
  return walks;
}

uint32_t CompletionStore::most_work() const {
  uint32_t most = dropped_most_work_;
  for (const Kind& kind : kinds_) most = std::max(most, kind.completions->most_work());
  return most;
}

void CompletionStore::bound_work(uint32_t max_work) {
  max_work_ = max_work;
  forget();
}

void CompletionStore::forget() {
  for (Kind& kind : kinds_) drop(kind);
  kinds_.clear();
}

uint64_t CompletionStore::revision() const {
  uint64_t size = dropped_size_;
  for (const Kind& kind : kinds_) size += kind.completions->size();
  return size;
}

std::size_t CompletionStore::memory_bytes() {
  std::size_t bytes = 0;
  for (Kind& kind : kinds_) {
    measure(kind);
    bytes += kind.measured_bytes;
  }
  return bytes;
}

}  // namespace maskwright

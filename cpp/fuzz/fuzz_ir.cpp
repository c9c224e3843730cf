// Untrusted IR buffers: parsing, compiling and following them must end in an Error or a working
// matcher, whatever the bytes are; and for what compiles, the mask of each step equals what
// accept_token answers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "following.h"
#include "maskwright/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using namespace maskwright;
  try {
    const auto grammar = std::make_shared<CompiledGrammar>(std::as_bytes(std::span(data, size)),
                                                           fuzz::vocabulary(), fuzz::limits());
    fuzz::follow(grammar, std::span(data, size).last(std::min<std::size_t>(size, 6)));
  } catch (const Error&) {
    // A clear refusal.
  }
  return 0;
}

// Untrusted stored grammars: loading them must end in an Error or in a working grammar. The bytes
// are tried as they are, and as a body in an envelope whose checksum is right, since no mutation
// finds a checksum. What is loaded has exact masks, and is stored and loaded again as the same
// bytes. Masks that are loaded with it and trusted may be any, but do no other harm.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "following.h"
#include "maskwright/serialize/stored_grammar.h"
#include "maskwright/support/error.h"
#include "serialize/envelope.h"

namespace {

using namespace maskwright;

void try_to_load(std::span<const std::byte> bytes, std::span<const uint8_t> choices) {
  std::optional<LoadedGrammar> loaded;
  try {
    loaded = load(bytes, fuzz::vocabulary(), {}, fuzz::limits());
    fuzz::follow(loaded->grammar, choices);
  } catch (const Error&) {
    // A clear refusal.
  }
  if (!loaded) return;
  const auto first = store(*loaded->grammar, loaded->source, {});
  const LoadedGrammar again = load(first, fuzz::vocabulary(), {}, fuzz::limits());
  if (store(*again.grammar, again.source, {}) != first) std::abort();
}

void try_to_load_masks(std::span<const std::byte> body, std::span<const uint8_t> choices) {
  const auto bytes = seal(body, {}, kStoredMasksVersion);
  std::optional<LoadedGrammar> loaded;
  try {
    loaded = load(bytes, fuzz::vocabulary(), {}, fuzz::limits(), nullptr, true);
  } catch (const Error&) {
    return;
  }
  const auto first = store(*loaded->grammar, loaded->source, {}, loaded->grammar->storable_masks());
  const LoadedGrammar again = load(first, fuzz::vocabulary(), {}, fuzz::limits(), nullptr, true);
  if (store(*again.grammar, again.source, {}, again.grammar->storable_masks()) != first) {
    std::abort();
  }
  fuzz::follow(loaded->grammar, choices, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const auto choices = std::span(data, size).last(std::min<std::size_t>(size, 6));
  const auto bytes = std::as_bytes(std::span(data, size));
  try_to_load(bytes, choices);
  try_to_load(seal(bytes, {}, kStoredVersion), choices);
  try_to_load_masks(bytes, choices);
  return 0;
}

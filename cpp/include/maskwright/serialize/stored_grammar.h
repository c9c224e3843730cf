// The stored form of a compiled grammar: bytes from which it can be loaded without its front-end
// and without lowering its rules again.
//
// An envelope (serialize/envelope.h: magic, byte order, format version, length, fingerprint of the
// vocabulary, checksum) around what the grammar is made of before subset construction: limits, the
// certificate, the IR with its schema graph, and the rule tables. States and masks are not in it,
// so the bytes depend on the grammar, the vocabulary and the limits alone. Masks come behind them
// where they are asked for (serialize/masks_form.h).
//
// Loading trusts nothing: each count is compared with the bytes that are left before anything is
// allocated by it, every id, bound and order is checked before anything is built, and what only the
// whole shows (positions that lead nowhere, repeats that begin with themselves) by the pass that
// the compiler itself ends with. Cost: linear in the bytes, plus what judging a schema costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "maskwright/matcher/compiled.h"

namespace maskwright {

// Changes whenever bytes of an older version would be read wrongly, or the same bytes would mean
// another language: with the layout, with kIrVersion, and with the meaning of an IR record.
inline constexpr uint32_t kStoredVersion = 1;
// Of forms with masks, which are the same besides.
inline constexpr uint32_t kStoredMasksVersion = 2;

using Fingerprint = std::array<std::byte, 32>;  // of a vocabulary

// How a grammar relates to its source. Texts are bytes for the owner to decode.
struct StoredCertificate {
  bool exact = true;
  std::vector<std::string> narrowed;
  std::vector<std::array<std::string, 3>> loosened;  // pointer, keyword, reason
  std::vector<std::string> ignored;
};

// What was compiled, as its owner keeps it.
struct StoredSource {
  std::vector<std::byte> ir;
  StoredCertificate certificate;
};

struct LoadedGrammar {
  std::shared_ptr<CompiledGrammar> grammar;
  StoredSource source;
};

// `source`: what the grammar was compiled from. `masks`: those to store with it. Waits for nothing.
std::vector<std::byte> store(const CompiledGrammar& grammar, const StoredSource& source,
                             const Fingerprint& fingerprint, const StorableMasks& masks = {});

// `allowed`: the largest limits to compile under; what was stored under larger ones is refused.
// Raises kStoredVersion for another format version, kStoredFormat for all else that store() did
// not write for this vocabulary, and kLimit. `shared`: of the same vocabulary, or null.
// `trust_masks`: use the masks that were stored with it; nobody can tell whether they are its own.
LoadedGrammar load(std::span<const std::byte> bytes, std::shared_ptr<const Vocabulary> vocabulary,
                   const Fingerprint& fingerprint, const CompileLimits& allowed,
                   std::shared_ptr<SharedMasks> shared = nullptr, bool trust_masks = false);

}  // namespace maskwright

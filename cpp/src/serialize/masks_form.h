// The masks of a grammar as bytes: the texts that several have, lists of escapes, and the masks,
// with their keys (automata/shared_key.h). A list is named by its index, also in keys, where its
// number stood. Behind them the mask of the start.
//
// What a key says and how nodes of the trie are numbered belongs to one version of the engine. So
// the number of this form is written first, and then the engine's version; masks with another one
// of either are left alone.
#pragma once

#include <memory>

#include "maskwright/mask/shared_masks.h"
#include "serialize/bytes.h"

namespace maskwright {

// To be raised with every change of what is written here, of what a key says, or of how the nodes
// of a trie are numbered.
inline constexpr uint32_t kMasksForm = 2;

void write_masks(const StorableMasks& masks, ByteWriter& writer);

// Reads masks to where a grammar looks for them. Everything is checked that a walk takes for
// granted: ids are of the vocabulary and nodes of its trie, sorted, sizes and indices fit. Whether
// the tokens are those that the grammar allows can't be told. Returns that of the start, null if
// there is none. Raises kStoredFormat.
std::shared_ptr<const StartMask> read_masks(ByteReader& reader, SharedMasks& into);

}  // namespace maskwright

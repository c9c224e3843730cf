// Schema nodes that say the same in the same words: equal classes.
//
// Idea: hash-consing bottom-up, on demand. An alias has the class of its target, and the order of
// conjunctions does not matter. On a cycle the node where it was entered stands for itself alone,
// so equal classes mean equal values, and different classes mean nothing.
// Cost: linear in the part of the schema that is asked about; work lists, since schemas are deep.
#pragma once

#include <cstdint>
#include <vector>

#include "json/key_table.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

class NodeClasses {
 public:
  NodeClasses(const Ir& ir, KeyTable& texts) : ir_(ir), texts_(texts) {}

  uint32_t of(uint32_t node);
  std::size_t memory_bytes() const { return heap_bytes(classes_, keys_); }

 private:
  static constexpr uint32_t kOpen = kNone - 1;

  void children(uint32_t node, std::vector<uint32_t>& out) const;
  uint32_t make(uint32_t node);
  void add_refs(uint32_t count, WordReader& reader, bool sort, std::vector<uint32_t>& key);
  uint32_t text(std::span<const uint32_t> ref) { return texts_.intern(ir_.bytes(ref[0], ref[1])); }
  uint32_t known(uint32_t node) const;

  const Ir& ir_;
  KeyTable& texts_;
  std::vector<uint32_t> classes_;  // by node; kNone: not asked, kOpen: being made
  WordInterner keys_;
};

}  // namespace maskwright

// Member names, interned.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class KeyTable {
 public:
  uint32_t intern(std::string_view text);
  const std::string& get(uint32_t id) const { return *texts_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }
  std::size_t memory_bytes() const { return heap_bytes(texts_, ids_); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> texts_;  // the keys of ids_, which stay where they are
};

}  // namespace maskwright

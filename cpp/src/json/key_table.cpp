#include "json/key_table.h"

namespace maskwright {

uint32_t KeyTable::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const uint32_t id = size();
  texts_.push_back(&ids_.emplace(text, id).first->first);
  return id;
}

}  // namespace maskwright

#include "json/derived.h"

#include <array>

#include "json/schema_word.h"
#include "maskwright/ir/ir.h"

namespace maskwright {

uint32_t DerivedTable::intern(const DerivedLeaf& leaf) {
  const std::array<uint32_t, 4> content{static_cast<uint32_t>(leaf.kind), leaf.a, leaf.b, leaf.c};
  return leaves_.intern(content).id | kDerived;
}

DerivedLeaf DerivedTable::get(uint32_t word) const {
  const auto content = leaves_.get(word & ~kDerived);
  return {static_cast<DerivedKind>(content[0]), content[1], content[2], content[3]};
}

uint32_t DerivedTable::type_of(DerivedKind kind) {
  switch (kind) {
    case DerivedKind::kLength: return kStringType;
    case DerivedKind::kItemIs:
    case DerivedKind::kSomeItem:
    case DerivedKind::kContains:
    case DerivedKind::kItemCount: return kArrayType;
    case DerivedKind::kListed: return uint32_t{kArrayType} | uint32_t{kObjectType};
    case DerivedKind::kNoObject: return kAllTypes & ~uint32_t{kObjectType};
    default: return kObjectType;
  }
}

}  // namespace maskwright

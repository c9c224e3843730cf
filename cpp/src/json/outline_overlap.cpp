#include "json/outline_overlap.h"

#include <algorithm>

#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

constexpr uint32_t kScalars = kNull | kBoolean | kInteger | kNumberType | kStringType;

// The member's values are scalars, which are listed.
bool is_listed(const Outline::Member& member) {
  return member.required && member.value != nullptr && member.value->listed &&
         (member.value->types & ~kScalars) == 0;
}

}  // namespace

OutlineOverlap::OutlineOverlap(const std::vector<OutlineRef>& outlines) : outlines_(outlines) {
  choose_discriminator();
  for (uint32_t i = 0; i < outlines_.size(); ++i) {
    const OutlineRef& outline = outlines_[i];
    if (outline == nullptr) {
      any_.push_back(i);
      continue;
    }
    if ((outline->types & kScalars) != 0) file_scalars(i);
    if ((outline->types & kObjectType) != 0) file_object(i);
    if ((outline->types & kArrayType) != 0) arrays_.push_back(i);
  }
}

std::size_t OutlineOverlap::File::size(uint32_t number) const {
  const auto found = by_number.find(number);
  return others.size() + (found == by_number.end() ? 0 : found->second.size());
}

void OutlineOverlap::File::collect(uint32_t number, std::vector<uint32_t>& out) const {
  const auto found = by_number.find(number);
  if (found != by_number.end()) out.insert(out.end(), found->second.begin(), found->second.end());
}

void OutlineOverlap::choose_discriminator() {
  std::unordered_map<uint32_t, uint32_t> uses;
  uint32_t most = 0;
  for (const OutlineRef& outline : outlines_) {
    if (outline == nullptr || (outline->types & kObjectType) == 0) continue;
    for (const Outline::Member& member : outline->members) {
      if (!is_listed(member)) continue;
      const uint32_t count = ++uses[member.key];
      if (count > most) {
        most = count;
        key_ = member.key;
      }
    }
  }
}

const Outline::Member* OutlineOverlap::discriminator(const Outline& outline) const {
  const auto at = std::ranges::lower_bound(outline.members, key_, {}, &Outline::Member::key);
  return at != outline.members.end() && at->key == key_ && is_listed(*at) ? &*at : nullptr;
}

void OutlineOverlap::file_scalars(uint32_t index) {
  const Outline& outline = *outlines_[index];
  if (!outline.listed) {
    scalars_.others.push_back(index);
    return;
  }
  for (const uint32_t atom : outline.atoms) scalars_.by_number[atom].push_back(index);
}

void OutlineOverlap::file_object(uint32_t index) {
  const Outline& outline = *outlines_[index];
  const Outline::Member* kind = discriminator(outline);
  if (kind == nullptr) {
    values_.others.push_back(index);
  } else {
    for (const uint32_t atom : kind->value->atoms) values_.by_number[atom].push_back(index);
  }
  if (!outline.closed) {
    names_.others.push_back(index);
    return;
  }
  for (const Outline::Member& member : outline.members) {
    if (!member.absent) names_.by_number[member.key].push_back(index);
  }
}

void OutlineOverlap::collect_scalars(uint32_t index, std::vector<uint32_t>& out) const {
  const Outline& outline = *outlines_[index];
  if (!outline.listed) {
    out.insert(out.end(), scalars_.others.begin(), scalars_.others.end());
    for (const auto& [atom, found] : scalars_.by_number) {
      out.insert(out.end(), found.begin(), found.end());
    }
    return;
  }
  out.insert(out.end(), scalars_.others.begin(), scalars_.others.end());
  for (const uint32_t atom : outline.atoms) scalars_.collect(atom, out);
}

// By the discriminator, or by the required member that the fewest know.
void OutlineOverlap::collect_objects(uint32_t index, std::vector<uint32_t>& out) const {
  const Outline& outline = *outlines_[index];
  const auto take = [&](const File& file) {
    out.insert(out.end(), file.others.begin(), file.others.end());
  };
  if (const Outline::Member* kind = discriminator(outline); kind != nullptr) {
    take(values_);
    for (const uint32_t atom : kind->value->atoms) values_.collect(atom, out);
    return;
  }
  uint32_t rarest = kNone;
  for (const Outline::Member& member : outline.members) {
    if (!member.required) continue;
    if (rarest == kNone || names_.size(member.key) < names_.size(rarest)) rarest = member.key;
  }
  if (rarest != kNone) {
    take(names_);
    names_.collect(rarest, out);
    return;
  }
  take(values_);
  for (const auto& [atom, found] : values_.by_number)
    out.insert(out.end(), found.begin(), found.end());
}

std::vector<uint32_t> OutlineOverlap::candidates(uint32_t index) const {
  std::vector<uint32_t> out;
  const OutlineRef& outline = outlines_[index];
  if (outline == nullptr) {
    for (uint32_t i = 0; i < outlines_.size(); ++i) out.push_back(i);
  } else {
    out = any_;
    if ((outline->types & kScalars) != 0) collect_scalars(index, out);
    if ((outline->types & kObjectType) != 0) collect_objects(index, out);
    if ((outline->types & kArrayType) != 0) out.insert(out.end(), arrays_.begin(), arrays_.end());
  }
  make_set(out);
  std::erase(out, index);
  return out;
}

}  // namespace maskwright

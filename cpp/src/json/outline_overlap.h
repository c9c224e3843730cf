// Which outlines of a list may have a value in common with a given one, without a look at all.
//
// Idea: two outlines are far apart if they list different scalars, if both ask for a member and
// list different scalars for it, or if one asks for a member that the other, being closed, refuses.
// So outlines are filed by the scalars they list, by those of the member that most of them ask for
// (the discriminator), and closed ones by the names of their members. What can't be filed is always
// a candidate. Who is no candidate has no value in common; candidates have to be compared.
//
// Cost: linear in the outlines to build; a look-up is linear in the candidates.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "json/outline.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class OutlineOverlap {
 public:
  // `outlines` stay the caller's.
  explicit OutlineOverlap(const std::vector<OutlineRef>& outlines);

  // Ascending; without `index` itself.
  std::vector<uint32_t> candidates(uint32_t index) const;
  std::size_t memory_bytes() const { return heap_bytes(any_, scalars_, values_, names_, arrays_); }

 private:
  // Outlines by a number (an atom or a key), and those that can't be filed.
  struct File {
    std::unordered_map<uint32_t, std::vector<uint32_t>> by_number;
    std::vector<uint32_t> others;
    std::size_t size(uint32_t number) const;
    void collect(uint32_t number, std::vector<uint32_t>& out) const;
    std::size_t memory_bytes() const { return heap_bytes(by_number, others); }
  };

  void file_scalars(uint32_t index);
  void file_object(uint32_t index);
  void choose_discriminator();
  const Outline::Member* discriminator(const Outline& outline) const;
  void collect_scalars(uint32_t index, std::vector<uint32_t>& out) const;
  void collect_objects(uint32_t index, std::vector<uint32_t>& out) const;

  const std::vector<OutlineRef>& outlines_;
  std::vector<uint32_t> any_;      // outlines of any value
  File scalars_, values_, names_;  // by atom; by atom of the discriminator; closed ones by key
  std::vector<uint32_t> arrays_;
  uint32_t key_ = kNone;  // the discriminator
};

}  // namespace maskwright

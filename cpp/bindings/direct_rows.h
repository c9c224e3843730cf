// The rows of a bitmask without the calls of an array protocol, which cost more than the mask.
//
// Recognises what nearly every caller has, writable int32 arrays of numpy and torch on the CPU, and
// nothing else: whatever is odd is left to arrays.h, which says what is wrong with it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

struct DirectRows {
  uint32_t* data;
  int64_t count;
  int64_t words;   // of a row, side by side
  int64_t stride;  // words from one row to the next
};

// False if the object isn't recognised. The rows are good for as long as the object is not changed,
// so not without the GIL.
bool direct_rows(nanobind::handle object, DirectRows& rows);

// The memory of an array without the calls of an array protocol, which cost more than a mask.
//
// Recognises what nearly every caller has, 1-D and 2-D arrays of numpy and torch on the CPU whose
// rows lie side by side in memory, and nothing else: whatever is odd is left to arrays.h, which
// says what is wrong with it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

struct DirectArray {
  void* data;
  nanobind::dlpack::dtype type;
  int64_t rows, length;
  int64_t stride;  // elements from one row to the next
  int ndim;
  bool writable;
};

// False if the object isn't recognised. The memory is good for as long as the object is alive and
// not given another size.
bool direct_array(nanobind::handle object, DirectArray& array);

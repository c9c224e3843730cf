// Arrays from Python, used in place: any buffer or DLPack object on the CPU. A wrong one is refused
// with what it is (dtype, shape, strides, device), never copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

using Array = nanobind::ndarray<>;

// What checks and messages need of an array, on whatever device.
struct ArrayFacts {
  std::string dtype;
  std::vector<int64_t> shape, strides;  // in elements
  std::string device;
};

// `what` names the argument in messages. Raises Error(kBitmask), also for elements that do not lie
// at multiples of their size, and for torch tensors whose memory holds the negated values.
Array writable_cpu_array(nanobind::handle object, const std::string& what);
Array readable_cpu_array(nanobind::handle object, const std::string& what);
ArrayFacts facts_of(const Array& array);

// The memory of an array, which lives as long as the object that it was taken of.
struct ArrayMemory {
  void* data;
  std::size_t item_bytes;
  ArrayFacts facts;
  Array owner;  // invalid where it took none
};
// As writable_cpu_array() and readable_cpu_array(), and at once for what direct_array.h knows.
ArrayMemory writable_memory(nanobind::handle object, const std::string& what);
ArrayMemory readable_memory(nanobind::handle object, const std::string& what);
// "an int32 array of shape (2, 4), strides (4, 1), on cpu"
std::string describe_array(const ArrayFacts& array);
[[noreturn]] void bad_array(const std::string& code, const std::string& what,
                            const ArrayFacts& array, const std::string& expected);
// Along the last dimension, which must exist.
bool has_unit_stride(const ArrayFacts& array);
// The int32 words of one row of a 1-D or 2-D bitmask.
std::span<uint32_t> bitmask_row(const Array& array, int64_t index, uint32_t words);
// Sets all elements of an int32 array of any shape and strides.
void fill_array(const Array& array, uint32_t word);

// The arguments of calls for many matchers, read from Python and checked one by one. Objects are
// kept alive as long as these live, so that the GIL can be released.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.h"
#include "maskwright/batch/bitmask_rows.h"
#include "maskwright/batch/draft_tree.h"
#include "matcher_base.h"

// Any iterable of GrammarMatcher. Raises kBatch for anything else in it.
class MatcherList {
 public:
  explicit MatcherList(nanobind::handle matchers);

  std::size_t size() const { return matchers_.size(); }
  std::span<maskwright::Matcher* const> matchers() const { return matchers_; }
  const MatcherBase& base(std::size_t i) const { return *bases_[i]; }
  // Of a mask of any of them.
  uint32_t max_words() const;
  // Raises kBatch unless there are as many.
  void check_length(std::size_t size, const char* what) const;

 private:
  nanobind::tuple objects_;
  std::vector<MatcherBase*> bases_;
  std::vector<maskwright::Matcher*> matchers_;
};

// Any iterable of str and bytes. Those that are no text of any encoding have no data.
class TextList {
 public:
  explicit TextList(nanobind::handle texts);
  std::span<const std::string_view> texts() const { return texts_; }

 private:
  nanobind::tuple objects_;
  std::vector<std::string_view> texts_;
};

// An iterable of integers, or an array of them.
std::vector<int64_t> integer_list(nanobind::handle objects);
// The same without bools; `what` names the argument in messages.
std::vector<int64_t> number_list(nanobind::handle objects, const char* what);
// The rows that matchers are given: `indices`, or 0, 1, 2... for None. Checked against the number
// of rows there are; `what` has them ("the bitmask has").
std::vector<int64_t> row_list(nanobind::handle indices, const MatcherList& matchers, int64_t rows,
                              const char* what);

// The int32 rows of a bitmask, 1-D or 2-D, that do not overlap.
struct Bitmask {
  Bitmask(nanobind::handle object, uint32_t words);
  // Raises kBitmask if there are fewer rows.
  void check_rows(int64_t needed, const std::string& why) const;

  Array array;
  maskwright::BitmaskRows rows{};
};

// A contiguous array of integers of any type, 1-D or 2-D, copied.
class IntegerArray {
 public:
  IntegerArray(nanobind::handle object, const char* what);

  std::size_t ndim() const { return array_.ndim(); }
  int64_t rows() const { return rows_; }  // 1 if 1-D
  std::size_t columns() const { return columns_; }
  std::span<const int64_t> row(int64_t index) const {
    return std::span(values_).subspan(static_cast<std::size_t>(index) * columns_, columns_);
  }
  // Raises kDraftTree unless it has so many dimensions.
  void check_ndim(bool one, bool two) const;
  [[noreturn]] void refuse(const char* code, const std::string& expected) const;

 private:
  std::string what_;
  Array array_;
  int64_t rows_ = 1;
  std::size_t columns_ = 0;
  std::vector<int64_t> values_;
};

// A writable float32 array, 1-D. Elements that stand for no temperature are -1.
class TemperatureArray {
 public:
  // Raises kBitmask if it has fewer elements.
  TemperatureArray(nanobind::handle object, std::size_t needed);
  std::size_t size() const { return array_.shape(0); }
  void set(int64_t index, std::optional<double> temperature) const {
    static_cast<float*>(array_.data())[index * array_.stride(0)] =
        temperature.has_value() ? static_cast<float>(*temperature) : -1.0F;
  }

 private:
  Array array_;
};

// A writable int32 or int64 array, 1-D.
class MaskIdArray {
 public:
  explicit MaskIdArray(nanobind::handle object);
  std::size_t size() const { return array_.shape(0); }
  void set(int64_t index, maskwright::MaskId id) const;

 private:
  Array array_;
};

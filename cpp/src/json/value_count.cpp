#include "json/value_count.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

// Levels and prefixes that a count may look at.
constexpr uint64_t kMaxWork = 2000000;

Enough both(Enough a, Enough b) {
  if (a == Enough::kNo || b == Enough::kNo) return Enough::kNo;
  return a == Enough::kYes ? b : a;
}

}  // namespace

// --- arrays of unique items ---------------------------------------------------------------------

Enough ValueCount::enough(const ArrayShape& array) {
  if (!array.contains.empty()) return enough_counted(array);
  Enough all = Enough::kYes;
  for (uint32_t index = 0; index < array.min; ++index) {
    // Of the places behind the prefix the last one asks for most.
    if (index >= array.length()) index = array.min - 1;
    all = both(all, at_least(array.place(index)[0], uint64_t{index} + 1));
  }
  const bool alike = array.length() == 0;
  // With different positions a shortage at one of them does not settle the matter.
  return all == Enough::kNo && !alike ? Enough::kUndecided : all;
}

Enough ValueCount::enough_counted(const ArrayShape& array) {
  const ItemCount& first = array.contains[0];
  uint64_t wanted = uint64_t{array.min} + array.length();
  for (const ItemCount& count : array.contains) wanted += count.min;
  if (wanted <= 1) return Enough::kYes;
  if (array.contains.size() == 1 && array.length() == 0) {
    const Enough found = at_least(array.rest[1], first.min);
    if (first.max == kNone) return both(found, at_least(array.rest[0], array.min));
    const uint32_t others = array.min > first.max ? array.min - first.max : 0;
    const Enough rest = at_least(array.rest[0], others);
    if (at_least(array.rest[1], std::min(array.min, first.max)) == Enough::kYes) {
      return both(found, rest);
    }
    if (at_least(array.rest[0], array.min) == Enough::kYes) return found;
    return rest == Enough::kNo || found == Enough::kNo ? Enough::kNo : Enough::kUndecided;
  }
  Enough all = Enough::kYes;
  for (const auto& places : {array.prefix, array.rest}) {
    for (const uint32_t target : places) {
      if (solver_.target_productive(target)) all = both(all, at_least(target, wanted));
    }
  }
  return all == Enough::kYes ? all : Enough::kUndecided;
}

uint32_t ValueCount::least(const ArrayShape& array, uint32_t wanted) {
  uint64_t least = wanted;
  known_.clear();
  for (const auto& places : {array.prefix, array.rest}) {
    for (const uint32_t target : places) {
      if (solver_.target_productive(target)) least = std::min(least, count(target, wanted).lo);
    }
  }
  return static_cast<uint32_t>(least);
}

Enough ValueCount::at_least(uint32_t target, uint64_t wanted) {
  if (wanted == 0) return Enough::kYes;
  if (!solver_.target_productive(target)) return Enough::kNo;
  if (wanted == 1) return Enough::kYes;
  known_.clear();
  const Range range = count(target, wanted);
  if (range.lo >= wanted) return Enough::kYes;
  return range.hi < wanted ? Enough::kNo : Enough::kUndecided;
}

// --- targets ------------------------------------------------------------------------------------

ValueCount::Range ValueCount::count(uint32_t target, uint64_t wanted) {
  if (!solver_.target_productive(target)) return {0, 0};
  // A target that is asked about while it is counted has one value at least.
  const auto [entry, added] = known_.try_emplace(target, Range{1, wanted});
  if (!added) return entry->second;
  const Range range = count_clauses(target, wanted);
  known_.insert_or_assign(target, range);
  return range;
}

ValueCount::Range ValueCount::count_clauses(uint32_t target, uint64_t wanted) {
  uint32_t literals = 0;
  std::vector<Word> strings;
  std::vector<LangId> numbers;
  std::vector<uint32_t> arrays;
  std::vector<uint32_t> objects;
  std::vector<uint32_t> joint;
  for (const uint32_t id : solver_.clauses(target)) {
    const Clause& clause = clauses_.get(id);
    for (uint32_t word = 0; word < 3; ++word) {
      static constexpr std::array<std::string_view, 3> kTexts{"null", "false", "true"};
      if (options_.can_spell(kTexts[word])) literals |= clause.literals & 1U << word;
    }
    if (clause.has_string) {
      strings.push_back({clause.string, clause.min_length, clause.max_length});
    }
    if (clause.has_number) numbers.push_back(clause.number);
    if (clause.array != kNone) arrays.push_back(clause.array);
    if (clause.object != kNone) objects.push_back(clause.object);
    if (clause.joint != kNone) joint.push_back(clause.joint);
  }
  make_set(strings);
  make_set(numbers);
  make_set(arrays);
  make_set(objects);
  Range sum{0, 0};
  const auto add = [&](Range part) {
    sum.lo = std::min(wanted, sum.lo + part.lo);
    sum.hi = std::min(wanted, sum.hi + part.hi);
  };
  const auto add_exactly = [&](uint64_t number) { add({number, number}); };
  add_exactly(static_cast<uint64_t>(std::popcount(literals)));
  if (sum.lo < wanted && !strings.empty()) add_exactly(count_strings(strings, wanted));
  if (sum.lo < wanted && !numbers.empty()) add_exactly(count_numbers(numbers, wanted));
  const auto add_shapes = [&](std::span<const uint32_t> shapes, auto count_one) {
    // Shapes of one type may share values.
    Range all{0, 0};
    for (const uint32_t shape : shapes) {
      if (sum.lo >= wanted) return;
      const Range one = count_one(shape);
      all.lo = std::max(all.lo, one.lo);
      all.hi += one.hi;
    }
    add(all);
  };
  add_shapes(arrays, [&](uint32_t shape) { return count_array(shape, wanted); });
  add_shapes(objects, [&](uint32_t shape) { return count_object(shape, wanted); });
  add_shapes(joint, [&](uint32_t id) { return count_joint(id, wanted); });
  return sum;
}

ValueCount::Range ValueCount::count_array(uint32_t shape, uint64_t wanted) {
  if (!solver_.array_productive(shape)) return {0, 0};
  const ArrayShape array = clauses_.array(shape);
  if (!array.contains.empty()) return {1, wanted};
  const ItemRules rules = solver_.item_rules(array);
  const bool alike = array.length() == 0;
  Range sum{0, 0};
  Range product{1, 1};
  for (uint32_t length = 0; length <= rules.max; ++length) {
    if (length >= rules.min) {
      sum.lo = std::min(wanted, sum.lo + product.lo);
      sum.hi = std::min(wanted, sum.hi + product.hi);
    }
    if (length == rules.max || sum.lo >= wanted || rules.cells(length) == 0) break;
    Range item = count(array.place(length)[0], wanted);
    if (array.unique) {
      // At most so many values are used; exactly, where all are of one kind.
      item.lo -= std::min<uint64_t>(item.lo, length);
      if (alike && item.hi < wanted) item.hi -= std::min<uint64_t>(item.hi, length);
    }
    product.lo = std::min(wanted, product.lo * item.lo);
    product.hi = std::min(wanted, product.hi * item.hi);
    if (product.hi == 0) break;
    if (length >= kMaxWork) return {sum.lo, wanted};
  }
  return sum;
}

ValueCount::Range ValueCount::count_object(uint32_t shape, uint64_t wanted) {
  if (!solver_.object_productive(shape)) return {0, 0};
  const ObjectShape object = clauses_.object(shape);
  uint32_t required = 0;
  Range all{1, 1};
  for (std::size_t i = 0; i < object.size(); ++i) {
    const auto [key, target, flags] = object.member(i);
    const bool needed = (flags & ObjectShape::kIsRequired) != 0;
    required += needed ? 1 : 0;
    Range values = target == kNone ? Range{0, 0} : count(target, wanted);
    if (!needed) values = {values.lo + 1, values.hi + 1};
    all.lo = std::min(wanted, all.lo * values.lo);
    all.hi = std::min(wanted, all.hi * values.hi);
  }
  const bool free = object.num_dependencies() == 0 && object.num_obligations() == 0;
  const uint32_t max = solver_.max_members(object);
  bool open = false;
  bool endless = false;
  for (uint32_t i = 0; i < object.others().size(); ++i) {
    if (!solver_.target_productive(object.others()[i])) continue;
    open = true;
    endless = endless || object.names->count(object.names->start(), i) == kUnbounded;
  }
  if (open) {
    // One more member is possible beside those that must be there.
    const bool spare = max == kUnbounded || (free && max > required && max > object.min);
    return {endless && spare ? wanted : 1, wanted};
  }
  // Bounds on the number of members, and what members ask of each other, may leave out any of them.
  const bool bounded = !free || object.min > required || max < object.size();
  return {bounded ? 1 : all.lo, all.hi};
}

// Other members than those that the parts own may come endlessly, or else any part may be all that
// tells objects apart.
ValueCount::Range ValueCount::count_joint(uint32_t joint, uint64_t wanted) {
  if (!solver_.joint_productive(joint)) return {0, 0};
  const auto is_endless = [&](uint32_t id) {
    const uint32_t shape = clauses_.get(id).object;
    if (shape == kNone || !solver_.object_productive(shape)) return false;
    const ObjectShape object = clauses_.object(shape);
    return std::ranges::any_of(object.others(),
                               [&](uint32_t target) { return solver_.target_productive(target); });
  };
  const auto clauses = solver_.clauses(clauses_.joint(joint).target(0));
  return {std::ranges::any_of(clauses, is_endless) ? wanted : 1, wanted};
}

// --- languages ----------------------------------------------------------------------------------

namespace {

[[noreturn]] void too_many_values() {
  throw Error::limit("json-too-many-values",
                     "the different items that 'uniqueItems' and 'minItems' ask for cannot be "
                     "counted; lower minItems",
                     "max_values", kMaxWork);
}

// A text so far, by the states of the languages that it is a prefix of.
struct Prefix {
  struct At {
    uint32_t word, state;
  };
  std::vector<At> at;
};

}  // namespace

uint64_t ValueCount::count_numbers(std::span<const LangId> numbers, uint64_t wanted) {
  std::vector<std::string> all;
  for (const LangId number : numbers) {
    if (langs_.is_any_number(number)) return wanted;
    const auto values = langs_.number_values(number, wanted);
    if (!values.has_value()) return wanted;
    all.insert(all.end(), values->begin(), values->end());
  }
  make_set(all);
  return std::min<uint64_t>(all.size(), wanted);
}

// Counts the words by length. All prefixes of one length lead to different words, so they count
// too.
uint64_t ValueCount::count_strings(std::span<const Word> words, uint64_t wanted) {
  if (words.size() == 1) {
    const auto [lang, min, max] = words[0];
    if (const auto listed = langs_.num_listed(lang, min, max)) return std::min(*listed, wanted);
  }
  const auto can_end = [&](const Prefix& prefix, uint32_t length) {
    return std::ranges::any_of(prefix.at, [&](const Prefix::At& at) {
      const Word& word = words[at.word];
      return length >= word.min && length <= word.max && langs_.get(word.lang).accepts(at.state);
    });
  };
  const auto alive = [&](const Prefix::At& at, uint32_t length) {
    const Word& word = words[at.word];
    if (length > word.max) return false;
    const uint32_t least = word.min > length ? word.min - length : 0;
    const uint32_t most = word.max == kNone ? kNone : word.max - length;
    return langs_.get(word.lang).can_finish(at.state, least, most);
  };
  std::vector<Prefix> level(1);
  for (uint32_t i = 0; i < words.size(); ++i) {
    const uint32_t start = langs_.get(words[i].lang).start();
    if (start != kDeadLang) level[0].at.push_back({i, start});
  }
  uint64_t found = 0;
  uint64_t work = 0;
  for (uint32_t length = 0; !level.empty(); ++length) {
    std::vector<Prefix> next;
    for (const Prefix& prefix : level) {
      check_stop();
      if (can_end(prefix, length)) ++found;
      if (found >= wanted) return wanted;
      std::vector<uint32_t> cuts;
      for (const Prefix::At& at : prefix.at) {
        for (const Lang::Arc& arc : langs_.get(words[at.word].lang).arcs(at.state)) {
          cuts.push_back(arc.lo);
          cuts.push_back(arc.hi + 1);
        }
      }
      make_set(cuts);
      for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
        for (uint32_t c = cuts[cut]; c < cuts[cut + 1]; ++c) {
          if (++work > kMaxWork) too_many_values();
          Prefix longer;
          for (const Prefix::At& at : prefix.at) {
            const uint32_t state = langs_.get(words[at.word].lang).move(at.state, c);
            const Prefix::At moved{at.word, state};
            if (state != kDeadLang && alive(moved, length + 1)) longer.at.push_back(moved);
          }
          if (longer.at.empty()) break;
          next.push_back(std::move(longer));
          if (found + next.size() >= wanted) return wanted;
        }
      }
    }
    level = std::move(next);
  }
  return found;
}

}  // namespace maskwright

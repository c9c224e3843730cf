#include "json/name_classes.h"

#include <algorithm>
#include <utility>

#include "json/lang_overlay.h"
#include "maskwright/ir/ir.h"
#include "maskwright/support/code_points.h"
#include "maskwright/support/error.h"
#include "maskwright/support/stop_flag.h"

namespace maskwright {

namespace {

constexpr uint64_t kPerState = 100;  // arcs and counts that are allowed for each state

uint32_t saturate(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, kUnbounded));
}

[[noreturn]] void too_many_states(uint32_t max_states) {
  throw Error::limit("json-too-many-name-states",
                     "the key patterns of one object need more than " + std::to_string(max_states) +
                         " states together; simplify patternProperties and propertyNames, or "
                         "raise max_lang_states",
                     "max_lang_states", max_states);
}

}  // namespace

// Makes the states: each is the list of where the operands are.
class NameClasses::Explorer {
 public:
  Explorer(NameClasses& out, std::span<const Lang::Arc> text,
           const std::vector<Condition>& conditions, bool within, uint32_t max_states)
      : out_(out), text_(text.begin(), text.end()), within_(within), max_states_(max_states) {
    for (const Condition& condition : conditions) {
      operands_.insert(operands_.end(), condition.begin(), condition.end());
      ends_.push_back(operands_.size());
    }
  }

  void run() {
    std::vector<uint32_t> words;
    for (Lang* operand : operands_) words.push_back(operand->start());
    if (!possible(words)) return;
    places_.intern(words);
    for (uint32_t state = 0; state < places_.size(); ++state) {
      const auto place = places_.get(state);
      const auto first = static_cast<uint32_t>(out_.arcs_.size());
      add_arcs(place);
      check_stop();
      const auto after = static_cast<uint32_t>(out_.arcs_.size());
      out_.states_.push_back({first, after - first, class_at(place), false});
      const uint64_t spent =
          std::max<uint64_t>(out_.arcs_.size(), uint64_t{places_.size()} * out_.classes_.size());
      if (places_.size() > max_states_ || spent > max_states_ * kPerState) {
        too_many_states(max_states_);
      }
    }
  }

 private:
  // Some name that is allowed may follow.
  bool possible(std::span<const uint32_t> place) const {
    if (!within_) return true;
    const auto first = place.first(ends_[0]);
    return std::ranges::any_of(first, [](uint32_t state) { return state != kDeadLang; });
  }

  uint32_t class_at(std::span<const uint32_t> place) {
    std::vector<uint32_t> holding;
    std::size_t at = 0;
    for (uint32_t condition = 0; condition < ends_.size(); ++condition) {
      bool holds = false;
      for (; at < ends_[condition]; ++at) {
        holds = holds || (place[at] != kDeadLang && operands_[at]->accepts(place[at]));
      }
      if (holds) holding.push_back(condition);
    }
    if (within_ && (holding.empty() || holding[0] != 0)) return kNone;
    return out_.classes_.intern(holding).id;
  }

  void add_arcs(std::span<const uint32_t> place) {
    // An operand may occur twice, and its arcs are valid until it is asked again.
    copies_.resize(operands_.size());
    std::vector<std::span<const Lang::Arc>> rows;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      copies_[i].clear();
      if (place[i] != kDeadLang) {
        const auto arcs = operands_[i]->arcs(place[i]);
        copies_[i].assign(arcs.begin(), arcs.end());
      }
      rows.emplace_back(copies_[i]);
    }
    const std::size_t first = out_.arcs_.size();
    overlay(text_, rows, [&](uint32_t lo, uint32_t hi, std::span<const uint32_t> targets) {
      if (!possible(targets)) return;
      const uint32_t target = places_.intern(targets).id;
      if (out_.arcs_.size() > first && out_.arcs_.back().target == target &&
          out_.arcs_.back().hi + 1 == lo) {
        out_.arcs_.back().hi = hi;
      } else {
        out_.arcs_.push_back({lo, hi, target});
      }
    });
  }

  NameClasses& out_;
  std::vector<Lang::Arc> text_;
  bool within_;
  uint32_t max_states_;
  std::vector<Lang*> operands_;
  std::vector<std::size_t> ends_;  // of each condition's operands
  WordInterner places_;
  std::vector<std::vector<Lang::Arc>> copies_;
};

NameClasses::NameClasses(uint32_t id, std::span<const Lang::Arc> text,
                         const std::vector<Condition>& conditions, bool within, uint32_t max_states)
    : id_(id), plain_(conditions.empty()) {
  if (plain_ && !within && !text.empty()) {
    take_all(text);
    return;
  }
  Explorer(*this, text, conditions, within, max_states).run();
  count_names();
}

// What Explorer and count_names() make of no conditions: one class, and a state that reads all.
void NameClasses::take_all(std::span<const Lang::Arc> text) {
  classes_.intern({});
  for (const Lang::Arc& arc : text) {
    if (!arcs_.empty() && arcs_.back().hi + 1 == arc.lo) {
      arcs_.back().hi = arc.hi;
    } else {
      arcs_.push_back({arc.lo, arc.hi, 0});
    }
  }
  states_.push_back({0, static_cast<uint32_t>(arcs_.size()), 0, true});
  counts_.push_back(kUnbounded);
}

// Tarjan's strongly connected components, without recursion; successors come first.
void NameClasses::count_names() {
  counts_.assign(states_.size() * classes_.size(), 0);
  constexpr uint32_t kNew = kNone;
  constexpr uint32_t kDone = kNone - 1;
  std::vector<uint32_t> order(states_.size(), kNew);
  std::vector<uint32_t> low(states_.size(), 0);
  std::vector<uint32_t> open;                       // of components still to be closed
  std::vector<std::pair<uint32_t, uint32_t>> path;  // state, arcs done
  uint32_t next = 0;
  if (!states_.empty()) path.emplace_back(0, 0);
  while (!path.empty()) {
    auto& [state, done] = path.back();
    if (order[state] == kNew) {
      order[state] = low[state] = next++;
      open.push_back(state);
    }
    if (done < states_[state].num_arcs) {
      const uint32_t target = arcs(state)[done].target;
      if (order[target] == kNew) {
        path.emplace_back(target, 0);
        continue;
      }
      if (order[target] != kDone) low[state] = std::min(low[state], low[target]);
      ++done;
      continue;
    }
    if (low[state] == order[state]) {
      const auto first = static_cast<std::size_t>(std::ranges::find(open, state) - open.begin());
      std::vector<uint32_t> component(open.begin() + static_cast<std::ptrdiff_t>(first),
                                      open.end());
      open.resize(first);
      std::ranges::sort(component);
      const auto own = arcs(state);
      const bool loop =
          std::ranges::any_of(own, [&s = state](const Lang::Arc& arc) { return arc.target == s; });
      count_component(component, component.size() > 1 || loop);
      for (const uint32_t member : component) order[member] = kDone;
    }
    path.pop_back();
  }
}

void NameClasses::count_component(std::span<const uint32_t> component, bool cyclic) {
  const uint32_t classes = classes_.size();
  std::vector<uint64_t> sums(classes, 0);
  bool endless = true;
  for (const uint32_t state : component) {
    if (states_[state].name_class != kNone) ++sums[states_[state].name_class];
    for (const Lang::Arc& arc : arcs(state)) {
      if (std::ranges::binary_search(component, arc.target)) continue;
      endless = endless && states_[arc.target].endless;
      const uint64_t width = uint64_t{arc.hi} - arc.lo + 1;
      for (uint32_t c = 0; c < classes; ++c) {
        sums[c] = saturate(sums[c] + width * count(arc.target, c));
      }
    }
  }
  for (uint64_t& sum : sums) {
    if (cyclic && sum != 0) sum = kUnbounded;
    endless = endless && (sum == 0 || sum == kUnbounded);
  }
  for (const uint32_t state : component) {
    states_[state].endless = endless;
    for (uint32_t c = 0; c < classes; ++c) {
      counts_[std::size_t{state} * classes + c] = saturate(sums[c]);
    }
  }
}

uint32_t NameClasses::move(uint32_t state, uint32_t code_point) const {
  const auto row = arcs(state);
  const auto at = std::ranges::lower_bound(row, code_point, {}, &Lang::Arc::hi);
  return at != row.end() && at->lo <= code_point ? at->target : kDeadLang;
}

uint32_t NameClasses::class_of(std::string_view name) const {
  std::vector<uint32_t> code_points;
  if (!decode_utf8(name, code_points)) return kNone;
  uint32_t state = start();
  for (const uint32_t code_point : code_points) {
    if (state == kDeadLang) return kNone;
    state = move(state, code_point);
  }
  return state == kDeadLang ? kNone : class_at(state);
}

std::vector<std::string> NameClasses::names(uint32_t name_class) const {
  std::vector<std::string> found;
  std::vector<std::pair<uint32_t, std::string>> stack;
  if (start() != kDeadLang) stack.emplace_back(start(), "");
  while (!stack.empty()) {
    const auto [state, text] = std::move(stack.back());
    stack.pop_back();
    if (count(state, name_class) == 0) continue;
    if (class_at(state) == name_class) found.push_back(text);
    for (const Lang::Arc& arc : arcs(state)) {
      if (count(arc.target, name_class) == 0) continue;
      for (uint32_t c = arc.lo; c <= arc.hi; ++c) {
        const Utf8 utf8 = encode_utf8(c);
        stack.emplace_back(arc.target, text);
        stack.back().second.append(utf8.bytes().begin(), utf8.bytes().end());
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

const NameClasses& NameClassTable::intern(const std::vector<std::vector<LangId>>& conditions,
                                          bool within) {
  std::vector<uint32_t> key{within ? 1U : 0U};
  for (const auto& condition : conditions) {
    key.push_back(static_cast<uint32_t>(condition.size()));
    key.insert(key.end(), condition.begin(), condition.end());
  }
  const auto [entry, added] = ids_.try_emplace(std::move(key), static_cast<uint32_t>(made_.size()));
  if (!added) return *made_[entry->second];
  std::vector<NameClasses::Condition> languages;
  for (const auto& condition : conditions) {
    languages.emplace_back();
    for (const LangId id : condition) languages.back().push_back(&langs_.get(id));
  }
  Lang& any = langs_.get(langs_.any_text());
  const auto arcs = any.arcs(any.start());
  const std::vector<Lang::Arc> text(arcs.begin(), arcs.end());
  made_.push_back(
      std::make_unique<NameClasses>(entry->second, text, languages, within, max_states_));
  return *made_.back();
}

}  // namespace maskwright

#include "json/name_classes.h"

#include <algorithm>
#include <array>
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

// Whether any text may follow a state of a language. Looks at kMaxBehind states at most: with more
// behind it the answer is no, which only tells more states apart.
class AnyTextFollows {
 public:
  explicit AnyTextFollows(std::span<const Lang::Arc> text) : text_(text) {}

  bool operator()(Lang& lang, uint32_t state) {
    const auto [entry, added] = known_.try_emplace(std::pair{&lang, state}, false);
    if (added) entry->second = find_out(lang, state);
    return entry->second;
  }

 private:
  static constexpr std::size_t kMaxBehind = 64;

  bool find_out(Lang& lang, uint32_t state) {
    behind_.assign(1, state);
    for (std::size_t i = 0; i < behind_.size(); ++i) {
      if (behind_.size() > kMaxBehind || !lang.accepts(behind_[i])) return false;
      const auto arcs = lang.arcs(behind_[i]);
      bool all = true;
      overlay(text_, std::array{arcs}, [&](uint32_t, uint32_t, std::span<const uint32_t> to) {
        if (to[0] == kDeadLang) {
          all = false;
        } else if (std::ranges::find(behind_, to[0]) == behind_.end()) {
          behind_.push_back(to[0]);
        }
      });
      if (!all) return false;
    }
    return true;
  }

  std::span<const Lang::Arc> text_;
  std::map<std::pair<Lang*, uint32_t>, bool> known_;
  std::vector<uint32_t> behind_;  // scratch
};

// The place of a settled condition's first operand; its others are at kDeadLang.
constexpr uint32_t kSettled = kDeadLang - 1;

// Makes the states: each is the list of where the operands are.
class NameClasses::Explorer {
 public:
  Explorer(NameClasses& out, std::span<const Lang::Arc> text,
           const std::vector<Condition>& conditions, bool within, uint32_t max_states)
      : out_(out),
        text_(text.begin(), text.end()),
        any_text_(text_),
        within_(within),
        max_states_(max_states) {
    for (const Condition& condition : conditions) {
      operands_.insert(operands_.end(), condition.begin(), condition.end());
      ends_.push_back(operands_.size());
    }
  }

  void run() {
    std::vector<uint32_t> words;
    for (Lang* operand : operands_) words.push_back(operand->start());
    if (!possible(words)) return;
    settle(words);
    places_.intern(words);
    for (uint32_t state = 0; state < places_.size(); ++state) {
      const auto place = places_.get(state);
      const auto first = static_cast<uint32_t>(out_.arcs_.size());
      add_arcs(place);
      check_stop();
      const auto after = static_cast<uint32_t>(out_.arcs_.size());
      out_.states_.push_back({first, after - first, class_at(place), 0, false});
      if (places_.size() > max_states_ || out_.arcs_.size() > max_states_ * kPerState) {
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

  void settle(std::span<uint32_t> place) {
    std::size_t first = 0;
    for (const std::size_t end : ends_) {
      bool settled = false;
      for (std::size_t i = first; i < end && !settled; ++i) {
        settled =
            place[i] == kSettled || (place[i] != kDeadLang && any_text_(*operands_[i], place[i]));
      }
      if (settled) {
        std::ranges::fill(place.subspan(first, end - first), kDeadLang);
        place[first] = kSettled;
      }
      first = end;
    }
  }

  bool holds_at(std::size_t operand, uint32_t state) {
    if (state == kDeadLang) return false;
    return state == kSettled || operands_[operand]->accepts(state);
  }

  uint32_t class_at(std::span<const uint32_t> place) {
    std::vector<uint32_t> holding;
    std::size_t at = 0;
    for (uint32_t condition = 0; condition < ends_.size(); ++condition) {
      bool holds = false;
      for (; at < ends_[condition]; ++at) {
        holds = holds || holds_at(at, place[at]);
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
      if (place[i] == kSettled) {
        copies_[i] = text_;
        for (Lang::Arc& arc : copies_[i]) arc.target = kSettled;
      } else if (place[i] != kDeadLang) {
        const auto arcs = operands_[i]->arcs(place[i]);
        copies_[i].assign(arcs.begin(), arcs.end());
      }
      rows.emplace_back(copies_[i]);
    }
    const std::size_t first = out_.arcs_.size();
    overlay(text_, rows, [&](uint32_t lo, uint32_t hi, std::span<const uint32_t> targets) {
      if (!possible(targets)) return;
      settled_.assign(targets.begin(), targets.end());
      settle(settled_);
      const uint32_t target = places_.intern(settled_).id;
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
  AnyTextFollows any_text_;
  bool within_;
  uint32_t max_states_;
  std::vector<uint32_t> settled_;  // scratch
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
  count_names(max_states);
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
  states_.push_back({0, static_cast<uint32_t>(arcs_.size()), 0, 0, true});
  counts_.push_back(kUnbounded);
}

// Tarjan's strongly connected components, without recursion; successors come first.
void NameClasses::count_names(uint32_t max_states) {
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
      if (counts_.size() > max_states * kPerState) too_many_states(max_states);
      check_stop();
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
  const auto row = static_cast<uint32_t>(counts_.size() / std::max(classes, 1U));
  for (const uint64_t sum : sums) counts_.push_back(saturate(sum));
  for (const uint32_t state : component) {
    states_[state].endless = endless;
    states_[state].row = row;
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

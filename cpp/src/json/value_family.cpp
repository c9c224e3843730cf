#include "json/value_family.h"

#include "json/array_family.h"
#include "json/keyword_family.h"
#include "json/listed_family.h"
#include "json/object_family.h"

namespace maskwright {

namespace {

// Alternatives that satisfy the same are read as one where they are lists, so that a oneOf of many
// constants costs what an enum does. Calls add(accept, langs, out) for those that may be joined.
template <typename Item, typename MayJoin, typename Add>
void join(std::vector<Item>& items, const MayJoin& may_join, const Add& add) {
  constexpr std::size_t kFew = 8;
  if (items.size() <= kFew) return;
  make_set(items);
  std::vector<Item> joined;
  std::vector<LangId> langs;
  for (auto at = items.begin(); at != items.end();) {
    const uint32_t accept = at->accept;
    langs.clear();
    for (; at != items.end() && at->accept == accept; ++at) {
      if (may_join(*at)) {
        langs.push_back(at->lang);
      } else {
        joined.push_back(*at);
      }
    }
    add(accept, langs, joined);
  }
  items = std::move(joined);
}

}  // namespace

struct ValueFamily::Choices {
  std::array<std::vector<uint32_t>, 3> keywords;  // by KeywordFamily::Word
  std::vector<StringItem> strings;
  std::vector<NumberItem> numbers;
  std::vector<Alternative> arrays, objects;
  // Of lists: values with what they satisfy; texts and numbers with their labels.
  std::vector<std::pair<uint32_t, uint32_t>> listed_arrays, listed_objects;
  std::vector<Labelled> texts, integers, fractions;

  bool of_lists() const {
    return !listed_arrays.empty() || !listed_objects.empty() || !texts.empty() ||
           !integers.empty() || !fractions.empty();
  }
};

StateId ValueFamily::start(uint32_t options, bool after_token, std::span<const uint32_t> targets) {
  const bool leading = after_token && tables_.options.get(options).whitespace;
  std::vector<uint32_t> content{options * 2 + (leading ? 1 : 0)};
  content.insert(content.end(), targets.begin(), targets.end());
  return tables_.store.intern(FamilyId::kValue, content);
}

void ValueFamily::describe(std::span<const uint32_t> content, State& state) {
  const bool mixed = is_mixed(content.subspan(1));
  if (mixed) state.flags = kCalls;
  if ((content[0] & 1) == 0) return;
  state.whitespace_limit = tables_.options.get(content[0] / 2).max_whitespace;
  state.flags = static_cast<uint16_t>(state.flags | kWhitespace);
}

ValueFamily::Choices ValueFamily::collect(std::span<const uint32_t> targets) const {
  Choices choices;
  const bool lists = targets.back() != kShapes;
  const bool shapes = targets.back() != kLists;
  for (const uint32_t accept : targets) {
    if (accept == kLists || accept == kShapes) break;
    if ((accept & kListedTag) != 0) {
      add_listed(accept, choices);
      continue;
    }
    for (const uint32_t id : tables_.solver.clauses(accept & ~kTargetTag)) {
      const Clause& clause = tables_.clauses.get(id);
      if (clause.listed != kNone && lists) add_list(accept, clause.listed, choices);
      if (!shapes) continue;
      for (uint32_t word = 0; word < 3; ++word) {
        if ((clause.literals >> word & 1) != 0) choices.keywords[word].push_back(accept);
      }
      if (clause.has_string) {
        choices.strings.push_back({accept, clause.string, clause.min_length, clause.max_length});
      }
      if (clause.has_number) choices.numbers.push_back({accept, clause.number});
      if (clause.array != kNone && tables_.solver.array_productive(clause.array)) {
        choices.arrays.push_back({accept, clause.array});
      }
      if (clause.object != kNone && tables_.solver.object_productive(clause.object)) {
        choices.objects.push_back({accept, clause.object});
      }
      if (clause.joint != kNone && tables_.solver.joint_productive(clause.joint)) {
        add_joint(accept, clause.joint, choices);
      }
    }
  }
  return choices;
}

// The arrays and objects of a list, all of which satisfy the target.
void ValueFamily::add_list(uint32_t accept, uint32_t list, Choices& choices) const {
  for (const uint32_t value : tables_.listed.values(list)) {
    const bool array = tables_.listed.kind(value) == ListedValues::Kind::kArray;
    (array ? choices.listed_arrays : choices.listed_objects).emplace_back(value, accept);
  }
}

// What a list has at one place.
void ValueFamily::add_listed(uint32_t listed, Choices& choices) const {
  tables_.lists->each_choice(listed, [&](uint32_t value, uint32_t label) {
    using Kind = ListedValues::Kind;
    const Kind kind = tables_.listed.kind(value);
    switch (kind) {
      case Kind::kArray: choices.listed_arrays.emplace_back(value, label); return;
      case Kind::kObject: choices.listed_objects.emplace_back(value, label); return;
      case Kind::kString: choices.texts.push_back({tables_.listed.text(value), label}); return;
      case Kind::kNumber:
        (tables_.listed.is_integer(value) ? choices.integers : choices.fractions)
            .push_back({tables_.listed.text(value), label});
        return;
      default: choices.keywords[static_cast<std::size_t>(kind)].push_back(label); return;
    }
  });
}

// Texts and numbers of lists as languages: with labels where they differ in theirs.
void ValueFamily::add_lists(uint32_t options, Choices& choices) const {
  // Lists of one label are like those of any enum; long ones are sooner made with labels.
  constexpr std::size_t kFew = 100;
  const auto alike = [](const std::vector<Labelled>& list) {
    return list.size() <= kFew && std::ranges::all_of(list, [&](const Labelled& of) {
             return of.label == list.front().label;
           });
  };
  const std::vector<Labelled>& texts = choices.texts;
  if (!texts.empty() && alike(texts)) {
    std::vector<std::string> all;
    for (const Labelled& of : texts) all.emplace_back(of.text);
    choices.strings.push_back({texts[0].label, tables_.langs.literals(all), 0, kUnbounded});
  } else if (!texts.empty()) {
    choices.strings.push_back({kItsLabel, tables_.langs.labelled_texts(texts), 0, kUnbounded});
  }
  const NumberSpelling spelling = tables_.options.get(options).numbers;
  // Without exponents integers and other numbers are spelled differently.
  if (spelling != NumberSpelling::kDecimal) {
    choices.integers.insert(choices.integers.end(), choices.fractions.begin(),
                            choices.fractions.end());
    choices.fractions.clear();
  }
  for (const std::vector<Labelled>& numbers : {choices.integers, choices.fractions}) {
    if (numbers.empty()) continue;
    if (!alike(numbers)) {
      choices.numbers.push_back({kItsLabel, tables_.langs.labelled_numbers(numbers, spelling)});
      continue;
    }
    NumberSpec spec;
    spec.spelling = spelling;
    spec.has_values = true;
    for (const Labelled& of : numbers) spec.values.emplace_back(of.text);
    choices.numbers.push_back({numbers[0].label, tables_.langs.number(spec)});
  }
}

// The state behind the bracket of a value of a list; `values` with what they satisfy.
StateId ValueFamily::start_list(uint32_t options,
                                std::vector<std::pair<uint32_t, uint32_t>> values) const {
  make_set(values);
  std::vector<ListedFamily::Candidate> candidates;
  std::vector<uint32_t> accepts;
  for (auto at = values.begin(); at != values.end();) {
    const uint32_t value = at->first;
    accepts.clear();
    for (; at != values.end() && at->first == value; ++at) accepts.push_back(at->second);
    candidates.push_back({value, tables_.store.intern_set(accepts)});
  }
  return tables_.lists->start(options, candidates);
}

// Whether arrays, or objects, are possible both of lists and of shapes.
bool ValueFamily::is_mixed(std::span<const uint32_t> targets) const {
  if (!tables_.listed.has_lists() || targets.back() >= kShapes) return false;
  uint32_t listed = 0;
  uint32_t shapes = 0;
  for (const uint32_t target : targets) {
    if ((target & kListedTag) != 0) return false;
    for (const uint32_t id : tables_.solver.clauses(target & ~kTargetTag)) {
      const Clause& clause = tables_.clauses.get(id);
      if (clause.listed != kNone) listed |= tables_.listed.types(clause.listed);
      if (clause.array != kNone) shapes |= kArrayType;
      if (clause.object != kNone || clause.joint != kNone) shapes |= kObjectType;
    }
  }
  return (listed & shapes) != 0;
}

void ValueFamily::callees(StateId state, Reg /*reg*/, RegisterPool& /*regs*/,
                          std::vector<Target>& out) {
  const auto content = tables_.store.content(state);
  std::vector<uint32_t> targets(content.begin() + 1, content.end());
  for (const uint32_t part : {kLists, kShapes}) {
    targets.push_back(part);
    out.push_back({start(content[0] / 2, false, targets), 0});
    targets.pop_back();
  }
}

Target ValueFamily::resume(StateId /*state*/, Reg /*reg*/, SetId accepted, Reg returned,
                           RegisterPool& /*regs*/) {
  return accepted == kEmptySet ? Target{} : Target{tables_.store.done(accepted), returned};
}

void ValueFamily::join_lists(Choices& choices) const {
  join(
      choices.numbers, [](const NumberItem&) { return true; },
      [&](uint32_t accept, const std::vector<LangId>& langs, std::vector<NumberItem>& out) {
        for (const LangId lang : tables_.langs.join_numbers(langs)) out.push_back({accept, lang});
      });
  join(
      choices.strings,
      [](const StringItem& item) { return item.min == 0 && item.max == kUnbounded; },
      [&](uint32_t accept, const std::vector<LangId>& langs, std::vector<StringItem>& out) {
        for (const LangId lang : tables_.langs.join_literals(langs)) {
          out.push_back({accept, lang, 0, kUnbounded});
        }
      });
}

void ValueFamily::add_joint(uint32_t accept, uint32_t joint, Choices& choices) const {
  const JointTargets targets = tables_.targets.joint(joint);
  for (uint32_t part = 0; part < targets.size(); ++part) {
    for (const uint32_t id : tables_.solver.clauses(targets.target(part))) {
      const uint32_t shape = tables_.clauses.get(id).object;
      if (shape == kNone || !tables_.solver.object_productive(shape)) continue;
      choices.objects.push_back({accept, shape, joint, part});
    }
  }
}

void ValueFamily::add_keywords(const Choices& choices, RowBuilder& row) {
  for (uint32_t word = 0; word < 3; ++word) {
    std::vector<uint32_t> accepts = choices.keywords[word];
    const std::string_view text = KeywordFamily::text(word);
    if (accepts.empty() || !tables_.options.can_spell(text)) continue;
    make_set(accepts);
    const auto letter = static_cast<uint8_t>(text[0]);
    row.add(letter, letter,
            tables_.keywords->start(static_cast<KeywordFamily::Word>(word),
                                    tables_.store.intern_set(accepts)));
  }
}

// The first byte of a number is read here: the edges are those of the number's own start state.
void ValueFamily::add_number(Choices& choices, RowBuilder& row) {
  if (choices.numbers.empty()) return;
  make_set(choices.numbers);
  const StateId start = tables_.numbers->start(choices.numbers);
  if (start == kDead) return;
  for (const Edge& edge : tables_.store.row(start).edges) {
    row.add(edge.lo, edge.hi, edge.target, edge.op);
  }
}

void ValueFamily::expand(StateId state, RowBuilder& row) {
  const auto content = tables_.store.content(state);
  const auto targets = content.subspan(1);
  if ((content[0] & 1) != 0) {
    const StateId base = start(content[0] / 2, false, targets);
    for (const Edge& edge : tables_.store.row(base).edges) {
      row.add(edge.lo, edge.hi, edge.target, edge.op);
    }
    return;
  }
  if (is_mixed(targets)) return;
  Choices choices = collect(targets);
  join_lists(choices);
  add_lists(content[0] / 2, choices);
  add_keywords(choices, row);
  add_number(choices, row);
  if (!choices.strings.empty()) {
    make_set(choices.strings);
    const StateId string = tables_.strings->start(choices.strings);
    if (string != kDead) row.add('"', '"', string);
  }
  if (!choices.arrays.empty()) {
    make_set(choices.arrays);
    row.add('[', '[', tables_.arrays->start(choices.arrays));
  } else if (!choices.listed_arrays.empty()) {
    row.add('[', '[', start_list(content[0] / 2, std::move(choices.listed_arrays)));
  }
  if (!choices.objects.empty()) {
    make_set(choices.objects);
    row.add('{', '{', tables_.objects->start(choices.objects));
  } else if (!choices.listed_objects.empty()) {
    row.add('{', '{', start_list(content[0] / 2, std::move(choices.listed_objects)));
  }
}

// --- masks --------------------------------------------------------------------------------------

bool ValueFamily::append_shared_key(StateId state, Reg /*reg*/, RegisterPool& regs,
                                    SharedKey& key) {
  tables_.options.append_layout(tables_.store.content(state)[0] / 2, key);
  return append_inner(state, regs, key);
}

bool ValueFamily::append_inner(StateId state, RegisterPool& regs, SharedKey& key) {
  if (!key.open(state)) return true;
  const auto content = tables_.store.content(state);
  key.add(content[0] & 1);
  const bool known = append_choices(content.subspan(1), regs, key);
  key.close();
  return known && key.fits();
}

bool ValueFamily::append_choices(std::span<const uint32_t> targets, RegisterPool& regs,
                                 SharedKey& key) {
  Choices choices = collect(targets);
  if (choices.arrays.size() > 1 || choices.objects.size() > 1) return false;
  if (choices.of_lists()) return false;
  join_lists(choices);
  for (std::vector<uint32_t>& accepts : choices.keywords) {
    make_set(accepts);
    key.add_callees(accepts);
  }
  make_set(choices.strings);
  const StateId string = choices.strings.empty() ? kDead : tables_.strings->start(choices.strings);
  key.add(string == kDead ? 0 : 1);
  if (string != kDead && !tables_.strings->append_shared_key(string, 0, regs, key)) return false;
  make_set(choices.numbers);
  const StateId number = choices.numbers.empty() ? kDead : tables_.numbers->start(choices.numbers);
  key.add(number == kDead ? 0 : 1);
  if (number != kDead && !tables_.numbers->append_shared_key(number, 0, regs, key)) return false;
  key.add(static_cast<uint32_t>(choices.arrays.size() * 2 + choices.objects.size()));
  for (const Alternative& array : choices.arrays) {
    if (!tables_.arrays->append_start(array, regs, key)) return false;
  }
  for (const Alternative& object : choices.objects) {
    if (!tables_.objects->append_start(object, regs, key)) return false;
  }
  return true;
}

}  // namespace maskwright

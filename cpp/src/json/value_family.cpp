#include "json/value_family.h"

#include "json/array_family.h"
#include "json/keyword_family.h"
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
};

StateId ValueFamily::start(uint32_t options, bool after_token, std::span<const uint32_t> targets) {
  const bool leading = after_token && tables_.options.get(options).whitespace;
  std::vector<uint32_t> content{options * 2 + (leading ? 1 : 0)};
  content.insert(content.end(), targets.begin(), targets.end());
  return tables_.store.intern(FamilyId::kValue, content);
}

void ValueFamily::describe(std::span<const uint32_t> content, State& state) {
  if ((content[0] & 1) == 0) return;
  state.whitespace_limit = tables_.options.get(content[0] / 2).max_whitespace;
  state.flags = kWhitespace;
}

ValueFamily::Choices ValueFamily::collect(std::span<const uint32_t> targets) const {
  Choices choices;
  for (const uint32_t accept : targets) {
    for (const uint32_t id : tables_.solver.clauses(accept & ~kTargetTag)) {
      const Clause& clause = tables_.clauses.get(id);
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
  Choices choices = collect(targets);
  join_lists(choices);
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
  }
  if (!choices.objects.empty()) {
    make_set(choices.objects);
    row.add('{', '{', tables_.objects->start(choices.objects));
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

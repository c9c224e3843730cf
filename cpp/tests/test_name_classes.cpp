// Tests of cpp/src/json/name_classes.h, and of names that belong to several classes or run out.
#include "json/name_classes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "json/key_family.h"
#include "json/name_set.h"
#include "maskwright/support/error.h"
#include "string_testing.h"

namespace maskwright::testing {

namespace {

const std::vector<Lang::Arc> kText{{0, 0xD7FF, 0}, {0xE000, 0x10FFFF, 0}};
const Lang::Arc kA{'a', 'a', 1};

using Set = std::vector<uint32_t>;

// Texts that begin with 'a'.
std::unique_ptr<Lang> begins_with_a() {
  return std::make_unique<TableTestLang>(
      std::vector<std::vector<Lang::Arc>>{{kA}, {{0, 0xD7FF, 1}, {0xE000, 0x10FFFF, 1}}},
      std::vector<bool>{false, true}, 0);
}

// Exactly `length` letters a or b.
std::unique_ptr<Lang> letters(uint32_t length) {
  std::vector<std::vector<Lang::Arc>> arcs;
  std::vector<bool> accepting;
  for (uint32_t i = 0; i <= length; ++i) {
    arcs.emplace_back();
    if (i < length) arcs.back().push_back({'a', 'b', i + 1});
    accepting.push_back(i == length);
  }
  return std::make_unique<TableTestLang>(std::move(arcs), std::move(accepting), length + 1);
}

Set conditions(const NameClasses& names, std::string_view text) {
  const uint32_t found = names.class_of(text);
  if (found == kNone) return {kNone};
  const auto holding = names.conditions(found);
  return {holding.begin(), holding.end()};
}

struct World {
  World(std::vector<std::string> keys, const NameClasses& names)
      : store(8), family(store, kText), classes{&names} {
    store.register_family(FamilyId::kKey, family);
    start = family.start(family.key_list(keys, classes));
    base = static_cast<uint32_t>(keys.size());
  }
  Reg allow(const Set& labels) {
    std::array<uint32_t, 2> content{0, 0};
    for (const uint32_t label : labels) content[1] |= 1U << label;
    return regs.intern(content);
  }
  // Before a name, with all classes and names allowed but these, which were used.
  Place after(const std::vector<std::string>& used) {
    Reg names = 0;
    for (const std::string& text : used) {
      Reg name = empty_name(regs);
      for (const char c : text) name = append_to_name(name, static_cast<uint8_t>(c), regs);
      names = add_name(names, name, regs);
    }
    const Target at = family.start_refusing(start, regs.intern(Set{0, ~0U}), names, regs);
    return {at.state, at.reg};
  }
  Walker walker() { return {store, regs}; }

  Store store;
  RegisterPool regs;
  KeyFrames family;
  std::array<const NameClasses*, 1> classes;
  StateId start;
  uint32_t base;
};

}  // namespace

TEST_CASE("a class is the set of conditions that hold, and the empty set is one") {
  const auto a = begins_with_a();
  const auto two = letters(2);
  const NameClasses names(0, kText, {{a.get()}, {two.get()}}, false, 100);
  CHECK(names.size() == 4);
  CHECK(conditions(names, "") == Set{});
  CHECK(conditions(names, "abc") == Set{0});
  CHECK(conditions(names, "ab") == Set{0, 1});
  CHECK(conditions(names, "ba") == Set{1});
  CHECK(names.count(names.start(), names.class_of("ab")) == 2);
  CHECK(names.names(names.class_of("ab")) == std::vector<std::string>{"aa", "ab"});
  CHECK(names.count(names.start(), names.class_of("")) == kUnbounded);
  CHECK_FALSE(names.endless(names.start()));
  CHECK(names.endless(names.move(names.start(), 'c')));
}

TEST_CASE("only classes with names exist") {
  const auto a = begins_with_a();
  const NameClasses names(0, kText, {{a.get()}, {a.get()}}, false, 100);
  CHECK(names.size() == 2);
  const NameClasses plain(0, kText, {}, false, 1);
  CHECK(plain.size() == 1);
  CHECK(plain.endless(plain.start()));
}

TEST_CASE("names within a condition, which may have no names at all") {
  const auto two = letters(2);
  const NameClasses names(0, kText, {{two.get()}}, true, 100);
  CHECK(names.size() == 1);
  CHECK(conditions(names, "ab") == Set{0});
  CHECK(conditions(names, "a") == Set{kNone});
  CHECK(names.count(names.start(), 0) == 4);
  const NameClasses none(0, kText, {{}}, true, 100);
  CHECK(none.start() == kDeadLang);
  CHECK(none.class_of("") == kNone);
}

TEST_CASE("a condition holds for any of its languages") {
  const auto one = letters(1);
  const auto three = letters(3);
  const NameClasses names(0, kText, {{one.get(), three.get()}}, true, 100);
  CHECK(names.count(names.start(), 0) == 10);
  CHECK(conditions(names, "aba") == Set{0});
  CHECK(conditions(names, "ab") == Set{kNone});
}

// Texts that hold the letter.
std::unique_ptr<Lang> holds(uint32_t letter) {
  return std::make_unique<TableTestLang>(
      std::vector<std::vector<Lang::Arc>>{
          {{0, letter - 1, 0}, {letter, letter, 1}, {letter + 1, 0xD7FF, 0}, {0xE000, 0x10FFFF, 0}},
          {{0, 0xD7FF, 1}, {0xE000, 0x10FFFF, 1}}},
      std::vector<bool>{false, true}, 0);
}

TEST_CASE("what else was found tells no states apart once a condition is settled") {
  const auto a = holds('a');
  const auto b = holds('b');
  const auto c = holds('c');
  const NameClasses one(0, kText, {{a.get(), b.get(), c.get()}}, false, 100);
  CHECK(one.num_states() == 2);
  CHECK(conditions(one, "xbx") == Set{0});
  CHECK(conditions(one, "xyz").empty());
  const NameClasses three(0, kText, {{a.get()}, {b.get()}, {c.get()}}, false, 100);
  CHECK(three.num_states() == 8);
  CHECK(conditions(three, "xcxa") == Set{0, 2});
}

TEST_CASE("states that lead to each other share their counts") {
  const auto loop = std::make_unique<TableTestLang>(
      std::vector<std::vector<Lang::Arc>>{{{'a', 'b', 1}}, {{'a', 'b', 0}}},
      std::vector<bool>{true, false}, 0);
  const NameClasses names(0, kText, {{loop.get()}}, true, 100);
  CHECK(names.num_states() == 2);
  CHECK(names.num_counts() == 1);
  CHECK(names.count(names.start(), 0) == kUnbounded);
}

TEST_CASE("more names than can be counted are endless, but not for ever") {
  const auto many = letters(40);
  const NameClasses names(0, kText, {{many.get()}}, true, 100);
  CHECK(names.count(names.start(), 0) == kUnbounded);
  CHECK_FALSE(names.endless(names.start()));
}

TEST_CASE("too many states are a named limit") {
  const auto many = letters(40);
  CHECK_THROWS_WITH_AS(NameClasses(0, kText, {{many.get()}}, false, 40),
                       "the key patterns of one object need more than 40 states together; "
                       "simplify patternProperties and propertyNames, or raise max_lang_states",
                       Error);
}

TEST_CASE("a name is refused where its class is, and the frame has no dead end") {
  const auto a = begins_with_a();
  const NameClasses names(0, kText, {{a.get()}}, false, 100);
  const uint32_t with_a = names.class_of("a");
  World world({"ax", "b"}, names);
  Walker walker = world.walker();
  for (uint32_t bits = 1; bits < 16; ++bits) {
    Set labels;
    for (uint32_t label = 0; label < 4; ++label) {
      if ((bits >> label & 1) != 0) labels.push_back(label);
    }
    const Place from{world.start, world.allow(labels)};
    CHECK(walker.dead_ends(walker.reachable(from, 20000)) == 0);
    const auto allowed = [&](uint32_t label) { return std::ranges::count(labels, label) != 0; };
    CHECK(walker.walk(from, "\"ax\"").state ==
          (allowed(0) ? world.store.done(world.store.intern_set(Set{0})) : kDead));
    CHECK((walker.walk(from, "\"\\u0061y\"").state != kDead) == allowed(2 + with_a));
    CHECK((walker.walk(from, "\"c\"").state != kDead) == allowed(3 - with_a));
  }
}

TEST_CASE("a beginning is refused once all its names are used") {
  const auto two = letters(2);
  const NameClasses names(0, kText, {{two.get()}}, true, 100);
  World world({"ab"}, names);
  Walker walker = world.walker();
  const Place some = world.after({"ba"});
  CHECK(walker.walk(some, "\"b").state != kDead);
  CHECK(walker.walk(some, "\"ba\"").state == kDead);
  const Place more = world.after({"ba", "bb"});
  CHECK(walker.walk(more, "\"b").state == kDead);
  CHECK(walker.walk(more, "\"\\u006").state != kDead);
  CHECK(walker.walk(more, "\"\\u0062").state == kDead);
  CHECK(walker.walk(more, "\"a").state != kDead);
  for (const Place& from : {some, more}) {
    CHECK(walker.dead_ends(walker.reachable(from, 20000)) == 0);
  }
}

TEST_CASE("a walk that does not know the used names is unsure where they may be all there are") {
  const auto two = letters(2);
  const NameClasses names(0, kText, {{two.get()}}, true, 100);
  World world({}, names);
  RegisterPool& regs = world.regs;
  regs.set_memory(RegisterPool::Memory::kUnsure);
  Walker walker = world.walker();
  const auto unsure = [&](uint32_t used, const char* text) {
    const Place from{world.start, regs.intern(Set{2 * used, 1})};
    const bool dead = walker.walk(from, text).state == kDead;
    const bool noted = regs.take_unsure();
    CHECK(dead == noted);
    return noted;
  };
  CHECK_FALSE(unsure(0, "\"a"));
  CHECK_FALSE(unsure(1, "\"a"));
  CHECK(unsure(2, "\"a"));
  CHECK(unsure(1, "\"ab"));
  CHECK_FALSE(unsure(3, "\""));
}

}  // namespace maskwright::testing

// What StringFrames says of texts that can be read whatever they are (json/text_region.h), against
// reading them: a word of the class is read, and a text that is none but is read has one of the
// other bytes.
#include "json/text_region.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "json/string_family.h"
#include "string_testing.h"
#include "support/unescape.h"

namespace maskwright::testing {

namespace {

constexpr uint32_t kMaxAdvance = 8;
constexpr uint32_t kLast = 0x10FFFF;

using Arcs = std::vector<std::vector<Lang::Arc>>;

// All code points but line ends lead to `to`.
std::vector<Lang::Arc> no_line_end(uint32_t to) {
  return {
      {0, 0x9, to}, {0xB, 0xC, to}, {0xE, 0x2027, to}, {0x202A, 0xD7FF, to}, {0xE000, kLast, to}};
}

std::unique_ptr<Lang> table(Arcs arcs, std::vector<bool> accepting) {
  return std::make_unique<TableTestLang>(std::move(arcs), std::move(accepting), 16);
}

std::vector<std::unique_ptr<Lang>> languages() {
  std::vector<std::unique_ptr<Lang>> langs;
  langs.push_back(any_lang());
  langs.push_back(class_plus_lang({{'a', 'z'}}));
  // A search for "ab".
  langs.push_back(
      table({{{0, 'a' - 1, 0}, {'a', 'a', 1}, {'b', 0xD7FF, 0}, {0xE000, kLast, 0}},
             {{0, 'a' - 1, 0}, {'a', 'a', 1}, {'b', 'b', 2}, {'c', 0xD7FF, 0}, {0xE000, kLast, 0}},
             {{0, 0xD7FF, 2}, {0xE000, kLast, 2}}},
            {false, false, true}));
  langs.push_back(table({no_line_end(1), no_line_end(1)}, {false, true}));  // .+
  langs.push_back(table({{{'.', '.', 1}, {'a', 'z', 0}}, {{'a', 'z', 0}}}, {true, false}));
  langs.push_back(table({{{'0', '9', 1}}, {{'0', '9', 2}}, {{'-', '-', 3}}, {{'0', '9', 3}}},
                        {false, false, false, true}));  // [0-9]{2}-[0-9]*
  langs.push_back(table({{{'a', 'b', 1}}, {{'a', 'a', 2}, {'b', 'b', 1}}, {{'a', 'b', 0}}},
                        {true, true, true}));
  langs.push_back(table({{{'a', 'z', 0}, {0xE0, 0xFF, 0}, {0x800, 0xD7FF, 0}}}, {true}));
  return langs;
}

bool is_word(std::string_view text, const TextClass& of, uint32_t most) {
  Spelled at;
  uint32_t begun = 0;
  for (const char unit : text) {
    const auto byte = static_cast<uint8_t>(unit);
    if (at.between()) {
      ++begun;
      if (!of.begins(byte) && !(byte == '\\' && of.escapes)) return false;
    }
    at = spell(at, byte);
    if (at.spelling == Spelling::kCount) return false;
  }
  return begun <= most;
}

const std::vector<std::string> kParts{"a",
                                      "b",
                                      "ab",
                                      "z",
                                      "0",
                                      "12",
                                      ".",
                                      "-",
                                      "\"",
                                      "\\",
                                      "\\n",
                                      "\\u00",
                                      "6",
                                      "\n",
                                      " ",
                                      "\xC3\xA9",
                                      "\xC3",
                                      "\xA9",
                                      "\xE2\x80\xA8",
                                      "\xE2\x80",
                                      "\xE2\x82\xAC",
                                      "\xF0\x9F\x98\x80",
                                      "\xFF"};

std::string random_text(std::mt19937& random, std::size_t longest) {
  std::string text;
  while (text.empty() || (random() % 4 != 0 && text.size() < longest)) {
    text += kParts[random() % kParts.size()];
  }
  return text.substr(0, longest);
}

// How often a word was met.
std::size_t check(StringFrames& family, Walker& walker, RegisterPool& regs, Place at,
                  std::mt19937& random) {
  FreeRun run;
  uint32_t length = 0;
  if (at.state == kDead || !family.reads_all(at.state, at.reg, regs, run, length)) return 0;
  CHECK(run.others_known);
  std::size_t words = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string text = random_text(random, kMaxAdvance);
    const bool read = walker.walk(at, text).state != kDead;
    if (is_word(text, run.text, length)) {
      ++words;
      CHECK_MESSAGE(read, text);
    } else if (read) {
      bool other = false;
      for (const char c : text) other = other || run.others.has(static_cast<uint8_t>(c));
      CHECK_MESSAGE(other, text);
    }
  }
  return words;
}

}  // namespace

TEST_CASE("words of a region are read, and other texts only with one of its other bytes") {
  const auto langs = languages();
  std::mt19937 random(3);
  for (LangId lang = 0; lang < langs.size(); ++lang) {
    Store store(kMaxAdvance);
    StringFrames family(store, [&](LangId id) -> Lang& { return *langs[id]; });
    store.register_family(FamilyId::kString, family);
    RegisterPool regs;
    Walker walker(store, regs);
    std::size_t words = 0;
    for (const uint32_t most : {3U, 9U, 20U, 60U, kUnbounded}) {
      const std::vector<StringItem> items{{kTargetTag, lang, 0, most}};
      const StateId start = family.start(items);
      if (start == kDead) continue;
      for (int i = 0; i < 40; ++i) {
        Place at{start, 0};
        const std::string before = i == 0 ? "" : random_text(random, 12);
        for (const char c : before) {
          const Place next = walker.step(at, static_cast<uint8_t>(c));
          if (next.state != kDead && !walker.returned(next).has_value()) at = next;
        }
        words += check(family, walker, regs, at, random);
      }
    }
    CHECK_MESSAGE((words > 0 || lang == 6), "language ", lang);
  }
}

TEST_CASE("a search reads everything, a dot all but line ends, a chain so many") {
  const auto langs = languages();
  const auto region = [&](LangId lang, uint32_t state) {
    return find_text_region([&](uint32_t at) { return langs[lang]->arcs(at); },
                            [](std::span<const CodeRange>) { return 0U; }, state, kMaxAdvance);
  };
  CHECK(region(2, 0).run.text == kSpelledText);
  CHECK(region(2, 0).length == kUnbounded);
  const TextRegion dot = region(3, 0);
  CHECK(dot.run.text.beyond_ascii);
  CHECK(dot.run.text.misses(0xE2));
  CHECK(dot.run.others.has(0xE2));
  CHECK(!dot.run.text.escapes);
  const TextRegion labels = region(4, 0);
  CHECK(labels.run.text.has('a'));
  CHECK(!labels.run.text.has('.'));
  CHECK(labels.run.others.has('.'));
  CHECK(region(5, 0).length == 2);
  CHECK(region(5, 2).length == 1);
  CHECK(region(7, 0).run.others.has(0xC3));
}

}  // namespace maskwright::testing

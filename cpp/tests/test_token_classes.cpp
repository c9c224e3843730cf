// Bitmaps and residues of token classes against a look at every token.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "maskwright/trie/trie.h"
#include "support/unescape.h"

using namespace maskwright;

namespace {

Vocabulary random_vocabulary(std::mt19937& random) {
  const std::vector<std::string> pieces{"a",        "b",    "Z",    "0",      " ",       "\n",
                                        "\"",       "\\",   "\\\"", "\\u00e", "\\u0041", "\xC3\xA9",
                                        "\xE2\x82", "\xAC", "\xFF", "{",      ":",       "\\n"};
  std::vector<std::string> tokens;
  for (uint32_t byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (int i = 0; i < 600; ++i) {
    std::string token;
    for (auto n = 1 + random() % 6; n > 0; --n) token += pieces[random() % pieces.size()];
    tokens.push_back(token);
  }
  for (int i = 0; i < 30; ++i) {  // bytes that are not common
    tokens.push_back(pieces[random() % pieces.size()] + "QX~"[random() % 3] +
                     pieces[random() % pieces.size()]);
  }
  tokens.emplace_back(80, 'a');
  tokens.emplace_back(40, ' ');
  return {tokens, static_cast<uint32_t>(tokens.size()) + 5, {7}, {3}};
}

TextClass random_class(std::mt19937& random) {
  TextClass text;
  for (const char c : std::string("abZ0 \n{:\"\\")) {
    if (random() % 2 != 0) text.add(static_cast<uint8_t>(c));
  }
  text.beyond_ascii = random() % 2 != 0;
  for (const uint32_t lead : {0xC3, 0xE2, 0xF0}) {
    if (text.beyond_ascii && random() % 4 == 0) text.missing |= uint64_t{1} << (lead - 0xC0);
  }
  return text;
}

uint32_t code_points(std::string_view text) {
  uint32_t begun = 0;
  for (const char c : text) begun += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
  return begun;
}

// Valid, or the beginning of something valid.
bool is_utf8_so_far(std::string_view text) {
  for (const std::string rest : {"", "\x80", "\x80\x80", "\x80\x80\x80", "\xA0", "\xA0\x80", "\x90",
                                 "\x90\x80", "\x90\x80\x80", "\xA0\x80\x80"}) {
    if (valid_utf8(std::string(text) + rest)) return true;
  }
  return false;
}

bool is_word(std::string_view text, const TextClass& of, uint32_t most) {
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (!of.begins(byte)) return false;
  }
  return is_utf8_so_far(text) && code_points(text) <= most;
}

}  // namespace

TEST_CASE("words are the tokens made of the class") {
  uint32_t made = 0;
  for (uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    const Vocabulary vocabulary = random_vocabulary(random);
    for (int i = 0; i < 40; ++i) {
      const TextClass text = random_class(random);
      const uint32_t most =
          std::vector<uint32_t>{0, 1, 2, 3, 31, 32, 39, 40, 79, 1000}[random() % 10];
      const auto words = vocabulary.classes().words(text, most);
      if (words == nullptr) continue;  // the class misses too many tokens
      ++made;
      REQUIRE(words->size() == vocabulary.mask_words());
      for (uint32_t id = 0; id < vocabulary.mask_words() * 32; ++id) {
        const std::string_view token = vocabulary.text(id);
        const bool expected = !token.empty() && is_word(token, text, most);
        const bool found = ((*words)[id / 32] >> id % 32 & 1) != 0;
        CHECK_MESSAGE(found == expected, "token ", id, " of seed ", seed);
      }
    }
  }
  CHECK(made > 100);
}

TEST_CASE("a kept class of code points is judged by them") {
  std::mt19937 random(31);
  const Vocabulary vocabulary = random_vocabulary(random);
  const TokenClasses& classes = vocabulary.classes();
  const std::vector<CodeRange> accented{{0xE9, 0xE9}};
  const std::vector<CodeRange> euro{{0x20A0, 0x20AC}, {0x10000, 0x10FFFF}};
  CHECK(classes.code_class(accented) != classes.code_class(euro));
  for (const auto& ranges : {accented, euro}) {
    const uint32_t id = classes.code_class(ranges);
    REQUIRE(id != 0);
    CHECK(classes.code_class(ranges) == id);
    TextClass text;
    text.add('a');
    text.kept = id;
    const auto words = classes.words(text, 1000);
    const auto residue = classes.residue({}, id);
    uint32_t made = 0;
    for (uint32_t token = 0; token < vocabulary.vocab_size(); ++token) {
      const std::string_view bytes = vocabulary.text(token);
      const auto within = [&](std::string_view whole) {
        std::vector<uint32_t> codes;
        return decode_utf8(whole, codes) && std::ranges::all_of(codes, [&](uint32_t code) {
                 return code == 'a' || std::ranges::any_of(ranges, [&](const CodeRange& range) {
                          return range.lo <= code && code <= range.hi;
                        });
               });
      };
      bool expected = false;  // the token, or some end of it, is text of the class
      for (const char* rest :
           {"", "\xA9", "\xAC", "\x82\xAC", "\x90\x80\x80", "\x80\x80\x80", "\x80\x80"}) {
        expected = expected || (!bytes.empty() && within(std::string(bytes) + rest));
      }
      const bool found = ((*words)[token / 32] >> token % 32 & 1) != 0;
      CHECK_MESSAGE(found == expected, "token ", token);
      made += found ? 1 : 0;
    }
    CHECK(made > 3);
    if (residue == nullptr) continue;
    for (const uint32_t node : residue->nodes) CHECK(node < vocabulary.num_nodes());
  }
}

TEST_CASE("a closing is the first mark outside of an escape behind a spelled text") {
  std::mt19937 random(21);
  const Vocabulary vocabulary = random_vocabulary(random);
  const auto closings = vocabulary.classes().closings(1, vocabulary.num_nodes());
  CHECK(closings.size() > 10);
  std::string text;
  for (uint32_t node = 1; node < vocabulary.num_nodes(); ++node) {
    text.resize(vocabulary.depth(node) - 1);
    text += static_cast<char>(vocabulary.byte(node));
    Spelled at;
    bool closes = false;
    for (std::size_t i = 0; i < text.size() && at.spelling != Spelling::kCount; ++i) {
      closes = at.between() && text[i] == '"' && i + 1 == text.size();
      if (!closes) at = spell(at, static_cast<uint8_t>(text[i]));
    }
    CHECK(std::ranges::binary_search(closings, node) == closes);
  }
  const auto some = vocabulary.classes().closings(closings[2], closings[5]);
  CHECK(std::vector<uint32_t>(some.begin(), some.end()) ==
        std::vector<uint32_t>(closings.begin() + 2, closings.begin() + 5));
}

TEST_CASE("with escapes, words are what JSON spells") {
  std::mt19937 random(11);
  const Vocabulary vocabulary = random_vocabulary(random);
  for (const uint32_t most : {0U, 1U, 2U, 5U, 1000U}) {
    const auto words = vocabulary.classes().words(kSpelledText, most);
    for (uint32_t id = 0; id < vocabulary.vocab_size(); ++id) {
      const std::string_view token = vocabulary.text(id);
      Spelled at;
      uint32_t begun = 0;
      bool fits = !token.empty();
      for (std::size_t i = 0; i < token.size() && fits; ++i) {
        begun += at.between() ? 1 : 0;
        at = spell(at, static_cast<uint8_t>(token[i]));
        fits = at.spelling != Spelling::kCount;
      }
      const bool found = ((*words)[id / 32] >> id % 32 & 1) != 0;
      CHECK(found == (fits && begun <= most));
    }
  }
}

TEST_CASE("a residue is the way to all tokens with one of the bytes") {
  std::mt19937 random(5);
  const Vocabulary vocabulary = random_vocabulary(random);
  uint32_t found = 0;
  for (int i = 0; i < 20; ++i) {
    ByteSet bytes;
    for (const char c : std::string("QX~\x01\xF8")) {
      if (random() % 2 != 0) bytes.add(static_cast<uint8_t>(c));
    }
    const auto residue = vocabulary.classes().residue(bytes, 0);
    if (residue == nullptr) continue;  // so common that a walk of the whole is as good
    ++found;
    std::set<uint32_t> reached;
    for (const uint32_t node : residue->nodes) {
      for (const uint32_t token : vocabulary.tokens_at(node)) reached.insert(token);
    }
    for (uint32_t id = 0; id < vocabulary.vocab_size(); ++id) {
      bool has = false;
      for (const char c : vocabulary.text(id)) has = has || bytes.has(static_cast<uint8_t>(c));
      if (has) CHECK(reached.contains(id));
    }
    for (std::size_t at = 0; at < residue->nodes.size(); ++at) {
      const uint32_t end = vocabulary.next(residue->nodes[at]);
      const uint32_t behind = residue->next[at];
      CHECK((behind == residue->nodes.size() || residue->nodes[behind] >= end));
      CHECK(residue->nodes[behind - 1] < end);
      bool wanted = false;  // some token at or below the node has one of the bytes
      for (const uint32_t token : vocabulary.tokens_from(residue->nodes[at])) {
        for (const char c : vocabulary.text(token)) {
          wanted = wanted || bytes.has(static_cast<uint8_t>(c));
        }
      }
      CHECK(wanted);
    }
  }
  CHECK(found >= 5);
}

TEST_CASE("quoted words and their residue are all tokens that go on behind a first mark") {
  std::mt19937 random(9);
  const Vocabulary vocabulary = random_vocabulary(random);
  const TokenClasses& classes = vocabulary.classes();
  uint32_t mark = 1;
  while (vocabulary.byte(mark) != '"') mark = vocabulary.next(mark);
  const Residue* residue = classes.quoted_residue(mark);
  REQUIRE(residue != nullptr);
  CHECK(classes.quoted_residue(mark + 1) == nullptr);
  const std::set<uint32_t> words(classes.quoted_words().begin(), classes.quoted_words().end());
  std::set<uint32_t> others;
  for (const uint32_t node : residue->nodes) {
    for (const uint32_t token : vocabulary.tokens_at(node)) others.insert(token);
  }
  CHECK(!words.empty());
  for (const uint32_t id : vocabulary.tokens_below(mark)) {
    const std::string_view rest = vocabulary.text(id).substr(1);
    Spelled at;
    for (const char c : rest) {
      if (at.spelling != Spelling::kCount) at = spell(at, static_cast<uint8_t>(c));
    }
    const bool spelled = at.spelling != Spelling::kCount;
    CHECK(words.contains(id) == spelled);
    if (rest.find('"') != std::string_view::npos) CHECK(others.contains(id));
  }
}

TEST_CASE("names that tokens end or hold") {
  const Vocabulary vocabulary(
      {"me\"", "name\": ", "\\u0061b\"", "a\\\"\"", "{\"id\":\"", "\"x", "\\"}, 8, {}, {});
  CHECK(vocabulary.end_name("me"));
  CHECK(vocabulary.end_name("name"));
  CHECK(vocabulary.end_name("ab"));
  CHECK(vocabulary.end_name("a\""));
  CHECK(!vocabulary.end_name("id"));
  CHECK(!vocabulary.end_name("nam"));
  CHECK(vocabulary.quote("id"));
  CHECK(vocabulary.quote(":"));
  CHECK(!vocabulary.quote("x"));
  CHECK(!vocabulary.quote("me"));
}

TEST_CASE("with a space, a residue leaves the tokens that begin with one to its gate") {
  std::vector<std::string> tokens;
  for (uint32_t byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char first : std::string("bcdefghij")) {
    for (const char second : std::string("bcdefghij")) {
      for (const char third : std::string("bcQX\" ")) {
        const std::string word{first, second, third};
        tokens.push_back(word);
        tokens.push_back(" " + word);
      }
    }
  }
  const Vocabulary vocabulary(tokens, static_cast<uint32_t>(tokens.size()), {}, {3});
  const uint32_t gate = vocabulary.space_node();
  REQUIRE(gate != Vocabulary::kNoNode);
  const Vocabulary& rest = *vocabulary.behind_space();
  for (uint32_t node = 1; node < rest.num_nodes(); ++node) {
    REQUIRE(rest.byte(node) == vocabulary.byte(gate + node));
    REQUIRE(rest.next(node) + gate == vocabulary.next(gate + node));
  }
  for (const uint32_t id : vocabulary.tokens_below(gate)) {
    REQUIRE(rest.text(id) == vocabulary.text(id).substr(1));
  }
  std::mt19937 random(13);
  uint32_t found = 0;
  for (int i = 0; i < 200; ++i) {
    ByteSet bytes;
    bytes.add(' ');
    for (const char c : std::string("QX\"bcdefgh\n")) {
      if (random() % 3 == 0) bytes.add(static_cast<uint8_t>(c));
    }
    const auto residue = vocabulary.classes().residue(bytes, 0);
    if (residue == nullptr) continue;  // so much of the trie that a walk of the whole is as good
    ++found;
    CHECK(residue->gate == gate);
    const std::set<uint32_t> nodes(residue->nodes.begin(), residue->nodes.end());
    CHECK(nodes.contains(gate));
    for (uint32_t node = 1; node < vocabulary.num_nodes(); ++node) {
      const bool behind = node > gate && node < vocabulary.next(gate);
      if (behind) CHECK(!nodes.contains(node));
      bool wanted = false;  // some token at or below the node has one of the bytes
      for (const uint32_t token : vocabulary.tokens_from(node)) {
        for (const char c : vocabulary.text(token)) {
          wanted = wanted || bytes.has(static_cast<uint8_t>(c));
        }
      }
      if (!behind) CHECK(nodes.contains(node) == wanted);
    }
  }
  CHECK(found > 20);
}

// The token trie and what it says of its subtrees, against the plain list of tokens.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "maskwright/support/error.h"
#include "maskwright/trie/trie.h"

namespace {

using maskwright::Error;
using maskwright::Vocabulary;

std::vector<std::string> random_tokens(uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> parts{"a",        "b",        "\"", "\xC3", "\xA9", "\xE2\x82\xAC",
                                       "\xF0\x9F", "\x98\x80", " ",  "\xED", "\xA0", "\xFF"};
  std::vector<std::string> tokens(200);
  for (std::string& token : tokens) {
    for (auto length = random() % 5; length > 0; --length) token += parts[random() % parts.size()];
  }
  return tokens;
}

// Valid UTF-8, or cut off inside a code point.
bool utf8_prefix(const std::string& text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0) return false;
    uint32_t lowest = lead & (0xFFU >> (length + 1)), highest = lowest;
    for (std::size_t k = 1; k < length; ++k) {
      if (i + k < text.size()) {
        const auto next = static_cast<uint8_t>(text[i + k]);
        if ((next & 0xC0) != 0x80) return false;
        lowest = lowest << 6 | (next & 0x3F);
        highest = highest << 6 | (next & 0x3F);
      } else {
        lowest <<= 6;
        highest = highest << 6 | 0x3F;
      }
    }
    if (length == 3 && (highest < 0x800 || (lowest >= 0xD800 && highest < 0xE000))) return false;
    if (length == 4 && (highest < 0x10000 || lowest > 0x10FFFF)) return false;
    i += length;
  }
  return true;
}

struct Node {
  std::string text;
  std::vector<std::string> below;
};

std::map<uint32_t, Node> read_nodes(const Vocabulary& vocabulary) {
  std::map<uint32_t, Node> nodes;
  std::string text;
  for (uint32_t node = 0; node < vocabulary.num_nodes(); ++node) {
    if (node != 0) {
      text.resize(vocabulary.depth(node) - 1);
      text += static_cast<char>(vocabulary.byte(node));
    }
    nodes[node].text = text;
  }
  return nodes;
}

}  // namespace

TEST_CASE("every token ends at the node of its text, duplicates at the same one") {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto tokens = random_tokens(seed);
    const Vocabulary vocabulary(tokens, 210, {3}, {5});
    std::vector<bool> found(tokens.size(), false);
    for (const auto& [node, content] : read_nodes(vocabulary)) {
      for (const uint32_t id : vocabulary.tokens_at(node)) {
        CHECK(tokens[id] == content.text);
        CHECK_FALSE(found[id]);
        found[id] = true;
      }
    }
    for (uint32_t id = 0; id < tokens.size(); ++id) {
      CHECK(found[id] == (!tokens[id].empty() && id != 3 && id != 5));
    }
  }
}

TEST_CASE("subtrees say what their texts are made of") {
  uint32_t described = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto tokens = random_tokens(seed);
    const Vocabulary vocabulary(tokens, 200, {}, {});
    for (const auto& [node, content] : read_nodes(vocabulary)) {
      const Vocabulary::Subtree* subtree = vocabulary.subtree(node);
      if (subtree == nullptr) continue;
      ++described;
      std::set<uint32_t> below;
      std::array<uint64_t, 2> ascii{};
      bool beyond = false, utf8 = true;
      uint64_t leads = 0;
      uint32_t code_points = 0;
      for (uint32_t id = 0; id < tokens.size(); ++id) {
        if (tokens[id].size() <= content.text.size() || !tokens[id].starts_with(content.text)) {
          continue;
        }
        below.insert(id);
        const std::string rest = tokens[id].substr(content.text.size());
        uint32_t begun = 0;
        for (const char c : rest) {
          const auto byte = static_cast<uint8_t>(c);
          if (byte < 0x80) ascii[byte / 64] |= uint64_t{1} << byte % 64;
          beyond = beyond || byte >= 0x80;
          if (byte >= 0xC0) leads |= uint64_t{1} << (byte - 0xC0);
          begun += (byte & 0xC0) != 0x80 ? 1 : 0;
        }
        code_points = std::max(code_points, begun);
        utf8 = utf8 && utf8_prefix(rest);
      }
      CHECK(subtree->text.ascii == ascii);
      CHECK(subtree->text.beyond_ascii == beyond);
      CHECK(subtree->text.missing == ~leads);
      CHECK(subtree->code_points == code_points);
      CHECK(subtree->utf8 == utf8);
      const auto listed = vocabulary.tokens_below(node);
      CHECK(std::set<uint32_t>(listed.begin(), listed.end()) == below);
    }
  }
  CHECK(described > 100);
}

TEST_CASE("children are listed where there are many, and found by byte") {
  std::vector<std::string> tokens = random_tokens(4);
  for (int byte = 0; byte < 256; byte += 3)
    tokens.push_back("a" + std::string(1, static_cast<char>(byte)));
  const auto size = static_cast<uint32_t>(tokens.size());
  const Vocabulary vocabulary(tokens, size, {}, {});
  uint32_t listed = 0;
  for (uint32_t node = 0; node < vocabulary.num_nodes(); ++node) {
    std::map<uint8_t, uint32_t> children;
    for (uint32_t at = node + 1; at < vocabulary.next(node); at = vocabulary.next(at)) {
      children[vocabulary.byte(at)] = at;
    }
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const auto found = children.find(static_cast<uint8_t>(byte));
      CHECK(vocabulary.child(node, static_cast<uint8_t>(byte)) ==
            (found == children.end() ? Vocabulary::kNoNode : found->second));
    }
    const Vocabulary::Children* list = vocabulary.children(node);
    if (list == nullptr) continue;
    ++listed;
    REQUIRE(list->bytes.size() == children.size());
    for (std::size_t i = 0; i < list->bytes.size(); ++i) {
      CHECK(children[list->bytes[i]] == list->nodes[i]);
    }
    CHECK(std::ranges::is_sorted(list->bytes));
  }
  CHECK(listed >= 1);
}

TEST_CASE("byte-closed: each byte that occurs is a token") {
  CHECK(Vocabulary({"a", "b", "ab"}, 3, {}, {}).byte_closed());
  CHECK_FALSE(Vocabulary({"a", "ab"}, 2, {}, {}).byte_closed());
  CHECK_FALSE(Vocabulary({"a", "b", "ab"}, 3, {1}, {}).byte_closed());
  CHECK(Vocabulary({"a", "b", "ab"}, 3, {}, {}).max_token_length() == 2);
}

TEST_CASE("wrong sizes and ids are refused") {
  CHECK_THROWS_AS(Vocabulary({"a", "b"}, 1, {}, {}), Error);
  CHECK_THROWS_AS(Vocabulary({"a", "b"}, 2, {2}, {}), Error);
  CHECK_THROWS_AS(Vocabulary({"a", "b"}, 2, {}, {7}), Error);
}

TEST_CASE("which tokens go on to a name, and over one") {
  const Vocabulary some({"{ \"a", ",\"b", "\"a\":", "\":1", "{\""}, 5, {}, {});
  CHECK(some.begin_name("ab"));
  CHECK_FALSE(some.begin_name("b"));
  CHECK_FALSE(some.begin_name(""));
  CHECK(some.reach_name("b"));
  CHECK_FALSE(some.reach_name("a"));
  CHECK_FALSE(some.pass_names());
  CHECK(Vocabulary({"\"a\" : 1"}, 1, {}, {}).pass_names());
  CHECK(Vocabulary({"{\"\\"}, 1, {}, {}).begin_name(""));
  CHECK(Vocabulary({"{\"\\u"}, 1, {}, {}).begin_name("b"));
}

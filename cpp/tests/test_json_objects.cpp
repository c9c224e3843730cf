// Objects: order, counts, unions, strictness; random schemas against a plain judge.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "test_json_support.h"

using namespace maskwright;
using maskwright::testing::join;
using maskwright::testing::Machine;
using maskwright::testing::SchemaWriter;
using maskwright::testing::Words;

namespace {

const SchemaWriter::Layout kDeclared{};
const SchemaWriter::Layout kFreeOrder{kAnyWhitespace | kAnyOrder, 2, ",", ":", 8};

enum class Value : uint8_t { kInt, kText, kEither, kNone };

bool fits(Value allowed, Value value) { return allowed == value || allowed == Value::kEither; }

// One object schema in plain form, and its judge.
struct Plain {
  std::vector<std::pair<std::string, Value>> named;  // declared order
  Value other = Value::kEither;
  std::set<std::string> required;
  uint32_t min = 0, max = kNone;

  bool valid(const std::vector<std::pair<std::string, Value>>& members, bool any_order) const {
    std::set<std::string> seen;
    std::size_t last = 0;  // position + 1; named.size() + 1 after another name
    for (const auto& [key, value] : members) {
      if (!seen.insert(key).second) return false;
      const auto at = std::find_if(named.begin(), named.end(),
                                   [&key = key](const auto& entry) { return entry.first == key; });
      if (!fits(at == named.end() ? other : at->second, value)) return false;
      const auto position = static_cast<std::size_t>(at - named.begin()) + 1;
      if (!any_order && position < last) return false;
      last = position;
    }
    for (const auto& key : required) {
      if (!seen.contains(key)) return false;
    }
    return members.size() >= min && members.size() <= max;
  }

  uint32_t write(SchemaWriter& w) const {
    const auto node = [&](Value value) {
      if (value == Value::kNone) return w.never();
      return w.types(value == Value::kInt    ? uint32_t(kInteger)
                     : value == Value::kText ? uint32_t(kStringType)
                                             : kInteger | kStringType);
    };
    SchemaWriter::Members members;
    for (const auto& [key, value] : named) members.emplace_back(key, node(value));
    return w.all_of({w.types(kObjectType), w.object(members, node(other)),
                     w.required({required.begin(), required.end()}), w.members(min, max)});
  }

  static Plain random(std::mt19937& rng) {
    Plain plain;
    std::vector<std::string> keys{"a", "b", "ba", "c"};
    std::shuffle(keys.begin(), keys.end(), rng);
    keys.resize(rng() % 5);
    const auto value = [&] { return static_cast<Value>(rng() % 12 == 0 ? 3 : rng() % 3); };
    for (const auto& key : keys) plain.named.emplace_back(key, value());
    plain.other = rng() % 2 == 0 ? Value::kNone : value();
    for (const char* key : {"a", "b", "c"}) {
      if (rng() % 4 == 0) plain.required.insert(key);
    }
    if (rng() % 3 == 0) plain.min = static_cast<uint32_t>(rng() % 4);
    if (rng() % 3 == 0) plain.max = plain.min + static_cast<uint32_t>(rng() % 3);
    return plain;
  }
};

using Members = std::vector<std::pair<std::string, Value>>;

std::string print(const Members& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ",";
    text += join({"\"", key, value == Value::kInt ? "\":1" : "\":\"x\""});
  }
  return text + "}";
}

// All member lists up to a length over the names of the random schemas.
void all_lists(Members& prefix, std::size_t length, std::vector<Members>& out) {
  out.push_back(prefix);
  if (length == 0) return;
  for (const char* key : {"a", "b", "ba", "c", "z"}) {
    const bool again = std::any_of(prefix.begin(), prefix.end(),
                                   [&](const auto& member) { return member.first == key; });
    if (again && std::string_view(key) == "z") continue;
    for (const Value value : {Value::kInt, Value::kText}) {
      prefix.emplace_back(key, value);
      all_lists(prefix, length - 1, out);
      prefix.pop_back();
    }
  }
}

// Repeats of a name are seen only where the union names it: an alternative that is open for a name
// which it does not mention may let it pass twice.
bool repeats_unknown(const Members& members, const std::vector<Plain>& plains) {
  std::map<std::string, int> count;
  for (const auto& member : members) ++count[member.first];
  return std::any_of(count.begin(), count.end(), [&](const auto& entry) {
    if (entry.second < 2) return false;
    return std::any_of(plains.begin(), plains.end(), [&](const Plain& plain) {
      return plain.other != Value::kNone && !plain.required.contains(entry.first) &&
             std::none_of(plain.named.begin(), plain.named.end(),
                          [&](const auto& named) { return named.first == entry.first; });
    });
  });
}

void check_random_schema(std::mt19937& rng, bool any_order, const std::vector<Members>& lists) {
  std::vector<Plain> plains(1 + rng() % 3);
  for (auto& plain : plains) plain = Plain::random(rng);
  SchemaWriter w;
  Words roots;
  for (const auto& plain : plains) roots.push_back(plain.write(w));
  Machine m(w, w.any_of(roots), any_order ? kFreeOrder : kDeclared);
  bool some = false;
  for (const Members& members : lists) {
    const std::string text = print(members);
    const bool valid = std::any_of(plains.begin(), plains.end(), [&](const Plain& plain) {
      return plain.valid(members, any_order);
    });
    some = some || valid;
    const bool accepted = m.accepts(text);
    if (accepted != valid && !repeats_unknown(members, plains)) {
      CAPTURE(text);
      CHECK(accepted == valid);
      return;
    }
  }
  if (!m.productive()) {
    CHECK_FALSE(some);
    return;
  }
  for (int i = 0; i < 3; ++i) {
    std::string text;
    const bool good = m.completes_at_random(rng, static_cast<uint32_t>(rng() % 40), text);
    CAPTURE(text);
    CHECK(good);
  }
}

}  // namespace

TEST_CASE("random objects and unions agree with a plain judge") {
  std::mt19937 rng(7);
  std::vector<Members> lists;
  Members prefix;
  all_lists(prefix, 3, lists);
  for (int i = 0; i < 150; ++i) check_random_schema(rng, i % 2 == 0, lists);
}

namespace {

// What a configuration reads of each text over a few bytes, up to a length.
std::string reads(Machine& m, const Machine::Config& config, std::size_t length) {
  std::string out;
  for (const char byte : std::string_view("\"}:,1abh")) {
    Machine::Config copy = config;
    if (!m.step(copy, static_cast<uint8_t>(byte))) continue;
    out += byte;
    if (length > 1) out += join({"(", reads(m, copy, length - 1), ")"});
  }
  return out;
}

}  // namespace

TEST_CASE("equal object mask keys have equal continuations") {
  std::mt19937 rng(11);
  std::size_t shared = 0;
  for (int round = 0; round < 24; ++round) {
    SchemaWriter w;
    Words roots;
    for (uint32_t i = 0; i < 1 + rng() % 2; ++i) {
      SchemaWriter::Members named;
      for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
        if (rng() % 5 != 0) named.emplace_back(key, w.types(kInteger));
      }
      const uint32_t min = static_cast<uint32_t>(rng() % 6);
      const uint32_t max = rng() % 2 == 0 ? kNone : min + static_cast<uint32_t>(rng() % 4);
      roots.push_back(
          w.all_of({w.types(kObjectType), w.object(named, rng() % 2 == 0 ? w.never() : w.any()),
                    w.members(min, max), w.required({rng() % 2 == 0 ? "h" : "e"})}));
    }
    const uint32_t order = round % 2 == 0 ? uint32_t(kAnyOrder) : 0;
    Machine m(w, w.any_of(roots), {kAnyWhitespace | order, 0, ",", ":", 3});
    m.forget_names();
    std::map<Words, Machine::Config> known;
    for (int walk = 0; m.productive() && walk < 25; ++walk) {
      std::vector<char> keys{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
      if (order != 0) std::shuffle(keys.begin(), keys.end(), rng);
      std::string text = "{";
      for (const char key : keys) {
        if (rng() % 2 == 0) continue;
        text += join({text.size() > 1 ? "," : "", "\"", std::string_view(&key, 1), "\":1"});
      }
      Machine::Config config = m.begin();
      for (const char c : text) {
        if (!m.step(config, static_cast<uint8_t>(c))) break;
        const auto [at, added] = known.emplace(m.key(config), config);
        if (added) continue;
        ++shared;
        CHECK(reads(m, at->second, 3) == reads(m, config, 3));
      }
    }
  }
  CHECK(shared > 500);
}

TEST_CASE("declared order") {
  SchemaWriter w;
  const uint32_t integer = w.types(kInteger);
  const uint32_t root = w.object_type({{"z", integer}, {"a", integer}, {"m", integer}}, {"a", "q"});
  Machine m(w, root);
  CHECK(m.accepts("{\"z\":1,\"a\":1,\"m\":1,\"q\":true}"));
  CHECK(m.accepts("{\"a\":1,\"x\":null,\"q\":true,\"y\":0}"));
  CHECK(m.prefix("{\"m") == 2);
  CHECK(m.prefix("{\"q") == 2);
  CHECK(m.prefix("{\"a\":1,\"z\"") == 9);
  CHECK(m.prefix("{\"a\":1,\"x\":1,\"m\"") == 15);
  CHECK(m.prefix("{\"a\":1,\"x\":1}") == 12);
  CHECK(m.prefix("{\"a\":1,\"q\":1,\"q\"") == 15);
}

TEST_CASE("any order") {
  SchemaWriter w;
  const uint32_t integer = w.types(kInteger);
  const uint32_t root = w.object_type({{"z", integer}, {"a", integer}}, {"a"}, w.never());
  Machine m(w, root, kFreeOrder);
  CHECK(m.accepts("{\"a\":1,\"z\":1}"));
  CHECK(m.accepts("{\"z\":1,\"a\":1}"));
  CHECK(m.accepts("{\"a\":1}"));
  for (const char* bad : {"{\"z\":1}", "{\"a\":1,\"a\":1}", "{\"b\":1}", "{}"}) {
    CHECK_FALSE(m.accepts(bad));
  }
  CHECK(m.prefix("{\"z\":1,\"a\":1,") == 12);
}

TEST_CASE("counts leave room for what is required and stay reachable") {
  SchemaWriter w;
  const uint32_t integer = w.types(kInteger);
  const uint32_t object =
      w.object({{"a", integer}, {"b", integer}, {"c", integer}, {"d", integer}}, w.never());
  const uint32_t root =
      w.all_of({w.types(kObjectType), object, w.required({"d"}), w.members(3, 3)});
  Machine declared(w, root);
  CHECK(declared.accepts("{\"a\":1,\"c\":1,\"d\":1}"));
  CHECK(declared.prefix("{\"c") == 2);  // a least count of 3 would be out of reach
  CHECK(declared.prefix("{\"a\":1,\"d") == 8);
  CHECK(declared.prefix("{\"a\":1,\"b\":1,\"c") == 14);  // no room for d
  SchemaWriter w2;
  Machine none(
      w2, w2.all_of({w2.object_type({{"a", w2.any()}}, {}, w2.never()), w2.members(2, kNone)}));
  CHECK_FALSE(none.productive());
}

TEST_CASE("members meet over the nodes of a conjunction; strict mode closes it as a whole") {
  SchemaWriter w;
  const uint32_t left = w.object({{"a", w.types(kNumberType)}});
  const uint32_t right = w.object({{"b", w.any()}, {"a", w.types(kInteger | kNull)}});
  const uint32_t root = w.all_of({w.types(kObjectType), left, right});
  Machine open(w, root);
  CHECK(open.accepts("{\"a\":1,\"b\":null,\"c\":0}"));
  CHECK_FALSE(open.accepts("{\"a\":null}"));
  const SchemaWriter::Layout strict{kAnyWhitespace | kStrict, 1, ",", ":", 8};
  SchemaWriter w2;
  const uint32_t both = w2.all_of(
      {w2.types(kObjectType), w2.object({{"a", w2.any()}}), w2.object({{"b", w2.any()}})});
  Machine closed(w2, both, strict);
  CHECK(closed.accepts("{\"a\":1,\"b\":{\"free\":1}}"));
  CHECK(closed.prefix("{\"c") == 2);
  SchemaWriter w3;
  const uint32_t said = w3.all_of(
      {w3.types(kObjectType), w3.object({{"a", w3.any()}}), w3.object({}, w3.types(kInteger))});
  Machine other(w3, said, strict);
  CHECK(other.accepts("{\"a\":1,\"c\":2}"));
  CHECK_FALSE(other.accepts("{\"a\":\"\"}"));
}

TEST_CASE("a 2,000-way union with its discriminator first or last") {
  for (const bool first : {true, false}) {
    SchemaWriter w;
    const uint32_t text = w.types(kStringType);
    const uint32_t integer = w.types(kInteger);
    Words branches;
    for (int i = 0; i < 2000; ++i) {
      const uint32_t kind = w.text(join({"k", std::to_string(i)}));
      const uint32_t value = i % 2 == 0 ? text : integer;
      SchemaWriter::Members members{{"kind", kind}, {"value", value}};
      if (!first) std::swap(members[0], members[1]);
      branches.push_back(w.object_type(members, {"kind", "value"}, w.never()));
    }
    Machine m(w, w.any_of(branches));
    const std::string good =
        first ? "{\"kind\":\"k1998\",\"value\":\"x\"}" : "{\"value\":\"x\",\"kind\":\"k1998\"}";
    const std::string bad =
        first ? "{\"kind\":\"k1998\",\"value\":1}" : "{\"value\":1,\"kind\":\"k1998\"}";
    CHECK(m.accepts(good));
    CHECK_FALSE(m.accepts(bad));
    CHECK(m.store().num_states() < 200);
  }
}

TEST_CASE("3,000 optional members") {
  SchemaWriter w;
  const uint32_t integer = w.types(kInteger);
  SchemaWriter::Members members;
  for (int i = 0; i < 3000; ++i) members.emplace_back(join({"k", std::to_string(i)}), integer);
  const uint32_t root = w.object_type(members, {"k2999"}, w.never());
  for (const auto& layout : {kDeclared, kFreeOrder}) {
    Machine m(w, root, layout);
    CHECK(m.accepts("{\"k3\":1,\"k4\":1,\"k1000\":2,\"k2999\":3}"));
    CHECK(m.accepts("{\"k4\":1,\"k3\":1,\"k2999\":3}") == (layout.flags & kAnyOrder));
    CHECK_FALSE(m.accepts("{\"k3\":1,\"k4\":1}"));
    CHECK_FALSE(m.accepts("{\"k3\":1,\"k3\":1,\"k2999\":3}"));
  }
}

TEST_CASE("what was left out does not show in mask keys in declared order") {
  SchemaWriter w;
  const uint32_t integer = w.types(kInteger);
  Machine m(w, w.object_type({{"a", integer}, {"b", integer}, {"c", integer}}, {}));
  const auto key_after = [&](std::string_view text) {
    Machine::Config config = m.begin();
    for (const char c : text) m.step(config, static_cast<uint8_t>(c));
    return m.key(config);
  };
  CHECK(key_after("{\"a\":1,\"b\":1,") == key_after("{\"b\":1,"));
  CHECK(key_after("{\"a\":1,") != key_after("{\"b\":1,"));
  CHECK(key_after("{\"x\":1,\"y\":1,") == key_after("{\"c\":1,\"x\":1,"));
}

TEST_CASE("undeclared names come once") {
  for (const uint32_t order : {0U, uint32_t(kAnyOrder)}) {
    SchemaWriter w;
    const uint32_t integer = w.types(kInteger);
    const uint32_t unions =
        w.any_of({w.object_type({{"a", integer}}, {}), w.object_type({{"b", w.never()}}, {})});
    Machine m(w, unions, {kAnyWhitespace | order, 2, ",", ":", 8});
    CHECK(m.accepts("{\"x\":1,\"y\":1,\"xy\":1,\"\":1}"));
    for (const std::string_view text :
         {"{\"x\":1,\"x\"", "{\"x\":1,\"y\":2,\"x\"", "{\"\":1,\"\"", "{\"x\":1,\"\\u0078\"",
          "{\"\\u0078\":1,\"x\"", "{\"\xC3\xA9\":1,\"\\u00e9\"",
          "{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\"", "{\"\\n\":1,\"\\u000A\"",
          "{\"\\/\":1,\"/\"", "{\"x\":{\"x\":{\"x\":1}},\"x\""}) {
      CHECK(m.prefix(text) == text.size() - 1);
      CHECK(m.accepts(join({text.substr(0, text.size() - 1), "z\":1}"})));
    }
  }
}

TEST_CASE("a repeated name is not a second member") {
  SchemaWriter w;
  Machine m(w, w.all_of({w.types(kObjectType), w.members(2, 3)}));
  CHECK_FALSE(m.accepts("{\"x\":1,\"x\":1}"));
  CHECK(m.accepts("{\"x\":1,\"y\":1}"));
  CHECK_FALSE(m.accepts("{\"x\":1,\"y\":1,\"y\":2}"));
  CHECK(m.accepts("{\"x\":1,\"y\":1,\"z\":2}"));
}

TEST_CASE("an object with 5,000 undeclared names") {
  SchemaWriter w;
  Machine m(w, w.types(kObjectType));
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) {
    text += join({i == 0 ? "" : ",", "\"key", std::to_string(i * 7919 % 5000), "\":1"});
  }
  CHECK(m.accepts(text + "}"));
  CHECK_FALSE(m.accepts(text + ",\"key4321\":1}"));
  CHECK(m.accepts(text + ",\"key5000\":1}"));
}

TEST_CASE("10,000 nested objects") {
  SchemaWriter w;
  uint32_t inner = w.types(kNull);
  std::string open;
  for (int i = 0; i < 10000; ++i) {
    inner = w.object_type({{"a", inner}}, {"a"});
    open += "{\"a\":";
  }
  Machine m(w, inner);
  CHECK(m.accepts(open + "null" + std::string(10000, '}')));
  CHECK_FALSE(m.accepts(open + "null" + std::string(9999, '}')));
}

// Stored grammars: what is loaded is what was stored, and nothing else can be loaded. 100,000
// damaged forms, their checksums made right again, end in a refusal or in a grammar whose masks are
// what accept_token answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ir_writer.h"
#include "maskwright/matcher/matcher.h"
#include "maskwright/serialize/stored_grammar.h"
#include "maskwright/support/error.h"
#include "serialize/envelope.h"
#include "test_json_support.h"

namespace {

using namespace maskwright;
using maskwright::test::IrWriter;
using maskwright::testing::SchemaWriter;
using Bytes = std::vector<std::byte>;

std::shared_ptr<const Vocabulary> vocabulary() {
  static const auto shared = [] {
    std::vector<std::string> tokens{"", "ab", "{\"", "\":", "12", "}}"};
    for (const char byte : std::string("abxyz()[]{}\":,0123\\ ")) tokens.emplace_back(1, byte);
    const auto size = static_cast<uint32_t>(tokens.size());
    return std::make_shared<const Vocabulary>(std::move(tokens), size, std::vector<uint32_t>{},
                                              std::vector<uint32_t>{0});
  }();
  return shared;
}

Fingerprint fingerprint() {
  Fingerprint bytes{};
  bytes[3] = std::byte{7};
  return bytes;
}

CompileLimits limits() {
  CompileLimits small;
  small.rules.max_states = 2000;
  small.json = {500, 100, 500};
  return small;
}

StoredSource source(Bytes ir) {
  return {std::move(ir), {false, {"order"}, {{"#/a", "not", "too hard"}}, {"#/b", "#/c"}}};
}

Bytes stored(const Bytes& ir) {
  return store(*compile(ir, vocabulary(), limits()), source(ir), fingerprint());
}

LoadedGrammar loaded(const Bytes& bytes) {
  return load(bytes, vocabulary(), fingerprint(), limits());
}

// Recursion of every kind, a large repeat, a repeat of a rule, token sets.
Bytes rules_ir() {
  IrWriter writer;
  const uint32_t letters = writer.char_class({{'a', 'b'}, {'x', 'z'}});
  const uint32_t many = writer.repeat(letters, 3, 500);
  const uint32_t nested =
      writer.sequence({writer.literal("("), writer.ref(0), writer.literal(")")});
  const uint32_t list = writer.sequence({writer.ref(1), writer.literal(","), writer.ref(2)});
  writer.rule("root", writer.choice({nested, many, writer.ref(1)}));
  writer.rule("list", writer.choice({list, writer.ref(2)}));
  const uint32_t tokens = writer.add(ExprKind::kTokenSet, {0, 2, 1, 4});
  const uint32_t pairs = writer.repeat(writer.sequence({writer.ref(3), writer.ref(3)}), 2, kNone);
  writer.rule("item", writer.choice({writer.literal("[]"), tokens, pairs}));
  const uint32_t text = writer.text_until({"]"}, {});
  writer.rule("part",
              writer.choice({writer.literal("0"),
                             writer.sequence({writer.literal("["), text, writer.literal("]")})}));
  return writer.buffer(0);
}

Bytes schema_ir() {
  SchemaWriter writer;
  const uint32_t tree = writer.reserve();
  const uint32_t number = writer.number({"0", "30"});
  const uint32_t name = writer.all_of({writer.types(kStringType), writer.length(1, 40)});
  const uint32_t list = writer.all_of({writer.types(kArrayType), writer.array({}, tree)});
  const uint32_t object =
      writer.object_type({{"a", number}, {"b", name}, {"ab", list}}, {"a"}, writer.never());
  writer.define(tree, writer.any_of({object, writer.text("x")}));
  return writer.buffer(tree, {});
}

// Masks against accept_token on the way through a text.
void follow(const std::shared_ptr<CompiledGrammar>& grammar, std::mt19937& random, uint32_t steps) {
  Matcher matcher(grammar, std::nullopt, true);
  for (uint32_t step = 0; step < steps && !matcher.is_terminated(); ++step) {
    std::vector<uint32_t> row(vocabulary()->mask_words());
    matcher.fill_bitmask(row, true);
    std::vector<uint32_t> allowed;
    for (uint32_t id = 0; id < vocabulary()->vocab_size(); ++id) {
      Matcher fork = matcher.fork();
      const bool accepted = fork.accept_token(id);
      REQUIRE(accepted == ((row[id / 32] >> id % 32 & 1) != 0));
      if (accepted) allowed.push_back(id);
    }
    if (matcher.is_completed() && allowed.empty()) return;
    REQUIRE_FALSE(allowed.empty());
    REQUIRE(matcher.accept_token(allowed[random() % allowed.size()]));
  }
}

std::string code_of(const Bytes& bytes, const CompileLimits& allowed = limits(),
                    const Fingerprint& expected = fingerprint()) {
  try {
    load(bytes, vocabulary(), expected, allowed);
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

Bytes body_of(const Bytes& bytes) { return {bytes.begin() + kEnvelopeBytes, bytes.end()}; }

void put_word(Bytes& body, std::size_t at, uint32_t value) {
  for (uint32_t i = 0; i < 4; ++i) body[at + i] = static_cast<std::byte>(value >> 8 * i & 0xFF);
}

// One of the ways in which bytes go wrong.
void damage(Bytes& body, std::mt19937& random) {
  const std::size_t at = random() % body.size();
  const std::size_t word = random() % (body.size() / 4) * 4;
  switch (random() % 6) {
    case 0: body[at] ^= static_cast<std::byte>(1U << random() % 8); break;
    case 1: put_word(body, word, static_cast<uint32_t>(random())); break;
    case 2: put_word(body, word, static_cast<uint32_t>(random() % 12)); break;
    case 3: body.resize(at); break;
    case 4: body.insert(body.begin() + static_cast<std::ptrdiff_t>(word), 4, std::byte{0}); break;
    default: {
      const std::size_t from = random() % (body.size() / 4) * 4;
      std::copy_n(body.begin() + static_cast<std::ptrdiff_t>(from), 4,
                  body.begin() + static_cast<std::ptrdiff_t>(word));
    }
  }
}

}  // namespace

TEST_CASE("what is loaded is what was stored") {
  for (const Bytes& ir : {rules_ir(), schema_ir()}) {
    const auto grammar = compile(ir, vocabulary(), limits());
    const Bytes bytes = store(*grammar, source(ir), fingerprint());
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 20; ++i) follow(grammar, random, 8);
    CHECK(store(*grammar, source(ir), fingerprint()) == bytes);  // whatever was walked
    const LoadedGrammar again = loaded(bytes);
    CHECK(store(*again.grammar, again.source, fingerprint()) == bytes);
    CHECK(again.grammar->tables() == grammar->tables());
    CHECK(again.source.ir == ir);
    CHECK_FALSE(again.source.certificate.exact);
    CHECK(again.source.certificate.loosened == source(ir).certificate.loosened);
    CHECK(again.source.certificate.ignored == source(ir).certificate.ignored);
    CHECK(again.grammar->limits().json.max_clauses == limits().json.max_clauses);
    for (uint32_t i = 0; i < 20; ++i) follow(again.grammar, random, 8);
  }
}

TEST_CASE("the envelope says what is wrong") {
  const Bytes good = stored(rules_ir());
  CHECK(code_of(good).empty());
  CHECK(code_of({}) == "deserialize-magic");
  CHECK(code_of({good.begin(), good.begin() + 15}) == "deserialize-magic");
  CHECK(code_of({good.begin(), good.begin() + 40}) == "deserialize-length");
  CHECK(code_of({good.begin(), good.end() - 1}) == "deserialize-length");
  const auto with = [&](std::size_t at) {
    Bytes bytes = good;
    bytes[at] ^= std::byte{1};
    return code_of(bytes);
  };
  CHECK(with(0) == "deserialize-magic");
  CHECK(with(8) == "deserialize-byte-order");
  CHECK(with(12) == "deserialize-version");
  CHECK(with(16) == "deserialize-length");
  for (std::size_t at = 24; at < good.size(); ++at) REQUIRE(with(at) == "deserialize-checksum");
  CHECK(code_of(good, limits(), {}) == "deserialize-vocabulary");
}

TEST_CASE("a grammar that was compiled under larger limits is refused by name") {
  CompileLimits allowed = limits();
  allowed.json.max_clauses = 99;
  try {
    load(stored(rules_ir()), vocabulary(), fingerprint(), allowed);
    FAIL("it was loaded");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kLimit);
    CHECK(error.code() == "deserialize-limit");
    CHECK(error.subject() == "max_clauses");
    CHECK(error.value() == 99);
  }
}

TEST_CASE("tables that no compiled grammar has are refused") {
  const Bytes bytes = rules_ir();
  const RuleTables good = compile(bytes, vocabulary(), limits())->tables();
  const auto refusal = [&](const RuleTables& tables) -> std::string {
    try {
      CompiledGrammar(Ir::parse(bytes), vocabulary(), limits(), tables);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kStoredFormat);
      return error.what();
    }
    return "";
  };
  const auto says = [&](const RuleTables& tables, const char* what) {
    return refusal(tables).find(what) != std::string::npos;
  };
  CHECK(refusal(good).empty());

  RuleTables without_end = good;
  CHECK(without_end.views[0].num_ends == 1);
  without_end.views[0].num_ends = 0;
  without_end.ends.erase(without_end.ends.begin());
  CHECK(says(without_end, "some of its edges lead nowhere"));

  // The body of the last repeat gets a way around itself, or begins with its own repeat.
  const RuleTables::View body = good.views.back();
  REQUIRE(body.rule == good.num_ids() - 1);
  const auto with_edge = [&](RuleTables::EdgeKind kind, uint32_t operand) {
    RuleTables tables = good;
    std::size_t at = 0;
    for (uint32_t p = 0; p <= body.start; ++p) at += tables.num_edges[p];
    ++tables.num_edges[body.start];
    tables.edges.insert(tables.edges.begin() + static_cast<std::ptrdiff_t>(at),
                        RuleTables::Edge::of(kind, operand, tables.ends.back()));
    return tables;
  };
  CHECK(says(with_edge(RuleTables::kEmpty, 0), "a repeat of what may be empty has a minimum"));
  const uint32_t repeat = good.num_ids() - 2;
  CHECK(says(with_edge(RuleTables::kCall, repeat), "a repeat begins with itself"));
}

TEST_CASE("damaged forms with a right checksum are refused or sound") {
  constexpr uint32_t kForms = 100000;
  const std::vector<Bytes> bodies{body_of(stored(rules_ir())), body_of(stored(schema_ir()))};
  std::mt19937 random(5);
  uint32_t refused = 0;
  for (uint32_t i = 0; i < kForms; ++i) {
    Bytes body = bodies[i % bodies.size()];
    for (auto n = 1 + random() % 3; n > 0 && body.size() >= 4; --n) damage(body, random);
    const Bytes bytes = seal(body, fingerprint(), kStoredVersion);
    CAPTURE(i);
    try {
      follow(loaded(bytes).grammar, random, 3);
    } catch (const Error& error) {
      const ErrorKind kind = error.kind();
      REQUIRE((kind == ErrorKind::kStoredFormat || kind == ErrorKind::kLimit));
      ++refused;
    }
  }
  CHECK(refused > kForms / 2);
  CHECK(refused < kForms);
}

// Writing and reading the body: limits, certificate, IR, rule tables, masks, in this order.

#include "maskwright/serialize/stored_grammar.h"

#include <array>
#include <string_view>
#include <utility>

#include "maskwright/matcher/matcher.h"
#include "maskwright/support/error.h"
#include "serialize/bytes.h"
#include "serialize/envelope.h"
#include "serialize/masks_form.h"
#include "serialize/tables_form.h"

namespace maskwright {

static_assert(kIrVersion == 2, "raise kStoredVersion, which covers the version of the IR");

namespace {

struct LimitField {
  const char* name;
  uint32_t& (*of)(CompileLimits&);
};
constexpr std::array<LimitField, 4> kLimits{{
    {"max_states", [](CompileLimits& all) -> uint32_t& { return all.rules.max_states; }},
    {"max_targets", [](CompileLimits& all) -> uint32_t& { return all.json.max_targets; }},
    {"max_clauses", [](CompileLimits& all) -> uint32_t& { return all.json.max_clauses; }},
    {"max_lang_states", [](CompileLimits& all) -> uint32_t& { return all.json.max_lang_states; }},
}};

void write_limits(CompileLimits limits, ByteWriter& writer) {
  for (const LimitField& field : kLimits) writer.word(field.of(limits));
}

// A grammar may use what it was compiled under, which takes the time and memory of compiling.
CompileLimits read_limits(ByteReader& reader, CompileLimits allowed) {
  reader.begin("limits");
  CompileLimits limits = allowed;
  for (const LimitField& field : kLimits) {
    const uint32_t value = reader.word();
    const uint32_t most = field.of(allowed);
    if (value == 0) reader.fail("one is 0");
    if (value > most) {
      throw Error::limit("deserialize-limit",
                         std::string("the stored grammar was compiled with ") + field.name + " = " +
                             std::to_string(value) + ", and " + std::to_string(most) +
                             " is allowed here; pass " + field.name +
                             " to allow more, if its source is trusted",
                         field.name, most);
    }
    field.of(limits) = value;
  }
  return limits;
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string read_text(ByteReader& reader) {
  const auto text = reader.counted();
  std::string copy(text.size(), '\0');
  for (std::size_t i = 0; i < text.size(); ++i) copy[i] = static_cast<char>(text[i]);
  return copy;
}

void write_certificate(const StoredCertificate& certificate, ByteWriter& writer) {
  const auto texts = [&](const auto& list) {
    for (const std::string& text : list) writer.counted(as_bytes(text));
  };
  const auto count = [&](std::size_t size) { writer.word(static_cast<uint32_t>(size)); };
  writer.word(certificate.exact ? 1 : 0);
  count(certificate.narrowed.size());
  texts(certificate.narrowed);
  count(certificate.loosened.size());
  for (const auto& entry : certificate.loosened) texts(entry);
  count(certificate.ignored.size());
  texts(certificate.ignored);
}

StoredCertificate read_certificate(ByteReader& reader) {
  reader.begin("certificate");
  StoredCertificate certificate;
  const auto texts = [&](std::vector<std::string>& list) {
    const uint32_t count = reader.count(4, "texts");
    list.reserve(count);
    for (uint32_t i = 0; i < count; ++i) list.push_back(read_text(reader));
  };
  certificate.exact = reader.word_up_to(1, "exact flag") != 0;
  texts(certificate.narrowed);
  const uint32_t loosened = reader.count(12, "entries");
  certificate.loosened.resize(loosened);
  for (auto& entry : certificate.loosened) {
    for (std::string& text : entry) text = read_text(reader);
  }
  texts(certificate.ignored);
  return certificate;
}

// Bytes that were not written by store() can hold what the compiler refuses.
template <typename Work>
auto refused_as_stored(const char* part, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kLimit || error.kind() == ErrorKind::kStoredFormat) throw;
    throw Error::stored(std::string("its ") + part + " is refused: " + error.what());
  }
}

}  // namespace

std::vector<std::byte> store(const CompiledGrammar& grammar, const StoredSource& source,
                             const Fingerprint& fingerprint, const StorableMasks& masks) {
  ByteWriter writer;
  write_limits(grammar.limits(), writer);
  write_certificate(source.certificate, writer);
  writer.counted(source.ir);
  write_tables(grammar.tables(), writer);
  if (masks.empty()) return seal(writer.written(), fingerprint, kStoredVersion);
  write_masks(masks, writer);
  return seal(writer.written(), fingerprint, kStoredMasksVersion);
}

LoadedGrammar load(std::span<const std::byte> bytes, std::shared_ptr<const Vocabulary> vocabulary,
                   const Fingerprint& fingerprint, const CompileLimits& allowed,
                   std::shared_ptr<SharedMasks> shared, bool trust_masks) {
  const Opened opened = open_envelope(bytes, fingerprint);
  ByteReader reader(opened.body);
  const CompileLimits limits = read_limits(reader, allowed);
  LoadedGrammar loaded;
  loaded.source.certificate = read_certificate(reader);
  reader.begin("IR");
  const auto ir_bytes = reader.counted();
  loaded.source.ir.assign(ir_bytes.begin(), ir_bytes.end());
  Ir ir = refused_as_stored("IR", [&] { return Ir::parse(ir_bytes); });
  const RuleTables tables =
      read_tables(reader, ir, vocabulary->spellable(), limits.rules.max_states);
  std::shared_ptr<const StartMask> start_mask;
  if (opened.version != kStoredMasksVersion) {
    if (reader.left() != 0) reader.fail("there are bytes behind them");
  } else if (trust_masks) {
    if (shared == nullptr) shared = SharedMasks::of_one_grammar(vocabulary);
    start_mask = read_masks(reader, *shared);
  }
  loaded.grammar = refused_as_stored("grammar", [&] {
    auto grammar = std::make_shared<CompiledGrammar>(std::move(ir), vocabulary, limits, tables,
                                                     std::move(shared));
    grammar->masks().use_start_mask(std::move(start_mask));
    check_completable(grammar);
    return grammar;
  });
  return loaded;
}

}  // namespace maskwright

// The table of languages: one per meaning, made once.
//
// Patterns and literal lists are hash-consed as simplified terms (lang_term.h), numbers by their
// normalised specification, intersections by their sorted operands. What is spelled in strings is
// the alphabet of every pattern: code points whose UTF-8 bytes or whose escapes the vocabulary can
// write. Numbers are spelled by raw ASCII bytes only.
#include "maskwright/json/lang.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "json/lang_chars.h"
#include "json/lang_dfa.h"
#include "json/lang_literals.h"
#include "json/lang_lower.h"
#include "json/lang_searches.h"
#include "json/lang_term.h"
#include "json/number_lang.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

uint32_t Lang::move(uint32_t state, uint32_t code_point) {
  const auto row = arcs(state);
  const auto after = std::upper_bound(row.begin(), row.end(), code_point,
                                      [](uint32_t c, const Arc& arc) { return c < arc.lo; });
  if (after == row.begin() || code_point > std::prev(after)->hi) return kDeadLang;
  return std::prev(after)->target;
}

using namespace langs;

struct LangTable::Impl {
  Impl(const Ir& ir, const std::array<bool, 256>& spellable, uint32_t max_lang_states)
      : limits{max_lang_states},
        ascii(spellable_ascii(spellable)),
        terms(spellable_code_points(spellable), classes, limits),
        budget(limits),
        compiler(ir, terms, budget) {}

  // The language of a kind and content, made by `make` at first use.
  template <typename Make>
  LangId get_or_make(std::vector<std::unique_ptr<Lang>>& langs, const std::vector<uint32_t>& key,
                     const Make& make) {
    const auto found = by_key.find(key);
    if (found != by_key.end()) return found->second;
    const LangId id = add(langs, make());
    by_key.emplace(key, id);
    return id;
  }

  LangId add(std::vector<std::unique_ptr<Lang>>& langs, std::unique_ptr<TableLang> lang) {
    literals.push_back(dynamic_cast<LiteralsLang*>(lang.get()));
    owned.push_back(lang.get());
    langs.push_back(std::move(lang));
    return static_cast<LangId>(langs.size() - 1);
  }

  LangId of_term(std::vector<std::unique_ptr<Lang>>& langs, TermId term) {
    const LangId id = get_or_make(langs, {kTerm, term}, [&] { return compiler.make_lang(term); });
    term_of.emplace(id, term);
    return id;
  }

  TermId any_term() { return terms.repeat(terms.char_class(terms.alphabet()), 0, kNone); }

  // Of a language's own numbers, which were not too many to explore.
  std::unique_ptr<TableLang> make_number(const NumberSpec& spec,
                                         std::span<const std::string> any_of) const {
    return make_number_lang(std::make_shared<const NumberSet>(spec, any_of), spec.spelling, ascii,
                            limits, Completions::kFound);
  }
  LangId number(std::vector<std::unique_ptr<Lang>>& langs, NumberSpec spec,
                std::vector<std::string> any_of);
  // Nothing that is asked of multiples takes a search.
  bool spells_numbers() const {
    return std::ranges::all_of(std::string_view("0123456789."),
                               [&](char c) { return contains(ascii, static_cast<uint32_t>(c)); });
  }
  std::unique_ptr<TableLang> intersect(const std::vector<LangId>& ids);
  std::unique_ptr<TableLang> intersect_searches(const std::vector<LangId>& ids);
  std::unique_ptr<TableLang> filter(std::size_t literal_list, const std::vector<LangId>& ids);

  enum Key : uint32_t { kTerm, kIntersection, kComplement, kSearches };

  LangLimits limits;
  CodeRanges ascii;
  ClassPool classes;
  TermPool terms;
  EagerBudget budget;
  PatternCompiler compiler;
  std::map<std::vector<uint32_t>, LangId> by_key;
  std::unordered_map<LangId, TermId> term_of;
  std::unordered_map<std::string, LangId> numbers_by_key;
  struct Number {
    NumberSpec spec;
    std::vector<std::string> any_of;  // NumberSet
    std::shared_ptr<const NumberSet> set;

    std::size_t memory_bytes() const {
      return heap_bytes(spec, any_of) + heap_block(sizeof(NumberSet)) + heap_bytes(*set);
    }
  };
  std::unordered_map<LangId, Number> numbers;
  std::vector<TableLang*> owned;        // per language
  std::vector<LiteralsLang*> literals;  // per language, or null
};

LangTable::LangTable(const Ir& ir, const std::array<bool, 256>& spellable, uint32_t max_lang_states)
    : impl_(std::make_unique<Impl>(ir, spellable, max_lang_states)) {}

// Languages use the class pool of Impl, which is destroyed after them.
LangTable::~LangTable() { langs_.clear(); }

std::size_t LangTable::memory_bytes() const {
  const Impl& impl = *impl_;
  return heap_block(sizeof(Impl)) + heap_bytes(langs_) +
         heap_bytes(impl.ascii, impl.classes, impl.terms, impl.compiler, impl.by_key, impl.term_of,
                    impl.numbers_by_key, impl.numbers, impl.owned, impl.literals);
}

std::optional<uint64_t> LangTable::num_listed(LangId lang, uint32_t min, uint32_t max) const {
  const LiteralsLang* list = impl_->literals[lang];
  if (list == nullptr) return std::nullopt;
  uint64_t found = 0;
  for (uint32_t i = 0; i < list->size(); ++i) {
    const std::size_t length = list->text(i).size();
    found += length >= min && length <= max ? 1 : 0;
  }
  return found;
}

LangId LangTable::any_text() { return impl_->of_term(langs_, impl_->any_term()); }

LangId LangTable::texts_of_length(uint32_t min, uint32_t max) {
  TermPool& terms = impl_->terms;
  return impl_->of_term(langs_, terms.repeat(terms.char_class(terms.alphabet()), min, max));
}

LangId LangTable::pattern(uint32_t expr) {
  return impl_->of_term(langs_, impl_->compiler.lower(expr));
}

LangId LangTable::literals(std::span<const std::string> texts) {
  std::vector<std::string_view> sorted(texts.begin(), texts.end());
  make_set(sorted);
  return impl_->of_term(langs_, impl_->terms.sorted_texts(sorted));
}

namespace {

// The operands of an intersection that matter, sorted.
std::vector<LangId> operands_of(std::span<const LangId> langs, LangId any) {
  std::vector<LangId> ids(langs.begin(), langs.end());
  std::erase(ids, any);
  make_set(ids);
  return ids;
}

std::vector<uint32_t> key_of(uint32_t kind, const std::vector<LangId>& operands) {
  std::vector<uint32_t> key{kind};
  key.insert(key.end(), operands.begin(), operands.end());
  return key;
}

}  // namespace

LangId LangTable::intersection(std::span<const LangId> langs) {
  const LangId any = any_text();
  const std::vector<LangId> ids = operands_of(langs, any);
  if (ids.empty()) return any;
  for (const LangId id : ids) {
    if (get(id).start() == kDeadLang) return id;
  }
  if (ids.size() == 1) return ids.front();
  return impl_->get_or_make(langs_, key_of(Impl::kIntersection, ids),
                            [&] { return impl_->intersect(ids); });
}

LangId LangTable::endless_intersection(std::span<const LangId> langs) {
  const std::vector<LangId> ids = operands_of(langs, any_text());
  const auto is_list = [&](LangId id) { return impl_->literals[id] != nullptr; };
  if (ids.size() < 2 || std::ranges::any_of(ids, is_list)) return intersection(langs);
  const std::vector<uint32_t> key = key_of(Impl::kSearches, ids);
  const auto known = impl_->by_key.find(key);
  if (known != impl_->by_key.end()) return known->second;
  auto made = impl_->intersect_searches(ids);
  if (made == nullptr) return intersection(ids);
  return impl_->get_or_make(langs_, key, [&] { return std::move(made); });
}

std::unique_ptr<TableLang> LangTable::Impl::intersect(const std::vector<LangId>& ids) {
  std::size_t smallest = ids.size();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const LiteralsLang* list = literals[ids[i]];
    if (list == nullptr) continue;
    if (smallest == ids.size() || list->size() < literals[ids[smallest]]->size()) smallest = i;
  }
  if (smallest != ids.size()) return filter(smallest, ids);
  std::vector<TableLang*> operands;
  for (const LangId id : ids) operands.push_back(owned[id]);
  Dfa dfa = product(operands, budget, "an intersection of patterns");
  return std::make_unique<DfaLang>(std::move(dfa), limits);
}

// Null if one of the operands is no search.
std::unique_ptr<TableLang> LangTable::Impl::intersect_searches(const std::vector<LangId>& ids) {
  std::vector<SearchesLang::Operand> operands;
  for (const LangId id : ids) {
    auto found = found_states(*owned[id], terms.alphabet());
    if (!found.has_value()) return nullptr;
    operands.push_back({owned[id], std::move(*found)});
  }
  const auto alphabet = terms.alphabet();
  return std::make_unique<SearchesLang>(std::move(operands),
                                        std::vector<CodeRange>(alphabet.begin(), alphabet.end()));
}

// The literals that all other operands accept.
std::unique_ptr<TableLang> LangTable::Impl::filter(std::size_t literal_list,
                                                   const std::vector<LangId>& ids) {
  const LiteralsLang& list = *literals[ids[literal_list]];
  std::vector<uint32_t> packed;
  for (uint32_t index = 0; index < list.size(); ++index) {
    const auto text = list.text(index);
    bool kept = true;
    for (std::size_t i = 0; i < ids.size() && kept; ++i) {
      if (i == literal_list) continue;
      TableLang& other = *owned[ids[i]];
      uint32_t state = other.start();
      for (std::size_t at = 0; at < text.size() && state != kDeadLang; ++at) {
        state = other.move(state, text[at]);
      }
      kept = state != kDeadLang && other.accepts(state);
    }
    if (!kept) continue;
    packed.push_back(static_cast<uint32_t>(text.size()));
    packed.insert(packed.end(), text.begin(), text.end());
  }
  if (packed.empty()) return std::make_unique<DfaLang>(Dfa{}, limits);
  return std::make_unique<LiteralsLang>(std::move(packed));
}

LangTable::Counted LangTable::counted(LangId lang) {
  TermPool& terms = impl_->terms;
  const auto term = impl_->term_of.find(lang);
  if (term == impl_->term_of.end() || terms.kind(term->second) != TermKind::kRepeat) {
    return {lang, 0, kUnbounded};
  }
  const auto content = terms.content(term->second);
  const uint32_t min = content[1];
  const uint32_t max = content[2];
  if (terms.kind(content[0]) != TermKind::kClass || (min <= 1 && max == kNone)) {
    return {lang, 0, kUnbounded};
  }
  const LangId each = impl_->of_term(langs_, terms.repeat(content[0], 0, kNone));
  return {each, min, max == kNone ? kUnbounded : max};
}

LangId LangTable::complement(LangId lang) {
  const std::vector<uint32_t> key{Impl::kComplement, lang};
  return impl_->get_or_make(langs_, key, [&] {
    Dfa dfa = langs::complement(*impl_->owned[lang], impl_->terms.alphabet(), impl_->budget);
    return std::make_unique<DfaLang>(std::move(dfa), impl_->limits);
  });
}

namespace {

std::string spelling_key(NumberSpelling spelling) {
  if (spelling == NumberSpelling::kAny) return "";
  return spelling == NumberSpelling::kPlain ? "plain " : "decimal ";
}

}  // namespace

LangId LangTable::number(const NumberSpec& asked) { return impl_->number(langs_, asked, {}); }

LangId LangTable::Impl::number(std::vector<std::unique_ptr<Lang>>& langs, NumberSpec spec,
                               std::vector<std::string> any_of) {
  auto set = std::make_shared<const NumberSet>(spec, any_of);
  if (spec.spelling == NumberSpelling::kDecimal && set->only_integers()) {
    spec.spelling = NumberSpelling::kPlain;
  }
  const std::string key = spelling_key(spec.spelling) + set->key();
  const auto found = numbers_by_key.find(key);
  if (found != numbers_by_key.end()) return found->second;
  const LangId id =
      add(langs, make_number_lang(set, spec.spelling, ascii, limits, Completions::kKnown));
  numbers_by_key.emplace(key, id);
  numbers.emplace(id, Number{std::move(spec), std::move(any_of), std::move(set)});
  return id;
}

namespace {

// All multiples of one number, or the integers among them.
bool is_multiples(const NumberSpec& spec) {
  return spec.multiples_of.size() == 1 && !spec.fractional && spec.within.empty() &&
         spec.outside.empty() && spec.not_multiples_of.empty() && spec.excluded.empty() &&
         !spec.has_values;
}

}  // namespace

std::vector<LangId> LangTable::join_numbers(std::span<const LangId> numbers) {
  std::vector<LangId> joined;
  std::map<NumberSpelling, NumberSpec> lists;
  std::map<std::pair<NumberSpelling, bool>, std::vector<std::string>> multiples;  // or of integers
  const bool joins_multiples = impl_->spells_numbers();
  for (const LangId id : numbers) {
    const auto& [spec, any_of, set] = impl_->numbers.at(id);
    if (!set->has_values()) {
      if (joins_multiples && is_multiples(spec)) {
        multiples[{spec.spelling, spec.integer}].push_back(spec.multiples_of[0]);
      } else {
        joined.push_back(id);
      }
      continue;
    }
    NumberSpec& list = lists[spec.spelling];
    list.has_values = true;
    list.spelling = spec.spelling;
    for (const Decimal& value : set->values()) list.values.push_back(canonical_text(value));
  }
  if (joined.size() + lists.size() + multiples.size() >= numbers.size()) {
    return {numbers.begin(), numbers.end()};
  }
  for (const auto& [spelling, list] : lists) joined.push_back(number(list));
  for (auto& [kind, divisors] : multiples) {
    NumberSpec spec;
    std::tie(spec.spelling, spec.integer) = kind;
    joined.push_back(impl_->number(langs_, std::move(spec), std::move(divisors)));
  }
  return joined;
}

std::vector<LangId> LangTable::join_literals(std::span<const LangId> langs) {
  std::vector<LangId> joined;
  std::vector<std::string> texts;
  for (const LangId id : langs) {
    const LiteralsLang* list = impl_->literals[id];
    if (list == nullptr) joined.push_back(id);
    for (uint32_t index = 0; list != nullptr && index < list->size(); ++index) {
      std::string& text = texts.emplace_back();
      for (const uint32_t code_point : list->text(index)) {
        const Utf8 encoded = encode_utf8(code_point);
        text.append(encoded.buffer.begin(), encoded.buffer.begin() + encoded.length);
      }
    }
  }
  if (joined.size() + 1 >= langs.size()) return {langs.begin(), langs.end()};
  joined.push_back(literals(texts));
  return joined;
}

LangId LangTable::labelled_texts(std::span<const Labelled> texts) {
  std::vector<Labelled> sorted(texts.begin(), texts.end());
  std::ranges::sort(sorted, {}, &Labelled::text);  // as code points are sorted
  std::vector<uint32_t> packed, labels, code_points;
  for (const auto& [text, label] : sorted) {
    code_points.clear();
    decode_utf8(text, code_points);
    packed.push_back(static_cast<uint32_t>(code_points.size()));
    packed.insert(packed.end(), code_points.begin(), code_points.end());
    labels.push_back(label);
  }
  return impl_->add(langs_, std::make_unique<LiteralsLang>(std::move(packed), std::move(labels)));
}

LangId LangTable::labelled_numbers(std::span<const Labelled> numbers, NumberSpelling spelling) {
  NumberSpec spec;
  spec.has_values = true;
  // In the order of the set's list, so that it need not be sorted again.
  std::vector<std::pair<Decimal, uint32_t>> sorted;  // with the place among `numbers`
  sorted.reserve(numbers.size());
  for (uint32_t i = 0; i < numbers.size(); ++i) {
    sorted.emplace_back(parse_decimal(numbers[i].text), i);
  }
  std::ranges::sort(sorted, NumberSet::comes_before, &std::pair<Decimal, uint32_t>::first);
  std::vector<uint32_t> labels;
  for (const auto& [value, i] : sorted) {
    spec.values.emplace_back(numbers[i].text);
    labels.push_back(numbers[i].label);
  }
  auto set = std::make_shared<const NumberSet>(spec);
  if (spelling == NumberSpelling::kDecimal && set->only_integers()) {
    spelling = NumberSpelling::kPlain;
  }
  return impl_->add(
      langs_, make_labelled_numbers(std::move(set), spelling, impl_->ascii, std::move(labels)));
}

std::optional<std::vector<std::string>> LangTable::number_values(LangId number,
                                                                 std::size_t limit) const {
  return impl_->numbers.at(number).set->list(limit);
}

std::unique_ptr<Lang> LangTable::number_without(LangId number,
                                                std::span<const std::string> values) const {
  NumberSpec spec = impl_->numbers.at(number).spec;
  spec.excluded.insert(spec.excluded.end(), values.begin(), values.end());
  return impl_->make_number(spec, impl_->numbers.at(number).any_of);
}

std::unique_ptr<Lang> LangTable::number_among(LangId number,
                                              std::span<const std::string> values) const {
  NumberSpec spec = impl_->numbers.at(number).spec;
  std::vector<std::string> kept;
  for (const std::string& value : values) {
    const bool listed = std::ranges::any_of(spec.values, [&](const std::string& own) {
      return canonical_number(own) == canonical_number(value);
    });
    if (!spec.has_values || listed) kept.push_back(value);
  }
  spec.has_values = true;
  spec.values = std::move(kept);
  return impl_->make_number(spec, impl_->numbers.at(number).any_of);
}

bool LangTable::is_any_number(LangId number) const {
  const Impl::Number& known = impl_->numbers.at(number);
  return known.set->is_everything() && known.spec.spelling == NumberSpelling::kAny;
}

}  // namespace maskwright

#include "maskwright/json/machine.h"

#include <algorithm>

#include "json/array_family.h"
#include "json/blame.h"
#include "json/keyword_family.h"
#include "json/listed_family.h"
#include "json/machine_tables.h"
#include "json/object_family.h"
#include "json/record_family.h"
#include "json/value_family.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

struct JsonMachine::Impl {
  Impl(const Ir& ir_, Store& store, const std::array<bool, 256>& spellable,
       const JsonLimits& limits)
      : ir(ir_),
        tables(ir_, store, spellable, limits),
        values(tables),
        keywords(store),
        arrays(tables),
        objects(tables),
        records(tables),
        lists(tables),
        strings(make_string_family(store, tables.langs)),
        names(make_key_family(store, tables.langs)),
        numbers(make_number_family(store, tables.langs)) {
    tables.values = &values;
    tables.keywords = &keywords;
    tables.arrays = &arrays;
    tables.objects = &objects;
    tables.records = &records;
    tables.lists = &lists;
    tables.strings = strings.get();
    tables.names = names.get();
    tables.numbers = numbers.get();
    store.register_family(FamilyId::kValue, values);
    store.register_family(FamilyId::kKeyword, keywords);
    store.register_family(FamilyId::kArray, arrays);
    store.register_family(FamilyId::kObject, objects);
    store.register_family(FamilyId::kRecord, records);
    store.register_family(FamilyId::kListed, lists);
    store.register_family(FamilyId::kString, *strings);
    store.register_family(FamilyId::kKey, *names);
    store.register_family(FamilyId::kNumber, *numbers);
  }

  bool has_long_list(uint32_t target) const {
    return std::ranges::any_of(tables.solver.clauses(target & ~kTargetTag), [&](uint32_t id) {
      const uint32_t list = tables.clauses.get(id).listed;
      return list != kNone && tables.listed.values(list).size() >= ListedFamily::kMany;
    });
  }

  const Ir& ir;
  JsonTables tables;
  ValueFamily values;
  KeywordFamily keywords;
  ArrayFamily arrays;
  ObjectFamily objects;
  RecordFamily records;
  ListedFamily lists;
  std::size_t prepared = 0;  // of the solver's targets with a list
  std::unique_ptr<StringFamily> strings;
  std::unique_ptr<KeyFamily> names;
  std::unique_ptr<NumberFamily> numbers;
};

JsonMachine::JsonMachine(const Ir& ir, Store& store, const std::array<bool, 256>& spellable,
                         const JsonLimits& limits)
    : impl_(std::make_unique<Impl>(ir, store, spellable, limits)) {}

JsonMachine::~JsonMachine() = default;

uint32_t JsonMachine::target(uint32_t json_expr) {
  const auto payload = impl_->ir.expr(json_expr);
  const uint32_t options = impl_->tables.options.intern(impl_->ir, payload);
  return impl_->tables.targets.intern(options, payload.first(1)) | kTargetTag;
}

bool JsonMachine::productive(uint32_t target) {
  const ProductivitySolver& solver = impl_->tables.solver;
  if (!impl_->tables.solver.productive(target & ~kTargetTag)) return false;
  while (impl_->prepared < solver.listed().size()) {
    const uint32_t listed = solver.listed()[impl_->prepared++] | kTargetTag;
    if (!impl_->has_long_list(listed)) continue;
    impl_->lists.prepare(impl_->values.start(options_of(listed), false, {&listed, 1}));
  }
  return true;
}

uint32_t JsonMachine::blame(uint32_t json_expr) {
  JsonTables& tables = impl_->tables;
  const auto payload = impl_->ir.expr(json_expr);
  const uint32_t options = tables.options.intern(impl_->ir, payload);
  return Blame(impl_->ir, tables.targets, tables.clauses, tables.solver).find(options, payload[0]);
}

void JsonMachine::forget_outlines() { impl_->tables.targets.forget_outlines(); }

uint32_t JsonMachine::num_targets() const { return impl_->tables.targets.size(); }

std::size_t JsonMachine::memory_bytes() const {
  const Impl& impl = *impl_;
  return heap_block(sizeof(Impl)) + impl.tables.memory_bytes() +
         heap_bytes(impl.arrays, impl.objects, impl.records, impl.lists, impl.strings, impl.names,
                    impl.numbers);
}

bool JsonMachine::has_few_values() const { return impl_->arrays.has_few_values(); }

bool JsonMachine::has_few_names(bool endless) const {
  return impl_->objects.has_few_names(endless);
}

StateId JsonMachine::start(std::span<const uint32_t> targets) {
  return impl_->values.start(options_of(targets[0]), false, targets);
}

uint32_t JsonMachine::options_of(uint32_t target) const {
  return impl_->tables.targets.options(target & ~kTargetTag);
}

}  // namespace maskwright

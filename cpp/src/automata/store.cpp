#include "maskwright/automata/store.h"

#include <algorithm>
#include <memory>
#include <new>

namespace maskwright {

namespace {

constexpr std::size_t kSearched = 4;  // rows up to this size are searched in order
constexpr std::size_t kMaxIndexed = 255;

static_assert(sizeof(Row) % alignof(Edge) == 0 && Row::kIndexBytes % alignof(Edge) == 0);

void fill_index(std::span<const Edge> edges, uint8_t* index) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::fill(index + edges[i].lo, index + edges[i].hi + 1, static_cast<uint8_t>(i + 1));
  }
}

class DoneFamily final : public Family {
 public:
  explicit DoneFamily(Store& store) : store_(store) {}

  void describe(std::span<const uint32_t> content, State& state) override {
    state.flags = kAccepts | kReturnOnly;
    state.accepts = content[0];
  }
  void expand(StateId /*state*/, RowBuilder& /*row*/) override {}
  bool append_shared_key(StateId state, Reg /*reg*/, RegisterPool& /*regs*/,
                         SharedKey& key) override {
    key.add_callees(store_.set(store_.state(state).accepts));
    return true;
  }

 private:
  Store& store_;
};

}  // namespace

std::vector<Edge> RowBuilder::take() {
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.lo < b.lo; });
  std::size_t kept = 0;
  for (const Edge& edge : edges_) {
    if (kept != 0) {
      Edge& last = edges_[kept - 1];
      if (last.hi + 1 == edge.lo && last.op == edge.op && last.target == edge.target) {
        last.hi = edge.hi;
        continue;
      }
    }
    edges_[kept++] = edge;
  }
  edges_.resize(kept);
  return std::move(edges_);
}

Target Family::scan(StateId, Reg, uint8_t, StateId, RegisterPool&) { return {}; }
StateId Family::unhindered(const Edge& edge) { return edge.op == Op::kPlain ? edge.target : kDead; }
uint32_t Family::free_length(StateId, Reg) { return kUnbounded; }
bool Family::may_accept(StateId, std::vector<uint32_t>&) { return false; }
bool Family::only_counts(StateId) { return false; }
bool Family::reads_escapes(StateId) { return false; }
bool Family::reads_all(StateId, Reg, const RegisterPool&, FreeRun&, uint32_t&) { return false; }
uint32_t Family::listed(StateId, std::array<ListedRange, 2>&) { return 0; }
bool Family::listed_below(StateId, Reg, const RegisterPool&, std::vector<uint32_t>&) {
  return false;
}
SetId Family::accepted(StateId, Reg, const RegisterPool&) { return kEmptySet; }
void Family::callees(StateId, Reg, RegisterPool&, std::vector<Target>&) {}
Target Family::resume(StateId, Reg, SetId, Reg, RegisterPool&) { return {}; }
bool Family::dominates(StateId, Reg, Reg) { return false; }
StateId Family::tail_state(StateId state) { return state; }
void Family::caller_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  mask_key(state, reg, regs, key);
}
void Family::mask_key(StateId state, Reg reg, const RegisterPool& regs, KeyWords& key) {
  key.push_back(state);
  const auto words = regs.get(reg);
  key.insert(key.end(), words.begin(), words.end());
}

void Family::needed_callees(StateId state, Reg reg, bool /*any*/, RegisterPool& regs,
                            std::vector<Target>& out) {
  callees(state, reg, regs, out);
}

bool Family::append_shared_key(StateId, Reg, RegisterPool&, SharedKey&) { return false; }

Target Family::localise(StateId state, Reg reg, const RegisterPool& from, RegisterPool& to) {
  return {state, to.intern(from.get(reg))};
}

Target Family::forget(StateId state, Reg reg, RegisterPool& /*regs*/) { return {state, reg}; }
uint32_t Family::remembered(StateId, Reg, const RegisterPool&) { return 0; }
bool Family::guard(StateId, Reg, const RegisterPool&, Guard&) { return false; }
bool Family::suspect(StateId, Reg, const RegisterPool&, std::bitset<256>&) { return false; }
bool Family::completions(StateId, Reg, RegisterPool&, std::vector<Completion>&) { return false; }

void Family::likely(StateId /*state*/, Reg /*reg*/, const RegisterPool& /*regs*/,
                    std::vector<std::string>& /*out*/) {}

Store::Store(uint32_t max_advance, const TokenTexts* tokens, const Shortcuts& shortcuts)
    : max_advance_(max_advance),
      tokens_(tokens),
      shortcuts_(shortcuts),
      done_(std::make_unique<DoneFamily>(*this)) {
  register_family(FamilyId::kDone, *done_);
  sets_.intern({});                                               // kEmptySet
  contents_.intern({}, static_cast<uint32_t>(FamilyId::kCount));  // kDead
  states_.grow();
}

StateId Store::intern(FamilyId family, std::span<const uint32_t> content) {
  const auto [id, inserted] = contents_.intern(content, static_cast<uint32_t>(family));
  if (inserted) {
    states_.grow();
    State state;
    state.family = family;
    families_[static_cast<std::size_t>(family)]->describe(contents_.get(id), state);
    states_[id] = state;
  }
  return id;
}

StateId Store::done(SetId accepted) {
  const std::array<uint32_t, 1> content{accepted};
  return intern(FamilyId::kDone, content);
}

const Row& Store::expand(StateId id) {
  RowBuilder builder;
  family(states_[id].family).expand(id, builder);
  const std::vector<Edge> edges = builder.take();
  const bool indexed = edges.size() > kSearched && edges.size() <= kMaxIndexed;
  const std::size_t ahead = sizeof(Row) + (indexed ? Row::kIndexBytes : 0);
  const std::size_t bytes = ahead + edges.size() * sizeof(Edge);
  std::byte* block = rows_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
  row_bytes_ += heap_block(bytes);
  auto* copies = reinterpret_cast<Edge*>(block + ahead);
  std::uninitialized_copy(edges.begin(), edges.end(), copies);
  if (indexed) fill_index(edges, reinterpret_cast<uint8_t*>(block + sizeof(Row)));
  const Row* row = new (block) Row{{copies, edges.size()}, indexed};
  states_[id].row = row;
  return *row;
}

std::size_t Store::memory_bytes() const {
  return heap_block(sizeof(DoneFamily)) + heap_bytes(contents_, states_, sets_) + row_bytes_ +
         heap_block(rows_.capacity() * sizeof(rows_[0])) +
         heap_block(free_runs_.capacity() * sizeof(free_runs_[0])) +
         free_runs_.size() * heap_block(sizeof(FreeRun));
}

}  // namespace maskwright

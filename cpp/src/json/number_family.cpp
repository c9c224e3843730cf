// Frames inside numbers: the texts of several languages over ASCII, in lockstep.
//
// Content of a state: [accept, language, language state] per alternative still alive, sorted.
#include <algorithm>
#include <array>

#include "maskwright/json/strings.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

class PlainNumberFamily final : public NumberFamily {
 public:
  PlainNumberFamily(Store& store, LangTable& langs) : store_(store), langs_(langs) {}

  StateId start(std::span<const NumberItem> items) override {
    std::vector<Item> alive;
    for (const NumberItem& item : items) {
      const uint32_t state = langs_.get(item.lang).start();
      if (state != kDeadLang) alive.push_back({item.accept, item.lang, state});
    }
    return intern(std::move(alive));
  }

  std::vector<NumberItem> items(StateId state) const override {
    const auto content = store_.content(state);
    std::vector<NumberItem> out;
    for (std::size_t i = 0; i < content.size(); i += 3) out.push_back({content[i], content[i + 1]});
    return out;
  }

  void describe(std::span<const uint32_t> content, State& state) override {
    std::vector<uint32_t> accepted;
    bool continues = false;
    for (std::size_t i = 0; i < content.size(); i += 3) {
      Lang& lang = langs_.get(content[i + 1]);
      if (!lang.accepts(content[i + 2])) continue;
      accepted.push_back(content[i] == kItsLabel ? lang.label(content[i + 2]) : content[i]);
    }
    if (accepted.empty()) return;
    for (std::size_t i = 0; i < content.size() && !continues; i += 3) {
      continues = langs_.get(content[i + 1]).continues(content[i + 2]);
    }
    make_set(accepted);
    state.flags = kAccepts;
    state.accepts = store_.intern_set(accepted);
    if (!continues) state.flags = static_cast<uint16_t>(state.flags | kReturnOnly);
  }

  void expand(StateId state, RowBuilder& row) override {
    const auto content = store_.content(state);
    std::vector<Move> moves;
    std::vector<uint32_t> cuts;
    for (std::size_t i = 0; i < content.size(); i += 3) {
      for (const Lang::Arc& arc : langs_.get(content[i + 1]).arcs(content[i + 2])) {
        moves.push_back({arc.lo, arc.hi, {content[i], content[i + 1], arc.target}});
        cuts.push_back(arc.lo);
        cuts.push_back(arc.hi + 1);
      }
    }
    make_set(cuts);
    std::vector<Item> alive;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      alive.clear();
      for (const Move& move : moves) {
        if (move.lo <= cuts[i] && cuts[i] <= move.hi) alive.push_back(move.item);
      }
      const StateId target = intern(alive);
      if (target == kDead) continue;
      row.add(static_cast<uint8_t>(cuts[i]), static_cast<uint8_t>(cuts[i + 1] - 1), target);
    }
  }

  bool may_accept(StateId state, std::vector<uint32_t>& ids) override {
    const auto content = store_.content(state);
    for (std::size_t i = 0; i < content.size(); i += 3) {
      if (content[i] != kItsLabel) {
        ids.push_back(content[i]);
      } else if (!langs_.get(content[i + 1]).labels_ahead(content[i + 2], ids)) {
        return false;
      }
    }
    return true;
  }

  bool append_shared_key(StateId state, Reg /*reg*/, RegisterPool& /*regs*/,
                         SharedKey& key) override {
    const auto content = store_.content(state);
    key.add(static_cast<uint32_t>(content.size() / 3));
    for (std::size_t i = 0; i < content.size(); i += 3) {
      if (content[i] == kItsLabel) return false;
      key.add_callee(content[i]);
      if (!langs_.get(content[i + 1]).append_rest(content[i + 2], key)) return false;
    }
    return key.fits();
  }

  std::size_t footprint() const override { return heap_block(sizeof(*this)); }

 private:
  using Item = std::array<uint32_t, 3>;  // accept, language, language state
  struct Move {
    uint32_t lo, hi;
    Item item;
  };

  StateId intern(std::vector<Item> items) {
    if (items.empty()) return kDead;
    make_set(items);
    std::vector<uint32_t> content;
    for (const Item& item : items) content.insert(content.end(), item.begin(), item.end());
    return store_.intern(FamilyId::kNumber, content);
  }

  Store& store_;
  LangTable& langs_;
};

}  // namespace

std::unique_ptr<NumberFamily> make_number_family(Store& store, LangTable& langs) {
  return std::make_unique<PlainNumberFamily>(store, langs);
}

}  // namespace maskwright

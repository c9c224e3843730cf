// The member names of an object: the listed ones, and classes of all others.
//
// Listed names are sorted, so those that share what has been read are a range [lo, hi) and a node
// of their trie is {lo, hi, depth}; no trie is stored. All other names are told apart by one or
// more NameClasses (one per way in which alternatives of a union tell them apart). A position is
// the node, if a listed name is still possible, and where each of the NameClasses is. Positions and
// arcs are made on first use.
//
// Every way a name can end has a *label*: the index of a listed name, or label_base(i) + class for
// a class of the i-th NameClasses. What lies ahead of a position is its Ahead: how many unlisted
// names of each class there are. The same is known for a half-spelled code point.
//
// Cost: arcs are linear in the ranges that are told apart, times the NameClasses.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "json/name_classes.h"
#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/code_points.h"
#include "maskwright/support/heap_bytes.h"
#include "maskwright/support/interner.h"

namespace maskwright {

using KeyRange = ListedRange;

class KeyLang {
 public:
  // The unlisted names behind a place, by label. Interned: equal ones have equal ids.
  struct Ahead {
    struct Class {
      uint32_t label, count;  // not 0; kUnbounded: endlessly many
    };
    bool endless;                     // the names of no class can run out, now or later
    std::span<const uint32_t> words;  // two per class, by label

    std::size_t size() const { return words.size() / 2; }
    Class get(std::size_t i) const { return {words[2 * i], words[2 * i + 1]}; }
  };

  // `text`: the arcs of "any text", of which all names are made. `keys`: UTF-8, sorted, unique;
  // Error(kMalformed) if not. `classes` outlive this.
  KeyLang(std::span<const std::string> keys, std::span<const NameClasses* const> classes,
          std::span<const Lang::Arc> text);

  uint32_t start();
  std::span<const Lang::Arc> arcs(uint32_t position);
  // The keys that are possible at the position.
  KeyRange keys(uint32_t position) const;
  // The labels of the name that has been read, sorted; empty if it is none.
  std::vector<uint32_t> labels(uint32_t position) const;
  uint32_t ahead_of(uint32_t position);
  // ... of a position of which only the code points in the ranges may come next.
  uint32_t ahead_of(uint32_t position, std::span<const CodeRange> ranges);
  Ahead ahead(uint32_t id) const;
  // Makes no arcs.
  uint32_t move(uint32_t position, uint32_t code_point);
  // The listed names that go on from a position, by their next code point.
  struct Child {
    uint32_t code_point;
    KeyRange keys;
  };
  std::vector<Child> children(uint32_t position) const;
  // The NameClasses don't tell names apart behind the position, or are nowhere.
  bool others_are_plain(uint32_t position) const;

  // Of one of the NameClasses that don't tell names apart the only label is `allowed`.
  template <typename Allowed>
  bool any_plain(Allowed allowed) const {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (classes_[i]->plain() && allowed(bases_[i])) return true;
    }
    return false;
  }

  // If there is one: where it is at the position, kDeadLang if it is nowhere.
  const NameClasses* only_classes() const {
    return classes_.size() == 1 ? classes_.front() : nullptr;
  }
  uint32_t place(uint32_t position) const { return places(position)[0]; }

  uint32_t size() const { return static_cast<uint32_t>(begin_.size() - 1); }
  uint32_t num_labels() const { return bases_.back(); }
  // The position behind the same text if no listed name were possible there.
  uint32_t unlisted(uint32_t position);
  // The rest of a listed name that is possible at the position, as UTF-8.
  std::string rest(uint32_t key, uint32_t position) const;
  uint32_t label_base(std::size_t i) const { return bases_[i]; }
  std::size_t memory_bytes() const {
    return heap_bytes(code_points_, begin_, classes_, bases_, listed_, text_, positions_, aheads_,
                      ahead_of_, arcs_, words_);
  }

 private:
  static constexpr std::size_t kNodeWords = 3;

  std::span<const uint32_t> node(uint32_t position) const {
    return positions_.get(position).first(kNodeWords);
  }
  std::span<const uint32_t> places(uint32_t position) const {
    return positions_.get(position).subspan(kNodeWords);
  }
  uint32_t length(uint32_t key) const { return begin_[key + 1] - begin_[key]; }
  uint32_t at(uint32_t key, uint32_t depth) const { return code_points_[begin_[key] + depth]; }
  bool ends(uint32_t position) const;
  KeyRange child(uint32_t position, uint32_t code_point) const;
  void count(uint32_t position, uint64_t times, std::vector<uint64_t>& counts) const;
  uint32_t intern_ahead(bool endless, std::span<const uint64_t> counts);
  bool endless(uint32_t position) const;

  std::vector<uint32_t> code_points_;  // of all keys
  std::vector<uint32_t> begin_;        // per key, and the end
  std::vector<const NameClasses*> classes_;
  std::vector<uint32_t> bases_;  // per NameClasses, and the end
  std::vector<std::vector<uint32_t>>
      listed_;  // per NameClasses whose names can run out: class of each key
  std::vector<Lang::Arc> text_;
  WordInterner positions_;          // {lo, hi, depth, place in each NameClasses}
  WordInterner aheads_;             // {endless, (label, count)...}
  std::vector<uint32_t> ahead_of_;  // by position, kNone if not yet known
  std::vector<std::unique_ptr<std::vector<Lang::Arc>>> arcs_;
  std::vector<uint32_t> words_;  // scratch
};

}  // namespace maskwright

// What can be stored of a MaskStore's entries. Most have keys, since grammars share them. Those of
// rules get theirs here, in the numbers of the normal form, which the loaded grammar has.

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "mask/mask_walk.h"
#include "maskwright/mask/mask_store.h"

namespace maskwright {

// A register of a walk's own arena is gone after it.
bool MaskStore::is_storable(const Config& local) const {
  return (store_.state(local.state).flags & kPooledRegister) == 0;
}

StorableMasks MaskStore::storable(const Config& start) {
  StorableMasks found = numbers_ != nullptr ? shared_->all() : storable_entries();
  found.start = find_start_mask(start);
  return found;
}

// Null if the masks that it takes have not been computed.
std::shared_ptr<const StartMask> MaskStore::find_start_mask(const Config& start) {
  if (start_mask_ != nullptr || counters_.entries == 0) return start_mask_;
  Arena arena;
  ConfigSet closed;
  std::vector<SetId> returned;
  runner_.add(start, arena, closed);
  runner_.close(closed, arena, &returned);
  std::vector<uint32_t> row(vocabulary_.mask_words());
  if (!fill(closed.configs(), arena, row, false)) return nullptr;
  auto mask = std::make_shared<StartMask>();
  mask->completed = !returned.empty();
  for (uint32_t id = 0; id < vocabulary_.vocab_size(); ++id) {
    if ((row[id / 32] >> id % 32 & 1U) != 0) mask->ids.push_back(id);
  }
  if (mask->ids.size() > row.size()) {
    mask->ids = {};
    mask->dense = std::move(row);
  }
  return mask;
}

StorableMasks MaskStore::storable_entries() {
  const RulesMachine::NormalNumbers numbers = rules_.normal_numbers();
  walk_->begin();  // for its registers
  StorableMasks found;
  std::vector<uint32_t> indices;  // of lists
  std::unordered_set<const SharedMask*> known;
  for (uint32_t id = 0; id < entries_.size(); ++id) {
    const Entry& entry = entries_[id];
    if (entry.origin != nullptr) {
      add_storable(entry, numbers, found, indices);
    } else if (!entry.mask->key.empty() && known.insert(entry.mask.get()).second) {
      StorableMask mask{entry.mask->key, entry.mask, list_index(entry.escapes, found, indices),
                        entry.mask->sets};
      if (SharedMask::names_list(mask.key)) {
        const uint32_t list = local_lists_.at(SharedMask::list_in(mask.key));
        mask.key[1] = list_index(list, found, indices);
        mask.key[2] = 0;
      }
      found.masks.push_back(std::move(mask));
    }
  }
  walk_->cancel();
  return found;
}

// Adds the entry, if its key can be told.
void MaskStore::add_storable(const Entry& entry, const RulesMachine::NormalNumbers& numbers,
                             StorableMasks& out, std::vector<uint32_t>& indices) {
  const Origin& origin = *entry.origin;
  shared_key_.clear();
  shared_key_.add(origin.tag);
  if (origin.tag >= kChildTag) {
    shared_key_.add(list_index(origin.escapes, out, indices));
    shared_key_.add(0);
  }
  for (const Config& config : origin.configs) {
    if (!append_shared_key(config, &numbers)) return;
  }
  std::vector<uint32_t> sets;
  if (!number_sets(entry.sets, sets)) return;
  const auto key = shared_key_.words();
  const uint32_t list = list_index(entry.escapes, out, indices);
  out.masks.push_back({{key.begin(), key.end()}, entry.mask, list, std::move(sets)});
}

// The index of a list among those that are stored; it is added with its first use.
uint32_t MaskStore::list_index(uint32_t escapes, StorableMasks& out,
                               std::vector<uint32_t>& indices) const {
  indices.resize(escape_lists_.size(), kNone);
  if (indices[escapes] == kNone) {
    indices[escapes] = static_cast<uint32_t>(out.lists.size());
    const auto words = escape_lists_.get(escapes);
    out.lists.emplace_back(words.begin(), words.end());
  }
  return indices[escapes];
}

}  // namespace maskwright

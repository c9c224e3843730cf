#include "mask/listed_texts.h"

namespace maskwright {

const std::vector<ListedTexts::Place>* ListedTexts::places(StateId state) {
  const auto [entry, added] = found_.try_emplace(state);
  if (added) return nullptr;
  if (entry->second == nullptr) {
    entry->second = std::make_unique<Found>();
    Found& found = *entry->second;
    found.listed = find_below(0, state, found.places);
    if (!found.listed) found.places.clear();
    found.places.shrink_to_fit();
  }
  return entry->second->listed ? &entry->second->places : nullptr;
}

// False if the family says nothing of a state.
bool ListedTexts::find_below(uint32_t node, StateId state, std::vector<Place>& out) {
  std::array<ListedRange, 2> texts;
  const uint32_t size = store_.family(store_.state(state).family).listed(state, texts);
  if (size == 0) return false;
  const Row& row = store_.row(state);
  for (uint32_t child = node + 1; child < vocabulary_.next(node); child = vocabulary_.next(child)) {
    const Edge* edge = row.find(vocabulary_.byte(child));
    if (edge == nullptr) continue;
    const StateId target = edge->target;
    Place place{child, 0, {}, kEmptySet};
    if (store_.state(target).family == FamilyId::kDone) {
      const SetId returned = store_.state(target).accepts;
      const uint32_t text = store_.set(returned)[0];
      if (text >= size) continue;
      place.texts[0] = {text, text + 1};
      place.returned = returned;
    } else {
      store_.family(store_.state(target).family).listed(target, place.texts);
      if (place.texts[0].empty() && place.texts[1].empty()) continue;
    }
    const std::size_t at = out.size();
    out.push_back(place);
    const bool deeper = place.returned == kEmptySet && vocabulary_.has_children(child);
    if (deeper && !find_below(child, target, out)) return false;
    out[at].behind = static_cast<uint32_t>(out.size());
  }
  return true;
}

}  // namespace maskwright

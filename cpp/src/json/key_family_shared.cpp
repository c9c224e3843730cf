// KeyFrames in words of no grammar: which names may come.
//
// Names that aren't listed are those of one class, or there are none. Where they may come, a listed
// name matters only if a token can read it to its end: those that a walk doesn't know it can't
// (KeyFrames::localise()), and from before the quotation mark it can read the near ones only.
//
// Cost: linear in the texts of the names that are ahead.

#include "json/key_family.h"
#include "json/key_register.h"

namespace maskwright {

using namespace key_register;

// Whether other names may come; false if they differ.
bool KeyFrames::append_others(const View& at, std::span<const uint32_t> words, SharedKey& key,
                              bool& open) const {
  const KeyLang& lang = *lists_[at.list];
  const KeyLang::Ahead ahead = lang.ahead(at.ahead);
  open = false;
  if (ahead.size() != 0) {
    const NameClasses* names = lang.only_classes();
    if (names == nullptr || !names->plain() || !ahead.endless) return false;
    open = is_allowed(words, ahead.get(0).label);
  }
  key.add(open ? 1 : 0);
  key.add(words.empty() ? 0 : words[0]);
  if (open) key.add_callee(ahead.get(0).label);
  return true;
}

bool KeyFrames::append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) {
  if (is_exact(state)) return false;
  const View at = view(store_.content(state));
  const KeyLang& lang = *lists_[at.list];
  const Words words = regs.get(reg);
  key.add(at.spelling);
  key.add(at.value);
  bool open = false;
  if (!append_others(at, words, key, open)) return false;
  const auto add = [&](uint32_t name) {
    const bool allowed = is_allowed(words, name);
    if (is_unknown_name(words, name) || (!allowed && !open) || !key.fits()) return;
    key.add(allowed ? 2 : 1);
    key.add_text(lang.rest(name, at.position));
    if (allowed) key.add_callee(name);
  };
  if (open && at.spelling == kBeforeQuote) {
    for (const uint32_t name : near_names(state)) add(name);
  } else {
    for (const KeyRange range : {at.first, at.second}) {
      for (uint32_t name = range.lo; name < range.hi; ++name) add(name);
    }
  }
  key.add(0);
  return key.fits();
}

bool KeyFrames::append_other_names(StateId start, Reg reg, const RegisterPool& regs,
                                   SharedKey& key) {
  bool open = false;
  return append_others(view(store_.content(start)), regs.get(reg), key, open);
}

}  // namespace maskwright

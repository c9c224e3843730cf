// KeyFrames::append_shared_key(): which names may come, in words.
//
// A listed name that is not known to a walk has no say, since no token can read it to its end (a
// walk starts where that is so: KeyFrames::localise()). Names that aren't listed are those of one
// class, or there are none. Cost: linear in the texts of the names that are ahead.

#include "json/key_family.h"
#include "json/key_register.h"

namespace maskwright {

using namespace key_register;

bool KeyFrames::append_shared_key(StateId state, Reg reg, RegisterPool& regs, SharedKey& key) {
  if (is_exact(state)) return false;
  const View at = view(store_.content(state));
  const KeyLang& lang = *lists_[at.list];
  const KeyLang::Ahead ahead = lang.ahead(at.ahead);
  const Words words = regs.get(reg);
  key.add(at.spelling);
  key.add(at.value);
  key.add(words.empty() ? 0 : words[0]);
  bool open = false;
  if (ahead.size() != 0) {
    const NameClasses* names = lang.only_classes();
    if (names == nullptr || !names->plain() || !ahead.endless) return false;
    open = is_allowed(words, ahead.get(0).label);
  }
  key.add(open ? 1 : 0);
  if (open) key.add_callee(ahead.get(0).label);
  for (const KeyRange range : {at.first, at.second}) {
    for (uint32_t name = range.lo; name < range.hi && key.fits(); ++name) {
      const bool allowed = is_allowed(words, name);
      if (is_unknown_name(words, name) || (!allowed && !open)) continue;
      key.add(allowed ? 2 : 1);
      key.add_text(lang.rest(name, at.position));
      if (allowed) key.add_callee(name);
    }
  }
  key.add(0);
  return key.fits();
}

}  // namespace maskwright

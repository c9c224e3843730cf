// Completions that need a search.
//
// Families keep their states live: some bytes complete the text. Where earlier values decide, as in
// arrays of unique items, that would take counting the completions of any schema. There a
// configuration is a *suspect* while the value that it reads may still become one that is refused
// (Family::suspect); every other configuration can be completed. So a set of suspects can be
// completed iff some text leads it to a configuration that is none, and that is found by reading
// on, breadth first: nearly always the next byte does.
//
// Cost: one search for each set of suspects that is asked about, remembered in the arena. Only
// texts that spell the beginning of a refused value are read, so a search without an end is bounded
// by the spellings of those values.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "maskwright/automata/run.h"

namespace maskwright {

class WayOut {
 public:
  WayOut(Store& store, Runner& runner) : store_(store), runner_(runner) {}

  bool suspect(const Config& config, Arena& arena, std::bitset<256>& next) const;
  // False iff all configurations, not yet closed, are suspects and none can be completed.
  bool exists(const ConfigSet& set, Arena& arena);

 private:
  bool any_clear(const ConfigSet& set, Arena& arena) const;
  std::bitset<256> readable(const ConfigSet& closed) const;
  void complete(ConfigSet& closed, Arena& arena, std::vector<ConfigSet>& out);
  uint32_t place(const ConfigSet& set, Arena& arena);
  bool search(std::vector<uint32_t>& places, Arena& arena);

  Store& store_;
  Runner& runner_;
};

}  // namespace maskwright

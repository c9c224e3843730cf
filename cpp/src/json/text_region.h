// Which text a state of a language reads whatever it is: text of a class, of any length or up to
// one.
//
// Idea: the class is what the state reads, cut down until every state that text of the class leads
// to reads all of the class too. Those states are a *region*; a mask needs the class's words and a
// walk of the tokens that leave it. Where no such class is left, the state may still begin a chain:
// states that read the class one after the other, behind which no character of it can come, as in
// [A-Z]{8}.
//
// Cost: linear in the arcs of the states in the region, up to kMaxStates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "maskwright/automata/store.h"
#include "maskwright/json/lang.h"
#include "maskwright/support/code_points.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

struct TextRegion {
  FreeRun run;
  uint32_t length = 0;           // code points; 0: nothing can be said
  std::vector<uint32_t> states;  // of a region, where the length is kUnbounded

  std::size_t memory_bytes() const { return heap_bytes(states); }
};

// What may follow a state as far as the text goes on.
using RegionArcs = std::function<std::span<const Lang::Arc>(uint32_t state)>;
// TokenTexts::code_class.
using CodeClassOf = std::function<uint32_t(std::span<const CodeRange>)>;

// `longest`: no text is longer, in code points.
TextRegion find_text_region(const RegionArcs& arcs, const CodeClassOf& code_class, uint32_t state,
                            uint32_t longest);
// The same of the text that leads the state back to itself.
TextRegion find_own_region(const RegionArcs& arcs, const CodeClassOf& code_class, uint32_t state);

// The bytes at which the spelling of a code point that is read may begin, and are not of the class.
void add_bytes_read(std::span<const Lang::Arc> arcs, const TextClass& text, ByteSet& bytes);

// All code points lead to the target.
bool all_lead_to(uint32_t target, std::span<const Lang::Arc> arcs);

}  // namespace maskwright

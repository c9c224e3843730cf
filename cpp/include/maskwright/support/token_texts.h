// What frames may ask about the vocabulary's texts: only so much that masks can be shared between
// configurations whose difference no token can read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "maskwright/support/code_points.h"

namespace maskwright {

class TokenTexts {
 public:
  virtual ~TokenTexts() = default;
  // Some token begins with the text, as JSON spells it, and a quotation mark.
  virtual bool end_name(std::string_view text) const = 0;
  // Some token has the text, as JSON spells it, between two quotation marks.
  virtual bool quote(std::string_view text) const = 0;
  // A number for the code points beyond ASCII, sorted and disjoint: the vocabulary keeps which
  // tokens are made of them. 0 if it keeps none, or no more.
  virtual uint32_t code_class(std::span<const CodeRange> /*ranges*/) const { return 0; }
  // Some token goes on from one member of an object into a next one's name that may be the text:
  // it has a comma, whitespace, a quotation mark and the name's beginning.
  virtual bool reach_name(std::string_view text) const = 0;
  // Some token goes on from a brace into a first member's name that may be the text: it has a
  // brace, whitespace, a quotation mark and the name's beginning.
  virtual bool begin_name(std::string_view /*text*/) const { return true; }
  // Some token has a whole name, the colon behind it and the beginning of a value.
  virtual bool pass_names() const { return true; }
};

}  // namespace maskwright

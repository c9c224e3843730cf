// What frames may ask about the vocabulary's texts: only so much that masks can be shared between
// configurations whose difference no token can read.
#pragma once

#include <string_view>

namespace maskwright {

class TokenTexts {
 public:
  virtual ~TokenTexts() = default;
  // Some token begins with the text, as JSON spells it, and a quotation mark.
  virtual bool end_name(std::string_view text) const = 0;
  // Some token has the text, as JSON spells it, between two quotation marks.
  virtual bool quote(std::string_view text) const = 0;
};

}  // namespace maskwright

// What frames may ask about the vocabulary's texts: only so much that masks can be shared between
// configurations whose difference no token can read.
#pragma once

#include <string_view>

namespace maskwright {

class TokenTexts {
 public:
  virtual ~TokenTexts() = default;
  // Some token begins with the text.
  virtual bool begin_with(std::string_view text) const = 0;
  // Some token has the text between two quotation marks in it.
  virtual bool quote(std::string_view text) const = 0;
};

}  // namespace maskwright

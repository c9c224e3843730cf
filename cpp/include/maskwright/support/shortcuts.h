// What masks are computed with, each of which can be left out without changing any answer: for
// tests that compare answers, and measurements of what each is worth.
#pragma once

namespace maskwright {

struct Shortcuts {
  bool token_classes = true;  // bitmaps of text instead of walks (trie/token_classes.h)
  bool clipping = true;       // counts matter only as far as a token can see
  bool sharing = true;        // of masks between configurations that no token tells apart
};

}  // namespace maskwright

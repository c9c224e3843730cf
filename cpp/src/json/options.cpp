#include "json/options.h"

#include <algorithm>
#include <utility>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

std::string separator(std::string_view text, char mark) {
  const std::size_t at = text.find_first_not_of(" \t\n\r");
  const bool good = at != std::string_view::npos && text[at] == mark &&
                    text.find_first_not_of(" \t\n\r", at + 1) == std::string_view::npos;
  if (!good) {
    throw Error(ErrorKind::kMalformed, "json-separator",
                "JSON separator \"" + std::string(text) + "\" must be one '" + mark +
                    "' with nothing but whitespace around it");
  }
  return std::string(text);
}

}  // namespace

bool OptionsTable::can_spell(std::string_view text) const {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return spellable_[static_cast<unsigned char>(c)]; });
}

uint32_t OptionsTable::intern(const Ir& ir, std::span<const uint32_t> payload) {
  const uint32_t flags = payload[1];
  JsonOptions options;
  options.any_order = (flags & kAnyOrder) != 0;
  options.whitespace = (flags & kAnyWhitespace) != 0;
  options.strict = (flags & kStrict) != 0;
  if ((flags & kDecimalNumbers) != 0) options.numbers = NumberSpelling::kDecimal;
  if ((flags & kPlainNumbers) != 0) options.numbers = NumberSpelling::kPlain;
  if (options.whitespace) {
    options.max_whitespace = payload[2];
    options.item_separator.assign(1, ',');
    options.key_separator.assign(1, ':');
  } else {
    options.item_separator = separator(ir.bytes(payload[3], payload[4]), ',');
    options.key_separator = separator(ir.bytes(payload[5], payload[6]), ':');
  }
  options.can_separate = can_spell(options.item_separator);
  options.can_label = can_spell(options.key_separator);
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const auto& known) { return known->same_layout(options); });
  const auto id = static_cast<uint32_t>(found - options_.begin());
  if (found == options_.end()) {
    options_.push_back(std::make_unique<const JsonOptions>(std::move(options)));
  }
  return id;
}

void OptionsTable::append_layout(uint32_t id, SharedKey& key) const {
  const JsonOptions& layout = get(id);
  key.add((layout.whitespace ? 1U : 0U) | (static_cast<uint32_t>(layout.numbers) << 1));
  key.add(layout.max_whitespace);
  key.add_text(layout.item_separator);
  key.add_text(layout.key_separator);
}

}  // namespace maskwright

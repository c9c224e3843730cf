#include "maskwright/trie/trie.h"

#include <algorithm>

#include "maskwright/support/error.h"
#include "maskwright/support/sorted_set.h"
#include "maskwright/support/spaces.h"
#include "support/unescape.h"

namespace maskwright {

namespace {

constexpr std::size_t kWide = 12;  // children
constexpr std::size_t kMostWide = 0xFFFF;

void check_ids(std::span<const uint32_t> ids, uint32_t vocab_size, const std::string& what) {
  for (const uint32_t id : ids) {
    if (id >= vocab_size) {
      throw Error(ErrorKind::kTokenizer, "tokenizer-id-out-of-range",
                  what + " " + std::to_string(id) + " is outside the vocabulary of " +
                      std::to_string(vocab_size) + " ids; pass ids below vocab_size");
    }
  }
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, uint32_t vocab_size,
                       std::vector<uint32_t> special_token_ids,
                       std::vector<uint32_t> stop_token_ids)
    : tokens_(std::move(tokens)),
      ordinary_(tokens_.size(), true),
      vocab_size_(vocab_size),
      stop_token_ids_(std::move(stop_token_ids)) {
  if (vocab_size_ < tokens_.size()) {
    throw Error(ErrorKind::kTokenizer, "tokenizer-vocab-size",
                "vocab_size " + std::to_string(vocab_size_) + " is smaller than the " +
                    std::to_string(tokens_.size()) +
                    " tokens given; pass at least the number of tokens");
  }
  check_ids(special_token_ids, vocab_size_, "special token id");
  check_ids(stop_token_ids_, vocab_size_, "stop token id");
  make_set(stop_token_ids_);
  for (const auto* ids : {&special_token_ids, &stop_token_ids_}) {
    for (const uint32_t id : *ids) {
      if (id < ordinary_.size()) ordinary_[id] = false;
    }
  }
  for (uint32_t id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id].empty()) ordinary_[id] = false;
  }
  build_trie();
  build_children();
  build_subtrees();
  find_names();
  find_space();
  classes_ = std::make_unique<const TokenClasses>(*this);
}

Vocabulary::Vocabulary(const Vocabulary& whole, uint32_t space_node)
    : whole_(&whole), ordinary_(whole.ordinary_.size(), false), vocab_size_(whole.vocab_size_) {
  for (const uint32_t id : whole.tokens_below(space_node)) ordinary_[id] = true;
  build_trie();
  classes_ = std::make_unique<const TokenClasses>(*this);
}

void Vocabulary::find_space() {
  const uint32_t node = child(0, ' ');
  if (node == kNoNode || next(node) - node <= num_nodes() / kManyWords) return;
  space_node_ = node;
  behind_space_.reset(new Vocabulary(*this, node));
}

void Vocabulary::build_trie() {
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < ordinary_.size(); ++id) {
    if (ordinary_[id]) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int compared = text(a).compare(text(b));
    return compared != 0 ? compared < 0 : a < b;
  });
  std::vector<uint32_t> path;  // nodes from the root to the last token's node
  const auto open = [&](uint8_t byte, uint32_t depth) {
    path.push_back(num_nodes());
    nodes_.push_back({0, static_cast<uint32_t>(token_ids_.size()), byte, false, 0});
    depths_.push_back(depth);
    if (byte != '"') return;
    for (std::size_t i = path.size(); i-- > 0 && !nodes_[path[i]].leads_to_quote;) {
      nodes_[path[i]].leads_to_quote = true;
    }
  };
  open(0, 0);
  std::string_view previous;
  for (const uint32_t id : order) {
    const std::string_view text = this->text(id);
    const auto common = static_cast<std::size_t>(
        std::mismatch(previous.begin(), previous.end(), text.begin(), text.end()).first -
        previous.begin());
    for (; path.size() > common + 1; path.pop_back()) nodes_[path.back()].next = num_nodes();
    for (std::size_t i = common; i < text.size(); ++i) {
      open(static_cast<uint8_t>(text[i]), static_cast<uint32_t>(i + 1));
      spellable_[static_cast<uint8_t>(text[i])] = true;
    }
    token_ids_.push_back(id);
    max_token_length_ = std::max(max_token_length_, static_cast<uint32_t>(text.size()));
    previous = text;
  }
  for (const uint32_t node : path) nodes_[node].next = num_nodes();
  nodes_.push_back({0, static_cast<uint32_t>(token_ids_.size()), 0, false, 0});
  std::array<bool, 256> alone{};
  for (uint32_t node = 1; node < num_nodes(); node = next(node)) {
    alone[byte(node)] = !tokens_at(node).empty();
  }
  byte_closed_ = alone == spellable_;
}

void Vocabulary::build_children() {
  Children here;
  for (uint32_t node = 0; node < num_nodes(); ++node) {
    here.bytes.clear();
    here.nodes.clear();
    for (uint32_t child = node + 1; child < next(node); child = next(child)) {
      here.bytes.push_back(byte(child));
      here.nodes.push_back(child);
    }
    if (here.nodes.size() < kWide || children_.size() == kMostWide) continue;
    children_.push_back(here);
    nodes_[node].wide = static_cast<uint16_t>(children_.size());
  }
}

// The place of the first byte from there on that is no whitespace.
static std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(static_cast<uint8_t>(text[at]))) ++at;
  return at;
}

void Vocabulary::find_names() {
  for (uint32_t id = 0; id < tokens_.size(); ++id) {
    const std::string_view token = text(id);
    const std::size_t first = token.find('"');
    if (first == std::string_view::npos) continue;
    next_names_.find(token, ',');
    first_names_.find(token, '{');
    pass_names_ = pass_names_ || passes_name(token);
    if (token.find('\\') < first || token.find("\\\"") != std::string_view::npos) {
      if (auto name = spelled_name(token)) escaped_ends_.push_back(std::move(*name));
    }
    for (std::size_t at = first; at < token.size(); at = token.find('"', at + 1)) {
      if (auto name = spelled_name(token.substr(at + 1))) quoted_.push_back(std::move(*name));
    }
  }
  make_set(quoted_);
  make_set(escaped_ends_);
}

void Vocabulary::Beginnings::find(std::string_view token, char before) {
  for (std::size_t found = token.find(before); found != std::string_view::npos;
       found = token.find(before, found + 1)) {
    std::size_t at = skip_spaces(token, found + 1);
    if (at + 1 >= token.size() || token[at] != '"') continue;
    bytes.add(static_cast<uint8_t>(token[at + 1]));
    if (token[at + 1] == '\\' && at + 2 < token.size()) escaped = true;
  }
}

// Behind a backslash any name but the empty one may follow, whatever it is.
bool Vocabulary::Beginnings::may_be(std::string_view name) const {
  if (escaped) return true;
  if (name.empty()) return bytes.has('"') || bytes.has('\\');
  return bytes.has(static_cast<uint8_t>(name[0]));
}

bool Vocabulary::passes_name(std::string_view token) {
  const std::size_t first = token.find('"');
  if (first == std::string_view::npos) return false;
  for (std::size_t end = token.find('"', first + 1); end != std::string_view::npos;
       end = token.find('"', end + 1)) {
    const std::size_t colon = skip_spaces(token, end + 1);
    if (colon >= token.size() || token[colon] != ':') continue;
    if (skip_spaces(token, colon + 1) < token.size()) return true;
  }
  return false;
}

bool Vocabulary::quote(std::string_view text) const {
  return std::ranges::binary_search(quoted_, text);
}

uint32_t Vocabulary::child(uint32_t node, uint8_t byte) const {
  if (const Children* all = children(node); all != nullptr) {
    const auto at = std::ranges::lower_bound(all->bytes, byte);
    if (at == all->bytes.end() || *at != byte) return kNoNode;
    return all->nodes[static_cast<std::size_t>(at - all->bytes.begin())];
  }
  const uint32_t end = next(node);
  uint32_t child = node + 1;
  while (child < end && nodes_[child].byte != byte) child = next(child);
  return child < end ? child : kNoNode;
}

bool Vocabulary::end_name(std::string_view text) const {
  if (std::ranges::binary_search(escaped_ends_, text)) return true;
  uint32_t node = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(i < text.size() ? text[i] : '"');
    node = child(node, byte);
    if (node == kNoNode) return false;
  }
  return true;
}

std::size_t Vocabulary::memory_bytes() const {
  std::size_t total = nodes_.capacity() * sizeof(Node) + heap_bytes(children_) +
                      (depths_.capacity() + subtree_index_.capacity() + token_ids_.capacity()) * 4;
  total += (quoted_.capacity() + escaped_ends_.capacity()) * sizeof(std::string);
  total += subtrees_.capacity() * sizeof(Subtree) + classes_->memory_bytes();
  if (behind_space_ != nullptr) total += behind_space_->memory_bytes();
  for (const std::string& token : tokens_) {
    total += sizeof(std::string) + (token.capacity() > 15 ? token.capacity() + 1 : 0);
  }
  return total;
}

}  // namespace maskwright

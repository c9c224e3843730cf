#include "maskwright/trie/token_classes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>

#include "maskwright/support/spaces.h"
#include "maskwright/trie/trie.h"
#include "support/unescape.h"
#include "trie/code_classes.h"
#include "trie/utf8_steps.h"

namespace maskwright {

namespace {

constexpr uint32_t kAscii = 128;
constexpr std::size_t kMaxKnownWords = 256;
constexpr std::size_t kMaxKnownWays = 32;
// A byte is common if its residue is more than this part of the trie; a residue is of use up to
// this part of it. Small ones always are.
constexpr uint32_t kCommonPart = 16;
constexpr uint32_t kUsefulPart = 8;
constexpr uint32_t kAlways = 256;

void set(std::span<uint32_t> bitmap, uint32_t id) { bitmap[id / 32] |= 1U << id % 32; }

void remove(std::span<uint32_t> from, std::span<const uint32_t> bits) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] &= ~bits[i];
}

// The code points that begin in the text as JSON spells it between quotation marks; nothing if it
// is no such text.
std::optional<uint32_t> spelled_code_points(std::string_view text) {
  Spelled at;
  uint32_t begun = 0;
  for (const char unit : text) {
    if (at.between()) ++begun;
    at = spell(at, static_cast<uint8_t>(unit));
    if (at.spelling == Spelling::kCount) return std::nullopt;
  }
  return begun;
}

// Takes the first that `matches`, or makes one; keeps the last used in front.
template <typename Item, typename Matches, typename Make>
const Item& recall(std::list<Item>& known, std::size_t limit, Matches matches, Make make) {
  const auto found = std::ranges::find_if(known, matches);
  if (found != known.end()) {
    known.splice(known.begin(), known, found);
  } else {
    known.push_front(make());
    if (known.size() > limit) known.pop_back();
  }
  return known.front();
}

}  // namespace

TokenClasses::TokenClasses(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      words_(vocabulary.mask_words()),
      code_classes_(std::make_unique<CodeClasses>(vocabulary)) {
  build_bitmaps();
  build_ways();
  build_quoted();
  build_closings();
  build_spaces();
}

TokenClasses::~TokenClasses() = default;

uint32_t TokenClasses::code_class(std::span<const CodeRange> ranges) const {
  const std::lock_guard lock(mutex_);
  const uint32_t id = code_classes_->intern(ranges);
  // The same numbers behind a space.
  if (const Vocabulary* rest = vocabulary_.behind_space()) rest->classes().code_class(ranges);
  return id;
}

void TokenClasses::build_bitmaps() {
  blocks_.assign(2 * kAscii * words_, 0);
  utf8_.assign(words_, 0);
  up_to_.assign(kShort, Bitmap(words_, 0));
  for (uint32_t id = 0; id < vocabulary_.vocab_size(); ++id) {
    const std::string_view text = vocabulary_.text(id);
    if (text.empty()) continue;
    if (text.find('\\') != std::string_view::npos) {
      if (const auto begun = spelled_code_points(text)) escaped_.emplace_back(*begun, id);
    }
    Utf8State state = kBoundary;
    uint32_t begun = 0;
    for (const char unit : text) {
      const auto byte = static_cast<uint8_t>(unit);
      state = utf8_step(state, byte);
      begun += begins_code_point(byte) ? 1 : 0;
      set(block(byte < kAscii ? kAscii + byte : 0), id);
    }
    if (state == kDeadUtf8) continue;
    set(utf8_, id);
    if (begun >= kShort) long_.emplace_back(begun, id);
    if (begun < kShort) set(up_to_[begun], id);
  }
  for (std::size_t i = kAscii - 1; i > 0; --i) {
    for (std::size_t w = 0; w < words_; ++w) {
      block(i)[w] = block(2 * i)[w] | block(2 * i + 1)[w];
    }
  }
  for (std::size_t n = 1; n < kShort; ++n) {
    for (std::size_t w = 0; w < words_; ++w) up_to_[n][w] |= up_to_[n - 1][w];
  }
  std::ranges::sort(long_, std::greater<>());
  std::ranges::sort(escaped_);
}

// Two passes over the trie: how many nodes each byte's residue has, then which.
void TokenClasses::build_ways() {
  const uint32_t nodes = vocabulary_.num_nodes();
  std::vector<ByteSet> bytes(nodes);  // that occur at the node, above or below it
  for (uint32_t node = nodes; node-- > 0;) {
    if (node != 0) bytes[node].add(vocabulary_.byte(node));
    for (uint32_t child = node + 1; child < vocabulary_.next(node);
         child = vocabulary_.next(child)) {
      bytes[node] |= bytes[child];
    }
  }
  std::vector<ByteSet> path(vocabulary_.max_token_length() + 1);
  std::array<uint32_t, 256> count{};
  for (uint32_t node = 1; node < nodes; ++node) {
    const uint32_t depth = vocabulary_.depth(node);
    path[depth] = path[depth - 1];
    path[depth].add(vocabulary_.byte(node));
    bytes[node] |= path[depth];
    if (is_behind_gate(node)) bytes[node].remove(' ');
    bytes[node].each([&](uint8_t byte) { ++count[byte]; });
  }
  way_begin_.assign(1, 0);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool common = count[byte] > nodes / kCommonPart + kAlways;
    if (common) common_.add(static_cast<uint8_t>(byte));
    way_begin_.push_back(way_begin_.back() + (common ? 0 : count[byte]));
  }
  ways_.resize(way_begin_.back());
  std::vector<uint32_t> end(way_begin_.begin(), way_begin_.end() - 1);
  for (uint32_t node = 1; node < nodes; ++node) {
    bytes[node].each([&](uint8_t byte) {
      if (!common_.has(byte)) ways_[end[byte]++] = node;
    });
  }
}

void TokenClasses::build_quoted() {
  uint32_t node = 1;
  while (node < vocabulary_.num_nodes() && vocabulary_.byte(node) != '"') {
    node = vocabulary_.next(node);
  }
  if (node >= vocabulary_.num_nodes()) return;
  quote_node_ = node;
  for (const uint32_t id : vocabulary_.tokens_below(node)) {
    if (spelled_code_points(vocabulary_.text(id).substr(1))) quoted_words_.push_back(id);
  }
  // A node is on the way if there is a mark between it and the first one, or below it.
  std::vector<uint32_t> nodes;
  uint32_t inside = node;  // the end of the subtree of the last mark
  for (uint32_t i = node + 1; i < vocabulary_.next(node); ++i) {
    if (vocabulary_.byte(i) == '"') inside = std::max(inside, vocabulary_.next(i));
    if (i < inside || vocabulary_.leads_to_quote(i)) nodes.push_back(i);
  }
  quoted_residue_ = with_next(std::move(nodes));
}

void TokenClasses::build_closings() {
  std::vector<Spelled> at(vocabulary_.max_token_length() + 1);
  for (uint32_t node = 1; node < vocabulary_.num_nodes();) {
    const uint32_t depth = vocabulary_.depth(node);
    const Spelled& before = at[depth - 1];
    const bool closes = vocabulary_.byte(node) == '"' && before.between();
    if (closes) closings_.push_back(node);
    if (!closes) at[depth] = spell(before, vocabulary_.byte(node));
    const bool over = closes || at[depth].spelling == Spelling::kCount;
    node = over ? vocabulary_.next(node) : node + 1;
  }
}

std::span<const uint32_t> TokenClasses::closings(uint32_t first, uint32_t last) const {
  const auto begin = std::ranges::lower_bound(closings_, first);
  return {begin, std::lower_bound(begin, closings_.end(), last)};
}

void TokenClasses::build_spaces() {
  for (uint32_t top = 1; top < vocabulary_.num_nodes(); top = vocabulary_.next(top)) {
    if (!is_space(vocabulary_.byte(top))) continue;
    Spaces& spaces = spaces_[top];
    for (uint32_t node = top; node < vocabulary_.next(top);) {
      if (!is_space(vocabulary_.byte(node))) {
        spaces.exits.push_back({vocabulary_.byte(node), node});
        node = vocabulary_.next(node);
        continue;
      }
      for (const uint32_t token : vocabulary_.tokens_at(node)) {
        spaces.runs.push_back({vocabulary_.depth(node), token});
      }
      ++node;
    }
    std::ranges::stable_sort(spaces.runs, {}, &Spaces::Run::length);
    std::ranges::stable_sort(spaces.exits, {}, &Spaces::Exit::byte);
  }
}

std::shared_ptr<const TokenClasses::Bitmap> TokenClasses::words(const TextClass& text,
                                                                uint32_t max_code_points) const {
  for (std::size_t lead = 0xC0; lead < 256; ++lead) {
    const auto byte = static_cast<uint8_t>(lead);
    if (text.misses(byte) && common_.has(byte)) return nullptr;
  }
  const uint32_t longest = std::max(long_.empty() ? kShort - 1 : long_.front().first,
                                    escaped_.empty() ? 0 : escaped_.back().first);
  const uint32_t most = std::min(max_code_points, longest);
  const std::lock_guard lock(mutex_);
  return recall(
             known_words_, kMaxKnownWords,
             [&](const Words& one) { return one.max_code_points == most && one.text == text; },
             [&] {
               return Words{text, most, std::make_shared<const Bitmap>(make_words(text, most))};
             })
      .bitmap;
}

TokenClasses::Bitmap TokenClasses::make_words(const TextClass& text,
                                              uint32_t max_code_points) const {
  Bitmap out = utf8_;
  take_out(1, 0, kAscii, text, out);
  if (!text.beyond_ascii && text.kept == 0) remove(out, block(0));
  if (!text.beyond_ascii && text.kept != 0) {
    const Bitmap& inside = code_classes_->inside(text.kept);
    for (std::size_t w = 0; w < words_; ++w) out[w] &= ~block(0)[w] | inside[w];
  }
  for (std::size_t lead = 0xC0; lead < 256 && text.missing != 0; ++lead) {
    const auto byte = static_cast<uint8_t>(lead);
    if (text.misses(byte)) take_out_below(byte, out);
  }
  if (max_code_points < kShort) {
    for (std::size_t w = 0; w < words_; ++w) out[w] &= up_to_[max_code_points][w];
  }
  for (const auto& [length, id] : long_) {
    if (length <= max_code_points) break;
    out[id / 32] &= ~(1U << id % 32);
  }
  if (!text.escapes) return out;
  for (const auto& [length, id] : escaped_) {
    if (length > max_code_points) break;
    set(out, id);
  }
  return out;
}

// Removes the tokens with a byte that has a list.
void TokenClasses::take_out_below(uint8_t byte, Bitmap& out) const {
  for (uint32_t i = way_begin_[byte]; i < way_begin_[byte + 1U]; ++i) {
    if (vocabulary_.byte(ways_[i]) != byte) continue;
    for (const uint32_t id : vocabulary_.tokens_from(ways_[i])) {
      out[id / 32] &= ~(1U << id % 32);
    }
  }
}

// Removes the tokens with one of the bytes [first, first + size) that are not of the class.
void TokenClasses::take_out(std::size_t index, uint32_t first, uint32_t size, const TextClass& text,
                            Bitmap& out) const {
  uint32_t inside = 0;
  for (uint32_t byte = first; byte < first + size; ++byte) {
    inside += text.has(static_cast<uint8_t>(byte)) ? 1 : 0;
  }
  if (inside == size) return;
  if (inside == 0) {
    remove(out, block(index));
    return;
  }
  take_out(2 * index, first, size / 2, text, out);
  take_out(2 * index + 1, first + size / 2, size / 2, text, out);
}

std::shared_ptr<const Residue> TokenClasses::residue(const ByteSet& bytes, uint32_t codes) const {
  if (bytes.intersects(common_)) return nullptr;
  const std::lock_guard lock(mutex_);
  return recall(
             known_ways_, kMaxKnownWays,
             [&](const Way& way) { return way.bytes == bytes && way.codes == codes; },
             [&] { return Way{bytes, codes, make_residue(bytes, codes)}; })
      .residue;
}

std::shared_ptr<const Residue> TokenClasses::make_residue(const ByteSet& bytes,
                                                          uint32_t codes) const {
  std::vector<uint32_t> nodes;
  const std::size_t limit = vocabulary_.num_nodes() / kUsefulPart + kAlways;
  const bool gated = bytes.has(' ') && vocabulary_.behind_space() != nullptr;
  const auto open = [&](uint32_t node) { return !gated || !is_behind_gate(node); };
  const auto add = [&](std::span<const uint32_t> way) {
    std::vector<uint32_t> merged;
    merged.reserve(nodes.size() + way.size());
    std::ranges::set_union(nodes, way | std::views::filter(open), std::back_inserter(merged));
    nodes = std::move(merged);
  };
  if (codes != 0) add(code_classes_->ways(codes));
  bytes.each([&](uint8_t byte) {
    if (nodes.size() > limit) return;
    add(std::span(ways_).subspan(way_begin_[byte],
                                 way_begin_[std::size_t{byte} + 1] - way_begin_[byte]));
  });
  if (nodes.size() > limit) return nullptr;
  Residue residue = with_next(std::move(nodes));
  if (gated) residue.gate = vocabulary_.space_node();
  return std::make_shared<const Residue>(std::move(residue));
}

bool TokenClasses::is_behind_gate(uint32_t node) const {
  const uint32_t gate = vocabulary_.space_node();
  return gate != Vocabulary::kNoNode && node > gate && node < vocabulary_.next(gate);
}

Residue TokenClasses::with_next(std::vector<uint32_t> nodes) const {
  Residue residue;
  residue.next.resize(nodes.size());
  std::vector<uint32_t> open;  // indices of the nodes whose subtrees are not at an end
  const auto close = [&](std::size_t index, uint32_t node) {
    while (!open.empty() && vocabulary_.next(nodes[open.back()]) <= node) {
      residue.next[open.back()] = static_cast<uint32_t>(index);
      open.pop_back();
    }
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    close(i, nodes[i]);
    open.push_back(static_cast<uint32_t>(i));
  }
  close(nodes.size(), vocabulary_.num_nodes());
  residue.nodes = std::move(nodes);
  return residue;
}

std::size_t TokenClasses::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t words = blocks_.capacity() + utf8_.capacity() + ways_.capacity() +
                      up_to_.size() * words_ + known_words_.size() * words_ +
                      2 * (long_.capacity() + escaped_.capacity() + quoted_residue_.nodes.size()) +
                      quoted_words_.capacity() + closings_.capacity() +
                      code_classes_->memory_bytes() / sizeof(uint32_t);
  for (const Way& way : known_ways_) {
    if (way.residue != nullptr) words += 2 * way.residue->nodes.capacity();
  }
  for (const auto& [node, spaces] : spaces_) {
    words += 2 * (spaces.runs.capacity() + spaces.exits.capacity());
  }
  return words * sizeof(uint32_t);
}

}  // namespace maskwright

// Looking ahead: which text is forced, and which tokens may reach beyond it.
//
// A byte is forced if it is the only one with which some completion goes on. States are live in
// bytes, so where every byte is a token it is enough that one byte only can be read. Where a search
// decides what the tokens can spell (finish.cpp), a place is known by the configurations and by the
// trie nodes of all tokens that may be being read, and a second byte counts only if tokens complete
// the text behind it; where that search gives up, the forced text is shorter than it could be.
//
// Cost: two or three bytes read for each forced one. The tokens that reach beyond a text are looked
// for below the trie nodes of its last bytes, each until the first one is found.

#include <algorithm>
#include <array>
#include <utility>

#include "maskwright/matcher/matcher.h"

namespace maskwright {

namespace {

constexpr uint32_t kRootNode = 0;

// The child of a trie node, or the root for none.
uint32_t child_of(const Vocabulary& vocabulary, uint32_t node, uint8_t byte) {
  for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
    if (vocabulary.byte(child) == byte) return child;
  }
  return kRootNode;
}

uint32_t node_of(const Vocabulary& vocabulary, std::string_view text) {
  uint32_t node = kRootNode;
  for (const char byte : text) {
    node = child_of(vocabulary, node, static_cast<uint8_t>(byte));
    if (node == kRootNode) break;
  }
  return node;
}

}  // namespace

// A place in a text that is longer than the tokens accepted.
struct Matcher::Ahead {
  Closed closed{};
  // Of the tokens that may be being read; the root if the place may be between two. Followed only
  // where a search is needed: elsewhere every place may be between two.
  std::vector<uint32_t> nodes{kRootNode};

  bool between_tokens() const { return nodes.front() == kRootNode; }
};

// The place one byte on; false if there is none.
bool Matcher::advance(const Ahead& from, uint8_t byte, Ahead& to) {
  if (tokens_.needs_search()) {
    const Vocabulary& vocabulary = grammar_->vocabulary();
    to.nodes.clear();
    bool between = false;
    for (const uint32_t node : from.nodes) {
      const uint32_t child = child_of(vocabulary, node, byte);
      if (child == kRootNode) continue;
      between = between || tokens_.readable(child);
      if (vocabulary.has_children(child)) to.nodes.push_back(child);
    }
    if (between) to.nodes.insert(to.nodes.begin(), kRootNode);
    if (to.nodes.empty()) return false;
  }
  ConfigSet after;
  family_->runner.scan(configs(from.closed.configs), byte, family_->arena, after);
  if (after.empty()) return false;
  to.closed = close_and_intern(after);
  return true;
}

// The only byte that can be read, and the place behind it.
bool Matcher::find_forced(const Ahead& from, uint8_t& byte, Ahead& to) {
  const ByteSet bytes = tokens_.readable_bytes(configs(from.closed.configs));
  std::vector<std::pair<uint8_t, Ahead>> found;
  for (uint32_t candidate = 0; candidate < 256; ++candidate) {
    const auto next = static_cast<uint8_t>(candidate);
    Ahead after;
    if (!bytes.has(next) || !advance(from, next, after)) continue;
    found.emplace_back(next, std::move(after));
    if (found.size() > 1 && !tokens_.needs_search()) return false;
  }
  if (found.size() > 1) {
    std::size_t live = 0;
    for (auto& place : found) {
      const Ahead& after = place.second;
      const bool lives = (after.closed.completed && after.between_tokens()) ||
                         search_completion(after.closed.configs, after.nodes, Memory::kIgnored);
      if (!lives) continue;
      if (++live > 1) return false;
      std::swap(found.front(), place);
    }
    if (live == 0) return false;
  }
  if (found.empty()) return false;
  byte = found.front().first;
  to = std::move(found.front().second);
  return true;
}

std::optional<std::string> Matcher::forced_bytes(std::size_t limit, bool wait) {
  std::unique_lock lock(grammar_->mutex(), std::defer_lock);
  if (wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return std::nullopt;
  }
  std::string text;
  if (now().stopped) return text;
  Ahead at;
  at.closed = {intern(configs()), now().completed};
  while (text.size() < limit) {
    if (at.between_tokens() &&
        (at.closed.completed || tokens_.may_read_symbol(configs(at.closed.configs)))) {
      break;
    }
    uint8_t byte = 0;
    Ahead after;
    if (!find_forced(at, byte, after)) break;
    text.push_back(static_cast<char>(byte));
    at = std::move(after);
  }
  return text;
}

// Whether a token that ends below the node can be read, the text to the node having been read.
bool Matcher::reads_token_below(uint32_t node, std::span<const Config> from) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  for (uint32_t child = node + 1; child < vocabulary.next(node); child = vocabulary.next(child)) {
    ConfigSet after;
    family_->runner.scan(from, vocabulary.byte(child), family_->arena, after);
    if (after.empty()) continue;
    if (tokens_.readable(child) && finishable(after)) return true;
    if (!vocabulary.has_children(child)) continue;
    family_->runner.close(after, family_->arena, nullptr);
    if (reads_token_below(child, after.configs())) return true;
  }
  return false;
}

std::vector<uint32_t> Matcher::open_tokens(std::string_view ahead) {
  const std::lock_guard lock(grammar_->mutex());
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<uint32_t> offsets;
  ConfigSet after;
  if (now().stopped || !read(ahead, after)) return offsets;
  family_->runner.close(after, family_->arena, nullptr);
  const std::size_t longest = vocabulary.max_token_length();
  for (std::size_t at = ahead.size() < longest ? 0 : ahead.size() - longest + 1; at < ahead.size();
       ++at) {
    const uint32_t node = node_of(vocabulary, ahead.substr(at));
    if (node != kRootNode && reads_token_below(node, after.configs())) {
      offsets.push_back(static_cast<uint32_t>(at));
    }
  }
  add_beginnings_before(ahead, offsets);
  if (tokens_.may_read_symbol(after.configs()) || reads_token_below(kRootNode, after.configs())) {
    offsets.push_back(static_cast<uint32_t>(ahead.size()));
  }
  return offsets;
}

// Where a token begins inside a code point: the beginnings of the tokens that end there.
void Matcher::add_beginnings_before(std::string_view ahead, std::vector<uint32_t>& offsets) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const std::size_t longest = vocabulary.max_token_length();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t end = offsets[i];
    if ((static_cast<uint8_t>(ahead[end]) & 0xC0) != 0x80) continue;
    for (std::size_t at = end < longest ? 0 : end - longest; at < end; ++at) {
      const uint32_t node = node_of(vocabulary, ahead.substr(at, end - at));
      if (node != kRootNode && tokens_.readable(node)) offsets.push_back(static_cast<uint32_t>(at));
    }
  }
  std::ranges::sort(offsets);
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

std::vector<uint32_t> Matcher::longest_tokens(std::string_view ahead) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<uint32_t> tokens;
  while (!ahead.empty()) {
    std::size_t length = 0;
    uint32_t longest = 0;
    uint32_t node = kRootNode;
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      node = child_of(vocabulary, node, static_cast<uint8_t>(ahead[i]));
      if (node == kRootNode) break;
      if (tokens_.readable(node)) {
        length = i + 1;
        longest = node;
      }
    }
    if (length == 0) break;
    tokens.push_back(tokens_.token_at(longest));
    ahead.remove_prefix(length);
  }
  return tokens;
}

std::string Matcher::recent_text(std::size_t max_bytes) const {
  const std::lock_guard lock(grammar_->mutex());
  std::vector<std::string_view> texts;
  std::size_t bytes = 0;
  for (uint32_t step = step_; family_->steps[step].depth != 0 && bytes < max_bytes;) {
    const Step& at = family_->steps[step];
    const std::string_view text = at.token == kText ? std::string_view(family_->texts[at.text])
                                                    : grammar_->vocabulary().text(at.token);
    if (text.empty() && at.token != kText) break;
    bytes += text.size();
    texts.push_back(text);
    step = at.parent;
  }
  std::string all;
  all.reserve(bytes);
  for (std::size_t i = texts.size(); i-- > 0;) all += texts[i];
  if (bytes > max_bytes) all.erase(0, bytes - max_bytes);
  return all;
}

}  // namespace maskwright

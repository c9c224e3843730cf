#include "maskwright/matcher/precompute.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <string_view>
#include <thread>
#include <utility>

#include "maskwright/support/error.h"

namespace maskwright {

namespace {

double thread_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
#else
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

// A beginning: what is said of text beyond ASCII and of escapes is not looked at.
bool is_free(std::string_view text, const TextClass& free) {
  return std::ranges::all_of(text, [&](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < 0x80 ? free.has(byte) : free.beyond_ascii;
  });
}

bool is_word(char c) { return static_cast<uint8_t>(c) >= 0x80 || std::isalnum(c) != 0; }

}  // namespace

Precompute::Precompute(std::shared_ptr<CompiledGrammar> grammar)
    : grammar_(std::move(grammar)), row_(grammar_->vocabulary().mask_words()) {
  Matcher start(grammar_, std::nullopt, true);
  places_.intern(start.place());
  waiting_[kForced].push_back(std::move(start));
}

bool Precompute::run(double seconds, std::size_t max_bytes) {
  const double end = thread_seconds() + seconds;
  do {
    const auto from =
        std::ranges::find_if(waiting_, [](const auto& queue) { return !queue.empty(); });
    if (from == waiting_.end()) return false;
    if (grammar_->memory_bytes() >= max_bytes) return true;
    while (grammar_->mutex().is_awaited()) std::this_thread::yield();
    Matcher at = std::move(from->front());
    from->pop_front();
    visit(std::move(at));
  } while (thread_seconds() < end);
  return true;
}

void Precompute::visit(Matcher at) {
  if (!fill(at)) return;
  const auto texts = at.likely_texts();
  for (std::size_t i = 0; i < std::min(texts.size(), kMaxTexts); ++i) follow(at.fork(), texts[i]);
  const auto tokens = next_tokens(at);
  for (const uint32_t token : tokens) {
    Matcher after = at.fork();
    if (after.accept_token(token)) add(std::move(after), tokens.size() == 1 ? kForced : kOther);
  }
}

void Precompute::add(Matcher at, Rank rank) {
  if (places_.intern(at.place()).inserted) waiting_[rank].push_back(std::move(at));
}

void Precompute::follow(Matcher at, std::string_view text) {
  for (const uint32_t token : at.longest_tokens(text)) {
    if (!at.accept_token(token)) return;
    add(at.fork(), kLikely);
  }
}

// False if nothing can follow.
bool Precompute::fill(Matcher& at) {
  try {
    at.fill_bitmask(row_, true);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kMatcher) throw;
    return false;
  }
  return true;
}

// Allowed tokens that no other allowed one goes on, or that end in punctuation; of free text one.
// Those that begin with punctuation come first: they lead on in the structure.
std::vector<uint32_t> Precompute::next_tokens(const Matcher& at) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const TextClass free = at.free_text();
  std::vector<uint32_t> tokens, words;
  std::string_view last;
  bool has_free = false;
  const auto ordered = vocabulary.tokens_below(0);  // each before those that go on with its text
  for (std::size_t i = ordered.size(); i-- > 0;) {
    const uint32_t token = ordered[i];
    if ((row_[token / 32] >> token % 32 & 1) == 0) continue;
    const std::string_view text = vocabulary.text(token);
    const bool goes_on = last.starts_with(text);
    if (goes_on && is_word(text.back())) continue;
    if (!goes_on) last = text;
    if (is_free(text, free) && std::exchange(has_free, true)) continue;
    (is_word(text[0]) ? words : tokens).push_back(token);
  }
  tokens.insert(tokens.end(), words.begin(), words.end());
  if (tokens.size() > kMaxTokens) tokens.resize(kMaxTokens);
  return tokens;
}

}  // namespace maskwright

// Walks through free text: `[a-z]+` in a rule that goes on, or returns, behind each letter.
//
// Idea: configurations that a class of characters leads back to are the same at every node that
// those lead to, and so is what their frames may return there. So all those nodes are one *free
// text*: the tokens that end there are allowed, and what is left to look at is the first byte
// behind, of those that are read and not of the class: an *arrival*. All arrivals on one byte do
// the same (mask_walk_starts.cpp). Where the walk's first frame may return, it may do so at each
// node of the text: one escape for all, from which a caller goes on in the same way.
//
// A text of the class alone is allowed whatever else may read it. So what is below a node is left
// out, with its escapes, if it is nothing but such text.
//
// Cost: a look at each node on the way to an arrival, a step only for each byte.

#include <algorithm>
#include <tuple>

#include "mask/mask_walk.h"
#include "maskwright/support/sorted_set.h"
#include "trie/text_paths.h"

namespace maskwright {

namespace {

constexpr uint32_t kWorthIt = 32;  // nodes below which a walk is as cheap
constexpr std::size_t kMaxReaders = 24;

bool reads_any(const Edge& edge, const TextClass& text) {
  for (uint32_t byte = edge.lo; byte <= edge.hi; ++byte) {
    if (byte < 0x80 && text.has(static_cast<uint8_t>(byte))) return true;
  }
  return false;
}

bool empty(const TextClass& text) { return text.ascii[0] == 0 && text.ascii[1] == 0; }

auto order(const Config& config) {
  return std::tuple(config.state, config.reg, config.run, config.stack);
}

bool same(std::span<const Config> one, std::span<const Config> other) {
  if (one.size() != other.size()) return false;
  if (std::ranges::equal(one, other)) return true;
  std::vector<Config> a(one.begin(), one.end());
  std::vector<Config> b(other.begin(), other.end());
  std::ranges::sort(a, {}, order);
  std::ranges::sort(b, {}, order);
  return a == b;
}

}  // namespace

// Is done with what is below the nodes if the configurations there, the same at all, read free
// text; false if not, or if more is allowed there than what they read.
bool MaskWalk::take_text(std::span<const uint32_t> nodes, uint32_t level,
                         const TextClass& allowed) {
  uint32_t below = 0;
  for (const uint32_t node : nodes) {
    below += vocabulary_.next(node) - node;
    if (has_starts_below(node)) return false;
  }
  if (below <= kWorthIt || !store_.shortcuts().token_classes) return false;
  const TextLoop* loop = find_loop(levels_[level]);
  if (loop == nullptr || (allowed != loop->allowed && allowed.covers(loop->allowed))) return false;
  bool allow = true;
  if (nodes.front() == 0 && result_.text == nullptr) {
    result_.text = vocabulary_.classes().words(loop->allowed, vocabulary_.max_token_length());
    allow = result_.text == nullptr;
  }
  const FreeText at{loop->text, loop->allowed, {nodes.begin(), nodes.end()}};
  find_arrivals(at, loop->others, allow, bundles_[level]);
  if (!alone_) {
    for (const SetId returned : loop->returned) {
      result_.free_escapes.push_back({at, returned});
    }
  }
  follow_together(level);
  return true;
}

void MaskWalk::find_arrivals(const FreeText& at, const ByteSet& others, bool allow, Bundle& out) {
  out.allowed = at.allowed;
  out.branches.clear();
  out.at = 0;
  for (const uint32_t from : at.from) {
    visited_ += follow_text(
        vocabulary_, from, at.text, at.allowed, others,
        [&](Vocabulary::TokenRange range) {
          if (allow) allow_range(range);
        },
        [&](uint8_t byte, uint32_t node) { out.branches.push_back({byte, node}); });
  }
  make_set(out.branches);
}

bool MaskWalk::has_starts_below(uint32_t node) const {
  if (next_start_ >= starts_.size()) return false;
  const auto begin = starts_.begin() + static_cast<std::ptrdiff_t>(next_start_);
  const auto first = std::upper_bound(
      begin, starts_.end(), node, [](uint32_t at, const Start& start) { return at < start.node; });
  return first != starts_.end() && first->node < vocabulary_.next(node);
}

// Where callers go on from free texts.
void MaskWalk::walk_free_starts() {
  next_start_ = starts_.size();
  for (const FreeStart& start : free_starts_) {
    Depth& top = levels_[0];
    top.set.clear();
    runner_.add(start.config, *arena_, top.set);
    if (top.set.empty()) continue;
    returned_.clear();
    runner_.close(top.set, *arena_, &returned_);
    make_set(returned_);
    for (const SetId returned : returned_) result_.free_escapes.push_back({start.at, returned});
    settle(top, false);
    find_arrivals(start.at, readable(top), false, bundles_[0]);
    follow_together(0);
  }
}

// --- what is free text ---------------------------------------------------------------------------

// Null if nothing leads back to the configurations, or not all of them are of rules.
const MaskWalk::TextLoop* MaskWalk::find_loop(const Depth& depth) {
  const auto configs = depth.single ? std::span(&depth.config, 1) : depth.set.configs();
  const bool rules = std::ranges::all_of(configs, [&](const Config& config) {
    const State& state = store_.state(config.state);
    return (state.family == FamilyId::kRules || state.family == FamilyId::kRepeat ||
            state.family == FamilyId::kDone) &&
           (state.flags & kWhitespace) == 0;
  });
  if (!rules) return nullptr;
  const uint32_t id = memo_.id(configs);
  if (id == SetMemo::kUnknown) return nullptr;
  const auto known = loops_.find(id);
  if (known == loops_.end()) loops_.emplace(id, make_loop(configs));
  const TextLoop& loop = known == loops_.end() ? loops_.find(id)->second : known->second;
  return empty(loop.text) ? nullptr : &loop;
}

MaskWalk::TextLoop MaskWalk::make_loop(std::span<const Config> configs) {
  TextLoop loop;
  for (const Config& config : configs) {
    const auto leads_back = [&](const Edge& edge) {
      return edge.lo < 0x80 && edge.op == Op::kPlain && edge.target == config.state;
    };
    if (store_.state(config.state).family != FamilyId::kRules) continue;
    if (std::ranges::none_of(store_.row(config.state).edges, leads_back)) continue;
    loop.allowed = readable_text(config.state);
    if (!make_simple_loop(configs, config, loop)) make_set_loop(configs, loop);
    // What leads all of them back need not be what one of them reads again and again; behind both
    // in turn nothing is known.
    if (!loop.allowed.covers(loop.text)) loop.allowed = loop.text;
    break;
  }
  return loop;
}

// Characters of which the state reads any text: those that lead it back to itself, and others if
// all states that they lead to read them all.
TextClass MaskWalk::readable_text(StateId from) {
  const TextClass& own = store_.free_run(from).by_leads;
  TextClass text = own;
  for (const Edge& edge : store_.row(from).edges) {
    if (edge.op != Op::kPlain || !read_by(edge.target).covers_ascii_of(own)) continue;
    for (uint32_t byte = edge.lo; byte <= edge.hi && byte < 0x80; ++byte) {
      text.add(static_cast<uint8_t>(byte));
    }
  }
  std::vector<StateId> states{from};
  for (std::size_t i = 0; i < states.size();) {
    const StateId state = states[i++];
    TextClass both = read_by(state);
    for (std::size_t word = 0; word < both.ascii.size(); ++word)
      both.ascii[word] &= text.ascii[word];
    if (!both.covers_ascii_of(own) || states.size() > kMaxReaders) return own;
    if (!both.covers_ascii_of(text)) {  // again, with fewer
      text.ascii = both.ascii;
      states.assign(1, from);
      i = 0;
      continue;
    }
    for (const Edge& edge : store_.row(state).edges) {
      if (!reads_any(edge, text) || std::ranges::find(states, edge.target) != states.end())
        continue;
      states.push_back(edge.target);
    }
  }
  if (states.size() == 1) return text;
  text.beyond_ascii = false;
  text.missing = 0;
  return text;
}

// The ASCII bytes of plain edges.
TextClass MaskWalk::read_by(StateId state) {
  TextClass text;
  for (const Edge& edge : store_.row(state).edges) {
    for (uint32_t byte = edge.lo; byte <= edge.hi && byte < 0x80; ++byte) {
      if (edge.op == Op::kPlain) text.add(static_cast<uint8_t>(byte));
    }
  }
  return text;
}

// Where one configuration leads to all others: what leads it back to itself. False if another one
// reads that too.
bool MaskWalk::make_simple_loop(std::span<const Config> configs, const Config& reader,
                                TextLoop& loop) {
  loop_set_.clear();
  loop_set_.add(reader, *arena_);
  runner_.close(loop_set_, *arena_, &loop.returned);
  make_set(loop.returned);
  if (!same(loop_set_.configs(), configs)) return false;
  TextClass own = store_.free_run(reader.state).by_leads;
  own.beyond_ascii = loop.allowed.beyond_ascii;
  own.missing = loop.allowed.missing;
  for (const Config& config : configs) {
    for (const Edge& edge : store_.row(config.state).edges) {
      for (uint32_t value = edge.lo; value <= edge.hi; ++value) {
        const auto byte = static_cast<uint8_t>(value);
        if (!own.begins(byte)) {
          loop.others.add(byte);
        } else if (config != reader) {
          return false;
        }
      }
    }
  }
  loop.text = own;
  return true;
}

// What leads all of them back together: asked once for bytes on which each does the same.
void MaskWalk::make_set_loop(std::span<const Config> configs, TextLoop& loop) {
  struct Known {
    std::vector<const Edge*> edges;
    bool leads_back;
  };
  std::vector<Known> known;
  std::vector<SetId> returned;
  bool first = true;
  loop.others = {};
  loop.returned.clear();
  readable_by(configs).each([&](uint8_t byte) {
    std::vector<const Edge*> edges;
    bool plain = byte < 0x80;
    for (const Config& config : configs) {
      edges.push_back(store_.row(config.state).find(byte));
      plain = plain && (edges.back() == nullptr || edges.back()->op == Op::kPlain);
    }
    const auto before = std::ranges::find(known, edges, &Known::edges);
    bool back = plain && before != known.end() && before->leads_back;
    if (plain && before == known.end()) {
      loop_set_.clear();
      returned.clear();
      runner_.scan(configs, byte, *arena_, loop_set_);
      runner_.close(loop_set_, *arena_, &returned);
      make_set(returned);
      back = same(loop_set_.configs(), configs) && (first || returned == loop.returned);
      if (back) loop.returned = returned;
      first = first && !back;
      known.push_back({std::move(edges), back});
    }
    if (back) {
      loop.text.add(byte);
    } else {
      loop.others.add(byte);
    }
  });
}

}  // namespace maskwright

// Thompson's construction over terms, with an explicit work list.
//
// A task (term, from, to) adds paths from `from` to `to` that spell the term, through fresh nodes
// only. A star has a loop node of its own, so alternatives may share their end nodes. x{m,n} is a
// chain of copies in which each optional copy can skip to the one common end.
#include <algorithm>

#include "json/lang_term.h"
#include "maskwright/automata/store.h"

namespace maskwright::langs {

namespace {

class Builder {
 public:
  explicit Builder(const TermPool& terms) : terms_(terms) {}

  // `size`: about how many nodes there will be.
  Nfa run(TermId term, uint64_t size) {
    nfa_.reserve(size + 2);
    nfa_.start = nfa_.add_node();
    nfa_.final = nfa_.add_node();
    tasks_.push_back({term, nfa_.start, nfa_.final});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      add(task);
    }
    return std::move(nfa_);
  }

 private:
  struct Task {
    TermId term;
    uint32_t from, to;
  };

  void add(const Task& task) {
    const auto words = terms_.content(task.term);
    switch (terms_.kind(task.term)) {
      case TermKind::kNever: break;
      case TermKind::kEmpty: nfa_.add_epsilon(task.from, task.to); break;
      case TermKind::kClass: nfa_.add_edge(task.from, words[0], task.to); break;
      case TermKind::kText: add_text(words, task.from, task.to); break;
      case TermKind::kTexts: add_texts(words, task.from, task.to); break;
      case TermKind::kSequence: add_sequence(words, task.from, task.to); break;
      case TermKind::kChoice:
        for (const TermId part : words) tasks_.push_back({part, task.from, task.to});
        break;
      case TermKind::kRepeat: add_repeat(words, task.from, task.to); break;
      case TermKind::kDfa: add_dfa(terms_.dfa_of(task.term), task.from, task.to); break;
    }
  }

  void add_char(uint32_t from, uint32_t code_point, uint32_t to) {
    nfa_.add_edge(from, terms_.classes().intern(code_point), to);
  }

  void add_text(std::span<const uint32_t> text, uint32_t from, uint32_t to) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const uint32_t next = i + 1 == text.size() ? to : nfa_.add_node();
      add_char(from, text[i], next);
      from = next;
    }
  }

  // A trie: texts are sorted, so the path of the previous text holds the common prefix.
  void add_texts(std::span<const uint32_t> words, uint32_t from, uint32_t to) {
    std::vector<uint32_t> path{from};
    std::span<const uint32_t> previous;
    for (std::size_t at = 0; at < words.size(); at += words[at] + 1) {
      const auto text = words.subspan(at + 1, words[at]);
      std::size_t common = 0;
      const std::size_t shorter = std::min(previous.size(), text.size());
      while (common < shorter && previous[common] == text[common]) ++common;
      path.resize(common + 1);
      for (std::size_t i = common; i < text.size(); ++i) {
        path.push_back(nfa_.add_node());
        add_char(path[i], text[i], path[i + 1]);
      }
      nfa_.add_epsilon(path.back(), to);
      previous = text;
    }
  }

  void add_sequence(std::span<const uint32_t> parts, uint32_t from, uint32_t to) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const uint32_t next = i + 1 == parts.size() ? to : nfa_.add_node();
      tasks_.push_back({parts[i], from, next});
      from = next;
    }
  }

  void add_repeat(std::span<const uint32_t> words, uint32_t from, uint32_t to) {
    const TermId body = words[0];
    const uint32_t min = words[1];
    const uint32_t max = words[2];
    const auto step = [&](uint32_t end) {
      tasks_.push_back({body, from, end});
      from = end;
    };
    if (max == kUnbounded) {
      // The last required copy is the one that loops.
      for (uint32_t i = 1; i < min; ++i) step(nfa_.add_node());
      const uint32_t loop = nfa_.add_node();
      nfa_.add_epsilon(from, loop);
      const uint32_t end = min == 0 ? loop : nfa_.add_node();
      tasks_.push_back({body, loop, end});
      nfa_.add_epsilon(end, loop);
      nfa_.add_epsilon(end, to);
      return;
    }
    for (uint32_t i = 0; i < min; ++i) step(i + 1 == max ? to : nfa_.add_node());
    for (uint32_t i = min; i < max; ++i) {
      nfa_.add_epsilon(from, to);
      step(i + 1 == max ? to : nfa_.add_node());
    }
  }

  void add_dfa(const Dfa& dfa, uint32_t from, uint32_t to) {
    const uint32_t base = nfa_.num_nodes();
    for (std::size_t i = 0; i < dfa.states.size(); ++i) nfa_.add_node();
    nfa_.add_epsilon(from, base);
    std::vector<Lang::Arc> arcs;
    CodeRanges ranges;
    for (uint32_t state = 0; state < dfa.states.size(); ++state) {
      if (dfa.states[state].accepts) nfa_.add_epsilon(base + state, to);
      const auto sorted = dfa.arcs_of(state);
      arcs.assign(sorted.begin(), sorted.end());
      std::stable_sort(arcs.begin(), arcs.end(),
                       [](const Lang::Arc& a, const Lang::Arc& b) { return a.target < b.target; });
      for (std::size_t i = 0; i < arcs.size(); ++i) {
        ranges.push_back({arcs[i].lo, arcs[i].hi});
        if (i + 1 < arcs.size() && arcs[i + 1].target == arcs[i].target) continue;
        nfa_.add_edge(base + state, terms_.classes().intern(ranges), base + arcs[i].target);
        ranges.clear();
      }
    }
  }

  const TermPool& terms_;
  Nfa nfa_;
  std::vector<Task> tasks_;
};

}  // namespace

Nfa TermPool::build(TermId term) const {
  if (sizes_[term] > limits_.nfa_nodes()) limits_.exceeded("the unrolled size of a pattern");
  return Builder(*this).run(term, sizes_[term]);
}

}  // namespace maskwright::langs

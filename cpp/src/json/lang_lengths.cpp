#include "json/lang_lengths.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace maskwright::langs {

Lengths::Lengths(uint32_t num_nodes, std::vector<Edge> edges, std::span<const uint32_t> finals,
                 const LangLimits& limits)
    : limits_(limits) {
  condense(num_nodes, edges);
  final_.assign(num_groups_, false);
  for (const uint32_t node : finals) final_[group_[node]] = true;
  find_shortest();
  find_longest();
  gapless_ = has_no_gaps();
}

Lengths::Graph Lengths::make_graph(uint32_t num_nodes, std::vector<Edge> edges) {
  Graph graph;
  graph.offsets.assign(num_nodes + 1, 0);
  for (const Edge& edge : edges) ++graph.offsets[edge.from + 1];
  for (uint32_t node = 0; node < num_nodes; ++node) graph.offsets[node + 1] += graph.offsets[node];
  graph.edges.resize(edges.size());
  std::vector<uint32_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (const Edge& edge : edges) graph.edges[next[edge.from]++] = edge;
  return graph;
}

// Strongly connected components (Tarjan, with an explicit stack), numbered so that an edge never
// leads to a component with a greater number.
uint32_t Lengths::components(const Graph& graph, std::vector<uint32_t>& component) {
  const auto num_nodes = static_cast<uint32_t>(graph.offsets.size() - 1);
  component.assign(num_nodes, kNone);
  std::vector<uint32_t> index(num_nodes, kNone);
  std::vector<uint32_t> low(num_nodes, 0);
  std::vector<uint32_t> open;
  std::vector<std::pair<uint32_t, uint32_t>> calls;  // node, next edge
  uint32_t counter = 0;
  uint32_t count = 0;
  for (uint32_t root = 0; root < num_nodes; ++root) {
    if (index[root] != kNone) continue;
    calls.emplace_back(root, graph.offsets[root]);
    while (!calls.empty()) {
      const uint32_t node = calls.back().first;
      if (index[node] == kNone) {
        index[node] = low[node] = counter++;
        open.push_back(node);
      }
      if (calls.back().second < graph.offsets[node + 1]) {
        const uint32_t target = graph.edges[calls.back().second++].to;
        if (index[target] == kNone) {
          calls.emplace_back(target, graph.offsets[target]);
        } else if (component[target] == kNone) {
          low[node] = std::min(low[node], index[target]);
        }
        continue;
      }
      calls.pop_back();
      if (!calls.empty()) {
        uint32_t& parent = low[calls.back().first];
        parent = std::min(parent, low[node]);
      }
      if (low[node] != index[node]) continue;
      uint32_t member = kNone;
      do {
        member = open.back();
        open.pop_back();
        component[member] = count;
      } while (member != node);
      ++count;
    }
  }
  return count;
}

void Lengths::condense(uint32_t num_nodes, const std::vector<Edge>& edges) {
  std::vector<Edge> epsilons;
  for (const Edge& edge : edges) {
    if (edge.weight == 0) epsilons.push_back(edge);
  }
  num_groups_ = components(make_graph(num_nodes, std::move(epsilons)), group_);
  std::vector<Edge> joined;
  joined.reserve(edges.size());
  for (const Edge& edge : edges) {
    const Edge mapped{group_[edge.from], group_[edge.to], edge.weight};
    if (mapped.weight == 1 || mapped.from != mapped.to) joined.push_back(mapped);
  }
  const auto key = [](const Edge& e) { return (uint64_t{e.to} << 1) | e.weight; };
  std::sort(joined.begin(), joined.end(), [&](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : key(a) < key(b);
  });
  joined.erase(std::unique(joined.begin(), joined.end(),
                           [&](const Edge& a, const Edge& b) {
                             return a.from == b.from && key(a) == key(b);
                           }),
               joined.end());
  std::vector<Edge> reversed = joined;
  for (Edge& edge : reversed) std::swap(edge.from, edge.to);
  forward_ = make_graph(num_groups_, std::move(joined));
  backward_ = make_graph(num_groups_, std::move(reversed));
}

void Lengths::find_shortest() {
  shortest_.assign(num_groups_, kUnbounded);
  std::deque<uint32_t> queue;
  for (uint32_t group = 0; group < num_groups_; ++group) {
    if (!final_[group]) continue;
    shortest_[group] = 0;
    queue.push_back(group);
  }
  while (!queue.empty()) {
    const uint32_t group = queue.front();
    queue.pop_front();
    for (const Edge& edge : backward_.of(group)) {
      const uint32_t length = shortest_[group] + edge.weight;
      if (length >= shortest_[edge.to]) continue;
      shortest_[edge.to] = length;
      if (edge.weight == 0)
        queue.push_front(edge.to);
      else
        queue.push_back(edge.to);
    }
  }
}

void Lengths::find_longest() {
  std::vector<uint32_t> component;
  const uint32_t count = components(forward_, component);
  std::vector<std::pair<uint32_t, uint32_t>> order;  // component, group: successors come first
  order.reserve(num_groups_);
  std::vector<uint32_t> sizes(count, 0);
  for (uint32_t group = 0; group < num_groups_; ++group) {
    order.emplace_back(component[group], group);
    ++sizes[component[group]];
  }
  std::sort(order.begin(), order.end());
  longest_.assign(num_groups_, 0);
  for (const auto& [id, group] : order) {
    uint32_t longest = sizes[id] > 1 ? kUnbounded : 0;
    for (const Edge& edge : forward_.of(group)) {
      if (longest == kUnbounded) break;
      const bool endless = edge.to == group || longest_[edge.to] == kUnbounded;
      longest = endless ? kUnbounded : std::max(longest, longest_[edge.to] + edge.weight);
    }
    longest_[group] = longest;
  }
}

bool Lengths::has_no_gaps() const {
  std::vector<std::pair<uint32_t, uint32_t>> offers;
  for (uint32_t group = 0; group < num_groups_; ++group) {
    offers.clear();
    if (final_[group]) offers.emplace_back(0, 0);
    for (const Edge& edge : forward_.of(group)) {
      const uint32_t longest = longest_[edge.to];
      offers.emplace_back(shortest_[edge.to] + edge.weight,
                          longest == kUnbounded ? longest : longest + edge.weight);
    }
    std::sort(offers.begin(), offers.end());
    uint32_t covered = offers.front().second;
    for (const auto& [shortest, longest] : offers) {
      if (covered != kUnbounded && shortest > covered + 1) return false;
      covered = std::max(covered, longest);
    }
  }
  return true;
}

bool Lengths::can_finish(std::span<const uint32_t> nodes, uint32_t min, uint32_t max) {
  if (min > max) return false;
  uint32_t shortest = kUnbounded;
  uint32_t longest = 0;
  for (const uint32_t node : nodes) {
    const uint32_t group = group_[node];
    if (longest_[group] < min || shortest_[group] > max) continue;
    if (gapless_ || max == kUnbounded) return true;
    shortest = std::min(shortest, shortest_[group]);
    longest = std::max(longest, longest_[group]);
  }
  if (shortest == kUnbounded) return false;
  return search_layers(nodes, std::max(min, shortest), std::min(max, longest));
}

bool Lengths::search_layers(std::span<const uint32_t> nodes, uint32_t min, uint32_t max) {
  for (uint32_t length = min; length <= max; ++length) {
    if (period_ != 0 && length >= period_start_ + period_ && length >= min + period_) return false;
    if (!grow_layers(length)) limits_.exceeded("the number of lengths of a pattern");
    if (hits(nodes, layer(length))) return true;
  }
  return false;
}

bool Lengths::hits(std::span<const uint32_t> nodes, const Bits& bits) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](uint32_t node) {
    return (bits[group_[node] / 64] >> (group_[node] % 64) & 1) != 0;
  });
}

const Lengths::Bits& Lengths::layer(uint32_t length) const {
  if (length < layers_.size()) return layers_[length];
  return layers_[period_start_ + (length - period_start_) % period_];
}

// Makes layer(index) available; false if that takes too much memory.
bool Lengths::grow_layers(uint32_t index) {
  while (period_ == 0 && layers_.size() <= index) {
    if ((layers_.size() + 1) * uint64_t{num_groups_} > limits_.length_bits()) return false;
    if (!add_layer()) return true;
  }
  return true;
}

// Adds the next layer; false if it repeats an earlier one.
bool Lengths::add_layer() {
  Bits next((num_groups_ + 63) / 64, 0);
  std::vector<uint32_t> stack;
  const auto add = [&](uint32_t group) {
    const uint64_t bit = uint64_t{1} << (group % 64);
    if ((next[group / 64] & bit) != 0) return;
    next[group / 64] |= bit;
    stack.push_back(group);
  };
  if (layers_.empty()) {
    for (uint32_t group = 0; group < num_groups_; ++group) {
      if (final_[group]) add(group);
    }
  } else {
    const Bits& last = layers_.back();
    for (std::size_t word = 0; word < last.size(); ++word) {
      for (uint64_t rest = last[word]; rest != 0; rest &= rest - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
        const auto group = static_cast<uint32_t>(word * 64 + bit);
        for (const Edge& edge : backward_.of(group)) {
          if (edge.weight == 1) add(edge.to);
        }
      }
    }
  }
  close(next, stack);
  uint64_t hash = 0;
  for (const uint64_t word : next) hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL ^ (hash >> 31);
  const auto size = static_cast<uint32_t>(layers_.size());
  for (auto [it, end] = layer_by_hash_.equal_range(hash); it != end; ++it) {
    if (layers_[it->second] != next) continue;
    period_start_ = it->second;
    period_ = size - it->second;
    return false;
  }
  layer_by_hash_.emplace(hash, size);
  layers_.push_back(std::move(next));
  return true;
}

// Adds what reaches the bits by epsilon edges; `stack` holds the bits to start from.
void Lengths::close(Bits& bits, std::vector<uint32_t>& stack) const {
  while (!stack.empty()) {
    const uint32_t group = stack.back();
    stack.pop_back();
    for (const Edge& edge : backward_.of(group)) {
      const uint64_t bit = uint64_t{1} << (edge.to % 64);
      if (edge.weight != 0 || (bits[edge.to / 64] & bit) != 0) continue;
      bits[edge.to / 64] |= bit;
      stack.push_back(edge.to);
    }
  }
}

uint32_t Lengths::horizon() {
  if (gapless_) {
    uint32_t horizon = 0;
    for (uint32_t group = 0; group < num_groups_; ++group) {
      horizon = std::max(horizon, shortest_[group]);
      if (longest_[group] != kUnbounded) horizon = std::max(horizon, longest_[group] + 1);
    }
    return horizon;
  }
  while (period_ == 0) {
    if (!grow_layers(static_cast<uint32_t>(layers_.size()))) return kUnbounded;
  }
  return period_ == 1 ? period_start_ : kUnbounded;
}

}  // namespace maskwright::langs

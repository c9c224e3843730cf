// Objects of a clause: the conjunction of its nodes, name by name.
//
// A member is judged by the conjunction of what each node says of its name: the listed name and all
// key patterns that match it, or additionalProperties where there are none. Names that no node
// lists are judged by class (name_classes.h); classes with few names are listed, name by name. In
// strict mode names that no node lists or matches are closed where some node names members and none
// says what else may come.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "json/clause.h"
#include "json/clause_leaves.h"
#include "json/name_classes.h"
#include "maskwright/support/sorted_set.h"

namespace maskwright {

namespace {

// Classes of at most so many names are listed.
constexpr uint32_t kMaxListed = 256;

// Obligations of one object: all; where there is a bound on members; those on values.
constexpr std::size_t kMaxObligations = 30;
constexpr std::size_t kMaxCounted = 8;
constexpr std::size_t kMaxOnValues = 4;

constexpr std::size_t kByNameWord = 7;  // of the words of a shape, from its options on

using Conditions = std::span<const uint32_t>;  // those that hold for a name, sorted

// What one OBJECT node says.
struct ObjectWords {
  bool silent;
  std::vector<std::pair<uint32_t, uint32_t>> members;   // key, word; by key
  std::vector<std::pair<uint32_t, uint32_t>> patterns;  // condition, word; one for each word
  std::vector<LangId> languages;                        // of the patterns as the node lists them
  uint32_t additional;                                  // a word; kNone: absent

  // Appends the words for a name; false if the node neither lists nor matches it.
  bool append(uint32_t key, Conditions conditions, std::vector<uint32_t>& words) const {
    const std::size_t before = words.size();
    const auto at = std::lower_bound(members.begin(), members.end(), std::pair{key, 0U});
    if (at != members.end() && at->first == key) words.push_back(at->second);
    for (const auto& [condition, word] : patterns) {
      if (in_set(conditions, condition)) words.push_back(word);
    }
    if (words.size() != before) return true;
    if (additional != kNone) words.push_back(additional);
    return false;
  }
};

// Some member must satisfy the word: one whose name meets the condition, or (kNone) that the node
// neither lists nor matches.
struct SomeMember {
  ObjectWords node;
  uint32_t condition, word;
  uint32_t source;  // the node that says so; kNone: not known

  bool concerns(uint32_t key, Conditions conditions) const {
    if (condition != kNone) return in_set(conditions, condition);
    std::vector<uint32_t> unused;
    return !node.append(key, conditions, unused);
  }
};

// Some name needs itself by way of others. `edges`: sorted.
bool has_circle(std::span<const std::pair<uint32_t, uint32_t>> edges) {
  std::unordered_map<uint32_t, std::size_t> next;  // the edge of a name that is tried next
  std::unordered_set<uint32_t> on_path;
  for (std::size_t i = edges.size(); i-- > 0;) next[edges[i].first] = i;
  for (const auto& [start, unused] : edges) {
    std::vector<uint32_t> path{start};
    on_path = {start};
    while (!path.empty()) {
      const uint32_t name = path.back();
      const auto at = next.find(name);
      if (at == next.end() || at->second == edges.size() || edges[at->second].first != name) {
        on_path.erase(name);
        path.pop_back();
        continue;
      }
      const uint32_t needed = edges[at->second++].second;
      if (!on_path.insert(needed).second) return true;
      path.push_back(needed);
    }
  }
  return false;
}

}  // namespace

// Collects what the leaves of a clause say about members.
class ObjectMerger {
 public:
  ObjectMerger(ClauseTable& table, uint32_t options)
      : table_(table), options_(options), conditions_(1) {}

  void add_object(uint32_t word) {
    WordReader reader(table_.ir_.node(node_of(word)));
    const uint32_t num_members = reader.next();
    if (declared_.empty()) declared_.reserve(num_members);
    for (uint32_t left = num_members; left != 0; --left) {
      mention(read_key(reader), (word & kSilent) != 0);
      reader.next();
    }
    objects_.push_back(read(word));
    const ObjectWords& object = objects_.back();
    if (object.silent) return;
    names_some_ = names_some_ || !object.members.empty() || !object.patterns.empty();
    says_other_ = says_other_ || object.additional != kNone;
  }

  void add_required(uint32_t node) {
    WordReader reader(table_.ir_.node(node));
    for (uint32_t left = reader.next(); left != 0; --left) require(read_key(reader));
  }

  void add_rule(const ClauseTable::Leaves::MemberRule& rule) {
    if (rule.required) {
      require(rule.key);
    } else {
      mention(rule.key, true);
    }
    rules_.push_back(rule);
  }

  void add_dependency(uint32_t node) {
    dependency_node_ = node;
    WordReader reader(table_.ir_.node(node));
    const uint32_t trigger = read_key(reader);
    for (uint32_t left = reader.next(); left != 0; --left) {
      const uint32_t needed = read_key(reader);
      if (needed == trigger) continue;
      mention(trigger, true);
      mention(needed, true);
      dependencies_.emplace_back(trigger, needed);
    }
  }

  // All names, as strings, satisfy the words.
  void add_names(std::span<const uint32_t> words) {
    conditions_[0] = table_.name_languages(options_, words);
    within_ = conditions_[0] != std::vector<LangId>{table_.langs_.any_text()};
    if (!within_) conditions_[0].clear();
  }

  // `pattern`: an index into those of the node, or kNone.
  void add_some_member(uint32_t node, uint32_t pattern, uint32_t word) {
    SomeMember some{read(node | kSilent), kNone, word, node};
    if (pattern != kNone) some.condition = condition({some.node.languages[pattern]});
    for (const auto& [key, unused] : some.node.members) mention(key, true);
    some_.push_back(std::move(some));
  }

  void add_some_name(uint32_t word) {
    const uint32_t named = condition(table_.name_languages(options_, {&word, 1}));
    some_.push_back({{}, named, kAnyWord, is_derived(word) ? kNone : node_of(word)});
  }

  // The words of an ObjectShape.
  std::vector<uint32_t> take(Bounds count) {
    closed_ = table_.options_.get(options_).strict && names_some_ && !says_other_;
    make_classes();
    const std::vector<uint32_t> others = take_classes();
    const std::vector<Place> places = take_places(others);
    make_set(dependencies_);
    if (count.min > 1 && count.max != kNone && has_circle(dependencies_)) {
      unsupported("dependentRequired",
                  "names that need each other in a circle, beside \"minProperties\" and "
                  "\"maxProperties\"; drop one of the two bounds",
                  dependency_node_);
    }
    std::vector<uint32_t> words{options_,
                                count.min,
                                count.max,
                                classes_->id(),
                                classes_->size(),
                                static_cast<uint32_t>(places.size()),
                                static_cast<uint32_t>(dependencies_.size()),
                                0,
                                0};
    words.reserve(words.size() + others.size() + 3 * places.size());
    words.insert(words.end(), others.begin(), others.end());
    for (const Place& place : places) {
      words.insert(words.end(), {place.key, place.target, place.flags});
    }
    append_dependencies(places, words);
    append_obligations(count, others, places, words);
    return words;
  }

 private:
  struct Place {
    uint32_t key, target, flags;
  };

  uint32_t read_key(WordReader& reader) {
    const auto entry = reader.take(2);
    return table_.keys().intern(table_.ir_.bytes(entry[0], entry[1]));
  }

  ObjectWords read(uint32_t word) {
    WordReader reader(table_.ir_.node(node_of(word)));
    ObjectWords object{(word & kSilent) != 0, {}, {}, {}, kNone};
    const uint32_t num_members = reader.next();
    object.members.reserve(num_members);
    for (uint32_t left = num_members; left != 0; --left) {
      const uint32_t key = read_key(reader);
      object.members.emplace_back(key, inherit(word, reader.next()));
    }
    // The first mention of a key counts.
    std::stable_sort(object.members.begin(), object.members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    // Patterns that ask the same are one condition.
    std::map<uint32_t, std::vector<LangId>> by_word;
    for (uint32_t left = reader.next(); left != 0; --left) {
      object.languages.push_back(table_.langs_.pattern(reader.next()));
      by_word[inherit(word, reader.next())].push_back(object.languages.back());
    }
    for (auto& [asked, patterns] : by_word) {
      make_set(patterns);
      object.patterns.emplace_back(condition(std::move(patterns)), asked);
    }
    const uint32_t additional = reader.next();
    if (additional != kNone) object.additional = inherit(word, additional);
    return object;
  }

  void mention(uint32_t key, bool undeclared) {
    if (undeclared) {
      undeclared_.push_back(key);
    } else {
      declared_.push_back(key);
    }
  }

  void require(uint32_t key) {
    required_.push_back(key);
    mention(key, true);
  }

  // The index of a condition on names. The first one is kept for what all names must satisfy.
  uint32_t condition(std::vector<LangId> languages) {
    const auto known = std::find(conditions_.begin() + 1, conditions_.end(), languages);
    const auto index = static_cast<uint32_t>(known - conditions_.begin());
    if (known == conditions_.end()) conditions_.push_back(std::move(languages));
    return index;
  }

  void make_classes() {
    const bool plain = !within_ && conditions_.size() == 1;
    if (plain) conditions_.clear();
    classes_ = &table_.name_classes_.intern(conditions_, within_);
  }

  Conditions conditions_of(uint32_t key) const {
    if (conditions_.empty()) return {};
    return classes_->conditions(classes_->class_of(table_.keys().get(key)));
  }

  bool possible(uint32_t key) const {
    return conditions_.empty() || classes_->class_of(table_.keys().get(key)) != kNone;
  }

  // The target of a member that also satisfies the words `more`; kNone: refused. `key` kNone: one
  // that is not listed.
  uint32_t target_of(uint32_t key, Conditions conditions, bool declared,
                     std::span<const uint32_t> more = {}) {
    words_.clear();
    for (const ObjectWords& object : objects_) {
      declared = (object.append(key, conditions, words_) && !object.silent) || declared;
    }
    if (closed_ && !declared) return kNone;
    for (const auto& rule : rules_) {
      if (rule.key != key) continue;
      if (rule.absent) return kNone;
      words_.push_back(rule.word);
    }
    words_.insert(words_.end(), more.begin(), more.end());
    return table_.target_of(options_, words_);
  }

  // The targets of the classes. Small ones are given up, and their names mentioned.
  std::vector<uint32_t> take_classes() {
    std::vector<uint32_t> others;
    for (uint32_t c = 0; c < classes_->size(); ++c) {
      others.push_back(target_of(kNone, classes_->conditions(c), false));
      if (others[c] == kNone || classes_->count(classes_->start(), c) > kMaxListed) continue;
      others[c] = kNone;
      for (const std::string& name : classes_->names(c)) mention(table_.keys().intern(name), true);
    }
    return others;
  }

  std::vector<Place> take_places(std::span<const uint32_t> others) {
    make_set(required_);
    std::vector<Place> places;
    places.reserve(declared_.size() + undeclared_.size());
    std::vector<bool> met(table_.keys().size(), false);
    const auto add = [&](uint32_t key, bool declared) {
      if (met[key]) return;
      met[key] = true;
      Place place{key, kNone, declared ? 0U : ObjectShape::kIsUndeclared};
      if (possible(key)) place.target = target_of(key, conditions_of(key), declared);
      if (in_set(required_, key)) place.flags |= ObjectShape::kIsRequired;
      if (place.flags != ObjectShape::kIsUndeclared || !says_nothing(place, others)) {
        places.push_back(place);
      }
    };
    for (const uint32_t key : declared_) add(key, true);
    for (const uint32_t key : undeclared_) add(key, false);
    return places;
  }

  // The member is like all others of its class.
  bool says_nothing(const Place& place, std::span<const uint32_t> others) const {
    if (!some_.empty() || !dependencies_.empty()) return false;
    const uint32_t own = conditions_.empty() ? 0 : classes_->class_of(table_.keys().get(place.key));
    return own < others.size() && place.target == others[own];
  }

  void append_dependencies(std::span<const Place> places, std::vector<uint32_t>& words) const {
    if (dependencies_.empty()) return;
    std::unordered_map<uint32_t, uint32_t> index;  // of a key among the members
    for (const Place& place : places) {
      index.emplace(place.key, static_cast<uint32_t>(index.size()));
    }
    for (const auto& [trigger, needed] : dependencies_) {
      words.insert(words.end(), {index.at(trigger), index.at(needed)});
    }
  }

  // Witnesses for each obligation by name, then for each set of the others.
  void append_obligations(Bounds count, std::span<const uint32_t> others,
                          std::span<const Place> places, std::vector<uint32_t>& words) {
    const auto by_value = std::stable_partition(
        some_.begin(), some_.end(), [](const SomeMember& some) { return some.word == kAnyWord; });
    const auto on_values = static_cast<std::size_t>(some_.end() - by_value);
    const bool many = on_values > kMaxOnValues || some_.size() > kMaxObligations;
    const bool counted = count.max != kNone && some_.size() > kMaxCounted;
    if (many || counted || (some_.size() > 1 && !dependencies_.empty())) {
      unsupported("not",
                  "one object must break what several schemas say of members that only a pattern, "
                  "\"additionalProperties\" or \"propertyNames\" concerns; list the members under "
                  "\"properties\"",
                  some_.back().source);
    }
    words[kByNameWord] = static_cast<uint32_t>(some_.size() - on_values);
    words[kByNameWord + 1] = static_cast<uint32_t>(on_values);
    const std::span<const SomeMember> all(some_);
    for (const SomeMember& some : all.first(some_.size() - on_values)) {
      append_witnesses({&some, 1}, count, others, places, words);
    }
    for (uint32_t set = 1; set < 1U << on_values; ++set) {
      std::vector<SomeMember> chosen;
      for (uint32_t i = 0; i < on_values; ++i) {
        if ((set >> i & 1) != 0) chosen.push_back(by_value[i]);
      }
      append_witnesses(chosen, count, others, places, words);
    }
  }

  void append_witnesses(std::span<const SomeMember> chosen, Bounds count,
                        std::span<const uint32_t> others, std::span<const Place> places,
                        std::vector<uint32_t>& words) {
    std::vector<uint32_t> more;
    for (const SomeMember& some : chosen) more.push_back(some.word);
    const auto add = [&](uint32_t key, uint32_t target, Conditions conditions) {
      const bool can = target != kNone && std::ranges::all_of(chosen, [&](const SomeMember& some) {
                         return some.concerns(key, conditions);
                       });
      words.push_back(can ? target_of(key, conditions, true, more) : kNone);
    };
    for (uint32_t c = 0; c < others.size(); ++c) {
      add(kNone, others[c], classes_->conditions(c));
      if (words.back() == kNone || chosen[0].word == kAnyWord) continue;
      // Members that are no witnesses must not use up the names of the class.
      const uint32_t names = classes_->count(classes_->start(), c);
      const uint32_t listed = std::min(names, static_cast<uint32_t>(places.size()));
      if (names != kUnbounded && names - listed < count.max) {
        unsupported("not",
                    "some member must break a schema, and the names that it may have can run out; "
                    "list them under \"properties\" or set a lower \"maxProperties\"",
                    chosen[0].source);
      }
    }
    for (const Place& place : places) {
      if (place.target == kNone) {
        words.push_back(kNone);
      } else {
        add(place.key, place.target, conditions_of(place.key));
      }
    }
  }

  ClauseTable& table_;
  uint32_t options_;
  std::vector<ObjectWords> objects_;
  std::vector<ClauseTable::Leaves::MemberRule> rules_;
  std::vector<SomeMember> some_;
  std::vector<std::pair<uint32_t, uint32_t>> dependencies_;  // trigger, needed
  uint32_t dependency_node_ = kNone;                         // one of them
  std::vector<uint32_t> declared_, undeclared_, required_;   // keys, in order of mention
  std::vector<std::vector<LangId>> conditions_;
  std::vector<uint32_t> words_;  // scratch of target_of
  const NameClasses* classes_ = nullptr;
  bool names_some_ = false, says_other_ = false, closed_ = false, within_ = false;
};

// The strings that satisfy all the words, as a union of languages; {any_text()} for all of them.
std::vector<LangId> ClauseTable::name_languages(uint32_t options, std::span<const uint32_t> words) {
  std::vector<LangId> languages;
  for (const auto& leaves : targets_.flatten(target_of(options, words))) {
    const Leaves sorted = sort_out(leaves);
    if ((sorted.types & kStringType) == 0) continue;
    Clause clause;
    resolve_string(sorted, clause);
    if (!clause.has_string) continue;
    const LangId lengths = langs_.texts_of_length(clause.min_length, clause.max_length);
    languages.push_back(langs_.intersection(std::array{clause.string, lengths}));
    if (languages.back() == langs_.any_text()) return {languages.back()};
  }
  make_set(languages);
  return languages;
}

uint32_t ClauseTable::resolve_object(uint32_t options, const Leaves& leaves) {
  ObjectMerger merger(*this, options);
  for (const uint32_t word : leaves.objects) merger.add_object(word);
  for (const uint32_t node : leaves.required) merger.add_required(node);
  for (const auto& rule : leaves.member_rules) merger.add_rule(rule);
  for (const uint32_t node : leaves.dependencies) merger.add_dependency(node);
  if (!leaves.names.empty()) merger.add_names(leaves.names);
  for (const auto& some : leaves.some_members) {
    merger.add_some_member(some.node, some.pattern, some.word);
  }
  for (const uint32_t word : leaves.some_names) merger.add_some_name(word);
  const std::vector<uint32_t> words = merger.take(leaves.members);
  return objects_.intern(words).id;
}

}  // namespace maskwright

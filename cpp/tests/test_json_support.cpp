#include "test_json_support.h"

#include <cstring>

namespace maskwright::testing {

uint32_t SchemaWriter::list(NodeKind kind, const Words& ids) {
  Words record{uint32_t(kind), static_cast<uint32_t>(ids.size())};
  record.insert(record.end(), ids.begin(), ids.end());
  return node(std::move(record));
}

void SchemaWriter::add_bytes(Words& record, std::string_view text) {
  record.push_back(static_cast<uint32_t>(bytes_.size()));
  record.push_back(static_cast<uint32_t>(text.size()));
  bytes_ += text;
}

uint32_t SchemaWriter::number(const Number& bounds) {
  uint32_t flags = 0;
  if (!bounds.lo.empty()) flags |= kHasLo;
  if (!bounds.hi.empty()) flags |= kHasHi;
  if (bounds.lo_exclusive) flags |= kLoExclusive;
  if (bounds.hi_exclusive) flags |= kHiExclusive;
  Words record{uint32_t(NodeKind::kNumber), flags};
  add_bytes(record, bounds.lo);
  add_bytes(record, bounds.hi);
  return node(std::move(record));
}

uint32_t SchemaWriter::constants(const Enum& values) {
  Words record{uint32_t(NodeKind::kEnum), values.literals};
  record.push_back(static_cast<uint32_t>(values.numbers.size()));
  for (const auto& number : values.numbers) add_bytes(record, number);
  record.push_back(static_cast<uint32_t>(values.strings.size()));
  for (const auto& text : values.strings) add_bytes(record, text);
  record.push_back(static_cast<uint32_t>(values.nodes.size()));
  record.insert(record.end(), values.nodes.begin(), values.nodes.end());
  return node(std::move(record));
}

uint32_t SchemaWriter::array(const Words& prefix, uint32_t rest) {
  Words record{uint32_t(NodeKind::kArray), static_cast<uint32_t>(prefix.size())};
  record.insert(record.end(), prefix.begin(), prefix.end());
  record.push_back(rest);
  return node(std::move(record));
}

uint32_t SchemaWriter::object(const Members& named, uint32_t additional) {
  Words record{uint32_t(NodeKind::kObject), static_cast<uint32_t>(named.size())};
  for (const auto& [key, member] : named) {
    add_bytes(record, key);
    record.push_back(member);
  }
  record.push_back(0);  // key patterns
  record.push_back(additional);
  return node(std::move(record));
}

uint32_t SchemaWriter::required(const std::vector<std::string>& keys) {
  Words record{uint32_t(NodeKind::kRequired), static_cast<uint32_t>(keys.size())};
  for (const auto& key : keys) add_bytes(record, key);
  return node(std::move(record));
}

std::vector<std::byte> SchemaWriter::buffer(uint32_t root, const Layout& layout) {
  Words json{uint32_t(ExprKind::kJson), root, layout.flags, layout.max_whitespace};
  add_bytes(json, layout.item_separator);
  add_bytes(json, layout.key_separator);
  const uint32_t name = static_cast<uint32_t>(bytes_.size());
  bytes_ += "root";
  Words pool = json;
  Words offsets;
  for (const Words& record : nodes_) {
    offsets.push_back(static_cast<uint32_t>(pool.size()));
    pool.insert(pool.end(), record.begin(), record.end());
  }
  Words words{kIrMagic,
              kIrVersion,
              1,
              1,
              static_cast<uint32_t>(nodes_.size()),
              static_cast<uint32_t>(pool.size()),
              static_cast<uint32_t>(bytes_.size()),
              0,
              0,
              0,
              0,
              0,
              0};
  words.insert(words.end(), offsets.begin(), offsets.end());
  words.insert(words.end(), {0, name, 4});
  words.insert(words.end(), pool.begin(), pool.end());
  std::vector<std::byte> buffer(words.size() * 4 + bytes_.size());
  std::memcpy(buffer.data(), words.data(), words.size() * 4);
  std::memcpy(buffer.data() + words.size() * 4, bytes_.data(), bytes_.size());
  return buffer;
}

namespace {

std::array<bool, 256> all_but(std::string_view bytes) {
  std::array<bool, 256> spellable{};
  spellable.fill(true);
  for (const char c : bytes) spellable[static_cast<unsigned char>(c)] = false;
  return spellable;
}

bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

}  // namespace

Machine::Machine(SchemaWriter& writer, uint32_t root, const SchemaWriter::Layout& layout,
                 const JsonLimits& limits, std::string_view unspellable)
    : ir_(writer.finish(root, layout)),
      store_(layout.max_advance),
      machine_(ir_, store_, all_but(unspellable), limits) {
  const uint32_t target = machine_.target(0);
  productive_ = machine_.productive(target);
  if (productive_) start_ = machine_.start({&target, 1});
}

Machine::Config Machine::begin() const {
  Config config;
  config.state = start_;
  return config;
}

// Returns to the caller; false if it can't go on.
bool Machine::pop(Config& config, SetId accepted, Reg returned) {
  if (config.stack.empty()) {
    config.complete = true;
    config.state = kDead;
    return true;
  }
  const Frame caller = config.stack.back();
  config.stack.pop_back();
  Family& family = store_.family(store_.state(caller.state).family);
  const Target after = family.resume(caller.state, caller.reg, accepted, returned, regs_);
  config.state = after.state;
  config.reg = after.reg;
  config.run = 0;
  return after.state != kDead;
}

bool Machine::settle(Config& config) {
  while (!config.complete && (store_.state(config.state).flags & kReturnOnly) != 0) {
    if (!pop(config, store_.state(config.state).accepts, config.reg)) return false;
  }
  return true;
}

bool Machine::step(Config& config, uint8_t byte) {
  while (!config.complete) {
    const State state = store_.state(config.state);
    Family& family = store_.family(state.family);
    if ((state.flags & kWhitespace) != 0 && is_space(byte)) {
      return ++config.run <= state.whitespace_limit;
    }
    if (const Edge* edge = store_.row(config.state).find(byte); edge != nullptr) {
      Target to{edge->target, config.reg};
      if (edge->op == Op::kDynamic) {
        to = family.scan(config.state, config.reg, byte, edge->target, regs_);
      }
      config.state = to.state;
      config.reg = to.reg;
      config.run = 0;
      return to.state != kDead && settle(config);
    }
    if ((state.flags & kCalls) != 0) {
      std::vector<Target> callees;
      if (state.callee != kDead) {
        callees.push_back({state.callee, 0});
      } else {
        family.callees(config.state, config.reg, regs_, callees);
      }
      if (callees.size() != 1) return false;
      config.stack.push_back({config.state, config.reg});
      config.state = callees[0].state;
      config.reg = callees[0].reg;
      config.run = 0;
    } else if ((state.flags & kAccepts) != 0) {
      if (!pop(config, state.accepts, config.reg)) return false;
    } else {
      return false;
    }
  }
  return false;
}

bool Machine::complete(Config config) {
  if (config.complete) return true;
  return config.stack.empty() && (store_.state(config.state).flags & kAccepts) != 0;
}

std::size_t Machine::prefix(std::string_view text) {
  Config config = begin();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!step(config, static_cast<uint8_t>(text[i]))) return i;
  }
  return text.size();
}

bool Machine::accepts(std::string_view text) {
  if (!productive_) return false;
  Config config = begin();
  for (const char c : text) {
    if (!step(config, static_cast<uint8_t>(c))) return false;
  }
  return complete(config);
}

std::string Machine::next(const Config& config, std::string_view among) {
  std::string bytes;
  const auto attempt = [&](char byte) {
    Config copy = config;
    if (step(copy, static_cast<uint8_t>(byte))) bytes += byte;
  };
  for (const char byte : among) attempt(byte);
  for (int byte = 0; bytes.empty() && byte < 128; ++byte) attempt(static_cast<char>(byte));
  return bytes;
}

bool Machine::completes_at_random(std::mt19937& random, uint32_t steps, std::string& text) {
  Config config = begin();
  text.clear();
  for (uint32_t i = 0; i < steps + 4000; ++i) {
    if (config.complete || (i >= steps && complete(config))) return true;
    const std::string bytes = next(config, i < steps ? "\"]}{[:, 1abcxz\\n-t" : "\"\"\"\"]}:,1abc");
    if (bytes.empty()) return false;
    const char byte = bytes[random() % bytes.size()];
    text += byte;
    step(config, static_cast<uint8_t>(byte));
  }
  return false;
}

Words Machine::key(const Config& config) {
  Words key;
  const auto add = [&](StateId state, Reg reg) {
    if ((store_.state(state).flags & kHasRegister) != 0) {
      store_.family(store_.state(state).family).mask_key(state, reg, regs_, key);
    } else {
      key.push_back(state);
    }
    key.push_back(kNone);
  };
  add(config.state, config.reg);
  key.push_back(config.run);
  for (auto frame = config.stack.rbegin(); frame != config.stack.rend(); ++frame) {
    add(frame->state, frame->reg);
  }
  return key;
}

}  // namespace maskwright::testing

// Numbers under record: whether one can still become a number that is no suspect.
//
// A text like "1." can only become 1, and "0e" only 0, so a suspect can be certain before its last
// byte. That is asked of the number's language without the suspects. With few suspects that the
// digits allow the answer is mostly that some next digit leads away from all of them; else those
// languages are made, and a few are kept.
//
// Register: [kMark, register of the number's frame, chain of suspects, reader...].
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "json/json_value.h"
#include "json/machine_tables.h"
#include "json/number_reader.h"
#include "maskwright/support/heap_bytes.h"

namespace maskwright {

class RecordedNumbers {
 public:
  static constexpr uint32_t kMark = 0xFFFFFFF0;
  static constexpr std::size_t kInner = 1, kSuspects = 2, kReader = 3;

  explicit RecordedNumbers(JsonTables& tables) : tables_(tables) {}

  // As Family's, of the state of the number's frame.
  bool suspect(StateId state, std::span<const uint32_t> reg, const RegisterPool& regs,
               std::bitset<256>& next);
  void completions(StateId state, std::span<const uint32_t> reg, RegisterPool& regs,
                   std::vector<Completion>& out);
  std::size_t memory_bytes() const { return heap_bytes(kept_); }

 private:
  enum class Part : uint8_t { kWithout, kAmong };

  bool may_differ(StateId state, const NumberReader& reader, std::span<const ValueId> suspects,
                  const RegisterPool& regs);
  bool goes_on(LangId number, Part part, std::vector<std::string> values, const std::string& text);

  JsonTables& tables_;
  std::map<std::pair<LangId, std::pair<Part, std::vector<std::string>>>, std::unique_ptr<Lang>>
      kept_;
};

}  // namespace maskwright

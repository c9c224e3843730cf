#include "serialize/masks_form.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "mask/escape_words.h"
#include "maskwright/automata/shared_key.h"
#include "maskwright/support/version.h"

namespace maskwright {

namespace {

constexpr std::size_t kMaskBytes = 32;  // of eight words, the fewest that a mask takes

bool is_sorted_below(std::span<const uint32_t> values, uint32_t end) {
  return values.empty() ||
         (values.back() < end &&
          std::ranges::adjacent_find(values, std::greater_equal{}) == values.end());
}

class MasksWriter {
 public:
  MasksWriter(const StorableMasks& masks, ByteWriter& writer) : masks_(masks), writer_(writer) {}

  void write() {
    const std::string_view version = engine_version();
    writer_.word(kMasksForm);
    writer_.counted(std::as_bytes(std::span(version.data(), version.size())));
    write_texts();
    writer_.word(static_cast<uint32_t>(masks_.lists.size()));
    for (const std::vector<uint32_t>& list : masks_.lists) writer_.counted_words(list);
    writer_.word(static_cast<uint32_t>(masks_.masks.size()));
    for (const StorableMask& mask : masks_.masks) write_mask(mask);
    write_start();
  }

 private:
  void write_texts() {
    std::vector<const TokenClasses::Bitmap*> texts;
    for (const StorableMask& mask : masks_.masks) {
      const TokenClasses::Bitmap* text = mask.found->text.get();
      if (text == nullptr) continue;
      if (texts_.try_emplace(text, static_cast<uint32_t>(texts.size()) + 1).second) {
        texts.push_back(text);
      }
    }
    writer_.word(static_cast<uint32_t>(texts.size()));
    for (const TokenClasses::Bitmap* text : texts) writer_.words(*text);
  }

  void write_mask(const StorableMask& mask) {
    const SharedMask& found = *mask.found;
    writer_.counted_words(mask.key);
    writer_.word(found.text == nullptr ? 0 : texts_.at(found.text.get()));
    writer_.word(found.dense == nullptr ? 0 : 1);
    if (found.dense != nullptr) writer_.words(*found.dense);
    writer_.counted_words(found.ids);
    writer_.counted_words(found.unsure);
    writer_.word(mask.list);
    writer_.counted_words(mask.sets);
  }

  void write_start() {
    const StartMask* start = masks_.start.get();
    writer_.word(start == nullptr ? 0 : 1);
    if (start == nullptr) return;
    writer_.word(start->completed ? 1 : 0);
    writer_.word(start->dense.empty() ? 0 : 1);
    if (start->dense.empty()) {
      writer_.counted_words(start->ids);
    } else {
      writer_.words(start->dense);
    }
  }

  const StorableMasks& masks_;
  ByteWriter& writer_;
  std::unordered_map<const TokenClasses::Bitmap*, uint32_t> texts_;  // index + 1
};

class MasksReader {
 public:
  MasksReader(ByteReader& reader, SharedMasks& into)
      : reader_(reader), vocabulary_(into.vocabulary()), into_(into) {}

  std::shared_ptr<const StartMask> read() {
    const uint32_t num_texts = reader_.count(std::size_t{4} * words(), "texts");
    for (uint32_t i = 0; i < num_texts; ++i) texts_.push_back(read_bitmap());
    const uint32_t num_lists = reader_.count(4, "lists");
    for (uint32_t i = 0; i < num_lists; ++i) read_list();
    const uint32_t num_masks = reader_.count(kMaskBytes, "masks");
    for (uint32_t i = 0; i < num_masks; ++i) read_mask();
    return read_start();
  }

 private:
  struct List {
    SharedMaskRef words;  // null if there is no room for it
    uint32_t num_sets;
  };

  uint32_t words() const { return vocabulary_.mask_words(); }

  TokenClasses::Bitmap read_bits() {
    std::vector<uint32_t> bits = reader_.words(words());
    const uint32_t used = vocabulary_.vocab_size() % 32;
    if (used != 0 && bits.back() >> used != 0) reader_.fail("a bitmap has a token beyond the last");
    return bits;
  }

  SharedMask::Bitmap read_bitmap() {
    return std::make_shared<const TokenClasses::Bitmap>(read_bits());
  }

  std::vector<uint32_t> read_tokens() {
    std::vector<uint32_t> ids = reader_.counted_words("tokens");
    if (!is_sorted_below(ids, vocabulary_.vocab_size())) {
      reader_.fail("its tokens are not sorted, or not in the vocabulary");
    }
    return ids;
  }

  void read_list() {
    const std::vector<uint32_t> content = reader_.counted_words("words");
    const auto num_sets = count_sets(content, vocabulary_.num_nodes());
    if (!num_sets) reader_.fail("a list is no list of places in the vocabulary");
    lists_.push_back({into_.list(content), *num_sets});
  }

  const List& read_list_index(uint32_t index) {
    if (index >= lists_.size()) reader_.fail("a list does not exist");
    return lists_[index];
  }

  void read_mask() {
    auto mask = std::make_shared<SharedMask>();
    const bool is_kept = read_key(mask->key);
    const uint32_t text = reader_.word_up_to(static_cast<uint32_t>(texts_.size()), "text");
    if (text != 0) mask->text = texts_[text - 1];
    if (reader_.word_up_to(1, "bitmap flag") != 0) mask->dense = read_bitmap();
    mask->ids = read_tokens();
    mask->unsure = reader_.counted_words("nodes");
    if (!is_sorted_below(mask->unsure, vocabulary_.num_nodes())) {
      reader_.fail("its nodes are not sorted, or not in the vocabulary");
    }
    const List& list = read_list_index(reader_.word());
    mask->escapes = list.words;
    read_sets(mask->sets, list.num_sets);
    if (is_kept && list.words != nullptr) into_.keep(std::move(mask));
  }

  // False if it names a list that there is no room for.
  bool read_key(std::vector<uint32_t>& key) {
    key = reader_.counted_words("words");
    if (key.empty() || key.size() > SharedKey::kMaxWords || key[0] == kListTag ||
        key[0] >= kSharedTags) {
      reader_.fail("a key is none");
    }
    if (!SharedMask::names_list(key)) return true;
    if (key.size() < 3 || key[2] != 0) reader_.fail("a key names no list");
    const SharedMaskRef& list = read_list_index(key[1]).words;
    if (list == nullptr) return false;
    key[1] = static_cast<uint32_t>(list->number);
    key[2] = static_cast<uint32_t>(list->number >> 32);
    return true;
  }

  // So many sets, each with its size before it; they name callees of the key, of which a grammar
  // sees whether it has them.
  void read_sets(std::vector<uint32_t>& sets, uint32_t num_sets) {
    sets = reader_.counted_words("words");
    std::span<const uint32_t> left = sets;
    uint32_t number = 0;
    for (; !left.empty(); ++number) {
      if (left[0] >= left.size() || left[0] > SharedKey::kMaxCallees) {
        reader_.fail("a set has another size than it says");
      }
      left = left.subspan(1 + std::size_t{left[0]});
    }
    if (number < num_sets) reader_.fail("its list names a set that does not exist");
  }

  std::shared_ptr<const StartMask> read_start() {
    if (reader_.word_up_to(1, "start flag") == 0) return nullptr;
    auto start = std::make_shared<StartMask>();
    start->completed = reader_.word_up_to(1, "end flag") != 0;
    if (reader_.word_up_to(1, "bitmap flag") != 0) {
      start->dense = read_bits();
    } else {
      start->ids = read_tokens();
    }
    if (!start->completed && start->ids.empty() &&
        std::ranges::all_of(start->dense, [](uint32_t word) { return word == 0; })) {
      reader_.fail("nothing can follow at the start");
    }
    return start;
  }

  ByteReader& reader_;
  const Vocabulary& vocabulary_;
  SharedMasks& into_;
  std::vector<SharedMask::Bitmap> texts_;
  std::vector<List> lists_;
};

}  // namespace

void write_masks(const StorableMasks& masks, ByteWriter& writer) {
  MasksWriter(masks, writer).write();
}

std::shared_ptr<const StartMask> read_masks(ByteReader& reader, SharedMasks& into) {
  reader.begin("masks");
  if (reader.word() != kMasksForm) return nullptr;
  const auto version = reader.counted();
  const std::string_view own = engine_version();
  if (!std::ranges::equal(version, std::as_bytes(std::span(own.data(), own.size())))) {
    return nullptr;
  }
  auto start = MasksReader(reader, into).read();
  if (reader.left() != 0) reader.fail("there are bytes behind them");
  return start;
}

}  // namespace maskwright

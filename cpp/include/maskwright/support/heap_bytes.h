// What an object holds on the heap, for caches that are limited in bytes.
//
// heap_bytes(x) is the memory that x owns outside of itself, block by block with what an allocator
// adds to each: 8 bytes, rounded up to 16 (glibc; others are close). A formula and no question to
// the allocator, so that equal work gives equal figures. Containers are followed; a class says what
// it owns in memory_bytes(), a class behind a pointer to its base (Lang, Family) in footprint(),
// its own block included. Anything else that is not plain data does not compile, so a new member
// can't be forgotten by the container that holds it.
//
// Cost: linear in the elements that own something themselves; constant for containers of plain
// data.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace maskwright {

// The block of an allocation; nothing is allocated for 0 bytes.
constexpr std::size_t heap_block(std::size_t size) {
  if (size == 0) return 0;
  const std::size_t block = (size + 8 + 15) / 16 * 16;
  return block < 32 ? 32 : block;
}

template <typename T>
struct IsPlainData : std::is_trivially_copyable<T> {};  // pointers and views: they own nothing
template <typename A, typename B>
struct IsPlainData<std::pair<A, B>> : std::conjunction<IsPlainData<A>, IsPlainData<B>> {};
template <typename T>
struct IsPlainData<const T> : IsPlainData<T> {};

template <typename T>
concept PlainData = IsPlainData<T>::value;

template <typename T>
concept CountsBytes = requires(const T& object) { object.memory_bytes(); };

template <typename T>
concept CountsFootprint = requires(const T& object) { object.footprint(); };

template <PlainData T>
std::size_t heap_bytes(const T&);
template <CountsBytes T>
  requires(!PlainData<T>)
std::size_t heap_bytes(const T& object);
inline std::size_t heap_bytes(const std::string& text);
inline std::size_t heap_bytes(const std::vector<bool>& bits);
template <typename T>
std::size_t heap_bytes(const std::vector<T>& items);
template <typename T, std::size_t N>
  requires(!PlainData<std::array<T, N>>)
std::size_t heap_bytes(const std::array<T, N>& items);
template <typename T>
  requires(!PlainData<std::optional<T>>)
std::size_t heap_bytes(const std::optional<T>& item);
template <typename A, typename B>
  requires(!PlainData<std::pair<A, B>>)
std::size_t heap_bytes(const std::pair<A, B>& pair);
template <typename T>
std::size_t heap_bytes(const std::unique_ptr<T>& owned);
template <typename K, typename V>
std::size_t heap_bytes(const std::map<K, V>& entries);
template <typename K, typename V, typename H, typename E>
std::size_t heap_bytes(const std::unordered_map<K, V, H, E>& entries);
template <typename K, typename V>
std::size_t heap_bytes(const std::unordered_multimap<K, V>& entries);

// Of several members.
template <typename A, typename B, typename... More>
std::size_t heap_bytes(const A& first, const B& second, const More&... more) {
  std::size_t total = heap_bytes(first) + heap_bytes(second);
  ((total += heap_bytes(more)), ...);
  return total;
}

template <PlainData T>
std::size_t heap_bytes(const T&) {
  return 0;
}

template <CountsBytes T>
  requires(!PlainData<T>)
std::size_t heap_bytes(const T& object) {
  return object.memory_bytes();
}

inline std::size_t heap_bytes(const std::string& text) {
  constexpr std::size_t kInside = 15;  // characters that need no block
  return text.capacity() <= kInside ? 0 : heap_block(text.capacity() + 1);
}

inline std::size_t heap_bytes(const std::vector<bool>& bits) {
  return heap_block(bits.capacity() / 8);
}

namespace heap {

// Of the elements themselves; free where they are plain data.
template <typename Items>
std::size_t below(const Items& items) {
  std::size_t total = 0;
  if constexpr (!PlainData<typename Items::value_type>) {
    for (const auto& item : items) total += heap_bytes(item);
  }
  return total;
}

// Of a hash table without what its entries own.
template <typename Entries>
std::size_t hash_table(const Entries& entries) {
  const std::size_t buckets = entries.bucket_count() <= 1 ? 0 : entries.bucket_count();
  // A node has a link and, for keys that are dear to hash, the hash.
  constexpr std::size_t kLinks =
      std::is_arithmetic_v<typename Entries::key_type> ? sizeof(void*) : 2 * sizeof(void*);
  return heap_block(buckets * sizeof(void*)) +
         entries.size() * heap_block(sizeof(typename Entries::value_type) + kLinks);
}

}  // namespace heap

template <typename T>
std::size_t heap_bytes(const std::vector<T>& items) {
  return heap_block(items.capacity() * sizeof(T)) + heap::below(items);
}

template <typename T, std::size_t N>
  requires(!PlainData<std::array<T, N>>)
std::size_t heap_bytes(const std::array<T, N>& items) {
  return heap::below(items);
}

template <typename T>
  requires(!PlainData<std::optional<T>>)
std::size_t heap_bytes(const std::optional<T>& item) {
  return item.has_value() ? heap_bytes(*item) : 0;
}

template <typename A, typename B>
  requires(!PlainData<std::pair<A, B>>)
std::size_t heap_bytes(const std::pair<A, B>& pair) {
  return heap_bytes(pair.first, pair.second);
}

template <typename T>
std::size_t heap_bytes(const std::unique_ptr<T>& owned) {
  if (owned == nullptr) return 0;
  if constexpr (CountsFootprint<T>) {
    return owned->footprint();
  } else {
    return heap_block(sizeof(T)) + heap_bytes(*owned);
  }
}

template <typename K, typename V>
std::size_t heap_bytes(const std::map<K, V>& entries) {
  constexpr std::size_t kLinks = 4 * sizeof(void*);
  return entries.size() * heap_block(sizeof(std::pair<const K, V>) + kLinks) + heap::below(entries);
}

template <typename K, typename V, typename H, typename E>
std::size_t heap_bytes(const std::unordered_map<K, V, H, E>& entries) {
  return heap::hash_table(entries) + heap::below(entries);
}

template <typename K, typename V>
std::size_t heap_bytes(const std::unordered_multimap<K, V>& entries) {
  return heap::hash_table(entries) + heap::below(entries);
}

}  // namespace maskwright

// ShortList holds at most N values in place, for lists that a hot loop builds and throws away.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>

namespace meshwright::planner {

// A ShortList is copied as bytes and has nothing to destroy. Elements beyond size() hold no value.
template <typename T, size_t N>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ShortList() {}  // NOLINT(modernize-use-equals-default): would clear all of the place
  ShortList(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  // Appends `value`. Ends the process if the list is full.
  T& push_back(const T& value) {
    CheckRoom();
    return *std::construct_at(data() + size_++, value);
  }
  // Appends an element with T's default values, to be filled in place. Ends the process if the list
  // is full.
  T& emplace_back() {
    CheckRoom();
    return *::new (static_cast<void*>(data() + size_++)) T;
  }
  // Removes the values for which `removes` returns true. The others keep their order.
  template <typename Removes>
  void RemoveIf(const Removes& removes) {
    size_t kept = 0;
    for (const T& value : *this) {
      if (!removes(value)) data()[kept++] = value;
    }
    size_ = kept;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

 private:
  void CheckRoom() const {
    if (size_ >= N) std::abort();
  }

  size_t size_ = 0;
  alignas(T) std::array<std::byte, N * sizeof(T)> bytes_;
};

}  // namespace meshwright::planner

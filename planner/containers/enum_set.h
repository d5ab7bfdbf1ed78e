// EnumSet is a set of enumerators with one bit for each. It allocates nothing, and its bits() can
// be passed on as a number.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace meshwright::planner {

// REQUIRES: the enumerators are from 0 to 62.
template <typename Kind>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds) Add(kind);
  }
  static constexpr EnumSet FromBits(int64_t bits) {
    EnumSet set;
    set.bits_ = bits;
    return set;
  }

  constexpr void Add(Kind kind) { bits_ |= BitOf(kind); }
  constexpr bool Has(Kind kind) const { return (bits_ & BitOf(kind)) != 0; }
  constexpr void Remove(Kind kind) { bits_ &= ~BitOf(kind); }
  constexpr EnumSet With(const EnumSet& other) const { return FromBits(bits_ | other.bits_); }
  constexpr EnumSet And(const EnumSet& other) const { return FromBits(bits_ & other.bits_); }
  constexpr EnumSet Without(const EnumSet& other) const { return FromBits(bits_ & ~other.bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int64_t bits() const { return bits_; }

  // Calls visit(kind) for each enumerator in the set, in the order of the enumerators.
  template <typename Visit>
  constexpr void ForEach(const Visit& visit) const {
    for (int i = 0; (bits_ >> i) != 0; ++i) {
      if ((bits_ >> i & 1) != 0) visit(static_cast<Kind>(i));
    }
  }

  friend constexpr bool operator==(const EnumSet&, const EnumSet&) = default;

 private:
  static constexpr int64_t BitOf(Kind kind) { return int64_t{1} << static_cast<int>(kind); }

  int64_t bits_ = 0;
};

// Returns the names of all enumerators in the set, such as "flash2, cudnn".
template <typename Kind, typename Name>
std::string NamesOf(const EnumSet<Kind>& set, const Name& name, std::string_view between = ", ") {
  std::string names;
  set.ForEach([&](Kind kind) {
    if (!names.empty()) names += between;
    names += name(kind);
  });
  return names;
}

}  // namespace meshwright::planner

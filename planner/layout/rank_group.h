// Ranks that communicate with each other, by where they stand among all ranks of a run.
//
// A group is a list of digits over the flat rank: a digit of size n and stride s stands for n ranks
// s apart. With several digits the group holds every combination, the first digit running fastest;
// so a group need not be made of whole axes, and dp 8 can be cut into groups of 4 neighbours. Every
// rank of a run is in one group of a shape: a shape describes all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace meshwright::planner {

struct RankDigit {
  int64_t size = 1;
  int64_t stride = 1;  // ranks between neighbours

  friend constexpr bool operator==(const RankDigit&, const RankDigit&) = default;
};

class RankGroup {
 public:
  static constexpr size_t kMostDigits = 4;

  // A rank by itself.
  constexpr RankGroup() = default;
  constexpr RankGroup(int64_t size, int64_t stride) { digits_[0] = {size, stride}; }

  // Adds a digit that runs more slowly than the others. Where it continues the last digit the two
  // become one longer digit. Requires fewer than kMostDigits digits.
  constexpr void Add(const RankDigit& digit) {
    RankDigit& last = digits_[count_ - 1];
    if (last.size == 1) {
      last = digit;
    } else if (digit.size > 1 && digit.stride == last.size * last.stride) {
      last.size *= digit.size;
    } else if (digit.size > 1) {
      digits_[count_++] = digit;
    }
  }

  // Returns at least one digit. A digit has size 1 only where the group is a single rank.
  constexpr std::span<const RankDigit> digits() const { return {digits_.data(), count_}; }

  constexpr int64_t ranks() const {
    int64_t ranks = 1;
    for (const RankDigit& digit : digits()) ranks *= digit.size;
    return ranks;
  }
  // Returns how many ranks neighbours of the first digit are apart.
  constexpr int64_t stride() const { return digits_[0].stride; }
  // Returns how many consecutive ranks contain a whole group.
  constexpr int64_t span() const {
    const RankDigit& last = digits_[count_ - 1];
    return last.size * last.stride;
  }
  // Returns how many ranks of a group are among `devices` consecutive ranks, the first of which is
  // in the group.
  constexpr int64_t RanksWithin(int64_t devices) const {
    int64_t ranks = 1;
    for (const RankDigit& digit : digits()) {
      ranks *= std::clamp<int64_t>(devices / digit.stride, 1, digit.size);
    }
    return ranks;
  }

  // Returns all ranks of the group that `rank` is in, itself included; the first digit runs
  // fastest.
  std::vector<int32_t> RanksWith(int32_t rank) const;

  friend constexpr bool operator==(const RankGroup& a, const RankGroup& b) {
    return std::ranges::equal(a.digits(), b.digits());
  }

 private:
  std::array<RankDigit, kMostDigits> digits_ = {};
  size_t count_ = 1;
};

}  // namespace meshwright::planner

// RankGroup describes groups of ranks that communicate, by their positions among all ranks of a
// run.
//
// A RankGroup is a list of digits, as in a mixed-radix number. A digit of size n and stride s
// stands for n ranks with distance s. If there are several digits, a group holds every combination
// of them, and the first digit runs fastest. A digit need not be a whole axis: dp 8 can be cut into
// groups of 4 neighbours. One RankGroup describes all groups of this shape; every rank of a run is
// in exactly one of these groups.
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

  // Makes a group of one rank.
  constexpr RankGroup() = default;
  constexpr RankGroup(int64_t size, int64_t stride) { digits_[0] = {size, stride}; }

  // Adds a digit that runs more slowly than the others. If it continues the last digit, the two
  // become one longer digit. REQUIRES: fewer than kMostDigits digits.
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

  // Returns at least one digit. A digit has size 1 only if the group is a single rank.
  constexpr std::span<const RankDigit> digits() const { return {digits_.data(), count_}; }

  constexpr int64_t ranks() const {
    int64_t ranks = 1;
    for (const RankDigit& digit : digits()) ranks *= digit.size;
    return ranks;
  }
  // Returns the distance between neighbours of the first digit, in ranks.
  constexpr int64_t stride() const { return digits_[0].stride; }
  // Returns the number of consecutive ranks that contain a whole group.
  constexpr int64_t span() const {
    const RankDigit& last = digits_[count_ - 1];
    return last.size * last.stride;
  }
  // Returns the number of ranks of a group that are among the `devices` consecutive ranks from the
  // group's first rank on.
  constexpr int64_t RanksWithin(int64_t devices) const {
    int64_t ranks = 1;
    for (const RankDigit& digit : digits()) {
      ranks *= std::clamp<int64_t>(devices / digit.stride, 1, digit.size);
    }
    return ranks;
  }

  // Returns all ranks of the group that contains `rank`; the first digit runs fastest.
  std::vector<int32_t> RanksWith(int32_t rank) const;

  friend constexpr bool operator==(const RankGroup& a, const RankGroup& b) {
    return std::ranges::equal(a.digits(), b.digits());
  }

 private:
  std::array<RankDigit, kMostDigits> digits_ = {};
  size_t count_ = 1;
};

}  // namespace meshwright::planner

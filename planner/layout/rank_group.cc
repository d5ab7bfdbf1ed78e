#include "planner/layout/rank_group.h"

namespace meshwright::planner {

std::vector<int32_t> RankGroup::RanksWith(int32_t rank) const {
  int64_t first = rank;
  for (const auto& [size, stride] : digits()) first -= rank / stride % size * stride;
  std::vector<int32_t> ranks = {static_cast<int32_t>(first)};
  for (const auto& [size, stride] : digits()) {
    const size_t inner = ranks.size();
    for (int64_t i = 1; i < size; ++i) {
      for (size_t k = 0; k < inner; ++k) {
        ranks.push_back(static_cast<int32_t>(ranks[k] + i * stride));
      }
    }
  }
  return ranks;
}

}  // namespace meshwright::planner

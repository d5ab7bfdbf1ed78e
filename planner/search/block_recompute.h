// Finds how many layers of each chunk to recompute so that a layout just fits.
//
// Each further recomputed layer costs time and frees memory. Of all rc=block:N, only the one with
// the smallest N that fits is therefore worth an estimate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Returns the number of layers of the largest chunk.
inline int64_t MostLayersOfAChunk(const PlannedLayout& planned) {
  int64_t layers = 0;
  for (int32_t stage = 0; stage < planned.layout().pp * planned.layout().vpp; ++stage) {
    layers = std::max(layers, planned.Stage(stage).layer_count);
  }
  return layers;
}

inline Layout WithBlockRecompute(Layout layout, int64_t layers) {
  layout.recompute = Recompute::kBlock;
  layout.recompute_layers = static_cast<int32_t>(layers);
  return layout;
}

// Returns the layout that recomputes the fewest layers, from 1 to `enough`, for which fits(layout)
// is true. Calls fits about log2(enough) times. REQUIRES: fits is true at `enough`, and one more
// layer never makes it false.
template <typename Fits>
Layout LeastBlockRecompute(const Layout& layout, int64_t enough, const Fits& fits) {
  int64_t too_few = 0;
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (fits(WithBlockRecompute(layout, middle)) ? enough : too_few) = middle;
  }
  return WithBlockRecompute(layout, enough);
}

}  // namespace meshwright::planner

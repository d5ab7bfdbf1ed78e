// How many layers of each chunk to recompute so that a layout just fits.
//
// Every layer more that is recomputed costs time and frees memory, so of all rc=block:N the one
// that is worth a look has the smallest N that fits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/profile/planned_layout.h"

namespace meshwright::planner {

// Returns the layers of the largest chunk.
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
// is true. Requires that it is with `enough` of them, and that one more never makes it false. Asks
// about as many layouts as `enough` has binary digits.
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

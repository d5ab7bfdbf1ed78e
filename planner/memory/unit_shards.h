// How Meshwright's own worker cuts a unit of parameters (the embedding, a layer, the head, the
// final norm) into the equal shards of ZeRO.
#pragma once

#include <cstdint>

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// Each shard of a unit's weights, gradients and states begins at a multiple of this: where devices
// read whole lines of memory, and may copy as wide as they can.
inline constexpr int64_t kShardAlignmentBytes = 128;

// Elements of each of `ranks` shards that hold `unit_elements`; the last ones are padded. Weights
// are the narrowest of what is cut, so that what aligns theirs aligns the others'.
constexpr int64_t ShardElements(int64_t unit_elements, int64_t ranks,
                                const NumberFormats& formats) {
  const int64_t aligned = kShardAlignmentBytes / BytesOf(formats.weights);
  const int64_t all_aligned = ranks * aligned;
  return (unit_elements + all_aligned - 1) / all_aligned * aligned;
}

}  // namespace meshwright::planner

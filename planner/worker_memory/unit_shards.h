// Computes how Meshwright's own worker cuts a unit of parameters (the embedding, a layer, the head,
// the final norm) into the equal shards of ZeRO.
#pragma once

#include <cstdint>

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

// Each shard of a unit's weights, gradients and states begins at a multiple of this many bytes, so
// that devices read whole lines of memory and copy with their widest instructions.
inline constexpr int64_t kShardAlignmentBytes = 128;

// Returns the elements of each of `ranks` equal shards that together hold `unit_elements` and
// padding. Weights have the narrowest elements, so a number of elements that aligns weights also
// aligns gradients and states.
constexpr int64_t ShardElements(int64_t unit_elements, int64_t ranks,
                                const NumberFormats& formats) {
  const int64_t aligned = kShardAlignmentBytes / BytesOf(formats.weights);
  const int64_t all_aligned = ranks * aligned;
  return (unit_elements + all_aligned - 1) / all_aligned * aligned;
}

}  // namespace meshwright::planner

// BandMask tells a kernel which window of keys its queries see, with a mask on a CPU and with two
// numbers on a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_kernel.h"
#include "planner/block/attention_tiles.h"

namespace meshwright::worker {

// Caches the last mask, as consecutive tiles of a sequence use the same one.
class BandMask {
 public:
  // `like` has the queries' device and dtype; masks have that dtype's accumulator type.
  explicit BandMask(const at::Tensor& like);

  KeySight Of(const planner::AttentionTile& tile);

 private:
  const at::TensorOptions options_;
  planner::AttentionTile of_;
  at::Tensor mask_;
};

}  // namespace meshwright::worker

// What a kernel takes where queries see a window of the keys: a mask on a CPU, two numbers on a
// device.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/model/attention_kernel.h"
#include "planner/block/attention_tiles.h"

namespace meshwright::worker {

// Makes one mask after another. Holds that of the last tile that needed one, for tiles that follow
// each other along a sequence take the same.
class BandMask {
 public:
  // `like` has the device and the dtype of queries; the mask has the dtype's accumulator.
  explicit BandMask(const at::Tensor& like);

  KeySight Of(const planner::AttentionTile& tile);

 private:
  const at::TensorOptions options_;
  planner::AttentionTile of_;
  at::Tensor mask_;
};

}  // namespace meshwright::worker

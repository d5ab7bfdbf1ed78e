// OffloadedBlock holds one micro-batch's saved tensors of a block in host memory, if the layout has
// offload=act:N.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "executor/worker/model/block.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class OffloadedBlock {
 public:
  // Copies the storage of all tensors of `saved` to the host and frees it on the device. Until
  // Return(), the tensors have their shapes but no values. The copies run in the device's stream of
  // work and overlap no computation.
  OffloadedBlock(RankContext& context, BlockSaved& saved);

  // Gives the tensors new device memory with their values, and frees the host memory.
  void Return();

 private:
  struct Piece {
    c10::Storage storage;
    at::Tensor on_host;  // its bytes
  };

  std::vector<Piece> pieces_;
};

}  // namespace meshwright::worker

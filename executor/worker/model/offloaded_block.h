// What a block keeps of one micro-batch, while the host holds it: offload=act:N of a layout.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "executor/worker/model/block.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

class OffloadedBlock {
 public:
  // Copies the memory behind all tensors of `saved` to the host and frees it on the device: until
  // Return() they have their shapes and no values. Copies stand in line with the device's other
  // work, and nothing overlaps them.
  OffloadedBlock(RankContext& context, BlockSaved& saved);

  // Gives the tensors new memory on the device with what they had, and frees the host's.
  void Return();

 private:
  struct Piece {
    c10::Storage storage;
    at::Tensor on_host;  // its bytes
  };

  std::vector<Piece> pieces_;
};

}  // namespace meshwright::worker

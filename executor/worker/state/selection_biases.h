// The biases that routers pick experts by, beside their scores (DeepSeek-V3's balancing without a
// loss, arXiv 2408.15664 and 2412.19437, section 2.1.2). Gradients do not reach them: after each
// step the bias of an expert that took more than the mean of the step's slots goes down by
// planner::Experts::bias_update_rate, and that of one that took fewer goes up.
//
// Slots are those of the whole global batch, those that a capacity dropped too. Every rank that has
// a layer's router has its biases and moves them alike. Whole numbers are summed, so that no layout
// changes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

class SelectionBiases {
 public:
  // Zeros of these options, one for each of `experts`, for one more layer, whose place among the
  // rank's it returns.
  size_t Add(const planner::Experts& experts, const at::TensorOptions& options);

  // [experts]
  const at::Tensor& of(size_t place) const { return layers_[place].bias; }
  size_t size() const { return layers_.size(); }

  // Adds what a micro-batch's tokens on this rank picked: slots of each expert.
  void Count(size_t place, const std::vector<int64_t>& slots);

  // At the end of a step: moves all biases and forgets the counts. `groups` divide the batch's
  // tokens, and all ranks that have a layer's router call it; null stands for a group of the rank
  // alone. Takes 8 bytes for each expert of each layer while it runs, and nothing where there is no
  // layer.
  void Move(const std::vector<Communicator*>& groups);

 private:
  struct Layer {
    at::Tensor bias;
    std::vector<int64_t> slots;  // of this rank's tokens, of this step
    double rate = 0.0;
  };

  // Of all layers, one behind the other.
  std::vector<double> SlotsOfAllRanks(const std::vector<Communicator*>& groups) const;

  std::vector<Layer> layers_;
};

}  // namespace meshwright::worker

// SelectionBiases holds the biases that routers add to scores when they select experts
// (DeepSeek-V3's auxiliary-loss-free balancing, arXiv 2408.15664 and 2412.19437, section 2.1.2).
// These biases have no gradient. After each step, an expert's bias decreases by
// planner::Experts::bias_update_rate if the expert took more of the step's slots than the mean, and
// increases by that rate if it took fewer.
//
// Slots are counted over the whole global batch, including those dropped by a capacity. Every rank
// with a layer's router holds its biases and updates them identically. Sums are of integers, so
// they don't depend on the layout.
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
  // Adds a layer with zero biases, one per expert, with the given tensor options. Returns the
  // layer's index on this rank.
  size_t Add(const planner::Experts& experts, const at::TensorOptions& options);

  // Returns the biases [experts] of the layer with index `place`.
  const at::Tensor& of(size_t place) const { return layers_[place].bias; }
  size_t size() const { return layers_.size(); }

  // Adds the slots per expert that a micro-batch's tokens on this rank selected.
  void Count(size_t place, const std::vector<int64_t>& slots);

  // Updates all biases at the end of a step and clears the counts. `groups` are the groups that
  // divide the batch's tokens; a group of this rank alone is null. All ranks with a layer's router
  // must call Move() together. Move() temporarily needs 8 bytes per expert and layer.
  void Move(const std::vector<Communicator*>& groups);

 private:
  struct Layer {
    at::Tensor bias;
    std::vector<int64_t> slots;  // of this rank's tokens in this step
    double rate = 0.0;
  };

  // Returns the counts of all layers, concatenated, summed over all ranks.
  std::vector<double> SlotsOfAllRanks(const std::vector<Communicator*>& groups) const;

  std::vector<Layer> layers_;
};

}  // namespace meshwright::worker

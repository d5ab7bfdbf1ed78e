#include "executor/worker/state/selection_biases.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <numeric>

namespace meshwright::worker {

size_t SelectionBiases::Add(const planner::Experts& experts, const at::TensorOptions& options) {
  layers_.push_back({.bias = at::zeros({experts.count}, options),
                     .slots = std::vector<int64_t>(static_cast<size_t>(experts.count)),
                     .rate = experts.bias_update_rate});
  return layers_.size() - 1;
}

void SelectionBiases::Count(size_t place, const std::vector<int64_t>& slots) {
  std::vector<int64_t>& sums = layers_[place].slots;
  for (size_t expert = 0; expert < sums.size(); ++expert) sums[expert] += slots[expert];
}

// Every communicator sums doubles, and they hold these counts exactly.
std::vector<double> SelectionBiases::SlotsOfAllRanks(
    const std::vector<Communicator*>& groups) const {
  std::vector<double> slots;
  for (const Layer& layer : layers_) {
    slots.insert(slots.end(), layer.slots.begin(), layer.slots.end());
  }
  const auto count = static_cast<int64_t>(slots.size());
  const at::Tensor sums = at::empty({count}, layers_.front().bias.options().dtype(at::kDouble));
  sums.copy_(at::from_blob(slots.data(), {count}, at::kDouble));
  for (Communicator* group : groups) {
    if (group != nullptr) group->AllReduce(sums, Reduction::kSum).Wait();
  }
  const at::Tensor here = sums.cpu();
  const double* values = here.const_data_ptr<double>();
  return {values, values + count};
}

void SelectionBiases::Move(const std::vector<Communicator*>& groups) {
  if (layers_.empty()) return;
  const std::vector<double> all = SlotsOfAllRanks(groups);
  const double* slots = all.data();
  for (Layer& layer : layers_) {
    const size_t experts = layer.slots.size();
    const double mean = std::accumulate(slots, slots + experts, 0.0) / static_cast<double>(experts);
    std::vector<double> moves;
    for (size_t expert = 0; expert < experts; ++expert, ++slots) {
      moves.push_back(*slots == mean ? 0.0 : *slots < mean ? layer.rate : -layer.rate);
    }
    const at::Tensor by = at::from_blob(moves.data(), {layer.bias.size(0)}, at::kDouble);
    layer.bias.add_(by.to(layer.bias.options()));
    layer.slots.assign(experts, 0);
  }
}

}  // namespace meshwright::worker

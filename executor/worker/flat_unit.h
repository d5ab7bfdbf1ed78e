// The parameters of one unit (a layer, the embedding, the head) in flat buffers: weights,
// gradients and AdamW's states, the latter two in the accumulator dtype. The tensors that operators
// see are views of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/parameter_map.h"
#include "executor/worker/rank_context.h"

namespace meshwright {

struct AdamWOptions {
  double learning_rate = 3e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms and biases are not decayed
};

class FlatUnit {
 public:
  // Weights get their initial values, gradients and moments are zero. Holds, per parameter, the
  // weight, and in the accumulator dtype a gradient, two moments and, beside bf16 weights, a master
  // copy.
  FlatUnit(const RankContext& context, ParameterUnit parameters);

  const ParameterUnit& parameters() const { return parameters_; }
  // Local parameter `index` in the weights' dtype: [rows, columns] of a matrix, one dimension of a
  // norm or a bias.
  const at::Tensor& weight(size_t index) const { return weight_views_[index]; }
  // Its gradient, in the accumulator dtype.
  const at::Tensor& gradient(size_t index) const { return gradient_views_[index]; }
  // All gradients, dense.
  const at::Tensor& flat_gradients() const { return gradients_; }
  // Those of the parameters that every TP rank holds whole, dense; empty where there are none.
  const at::Tensor& replicated_gradients() const { return replicated_gradients_; }

  void ZeroGradients();
  // One AdamW update; `step` counts from 1.
  void Update(const RankContext& context, const AdamWOptions& options, int64_t step);

 private:
  void Initialize(uint64_t seed);

  ParameterUnit parameters_;
  int64_t decayed_elements_ = 0;  // they come first
  at::Tensor weights_;
  at::Tensor gradients_;
  at::Tensor first_moment_;
  at::Tensor second_moment_;
  at::Tensor master_;  // undefined where the weights have the accumulator dtype
  std::vector<at::Tensor> weight_views_;
  std::vector<at::Tensor> gradient_views_;
  at::Tensor replicated_gradients_;
};

}  // namespace meshwright

// Time of one transformer layer, of the head and of the embedding: one micro-batch on one rank.
//
// A sum over the operators of planner/block/block.h, one after the other: matmuls by shape,
// attention by kernel, everything else by the bytes it streams. Tensor-parallel collectives block,
// and so do those of experts but for what the profile says compute can hide.
#pragma once

#include <cstddef>

#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Seconds. A backward pass is its input-gradient and its weight-gradient part; norms, attention and
// activations have only the first.
struct LayerTime {
  double forward_s = 0.0;
  double input_gradient_s = 0.0;
  double weight_gradient_s = 0.0;
  double recompute_s = 0.0;  // what backward runs again before it starts
  double tp_forward_s = 0.0;
  double tp_backward_s = 0.0;
  double tp_recompute_s = 0.0;
  double cp_forward_s = 0.0;
  double cp_backward_s = 0.0;
  double cp_recompute_s = 0.0;
  double ep_forward_s = 0.0;  // tokens on their way to experts and back, beyond what compute hides
  double ep_backward_s = 0.0;
  double ep_recompute_s = 0.0;

  double compute_s() const { return forward_s + input_gradient_s + weight_gradient_s; }
  double backward_s() const { return input_gradient_s + weight_gradient_s; }
};

// A layer of the model's group `group` that is not recomputed, but for what selective recompute
// runs again.
LayerTime EstimateLayer(const StepShape& step, size_t group);

// The same layer under full recompute: its forward runs again.
LayerTime Recomputed(const LayerTime& layer);

// Final norm, output projection and cross entropy.
LayerTime EstimateHead(const StepShape& step);

LayerTime EstimateEmbedding(const StepShape& step);

// What a layer that predicts further tokens takes in addition to a layer and a head.
LayerTime EstimateMtp(const StepShape& step);

}  // namespace meshwright::planner

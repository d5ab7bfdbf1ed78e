// Estimates the seconds of one transformer layer, of the head and of the embedding, for one
// micro-batch on one rank.
//
// Each time is a sum over the operators of planner/block/block.h, which run one after another.
// Matmuls are timed by shape, attention by kernel, and everything else by the bytes that it
// streams. Compute waits for tensor-parallel collectives. Compute also waits for the collectives of
// experts, except for the share that the profile lets compute hide.
#pragma once

#include <cstddef>

#include "planner/cost/step_shape.h"

namespace meshwright::planner {

// Seconds. A backward pass has an input-gradient and a weight-gradient part. Norms, attention and
// activations have only the input-gradient part.
struct LayerTime {
  double forward_s = 0.0;
  double input_gradient_s = 0.0;
  double weight_gradient_s = 0.0;
  double recompute_s = 0.0;  // forward passes that are recomputed before the backward
  double tp_forward_s = 0.0;
  double tp_backward_s = 0.0;
  double tp_recompute_s = 0.0;
  double cp_forward_s = 0.0;
  double cp_backward_s = 0.0;
  double cp_recompute_s = 0.0;
  double ep_forward_s = 0.0;  // exposed transfer of tokens to experts and back
  double ep_backward_s = 0.0;
  double ep_recompute_s = 0.0;

  double compute_s() const { return forward_s + input_gradient_s + weight_gradient_s; }
  double backward_s() const { return input_gradient_s + weight_gradient_s; }
  // Returns whether a backward runs at all. A frozen layer without a trained unit before it has no
  // backward.
  bool has_backward() const {
    return backward_s() + tp_backward_s + cp_backward_s + ep_backward_s > 0.0;
  }
};

// Returns the time of a layer of shape `shape` (EstimateContext::shapes) without full recompute;
// selective recompute is included.
LayerTime EstimateLayer(const StepShape& step, size_t shape);

// Returns the time of operators of a block on a host that is never late, if compute hid none of
// their collectives among TP ranks and experts. Ring attention's messages are hidden nevertheless.
LayerTime TimeWithoutOverlap(const StepShape& step, const BlockSums& block, const ListCost& cost);

// Returns the seconds by which the host delays the forward and the gradients of a layer, whose
// device alone takes `time`. The host works in parallel with the device, and the slower of them
// sets the pace of each pass.
LayerTime HostWait(const StepShape& step, const BlockSums& block, const LayerTime& time);

// Returns the time of one of a tower's blocks without full recompute.
LayerTime EstimateTowerBlock(const StepShape& step, const TowerSums& tower);
// Returns the time of a tower's patches and projector.
LayerTime EstimateTowerEnds(const StepShape& step, const TowerSums& tower);

// Returns the time of `layer` under full recompute. If the layer has a backward, its forward runs
// again before the backward, without the operators that the framework leaves out
// (BlockSums::skipped_cost).
LayerTime Recomputed(const StepShape& step, const BlockSums& block, const LayerTime& layer);

// Returns the time of the final norm, the output projection and the cross entropy.
LayerTime EstimateHead(const StepShape& step);

LayerTime EstimateEmbedding(const StepShape& step);

// Returns the time that a multi-token-prediction (MTP) layer takes in addition to the time of a
// usual layer and a head.
LayerTime EstimateMtp(const StepShape& step);

}  // namespace meshwright::planner

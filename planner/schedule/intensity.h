// Arithmetic intensity by axis: FLOPs that a rank computes for each byte that it sends. Computation
// can hide the communication where this is at least the device's FLOP/s over the network's bytes/s.
//
// Formulas of layered gradient accumulation and modular pipelines (arXiv 2106.02679). In the
// standard order the backward pass of a single micro-batch hides the reduction of gradients, and
// sharded parameters are gathered once per micro-batch. In the layered order (sched=breadth_first
// with vpp = layers / pp) all micro-batches of a layer hide the reduction, and parameters are
// gathered once per pass.
#pragma once

namespace meshwright::planner {

struct IntensityInput {
  double tokens = 0.0;          // per micro-batch on one rank
  double micro_batches = 1.0;   // per step
  double gradient_bytes = 4.0;  // per element, as gradients are reduced
  bool recompute = false;       // the forward is run again within the backward pass
};

// Returns the FLOPs per byte of reductions, which move each gradient twice. The backward pass hides
// them, with 4 FLOPs per parameter and token, 6 with recompute.
inline double DataParallelIntensity(const IntensityInput& input, bool layered) {
  const double tokens = input.tokens * (layered ? input.micro_batches : 1.0);
  return (input.recompute ? 6.0 : 4.0) * tokens / (2.0 * input.gradient_bytes);
}

// Returns the same with sharded parameters (ZeRO-3): two gathers of 2 bytes and one reduction per
// parameter, which forward and backward hide.
inline double ShardedIntensity(const IntensityInput& input, bool layered) {
  const double tokens = input.tokens * (layered ? input.micro_batches : 1.0);
  return (input.recompute ? 8.0 : 6.0) * tokens / (4.0 + input.gradient_bytes);
}

// Returns the same for a pipeline's messages: a stage sends 2-byte activations and gradients once
// every `layers_per_stage` layers of `layer_parameters` parameters. That is 1 layer in a modular
// pipeline, L / p layers in a contiguous one.
inline double PipelineIntensity(double layer_parameters, double hidden, double layers_per_stage) {
  return 1.5 * layer_parameters / hidden * layers_per_stage;
}

inline double TensorParallelIntensity(double layer_parameters, double hidden, double tp) {
  return 0.375 * layer_parameters / (hidden * (tp - 1.0));
}

}  // namespace meshwright::planner

// How much a rank computes for each byte that it sends, by axis: communication can hide behind
// computation where this is at least the device's FLOP/s over the network's bytes/s.
//
// From layered gradient accumulation and modular pipelines (arXiv 2106.02679). Standard order
// reduces gradients behind the backward pass of a single micro-batch, and gathers sharded
// parameters once per micro-batch; layered order (sched=breadth_first with vpp = layers / pp) has
// all micro-batches of a layer to hide them behind, and gathers once per pass.
#pragma once

namespace meshwright::planner {

struct IntensityInput {
  double tokens = 0.0;          // of a micro-batch on one rank
  double micro_batches = 1.0;   // of a step
  double gradient_bytes = 4.0;  // per element, as it is reduced
  bool recompute = false;       // the forward is run again within the backward pass
};

// FLOP per byte. Reductions move each gradient twice and hide behind the backward pass: 4 FLOP per
// parameter and token, 6 with recompute.
inline double DataParallelIntensity(const IntensityInput& input, bool layered) {
  const double tokens = input.tokens * (layered ? input.micro_batches : 1.0);
  return (input.recompute ? 6.0 : 4.0) * tokens / (2.0 * input.gradient_bytes);
}

// With sharded parameters (ZeRO-3): two gathers of 2 bytes and a reduction per parameter, behind
// forward and backward.
inline double ShardedIntensity(const IntensityInput& input, bool layered) {
  const double tokens = input.tokens * (layered ? input.micro_batches : 1.0);
  return (input.recompute ? 8.0 : 6.0) * tokens / (4.0 + input.gradient_bytes);
}

// `layer_parameters` of one layer; a stage sends its 2-byte activations and gradients on after
// `layers_per_stage` layers: 1 in a modular pipeline, L / p in a contiguous one.
inline double PipelineIntensity(double layer_parameters, double hidden, double layers_per_stage) {
  return 1.5 * layer_parameters / hidden * layers_per_stage;
}

inline double TensorParallelIntensity(double layer_parameters, double hidden, double tp) {
  return 0.375 * layer_parameters / (hidden * (tp - 1.0));
}

}  // namespace meshwright::planner

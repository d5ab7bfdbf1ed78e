// What one layout needs and how fast it is: memory of the fullest device, time of one step, MFU.
//
// Pure functions of (model, cluster, training, layout, profile): no clock, no randomness, and no
// allocation, so that a search can call them for every point.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright {

// Bytes on one device of one pipeline rank at its peak.
struct MemoryEstimate {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t activations_bytes = 0;  // kept by the layers for all micro-batches in flight
  int64_t loss_bytes = 0;         // logits and what the cross entropy holds
  int64_t workspace_bytes = 0;    // recomputed layer, gathered weights, receive buffers
  int64_t overhead_bytes = 0;     // outside the allocator: device context, communicators
  int32_t pipeline_rank = 0;      // which rank this is

  // What the allocator of the device counts.
  int64_t allocator_bytes() const {
    return weights_bytes + gradients_bytes + optimizer_bytes + activations_bytes + loss_bytes +
           workspace_bytes;
  }
  int64_t total_bytes() const { return allocator_bytes() + overhead_bytes; }

  friend bool operator==(const MemoryEstimate&, const MemoryEstimate&) = default;
};

// Seconds of one optimizer step, by what the slowest device spends them on. The parts add up to
// step_s().
struct TimeEstimate {
  double compute_s = 0.0;    // matmuls, attention and memory-bound operators of all micro-batches
  double recompute_s = 0.0;  // forwards that are run again
  double tp_s = 0.0;         // exposed communication, by axis
  double cp_s = 0.0;
  double pp_s = 0.0;
  double dp_s = 0.0;
  double bubble_s = 0.0;  // idle while the pipeline fills and drains
  double optimizer_s = 0.0;

  double step_s() const {
    return compute_s + recompute_s + tp_s + cp_s + pp_s + dp_s + bubble_s + optimizer_s;
  }

  friend bool operator==(const TimeEstimate&, const TimeEstimate&) = default;
};

struct Estimate {
  MemoryEstimate memory;
  double fraction_of_device = 0.0;  // memory.total_bytes() over the device's memory
  TimeEstimate time;
  double mfu = 0.0;         // PaLM definition: full attention, N with both embeddings
  double mfu_causal = 0.0;  // Megatron-LM definition: half of the attention, logits once
  double tokens_per_s = 0.0;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

// Everything that an estimate depends on beside the layout.
struct EstimateContext {
  const ModelSpec& model;
  const ClusterSpec& cluster;
  const TrainingSpec& training;
  const FrameworkProfile& profile;
};

// Memory of the device that is fullest, over all pipeline ranks. Requires a layout that
// CheckLayout() accepts, as do all functions here.
MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout);
// Memory of one device of `pipeline_rank`.
MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank);
Estimate EstimateLayout(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright

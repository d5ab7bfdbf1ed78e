// What differs between training frameworks: bytes per parameter, what is kept, what overlaps, what
// exists.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "planner/layout/layout.h"
#include "planner/spec/training_spec.h"

namespace meshwright {

struct FrameworkProfile {
  std::string name;

  // Model states, bytes per parameter under bf16 training.
  int32_t gradient_bytes = 4;    // main gradients
  int32_t optimizer_bytes = 12;  // fp32 master weights and two Adam moments

  // Kept activations and loss.
  bool vocab_parallel_loss = true;       // logits stay divided over TP
  double loss_peak_bytes_per_logit = 8;  // at the peak of the loss
  bool keeps_gathered_inputs = false;    // under SP, norm outputs are kept un-sharded
  bool fused_swiglu = true;              // silu(gate) is not kept on its own
  // Activations, loss and workspace follow the allocation rules of Meshwright's worker to the byte
  // (planner/memory/worker_memory.h) where those cover the layout.
  bool worker_allocations = false;

  // Share of the data-parallel communication that hides behind compute, where there is enough of
  // it.
  double data_parallel_overlap = 0.0;

  // What exists at all.
  int32_t max_zero = 3;
  bool has_sequence_parallel = true;
  bool has_context_parallel = true;
  bool has_interleaving = true;
  bool has_recompute = true;
  bool zero23_with_pipeline = false;  // ZeRO 2 and 3 together with pp > 1
  bool kv_replication = false;        // tp may exceed kv_heads, K/V weights being replicated
  // The vocabulary is padded to a multiple of this times tp; 0: tp must divide it.
  int32_t vocab_multiple = 0;

  friend bool operator==(const FrameworkProfile&, const FrameworkProfile&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const FrameworkProfile& profile);

}  // namespace meshwright

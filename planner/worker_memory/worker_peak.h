// Computes the most bytes that a rank of Meshwright's own worker holds simultaneously during a
// training step, in addition to the weights, gradients and optimizer states that it always holds.
// The computation follows the rank's schedule list, under any schedule, and takes the bytes from
// planner/worker_memory/worker_memory.h and planner/worker_memory/transient_states.h.
//
// The figure is exact to the byte in fp32 on a CPU, and an upper bound in bf16 there. On CUDA it
// leaves out the allocator's rounding, and what cuDNN's engines hold in addition to the tensors of
// their graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/layout/layout.h"
#include "planner/worker_memory/transient_states.h"
#include "planner/worker_memory/worker_memory.h"

namespace meshwright::planner {

// Bytes of the loss accumulator, on a rank that has the head.
inline constexpr int64_t kLossAccumulatorBytes = 8;

// Bytes held while the norm of the gradients is computed, after the step's last action: 1,024
// partial sums and their sum in fp64. Only a rank that holds almost nothing else has its peak at
// this moment, such as a rank with only the embedding of a very small model.
inline constexpr int64_t kGradientNormBytes = int64_t{1024 + 1} * 8;

struct WorkerRank {
  int32_t pipeline_rank = 0;
  int64_t micro_batches = 1;
  int64_t rope_table_bytes = 0;
  int64_t selection_bias_bytes = 0;
  absl::InlinedVector<const WorkerStageBytes*, 8> chunks = {};
  // If micro-batches differ, the stage of each chunk for each micro-batch, by micro-batch and then
  // by chunk; otherwise empty.
  std::vector<WorkerStageBytes> by_micro_batch = {};
  std::optional<TransientUnits> transient = std::nullopt;  // set under ZeRO 2 and 3
  // Bytes held while the optimizer or the selection biases are updated after the step's last
  // action, in addition to the sums of the norm.
  int64_t update_bytes = 0;
  // Bytes held on the host during the same update.
  int64_t host_update_bytes = 0;

  const WorkerStageBytes& StageOf(const Action& action) const {
    const auto chunk = static_cast<size_t>(action.chunk);
    if (by_micro_batch.empty()) return *chunks[chunk];
    return by_micro_batch[static_cast<size_t>(action.micro_batch) * chunks.size() + chunk];
  }
};

// Returns the peak of one pipeline rank of `layout`. If micro-batches are alike, the run time does
// not grow with their number. REQUIRES: the layout's schedule exists for this number of
// micro-batches.
WorkerActivations PeakWorkerActivations(const Layout& layout, const WorkerRank& rank);

}  // namespace meshwright::planner

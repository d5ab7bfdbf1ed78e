// ExactMemory computes the memory of a layout that Meshwright's own worker runs, to the byte. It
// follows the worker's allocations in the order of its operators
// (planner/worker_memory/worker_block.h) and of its schedule's actions
// (planner/worker_memory/worker_peak.h), cuts model states into units as the worker does, and
// counts the communicators that the worker opens.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "planner/block/expert_rows.h"
#include "planner/memory/memory_model.h"
#include "planner/profile/planned_layout.h"
#include "planner/worker_memory/worker_peak.h"

namespace meshwright::planner {

// Refers to the planned layout, which must outlive it.
class ExactMemory final : public MemoryModel {
 public:
  explicit ExactMemory(const PlannedLayout& planned);

  HeldParameters HeldOnRank(int32_t pipeline_rank) const override;
  ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const override;
  // Returns the same for a step whose tokens went to experts as `rows` says: one entry for each
  // forward action of the rank's schedule, in order, and each of the stage's layers with experts.
  absl::StatusOr<ActivationBytes> RoutedActivationsOnRank(int32_t pipeline_rank,
                                                          absl::Span<const ExpertRows> rows) const;
  // Computed from the bytes of the stages and the number of chunks in flight, without the schedule.
  ActivationBounds BoundsOnRank(int32_t pipeline_rank) const override;
  int64_t LibraryBytes() const override;
  int64_t CommunicatorBytes(int32_t pipeline_rank) const override;
  bool OuterRanksAreFullest() const override;

 private:
  // A stage of the model and its bytes; most stages are alike.
  struct ChunkMemory {
    WorkerStage stage;
    WorkerStageBytes bytes;
  };

  size_t KindOf(const WorkerStage& stage, const WorkerStages& stages);
  const ChunkMemory& ChunkOnRank(int32_t pipeline_rank, int32_t chunk) const;
  const WorkerStageBytes& StageOnRank(int32_t pipeline_rank, int32_t chunk) const {
    return ChunkOnRank(pipeline_rank, chunk).bytes;
  }
  WorkerRank RankOf(int32_t pipeline_rank) const;
  int64_t MostMessages(int64_t in_flight) const;
  int64_t MostTransientBytes(int64_t layers) const;
  // Returns the bytes held after the step's last action in addition to the sums of the norm: by the
  // update of matrices or by that of selection biases, whichever takes more.
  int64_t UpdateBytes(int32_t pipeline_rank) const;
  // Returns the bytes of the optimizer's update of matrices, where it needs them whole.
  int64_t MatrixUpdateBytes(int32_t pipeline_rank) const;
  // Returns the bytes of selection biases that are updated, which are always held.
  int64_t SelectionBiasBytes(int32_t pipeline_rank) const;
  // Returns the bytes on the host while it updates the units one after another.
  int64_t HostUpdateBytes(int32_t pipeline_rank) const;

  const PlannedLayout& planned_;
  const EstimateContext& context_;
  const Layout& layout_;
  int64_t micro_batches_;
  int64_t rope_table_bytes_;
  std::optional<TransientUnits> transient_;
  absl::InlinedVector<ChunkMemory, 4> kinds_;
  absl::InlinedVector<size_t, 32> stages_;  // the kind of each stage, by its number
};

}  // namespace meshwright::planner

// ExactMemory computes the memory of a layout that Meshwright's own worker runs, to the byte. It
// follows the worker's allocations in the order of its operators
// (planner/worker_memory/worker_block.h) and of its schedule's actions
// (planner/worker_memory/worker_peak.h). It divides model states into the worker's units, and
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

// The planned layout must outlive this object.
class ExactMemory final : public MemoryModel {
 public:
  explicit ExactMemory(const PlannedLayout& planned);

  HeldParameters HeldOnRank(int32_t pipeline_rank) const override;
  ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const override;
  // Returns ActivationsOnRank() for a step whose tokens were routed to experts as `rows` says.
  // There must be one entry for each layer with experts in each forward action of the rank's
  // schedule, in the order in which they run. Returns InvalidArgument if there are more or fewer.
  absl::StatusOr<ActivationBytes> RoutedActivationsOnRank(int32_t pipeline_rank,
                                                          absl::Span<const ExpertRows> rows) const;
  // Computes the bounds from the bytes of the stages and the number of chunks in flight, without
  // the schedule.
  ActivationBounds BoundsOnRank(int32_t pipeline_rank) const override;
  int64_t LibraryBytes() const override;
  int64_t CommunicatorBytes(int32_t pipeline_rank) const override;
  bool OuterRanksAreFullest() const override;

 private:
  // A stage of the model and its bytes.
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
  // Returns the bytes that updates after the step's last action hold, in addition to the bytes of
  // the gradient norm. There are two updates, of matrices and of selection biases. They do not
  // overlap, so the result is the larger of their bytes.
  int64_t UpdateBytes(int32_t pipeline_rank) const;
  // Returns the bytes of the optimizer's update of matrices; 0 if it needs no whole matrices.
  int64_t MatrixUpdateBytes(int32_t pipeline_rank) const;
  // Returns the bytes of the selection biases that are updated. These biases are held throughout
  // the run.
  int64_t SelectionBiasBytes(int32_t pipeline_rank) const;
  // Returns the bytes that the host holds while it updates units one after another.
  int64_t HostUpdateBytes(int32_t pipeline_rank) const;

  const PlannedLayout& planned_;
  const EstimateContext& context_;
  const Layout& layout_;
  int64_t micro_batches_;
  int64_t rope_table_bytes_;
  std::optional<TransientUnits> transient_;
  absl::InlinedVector<ChunkMemory, 4> kinds_;  // one entry for each set of equal stages
  absl::InlinedVector<size_t, 32> stages_;     // the index in kinds_ of each stage
};

}  // namespace meshwright::planner

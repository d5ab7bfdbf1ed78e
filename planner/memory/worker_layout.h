// Memory of the pipeline ranks of a layout that Meshwright's own worker runs, beside the model
// states that they always hold: planner/memory/worker_peak.h for a model, a layout and a profile.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "planner/layout/layout.h"
#include "planner/memory/worker_peak.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Whether the worker's rules cover the layout: the profile says that it is the worker's, and every
// stage has a layer, all of one kind.
bool WorkerRulesCover(const EstimateContext& context, const Layout& layout);

struct WorkerBounds {
  int64_t least_bytes = 0;
  int64_t most_bytes = 0;
};

// Its stages, worked out once for all ranks. Refers to the layout, which must outlive it.
class WorkerLayout {
 public:
  // Requires WorkerRulesCover().
  WorkerLayout(const EstimateContext& context, const Layout& layout);

  WorkerActivations PeakOnRank(int32_t pipeline_rank) const;
  // Of the peak's total, from what stages take and how many chunks are in flight.
  WorkerBounds BoundsOnRank(int32_t pipeline_rank) const;

 private:
  // A stage of the model and what it takes; most stages are alike.
  struct Kind {
    WorkerStage stage;
    WorkerStageBytes bytes;
  };

  const WorkerStageBytes* KindOf(const WorkerStage& stage);
  const WorkerStageBytes& StageOnRank(int32_t pipeline_rank, int32_t chunk) const;
  int64_t MostMessages(int64_t in_flight) const;
  int64_t MostTransientBytes(int64_t layers) const;

  const Layout& layout_;
  int64_t micro_batches_;
  int64_t rope_table_bytes_;
  std::optional<TransientUnits> transient_;
  std::deque<Kind> kinds_;
  absl::InlinedVector<const WorkerStageBytes*, 32> stages_;  // by number
};

}  // namespace meshwright::planner

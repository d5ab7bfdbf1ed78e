// Memory of a layout that a framework runs, as its profile describes the framework: Fujii's kept
// activations (planner/memory/fujii.h) and what the profile's figures add to them, of which some
// are fitted to measurements.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/block/block_shape.h"
#include "planner/block/stage_partition.h"
#include "planner/block/workspace.h"
#include "planner/memory/layout_parameters.h"
#include "planner/memory/memory_model.h"

namespace meshwright::planner {

// Refers to the context and the layout, which must outlive it; the layout must be one that
// CheckLayout() accepts.
class ProfileMemory final : public MemoryModel {
 public:
  ProfileMemory(const EstimateContext& context, const Layout& layout);

  HeldParameters HeldOnRank(int32_t pipeline_rank) const override;
  ActivationBytes ActivationsOnRank(int32_t pipeline_rank) const override;
  ActivationBounds BoundsOnRank(int32_t pipeline_rank) const override;
  int64_t LibraryBytes() const override { return context_.profile.kept.fixed_bytes; }
  int64_t CommunicatorBytes(int32_t pipeline_rank) const override;
  bool OuterRanksAreFullest() const override { return false; }

 private:
  // One block of a layer group, one micro-batch.
  struct Block {
    int64_t kept_bytes = 0;        // without recompute, or under selective recompute
    int64_t checkpoint_bytes = 0;  // where it is recomputed
    Workspace workspace = {};
    double logits = 0.0;  // of the model's head for one micro-batch
  };

  struct BlockKey;

  static Block BlockOf(const BlockShape& shape, Recompute recompute, const WorkspaceRates& rates);
  static Block MakeBlock(const BlockShape& shape, Recompute recompute, const WorkspaceRates& rates);
  int64_t KeptPerMicroBatch(const Block& block, int64_t layers) const;
  int64_t LossBytes() const;
  int64_t GatheredBytes() const;

  const EstimateContext& context_;
  const Layout& layout_;
  StagePlan stages_;
  int64_t micro_batches_;
  LayoutParameters parameters_;
  int64_t boundary_bytes_ = 0;  // an activation between two stages
  absl::InlinedVector<Block, 4> blocks_;
};

}  // namespace meshwright::planner

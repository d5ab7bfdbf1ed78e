// How many parameters each pipeline rank's device holds, and how they are divided among ranks.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/block/parameters.h"
#include "planner/block/stage_partition.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {

// A layout's pieces, worked out once for all of its pipeline ranks. Refers to the context's specs
// and to the layout, which must outlive it; the layout must be one that CheckLayout() accepts.
class LayoutParameters {
 public:
  LayoutParameters(const EstimateContext& context, const Layout& layout);

  // Before any ZeRO sharding.
  int64_t OnRank(int32_t pipeline_rank) const;
  // Calls visit(unit, count) for the units of a rank: embedding, layers, head, final norm.
  template <typename Visit>
  void ForEachUnit(int32_t pipeline_rank, const Visit& visit) const;
  // The most of any pipeline rank.
  int64_t Most() const;
  // Of the embedding and of the head: each is one matrix of the same shape.
  const UnitParameters& table() const { return embedding_; }
  const UnitParameters& layer(size_t group) const { return layer_[group]; }
  const UnitParameters& final_norm() const { return final_norm_; }
  // The largest piece that is gathered as one: a layer or the embedding.
  int64_t largest_unit() const { return largest_unit_; }

 private:
  const ModelSpec& model_;
  const Layout& layout_;
  StagePlan stages_;
  UnitParameters embedding_;
  UnitParameters head_;
  UnitParameters final_norm_;
  int64_t largest_unit_ = 0;
  absl::InlinedVector<UnitParameters, 4> layer_;  // by layer group
};

template <typename Visit>
void LayoutParameters::ForEachUnit(int32_t pipeline_rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers stage = stages_.Stage(StageOfChunk(layout_, pipeline_rank, chunk));
    if (stage.has_embedding) visit(embedding_, int64_t{1});
    ForEachGroup(model_, stage,
                 [&](size_t group, int64_t layers) { visit(layer_[group], layers); });
    if (!stage.has_head) continue;
    // Tied embeddings are one matrix where both ends of the model are on the same rank.
    if (!model_.tied_embeddings || !EndsShareRank(layout_)) visit(head_, int64_t{1});
    visit(final_norm_, int64_t{1});
  }
}

}  // namespace meshwright::planner

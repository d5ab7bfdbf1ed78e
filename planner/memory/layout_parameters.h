// How many parameters each pipeline rank's device holds, before any ZeRO sharding.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "planner/layout/layout.h"
#include "planner/layout/stage_partition.h"
#include "planner/profile/context.h"

namespace meshwright {

// A layout's pieces, worked out once for all of its pipeline ranks. Refers to the context's specs
// and to the layout, which must outlive it; the layout must be one that CheckLayout() accepts.
class LayoutParameters {
 public:
  LayoutParameters(const EstimateContext& context, const Layout& layout);

  int64_t OnRank(int32_t pipeline_rank) const;
  // The most of any pipeline rank.
  int64_t Most() const;
  // The largest piece that is gathered as one: a layer or the embedding.
  int64_t largest_unit() const { return largest_unit_; }

 private:
  const ModelSpec& model_;
  const Layout& layout_;
  StagePartition partition_;
  int64_t embedding_;
  int64_t largest_unit_;
  absl::InlinedVector<int64_t, 4> layer_;  // by layer group
};

// The vocabulary as the framework lays it out over `tp` ranks.
int64_t PaddedVocab(const EstimateContext& context, int32_t tp);

}  // namespace meshwright

// BlockSums holds the sums of planner/block's lists for a layer and the model's ends on one rank of
// a layout, from which its memory and its time are computed.
#pragma once

#include <cstdint>
#include <memory>

#include "planner/block/block_shape.h"
#include "planner/block/list_cost.h"
#include "planner/block/matrices.h"
#include "planner/block/parameters.h"
#include "planner/block/recompute.h"
#include "planner/block/workspace.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// The parts of what a layer keeps that an explanation names, in bytes.
struct KeptShares {
  int64_t experts_bytes = 0;    // rows of tokens for their experts, and the experts' results
  int64_t projected_bytes = 0;  // of latent attention: queries, keys and values of all heads
  int64_t latent_bytes = 0;     // of latent attention: the latents of those

  friend bool operator==(const KeptShares&, const KeptShares&) = default;
};

struct BlockSums {
  BlockShape shape;

  // Parameters of a rank.
  UnitParameters embedding;
  UnitParameters layer;
  UnitParameters head;
  UnitParameters final_norm;
  UnitParameters mtp;  // in addition to a layer, for one that predicts further tokens
  UnitMatrices layer_matrices;
  UnitMatrices mtp_matrices;

  // For one micro-batch in one layer:
  int64_t kept_bytes = 0;        // without full recompute, and without what modules recompute
  KeptShares kept_shares;        // of kept_bytes
  int64_t checkpoint_bytes = 0;  // where the layer is recomputed as a whole
  Workspace workspace;           // of its backward, including what it recomputes
  double logits = 0.0;           // of the model's head
  int64_t mtp_kept_bytes = 0;    // added to a layer and a head by one that predicts further tokens

  ListCost layer_cost;  // including what selective recompute and modules run again
  ListCost head_cost;
  ListCost embedding_cost;
  ListCost mtp_cost;
};

// Returns the sums of a shape. Caches the last shapes, which a search comes back to with each of
// its schedules and numbers of replicas. Thread-safe.
std::shared_ptr<const BlockSums> BlockSumsOf(const BlockShape& shape,
                                             const LayerRecompute& recompute,
                                             const WorkspaceRates& rates);

}  // namespace meshwright::planner

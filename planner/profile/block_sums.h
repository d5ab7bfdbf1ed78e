// BlockSums holds the sums of planner/block's operator lists on one rank of a layout: the sums for
// a layer and for the model's ends. A layout's memory and time are computed from them.
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

// The parts of a layer's kept bytes that an explanation names.
struct KeptShares {
  int64_t experts_bytes = 0;    // tensors from the routing of tokens to the experts' results
  int64_t projected_bytes = 0;  // queries, keys and values of all heads, under latent attention
  int64_t latent_bytes = 0;     // the latents of latent attention

  friend bool operator==(const KeptShares&, const KeptShares&) = default;
};

struct BlockSums {
  BlockShape shape;

  // Parameters of one rank.
  UnitParameters embedding;
  UnitParameters layer;
  UnitParameters head;
  UnitParameters final_norm;
  UnitParameters mtp;  // a multi-token-prediction (MTP) layer, without its block
  UnitMatrices layer_matrices;
  UnitMatrices mtp_matrices;

  // The following figures are for one micro-batch in one layer. `kept_bytes` applies if the layer
  // is not recomputed as a whole, and excludes what selective recompute and modules recompute.
  int64_t kept_bytes = 0;
  KeptShares kept_shares;        // parts of kept_bytes
  int64_t checkpoint_bytes = 0;  // bytes kept if the layer is recomputed as a whole
  int64_t boundary_bytes = 0;    // bytes of the activation that enters the layer
  Workspace workspace;           // workspace of the layer's backward, including what it recomputes
  double logits = 0.0;           // number of logits of the model's head
  bool keeps_head_input = true;  // whether the head's input is kept for its weight gradient
  // Bytes that an MTP layer keeps in addition to a layer and a head.
  int64_t mtp_kept_bytes = 0;

  ListCost layer_cost;  // includes operators that selective recompute and modules rerun
  // The operators that do not run again if the layer is recomputed as a whole. Only their forward
  // passes count.
  ListCost skipped_cost;
  ListCost head_cost;
  ListCost embedding_cost;
  ListCost mtp_cost;
};

// Returns the sums of a shape. Caches the last shapes, because a search asks for the same shapes
// with each schedule and number of replicas. Thread-safe.
std::shared_ptr<const BlockSums> BlockSumsOf(const BlockShape& shape,
                                             const LayerRecompute& recompute,
                                             const WorkspaceRates& rates);

}  // namespace meshwright::planner

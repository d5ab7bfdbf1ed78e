// Sums gradients of weights that every rank of a TP group holds whole.
#pragma once

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Sums in place, over the group, gradients of weights that every rank holds whole and applies to
// only a part of the tokens or heads: norms of heads, and with sequence parallel also routers and
// norms of the stream. Excludes biases added after the group's sum, whose gradient already covers
// all tokens.
void SumReplicatedGradients(RankContext& context, const FlatUnit& unit);

// The same for matrices: with sequence parallel a rank sees only its share of the tokens. Call for
// each bucket where a unit's gradients are reduced in several. REQUIRES: the unit's gradients are
// open.
void SumReplicatedMatrixGradients(RankContext& context, const FlatUnit& unit);

}  // namespace meshwright::worker

// Gradients of weights that every rank of a TP group holds whole.
#pragma once

#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"

namespace meshwright::worker {

// Sums over the group, in place, the gradients of weights that every rank holds whole but of which
// it sees a part of the uses: norms of heads, and with sequence parallel routers and norms of the
// stream. Biases that are added behind the group's sum are not among them: their gradient is that
// of all tokens.
void SumReplicatedGradients(RankContext& context, const FlatUnit& unit);

// The same of matrices, while the unit's gradients are open: with sequence parallel a rank sees its
// share of the tokens. Of each bucket, where a unit's gradients are reduced in several.
void SumReplicatedMatrixGradients(RankContext& context, const FlatUnit& unit);

}  // namespace meshwright::worker

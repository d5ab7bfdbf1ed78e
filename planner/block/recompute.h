// Recompute modes as edits of a block's operators: what they no longer save, and which of them run
// their forward again.
#pragma once

#include "planner/block/block_shape.h"
#include "planner/block/operator_list.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// Attention runs again, so that its score matrix need not be kept (Korthikanti et al., arXiv
// 2205.05198).
void RecomputeCoreAttention(OperatorList& block);

// The block's two norms and the FFN's activation run again.
void RecomputeNormsAndActivation(OperatorList& block);

// The whole block runs again from its input, the down projection and what follows it included,
// although backward needs nothing of theirs. A checkpoint that calls the block as one function, as
// Megatron-LM's does, runs them; one that stops at the last tensor that backward needs, as
// PyTorch's non-reentrant checkpoint and Meshwright's worker do, does not, and its recompute_s is
// too high by their time. The frameworks' profiles are fitted with the whole forward, so that the
// fit has absorbed the difference. Memory counts what is allocated: planner/memory/liveness.h stops
// where the worker stops.
void RecomputeAll(OperatorList& block);

// One part of a block runs again (planner/layout/recompute.h), as Megatron-Core's selective
// recompute has it: a part without products is freed behind what reads it and runs as far as
// backward needs; an FFN runs as a whole, its down projection and its collectives included. Norms
// that Transformer Engine fuses with the projection behind them, in front of attention without
// latents and of dense FFNs, are no modules: they stay, or run again with `mlp`.
void Apply(RecomputeModule module, const BlockShape& shape, OperatorList& block);

// Applies the mode to a layer that it recomputes. Under kBlock these are the first layers of a
// chunk, which the caller picks; kModules is applied module by module.
void Apply(Recompute recompute, const BlockShape& shape, OperatorList& block);

}  // namespace meshwright::planner

// What the backward of a layer makes again: the one list of it. The planner edits a block's
// operators by it, from which follow bytes and time; Meshwright's worker drops behind the forward,
// and runs before the backward, what it names.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator_list.h"
#include "planner/containers/enum_set.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// What of one layer runs again: kBlock stands for a layer that it recomputes.
struct LayerRecompute {
  Recompute mode = Recompute::kNone;
  RecomputeModules modules = {};  // only for kModules

  friend bool operator==(const LayerRecompute&, const LayerRecompute&) = default;
};

// Of the `layer`-th layer of a chunk.
LayerRecompute RecomputeOf(const Layout& layout, int64_t layer);

struct RecomputedParts {
  EnumSet<KeptTensor> frees;   // what operators save no longer
  EnumSet<OperatorName> runs;  // whose forward runs again

  // Whether the block's second half begins with what the first makes again.
  bool joins_halves() const { return frees.Has(KeptTensor::kFfnResidual); }

  friend bool operator==(const RecomputedParts&, const RecomputedParts&) = default;
};

// One part of a block runs again (planner/layout/recompute.h), as Megatron-Core's selective
// recompute has it: a part without products is freed behind what reads it and runs as far as
// backward needs; an FFN runs as a whole, its down projection and its collectives included. Norms
// that Transformer Engine fuses with the projection behind them, in front of attention without
// latents and of dense FFNs, are no modules: they stay, or run again with `mlp`.
RecomputedParts PartsOf(RecomputeModule module, const BlockShape& shape);

// All that runs again of a layer of this shape.
//
// kSelective: attention, so that its score matrix need not be kept (Korthikanti et al., arXiv
// 2205.05198); or with selective_drops_operators the block's two norms and the FFN's activation.
//
// kFull and kBlock: the whole block from its input, the down projection and what follows it
// included, although backward needs nothing of theirs. A checkpoint that calls the block as one
// function, as Megatron-LM's does, runs them; one that stops at the last tensor that backward
// needs, as PyTorch's non-reentrant checkpoint and Meshwright's worker do, does not, and its
// recompute_s is too high by their time. The frameworks' profiles are fitted with the whole
// forward, so that the fit has absorbed the difference. Memory counts what is allocated:
// planner/worker_memory/liveness.h stops where the worker stops.
RecomputedParts PartsOf(const LayerRecompute& recompute, const BlockShape& shape);

// Edits the operators of a block.
void Apply(const RecomputedParts& parts, OperatorList& block);

}  // namespace meshwright::planner

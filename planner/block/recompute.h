// The single list of what a layer's backward recomputes. The planner edits a block's operators by
// it, which determines bytes and time; Meshwright's worker drops what it names after the forward,
// and runs it again before the backward.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// What one layer recomputes; kBlock stands for a layer that is recomputed as a whole.
struct LayerRecompute {
  Recompute mode = Recompute::kNone;
  RecomputeModules modules = {};  // only for kModules

  friend bool operator==(const LayerRecompute&, const LayerRecompute&) = default;
};

// Returns the recompute of the `layer`-th layer of a chunk.
LayerRecompute RecomputeOf(const Layout& layout, int64_t layer);

struct RecomputedParts {
  EnumSet<KeptTensor> frees;   // tensors that operators no longer save
  EnumSet<OperatorName> runs;  // operators whose forward runs again

  // Returns whether the block's second half begins with what the first recomputes.
  bool joins_halves() const { return frees.Has(KeptTensor::kFfnResidual); }

  friend bool operator==(const RecomputedParts&, const RecomputedParts&) = default;
};

// Returns what one module recomputes (planner/layout/recompute.h), as in Megatron-Core's selective
// recompute: a part without products is freed after its last reader and recomputed as far as
// backward needs; an FFN runs as a whole, including its down projection and its collectives. Norms
// that Transformer Engine fuses with the projection behind them, in front of attention without
// latents and of dense FFNs, are no modules: they stay, or run again with `mlp`.
RecomputedParts PartsOf(RecomputeModule module, const BlockShape& shape);

// Returns everything that a layer of this shape recomputes.
//
// kSelective: attention, so that its score matrix need not be kept (Korthikanti et al., arXiv
// 2205.05198); or with selective_drops_operators the block's two norms and the FFN's activation.
//
// kFull and kBlock: the whole block from its input, including the down projection and what follows
// it, although backward needs none of their results. A checkpoint that calls the block as one
// function, as Megatron-LM's does, runs them. One that stops at the last tensor that backward
// needs, as PyTorch's non-reentrant checkpoint and Meshwright's worker do, does not, and its
// recompute_s is too high by their time. The frameworks' profiles are fitted with the whole
// forward, so the fit has absorbed the difference. Memory counts what is allocated:
// planner/worker_memory/liveness.h stops where the worker stops.
RecomputedParts PartsOf(const LayerRecompute& recompute, const BlockShape& shape);

// Edits the operators of a block.
void Apply(const RecomputedParts& parts, OperatorList& block);

}  // namespace meshwright::planner

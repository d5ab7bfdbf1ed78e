// Lists in a single place the operators that a layer's backward recomputes. The planner edits a
// block's operators accordingly, which determines bytes and time. Meshwright's worker frees the
// listed tensors after the forward and recomputes them before the backward.
#pragma once

#include <cstdint>

#include "planner/block/block_shape.h"
#include "planner/block/operator.h"
#include "planner/containers/enum_set.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// The recompute of one layer. Mode kBlock stands for a layer that is recomputed as a whole.
struct LayerRecompute {
  Recompute mode = Recompute::kNone;
  RecomputeModules modules = {};  // only for kModules

  friend bool operator==(const LayerRecompute&, const LayerRecompute&) = default;
};

// Returns what layer `layer` of a chunk, counted from 0, recomputes.
LayerRecompute RecomputeOf(const Layout& layout, int64_t layer);

struct RecomputedParts {
  EnumSet<KeptTensor> frees;   // tensors that operators no longer save
  EnumSet<OperatorName> runs;  // operators whose forward is recomputed
  // If true, recompute leaves out the operators after the last tensor that backward reads.
  bool stops_early = false;

  // Returns whether the input of the block's second half is freed, so that the first half has to
  // recompute it.
  bool joins_halves() const { return frees.Has(KeptTensor::kFfnResidual); }

  friend bool operator==(const RecomputedParts&, const RecomputedParts&) = default;
};

// Returns what one module (planner/layout/recompute.h) recomputes, as in Megatron-Core's selective
// recompute. The tensors of a module without products are freed after their last reader, and are
// recomputed as far as backward needs them. An FFN is recomputed as a whole, including its down
// projection and its collectives.
//
// Norms that Transformer Engine fuses with the projection after them are not modules. These are
// the norms before dense FFNs and before attention without latents. Their outputs are kept; only
// `mlp` also recomputes the norm before its FFN.
RecomputedParts PartsOf(RecomputeModule module, const BlockShape& shape);

// Returns everything that a layer of this shape recomputes.
//
// kSelective recomputes attention, so that its score matrix need not be kept (Korthikanti et al.,
// arXiv 2205.05198). With selective_drops_operators it instead recomputes the block's two norms and
// the FFN's activation. With selective_alternates_products it recomputes all but attention and
// every second product (SelectiveRecompute::kAlternateProducts).
//
// kFull and kBlock recompute the whole block from its input. They recompute even the down
// projection and the operators after it, although backward needs none of their results:
// Megatron-LM's checkpoint calls the block as one function, and so executes all its operators.
// PyTorch's non-reentrant checkpoint does not execute these operators (recompute_stops_early).
// Meshwright's worker does not execute them either, so recompute_s is too high for it. The worker's
// memory is exact, because planner/worker_memory/liveness.h stops where the worker stops.
RecomputedParts PartsOf(const LayerRecompute& recompute, const BlockShape& shape);

// Edits the operators of a block: removes the saved tensors that are freed, and marks the operators
// that are recomputed. A product is recomputed in part if it makes several tensors of which some
// are kept. A block without a backward recomputes nothing.
void Apply(const RecomputedParts& parts, OperatorList& block);

}  // namespace meshwright::planner

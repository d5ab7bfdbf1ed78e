// What stands between the FFN's matrices: SwiGLU of a gate, or GELU or ReLU without one.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

// gate_up [tokens, 2 ffn_hidden], a row's gate before its up, or [tokens, ffn_hidden] of an FFN
// without gate. Returns [tokens, ffn_hidden], a new tensor.
at::Tensor ActivationForward(const RankContext& context, planner::FfnKind kind,
                             const at::Tensor& gate_up);

// Returns the gradient of gate_up, in its place. Of ReLU gate_up may be undefined, as `product`
// tells all about it; the gradient then takes the place of dproduct.
at::Tensor ActivationBackward(const RankContext& context, planner::FfnKind kind,
                              const at::Tensor& dproduct, const at::Tensor& gate_up,
                              const at::Tensor& product);

}  // namespace meshwright::worker

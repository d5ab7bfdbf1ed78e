// The function between the FFN's matrices: SwiGLU of a gate, or GELU or ReLU without one.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/worker/state/rank_context.h"
#include "planner/spec/model_spec.h"

namespace meshwright::worker {

// gate_up is [tokens, 2 ffn_hidden], each row's gate before its up, or [tokens, ffn_hidden] for an
// FFN without a gate. Returns [tokens, ffn_hidden], a new tensor.
at::Tensor ActivationForward(const RankContext& context, planner::FfnKind kind,
                             const at::Tensor& gate_up);

// Returns the gradient of gate_up, in its storage. For ReLU gate_up may be undefined, as `product`
// suffices; the gradient then takes the storage of dproduct.
at::Tensor ActivationBackward(const RankContext& context, planner::FfnKind kind,
                              const at::Tensor& dproduct, const at::Tensor& gate_up,
                              const at::Tensor& product);

}  // namespace meshwright::worker

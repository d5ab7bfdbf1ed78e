// Computes the bytes of weights, gradients and optimizer states that a device holds throughout a
// step.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// The numbers of parameters whose states a rank holds. Under ZeRO the data and context ranks divide
// `whole`, so that each has a shard of it.
struct HeldParameters {
  int64_t whole = 0;  // all parameters of the rank
  int64_t shard = 0;  // the rank's shard of them
  // Parameters whose gradients stay whole although other states are sharded.
  int64_t whole_gradients = 0;
  // The part of `whole` in blocks, whose products a precision may quantise.
  int64_t of_blocks = 0;
  // The parts of `whole` and of `shard` in matrices of blocks (Optimizer::matrices).
  int64_t matrices = 0;
  int64_t matrices_shard = 0;
};

struct ModelStateBytes {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;

  int64_t total_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes; }
};

// Returns the bytes of one parameter's main gradient. A second copy is not needed if gradients are
// as wide as the optimizer's states.
int64_t GradientBytes(const EstimateContext& context);

// Returns the bytes of the states of `held` that the rank keeps under the layout's ZeRO stage.
ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held);

}  // namespace meshwright::planner

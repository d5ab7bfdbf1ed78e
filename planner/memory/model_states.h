// Weights, gradients and optimizer states that a device holds throughout a step.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// A rank's parameters as model states hold them. ZeRO shards states over data and context ranks.
struct HeldParameters {
  int64_t whole = 0;
  int64_t shard = 0;
  int64_t whole_gradients = 0;  // which stay whole where the others are a shard
};

struct ModelStateBytes {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;
};

// Bytes of one parameter's main gradient. Gradients as wide as the optimizer's states need no other
// copy.
int64_t GradientBytes(const EstimateContext& context);

// Return what the layout's ZeRO stage keeps of the states of `held`.
ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held);

}  // namespace meshwright::planner

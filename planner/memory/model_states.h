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
  // The parts of `whole` and of `shard` that do not train, and the parts of these that are held in
  // 4 bits. `matrices` contains no such parameters.
  int64_t frozen = 0;
  int64_t frozen_shard = 0;
  int64_t four_bit = 0;
  int64_t four_bit_shard = 0;

  int64_t trained() const { return whole - frozen; }
  int64_t trained_shard() const { return shard - frozen_shard; }
};

struct ModelStateBytes {
  int64_t weights_bytes = 0;
  int64_t gradients_bytes = 0;
  int64_t optimizer_bytes = 0;

  int64_t total_bytes() const { return weights_bytes + gradients_bytes + optimizer_bytes; }
};

// Bytes that are held for each parameter besides its weight. The run's options, the profile and the
// precision decide these bytes.
struct StateWidths {
  double master = 0.0;  // master copy of the weights; 0 if there is none
  double gradient = 0.0;
  double first_moment = 0.0;
  double second_moment = 0.0;

  // Returns the bytes of an optimizer's states for a parameter under `rule`.
  double Of(const UpdateRule& rule) const {
    return master + (rule.states >= 1 ? first_moment : 0.0) +
           (rule.states >= 2 ? second_moment : 0.0);
  }
};
StateWidths StateWidthsOf(const EstimateContext& context);

// Returns the bytes that an update of a parameter under `rule` reads and writes:
// UpdateRule::traffic_bytes minus the bytes that narrower states save.
double UpdateTrafficBytes(const EstimateContext& context, const UpdateRule& rule);

// Returns the bytes of one parameter's main gradient. Without master weights, the gradient that
// backward writes is the main gradient by default.
int64_t GradientBytes(const EstimateContext& context);

// Returns the bytes of `wide` weights in the training's format and `four_bit` weights in 4 bits.
int64_t WeightBytes(const EstimateContext& context, int64_t wide, int64_t four_bit);

// Returns the bytes of the states of `held` that the rank keeps under the layout's ZeRO stage.
ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held);

// Returns the part of StatesOf()'s optimizer_bytes that holds the optimizer's moments, without the
// master copy of the weights.
int64_t MomentBytes(const EstimateContext& context, const Layout& layout,
                    const HeldParameters& held);

}  // namespace meshwright::planner

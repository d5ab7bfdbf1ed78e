#include "planner/memory/model_states.h"

namespace meshwright::planner {
namespace {

// Frameworks' figures are those of mixed precision: a master copy and states in fp32. Weights that
// are as wide as the states are their own master copy.
int64_t OptimizerBytes(const EstimateContext& context) {
  const Precision precision = context.training.precision;
  const int64_t mixed_bytes = context.profile.states.optimizer_bytes;
  if (precision == Precision::kBf16) return mixed_bytes;
  return (mixed_bytes - 4) * AccumulatorBytes(precision) / 4;
}

}  // namespace

int64_t GradientBytes(const EstimateContext& context) {
  const Precision precision = context.training.precision;
  return precision == Precision::kBf16 ? context.profile.states.gradient_bytes
                                       : AccumulatorBytes(precision);
}

ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held) {
  const Precision precision = context.training.precision;
  const FrameworkProfile& profile = context.profile;
  int64_t optimizer_bytes = OptimizerBytes(context);
  if (layout.zero >= 1) optimizer_bytes += profile.states.shard_buffer_bytes;
  if (layout.zero >= 3 && precision == Precision::kBf16) {
    optimizer_bytes =
        profile.states.zero3_state_bytes - ElementBytes(precision) - profile.states.gradient_bytes;
  }
  const int64_t gradients = layout.zero >= 2 ? held.shard + held.whole_gradients : held.whole;
  return {
      .weights_bytes = (layout.zero >= 3 ? held.shard : held.whole) * ElementBytes(precision),
      .gradients_bytes = gradients * GradientBytes(context) +
                         (layout.zero <= 1 ? held.whole * profile.states.local_gradient_bytes : 0),
      .optimizer_bytes = (layout.zero >= 1 ? held.shard : held.whole) * optimizer_bytes};
}

}  // namespace meshwright::planner

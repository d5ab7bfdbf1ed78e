#include "planner/memory/model_states.h"

namespace meshwright::planner {
namespace {

// Profiles give the bytes for AdamW in mixed precision. What these have above (or, with narrower
// states, below) AdamW's master copy and moments scales with the width of the optimizer's states.
int64_t OptimizerBytes(const EstimateContext& context) {
  const NumberFormats formats = context.training.formats();
  constexpr NumberFormats kMixed = NumberFormatsOf(Precision::kBf16);
  const int64_t own_bytes = context.profile.states.optimizer_bytes - StateBytes(kAdamWRule, kMixed);
  return StateBytes(kAdamWRule, formats) +
         own_bytes * BytesOf(formats.optimizer_states) / BytesOf(kMixed.optimizer_states);
}

// Returns how many more bytes the optimizer keeps for a parameter of a block's matrices than AdamW
// does; may be negative.
int64_t MoreForMatrices(const EstimateContext& context) {
  const NumberFormats formats = context.training.formats();
  return StateBytes(context.training.optimizer.matrices, formats) - StateBytes(kAdamWRule, formats);
}

}  // namespace

// Gradients as wide as the optimizer's states need no second copy.
int64_t GradientBytes(const EstimateContext& context) {
  const NumberFormats formats = context.training.formats();
  return formats.HasMasterWeights() ? context.profile.states.gradient_bytes
                                    : BytesOf(formats.gradients);
}

ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held) {
  const NumberFormats formats = context.training.formats();
  const FrameworkProfile& profile = context.profile;
  int64_t optimizer_bytes = OptimizerBytes(context);
  if (layout.zero >= 1) optimizer_bytes += profile.states.shard_buffer_bytes;
  if (layout.zero >= 3 && formats.HasMasterWeights()) {
    optimizer_bytes =
        profile.states.zero3_state_bytes - BytesOf(formats.weights) - profile.states.gradient_bytes;
  }
  const int64_t gradients = layout.zero >= 2 ? held.shard + held.whole_gradients : held.whole;
  // Under ZeRO-3 narrowed copies live as long as the gathered weights that they are made from.
  const auto copied = static_cast<double>(layout.zero >= 3 ? 0 : held.of_blocks);
  const double copy_bytes = context.training.quantisation().weight_copy_bytes;
  return {
      .weights_bytes = (layout.zero >= 3 ? held.shard : held.whole) * BytesOf(formats.weights) +
                       static_cast<int64_t>(copied * copy_bytes),
      .gradients_bytes = gradients * GradientBytes(context) +
                         (layout.zero <= 1 ? held.whole * profile.states.local_gradient_bytes : 0),
      .optimizer_bytes =
          (layout.zero >= 1 ? held.shard : held.whole) * optimizer_bytes +
          (layout.zero >= 1 ? held.matrices_shard : held.matrices) * MoreForMatrices(context)};
}

}  // namespace meshwright::planner

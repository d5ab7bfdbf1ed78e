#include "planner/memory/model_states.h"

#include <algorithm>
#include <cmath>

namespace meshwright::planner {
namespace {

constexpr NumberFormats kMixed = NumberFormatsOf(Precision::kBf16);
constexpr StateWidths kMixedWidths = {
    .master = 4.0, .gradient = 4.0, .first_moment = 4.0, .second_moment = 4.0};

double Real(int64_t bytes) { return static_cast<double>(bytes); }

double WidthOf(StateFormat format, double otherwise) {
  return format == StateFormat::kDefault ? otherwise : BytesOf(format);
}

// Returns by how much the states of a profile that trains in bf16 alone are narrower than AdamW's
// in mixed precision, if something else takes their place: formats that the run says, or training
// in one wide format. Otherwise returns 0.
double ReplacedNarrowBytes(const EstimateContext& context) {
  const bool replaced = context.training.options.states != StateFormats() ||
                        !context.training.formats().HasMasterWeights();
  const double narrower =
      kMixedWidths.Of(kAdamWRule) - Real(context.profile.states.optimizer_bytes);
  return replaced ? std::max(0.0, narrower) : 0.0;
}

// Profiles give the bytes for AdamW in mixed precision. The difference between these bytes and
// AdamW's master copy and moments scales with the width of the optimizer's states; it may be
// negative.
double OwnBytes(const EstimateContext& context) {
  const double own = Real(context.profile.states.optimizer_bytes) - kMixedWidths.Of(kAdamWRule) +
                     ReplacedNarrowBytes(context);
  return own * Real(BytesOf(context.training.formats().optimizer_states)) /
         Real(BytesOf(kMixed.optimizer_states));
}

// The same under ZeRO-3. A framework whose only weights are the master copy has fewer bytes than
// weights, gradients, master copy and moments take.
double OwnZero3Bytes(const EstimateContext& context, const StateWidths& widths) {
  const ModelStates& states = context.profile.states;
  const double own = Real(states.zero3_state_bytes - states.gradient_bytes) -
                     Real(BytesOf(context.training.formats().weights)) -
                     kMixedWidths.Of(kAdamWRule) + ReplacedNarrowBytes(context);
  return widths.master > 0.0 ? own : std::max(0.0, own);
}

int64_t Bytes(int64_t parameters, double bytes_per_parameter) {
  return std::llround(Real(parameters) * bytes_per_parameter);
}

// A copy of gradients beside the main ones is as backward writes them, in the weights' format. Main
// gradients of that format need no copy.
int32_t LocalGradientBytes(const EstimateContext& context) {
  const bool is_main = context.training.options.states.gradient == StateFormat::kBf16;
  return is_main ? 0 : context.profile.states.local_gradient_bytes;
}

// Returns the bytes per parameter of a block that its 16-bit weights take less than usual.
double MissingWeightBytes(const EstimateContext& context) {
  const Precision precision = context.training.precision;
  const bool alone = precision == Precision::kFp8Delayed || precision == Precision::kFp8Current ||
                     precision == Precision::kMxfp8;
  return alone && context.profile.states.narrow_weights_alone
             ? Real(BytesOf(context.training.formats().weights))
             : 0.0;
}

}  // namespace

StateWidths StateWidthsOf(const EstimateContext& context) {
  const NumberFormats formats = context.training.formats();
  const StateFormats& states = context.training.options.states;
  const double wide = Real(BytesOf(formats.optimizer_states));
  return {.master = WidthOf(states.master, formats.HasMasterWeights() ? wide : 0.0),
          .gradient = WidthOf(states.gradient, Real(formats.HasMasterWeights()
                                                        ? context.profile.states.gradient_bytes
                                                        : BytesOf(formats.gradients))),
          .first_moment = WidthOf(states.first_moment, wide),
          .second_moment = WidthOf(states.second_moment, wide)};
}

double UpdateTrafficBytes(const EstimateContext& context, const UpdateRule& rule) {
  const StateFormats& states = context.training.options.states;
  if (states == StateFormats()) return rule.traffic_bytes;
  const StateWidths widths = StateWidthsOf(context);
  const double saved = kMixedWidths.Of(rule) - widths.Of(rule);
  // Without a master copy the weight itself is read.
  const double weight = widths.master > 0.0 ? 0.0 : Real(BytesOf(kMixed.weights));
  return rule.traffic_bytes - 2.0 * saved - (kMixedWidths.gradient - widths.gradient) + weight;
}

int64_t GradientBytes(const EstimateContext& context) {
  return static_cast<int64_t>(StateWidthsOf(context).gradient);
}

int64_t WeightBytes(const EstimateContext& context, int64_t wide, int64_t four_bit) {
  return wide * BytesOf(context.training.formats().weights) + Bytes(four_bit, kFourBitWeightBytes);
}

ModelStateBytes StatesOf(const EstimateContext& context, const Layout& layout,
                         const HeldParameters& held) {
  const NumberFormats formats = context.training.formats();
  const FrameworkProfile& profile = context.profile;
  const StateWidths widths = StateWidthsOf(context);
  const Optimizer& optimizer = context.training.optimizer;
  double optimizer_bytes = widths.Of(optimizer.others) + OwnBytes(context);
  if (layout.zero >= 1) optimizer_bytes += Real(profile.states.shard_buffer_bytes);
  if (layout.zero >= 3 && formats.HasMasterWeights()) {
    optimizer_bytes = widths.Of(optimizer.others) + OwnZero3Bytes(context, widths);
  }
  // The optimizer's bytes per parameter in matrices of blocks, minus its bytes per other parameter;
  // may be negative.
  const double more_bytes = widths.Of(optimizer.matrices) - widths.Of(optimizer.others);
  const int64_t gradients =
      layout.zero >= 2 ? held.trained_shard() + held.whole_gradients : held.trained();
  const int64_t weights = layout.zero >= 3 ? held.shard : held.whole;
  const int64_t four_bit = layout.zero >= 3 ? held.four_bit_shard : held.four_bit;
  // Under ZeRO-3 narrowed copies live as long as the gathered weights that they are made from.
  const auto copied = Real(layout.zero >= 3 ? 0 : held.of_blocks);
  const double copy_bytes =
      context.training.quantisation().weight_copy_bytes - MissingWeightBytes(context);
  return {.weights_bytes = WeightBytes(context, weights - four_bit, four_bit) +
                           static_cast<int64_t>(copied * copy_bytes),
          .gradients_bytes = gradients * GradientBytes(context) +
                             (layout.zero <= 1 ? held.trained() * LocalGradientBytes(context) : 0),
          .optimizer_bytes =
              Bytes(layout.zero >= 1 ? held.trained_shard() : held.trained(), optimizer_bytes) +
              Bytes(layout.zero >= 1 ? held.matrices_shard : held.matrices, more_bytes)};
}

int64_t MomentBytes(const EstimateContext& context, const Layout& layout,
                    const HeldParameters& held) {
  StateWidths widths = StateWidthsOf(context);
  widths.master = 0.0;
  const Optimizer& optimizer = context.training.optimizer;
  const bool sharded = layout.zero >= 1;
  const int64_t trained = sharded ? held.trained_shard() : held.trained();
  const int64_t matrices = sharded ? held.matrices_shard : held.matrices;
  return Bytes(trained - matrices, widths.Of(optimizer.others)) +
         Bytes(matrices, widths.Of(optimizer.matrices));
}

}  // namespace meshwright::planner

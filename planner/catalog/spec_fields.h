// Lists the fields of specs that are stored and sent unchanged (planner/codec/fields.h).
#pragma once

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "base/text/status_macros.h"
#include "planner/codec/fields.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/rope_scaling.h"
#include "planner/spec/run_option_table.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

inline constexpr TextForm kPrecisionText{&PrecisionName, &ParsePrecision};
inline constexpr TextForm kOptimizerText{&OptimizerName, &ParseOptimizer};
inline constexpr EnumNames<StreamNorm, 4> kStreamNormNames = {{
    {StreamNorm::kRms, "rms"},
    {StreamNorm::kLayer, "layer"},
    {StreamNorm::kLayerWithoutBias, "layer_without_bias"},
    {StreamNorm::kLayerPlain, "layer_plain"},
}};
inline constexpr EnumNames<Arrangement, 5> kArrangementNames = {{
    {Arrangement::kSequential, "sequential"},
    {Arrangement::kParallel, "parallel"},
    {Arrangement::kParallelOneNorm, "parallel_one_norm"},
    {Arrangement::kNormBehind, "norm_behind"},
    {Arrangement::kSandwich, "sandwich"},
}};
inline constexpr EnumNames<Positions, 4> kPositionsNames = {{
    {Positions::kRotary, "rotary"},
    {Positions::kLearned, "learned"},
    {Positions::kAlibi, "alibi"},
    {Positions::kNone, "none"},
}};
inline constexpr EnumNames<RopeScalingKind, 3> kRopeScalingNames = {{
    {RopeScalingKind::kNone, "default"},
    {RopeScalingKind::kLinear, "linear"},
    {RopeScalingKind::kLlama3, "llama3"},
}};

inline constexpr EnumNames<RouterScore, 2> kRouterScoreNames = {{
    {RouterScore::kSoftmax, "softmax"},
    {RouterScore::kSigmoid, "sigmoid"},
}};
inline constexpr EnumNames<Routing, 2> kRoutingNames = {{
    {Routing::kBalanced, "balanced"},
    {Routing::kLearned, "learned"},
}};

template <ConstOr<RopeScaling> Scaling, typename Visitor>
void VisitFields(Scaling& scaling, Visitor& visit) {
  visit(Needed("rope_type"), scaling.kind, kRopeScalingNames);
  visit(Needed("factor"), scaling.factor);
  visit(Needed("low_freq_factor"), scaling.low_freq_factor);
  visit(Needed("high_freq_factor"), scaling.high_freq_factor);
  visit(Needed("original_max_position_embeddings"), scaling.original_max_positions);
}

template <ConstOr<Experts> MixtureOfExperts, typename Visitor>
void VisitFields(MixtureOfExperts& experts, Visitor& visit) {
  const Experts plain;
  visit(Needed("count"), experts.count);
  visit(Needed("top_k"), experts.top_k);
  visit(OnlyIf(experts.shared_hidden > 0, "shared_hidden"), experts.shared_hidden);
  visit(OnlyIf(experts.shared_gate, "shared_gate"), experts.shared_gate);
  visit(OnlyIf(experts.score != plain.score, "score"), experts.score, kRouterScoreNames);
  visit(OnlyIf(experts.router_bias, "router_bias"), experts.router_bias);
  visit(OnlyIf(experts.selection_bias, "selection_bias"), experts.selection_bias);
  visit(OnlyIf(experts.bias_update_rate != plain.bias_update_rate, "bias_update_rate"),
        experts.bias_update_rate);
  visit(OnlyIf(experts.groups != plain.groups, "groups"), experts.groups);
  visit(OnlyIf(experts.top_groups != plain.top_groups, "top_groups"), experts.top_groups);
  visit(OnlyIf(experts.capacity_factor > 0.0, "capacity_factor"), experts.capacity_factor);
  visit(OnlyIf(experts.balance_loss > 0.0, "balance_loss"), experts.balance_loss);
  visit(OnlyIf(experts.z_loss > 0.0, "z_loss"), experts.z_loss);
}

template <ConstOr<TrainingSpec> Training, typename Visitor>
void VisitFields(Training& training, Visitor& visit) {
  visit(Needed("seq_len"), training.seq_len);
  visit(Needed("global_batch"), training.global_batch);
  visit(Needed("precision"), training.precision, kPrecisionText);
  visit(OnlyIf(training.optimizer != kAdamW, "optimizer"), training.optimizer, kOptimizerText);
  visit(OnlyIf(training.routing != Routing::kBalanced, "routing"), training.routing, kRoutingNames);
  for (const RunOption& option : kRunOptions) {
    // Each text sets its own option and leaves the others as they are.
    const TextForm form{option.text,
                        [&training, &option](std::string_view text) -> absl::StatusOr<RunOptions> {
                          RunOptions options = training.options;
                          RETURN_IF_ERROR(option.read(text, options));
                          return options;
                        }};
    visit(OnlyIf(!HasDefault(option, training.options), option.name), training.options, form);
  }
}

}  // namespace meshwright::planner

// The fields of specs that are stored and sent as they are (planner/codec/fields.h).
#pragma once

#include "planner/base/enum_names.h"
#include "planner/codec/fields.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/rope_scaling.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

inline constexpr TextForm kPrecisionText{&PrecisionName, &ParsePrecision};
inline constexpr EnumNames<FfnKind, 3> kFfnKindNames = {{
    {FfnKind::kSwiGlu, "swiglu"},
    {FfnKind::kGelu, "gelu"},
    {FfnKind::kRelu, "relu"},
}};
inline constexpr EnumNames<StreamNorm, 4> kStreamNormNames = {{
    {StreamNorm::kRms, "rms"},
    {StreamNorm::kLayer, "layer"},
    {StreamNorm::kLayerWithoutBias, "layer_without_bias"},
    {StreamNorm::kLayerPlain, "layer_plain"},
}};
inline constexpr EnumNames<Arrangement, 4> kArrangementNames = {{
    {Arrangement::kSequential, "sequential"},
    {Arrangement::kParallel, "parallel"},
    {Arrangement::kParallelOneNorm, "parallel_one_norm"},
    {Arrangement::kNormBehind, "norm_behind"},
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

template <ConstOr<RopeScaling> Scaling, typename Visitor>
void VisitFields(Scaling& scaling, Visitor& visit) {
  visit(Needed("rope_type"), scaling.kind, kRopeScalingNames);
  visit(Needed("factor"), scaling.factor);
  visit(Needed("low_freq_factor"), scaling.low_freq_factor);
  visit(Needed("high_freq_factor"), scaling.high_freq_factor);
  visit(Needed("original_max_position_embeddings"), scaling.original_max_positions);
}

template <ConstOr<TrainingSpec> Training, typename Visitor>
void VisitFields(Training& training, Visitor& visit) {
  visit(Needed("seq_len"), training.seq_len);
  visit(Needed("global_batch"), training.global_batch);
  visit(Needed("precision"), training.precision, kPrecisionText);
}

}  // namespace meshwright::planner

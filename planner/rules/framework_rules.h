// Defines the rule that a framework supports what a layout uses, such as its ZeRO stage, schedule,
// recompute mode and axes.
#pragma once

#include <string>

#include "planner/containers/enum_set.h"
#include "planner/layout/mesh.h"
#include "planner/profile/layer_shape.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// A feature that a framework may lack. It is stored in Operands::value.
enum class FrameworkPart : int64_t {
  kZeroStage,
  kZeroMinimum,
  kZeroPipeline,
  kPipeline,
  kSequence,
  kSequenceNeeded,
  kBlock,
  kModules,
  kScores,
  kTensor,
  kContext,
  kExpertParallel,
  kExpertTensor,
  kSchedule,
  kHsdp,
  kStages,
  kFp8,
  kExperts,
  kOptimizer,
  kRecompute,
  kActivationOffload,
  kOffloadPipeline,
  kOffloadRecompute,
  kStateOffload,
  kZero3Tensor
};

inline EnumSet<ScheduleKind> SchedulesOf(const Supports& supports) {
  EnumSet<ScheduleKind> schedules = {ScheduleKind::kGpipe, ScheduleKind::k1f1b};
  if (supports.has_interleaving) schedules.Add(ScheduleKind::kInterleaved);
  if (supports.has_breadth_first) schedules.Add(ScheduleKind::kBreadthFirst);
  if (supports.has_zb_h1) schedules.Add(ScheduleKind::kZbH1);
  if (supports.has_zb_v) schedules.Add(ScheduleKind::kZbV);
  if (supports.has_zb_h2) schedules.Add(ScheduleKind::kZbH2);
  if (supports.has_v_half) schedules.Add(ScheduleKind::kVHalf);
  if (supports.has_vocab_parallel) {
    schedules.Add(ScheduleKind::k1f1bVocab1);
    schedules.Add(ScheduleKind::k1f1bVocab2);
    schedules.Add(ScheduleKind::k1f1bInterlaced);
    if (supports.has_v_half) schedules.Add(ScheduleKind::kVHalfVocab1);
  }
  return schedules;
}

inline bool HasSchedule(const Supports& supports, ScheduleKind schedule) {
  return SchedulesOf(supports).Has(schedule);
}

// Stores `part` as the missing feature, and `bound` as a number for the rule's message. Returns
// true.
inline bool Lacks(FrameworkPart part, int64_t bound, Operands& operands) {
  return Broken(static_cast<int64_t>(part), bound, operands);
}

// The functions below are the parts of the rule. Each returns whether the framework lacks something
// that the model or some axes of the layout need. The functions are separate so that each depends
// on few axes (RuleLevel).

// The kinds of model states that a framework may be able to move to the host.
enum class StateOffload : uint8_t { kOptimizer, kParameters, kGradients };

inline EnumSet<StateOffload> OffloadsOf(const Supports& has) {
  EnumSet<StateOffload> offloads;
  if (has.has_optimizer_offload) offloads.Add(StateOffload::kOptimizer);
  if (has.has_parameter_offload) offloads.Add(StateOffload::kParameters);
  if (has.has_gradient_offload) offloads.Add(StateOffload::kGradients);
  return offloads;
}

inline bool LacksForModel(const RuleInput& input, const Layout& /*layout*/, Operands& operands) {
  const Supports& has = input.profile.supports;
  if (input.training.quantisation().narrows() && !has.has_fp8) {
    return Lacks(FrameworkPart::kFp8, static_cast<int64_t>(input.training.precision), operands);
  }
  if (!has.has_experts && input.model.has_experts()) {
    return Lacks(FrameworkPart::kExperts, 0, operands);
  }
  return !has.has_muon && input.training.optimizer.orthogonalises() &&
         Lacks(FrameworkPart::kOptimizer, 0, operands);
}

// Checks pipeline parallelism, the ZeRO stage, and the stage's combinations with pp and tp.
inline bool LacksZero(const RuleInput& input, const Layout& l, Operands& operands) {
  const Supports& has = input.profile.supports;
  if (l.pp > 1 && !has.has_pipeline) return Lacks(FrameworkPart::kPipeline, 0, operands);
  if (l.zero > has.max_zero) return Lacks(FrameworkPart::kZeroStage, has.max_zero, operands);
  if (l.zero >= 2 && l.pp > 1 && !has.zero23_with_pipeline) {
    return Lacks(FrameworkPart::kZeroPipeline, 0, operands);
  }
  if (l.zero == 3 && l.tp > 1 && !has.zero3_with_tp) {
    return Lacks(FrameworkPart::kZero3Tensor, l.tp, operands);
  }
  const bool only_replicates = l.zero == 0 && l.devices() == l.dp;
  return l.zero < has.min_zero && GroupSize(GroupRole::kReplicas, l) > 1 && !only_replicates &&
         Lacks(FrameworkPart::kZeroMinimum, has.min_zero, operands);
}

inline bool LacksSequenceParallel(const RuleInput& input, const Layout& layout,
                                  Operands& operands) {
  const Supports& has = input.profile.supports;
  if (layout.sequence_parallel && !has.has_sequence_parallel) {
    return Lacks(FrameworkPart::kSequence, 0, operands);
  }
  return layout.tp > 1 && !layout.sequence_parallel && has.tp_needs_sequence_parallel &&
         Lacks(FrameworkPart::kSequenceNeeded, 0, operands);
}

inline bool LacksHsdp(const RuleInput& input, const Layout& layout, Operands& operands) {
  return layout.shard_ranks > 0 && !input.profile.supports.has_hsdp &&
         Lacks(FrameworkPart::kHsdp, 0, operands);
}

inline bool LacksStages(const RuleInput& input, const Layout& layout, Operands& operands) {
  return !layout.stages.empty() && !input.profile.supports.has_stages &&
         Lacks(FrameworkPart::kStages, 0, operands);
}

inline bool LacksAxis(const RuleInput& input, const Layout& layout, Operands& operands) {
  const Supports& has = input.profile.supports;
  if (layout.tp > 1 && !has.has_tensor_parallel) {
    return Lacks(FrameworkPart::kTensor, 0, operands);
  }
  if (layout.cp > 1 && !has.has_context_parallel) {
    return Lacks(FrameworkPart::kContext, 0, operands);
  }
  if (layout.ep > 1 && !has.has_expert_parallel) {
    return Lacks(FrameworkPart::kExpertParallel, 0, operands);
  }
  return layout.etp > 1 && !has.has_expert_tensor_parallel &&
         Lacks(FrameworkPart::kExpertTensor, 0, operands);
}

// Returns whether the framework can't recompute a module that the layout recomputes. If core_attn
// is missing because the framework's attention keeps no scores, the sentence gives this as the
// reason.
inline bool LacksModules(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.recompute != Recompute::kModules) return false;
  const RecomputeModules has = input.profile.supports.recompute_modules;
  const RecomputeModules missing = layout.recompute_modules.Without(has);
  if (missing.empty()) return false;
  const bool lacks_scores = !has.empty() && missing.Has(RecomputeModule::kCoreAttn) &&
                            !KeepsScores(input.profile, layout);
  return Lacks(lacks_scores ? FrameworkPart::kScores : FrameworkPart::kModules, has.bits(),
               operands);
}

inline bool LacksRecompute(const RuleInput& input, const Layout& layout, Operands& operands) {
  const Supports& has = input.profile.supports;
  if (layout.recompute == Recompute::kBlock && !has.has_block_recompute) {
    return Lacks(FrameworkPart::kBlock, 0, operands);
  }
  return LacksModules(input, layout, operands) ||
         (layout.recompute != Recompute::kNone && !has.has_recompute &&
          Lacks(FrameworkPart::kRecompute, 0, operands));
}

// Returns whether the framework can't move to the host the model states that the layout moves
// there.
inline bool LacksStateOffload(const Supports& has, const Offload& offload, Operands& operands) {
  const bool runs = !offload.optimizer   ? true
                    : offload.gradients  ? has.has_gradient_offload
                    : offload.parameters ? has.has_parameter_offload
                                         : has.has_optimizer_offload;
  return !runs && Lacks(FrameworkPart::kStateOffload, OffloadsOf(has).bits(), operands);
}

// Returns whether the framework lacks the layout's offload, or its combination with a pipeline or
// with recompute.
inline bool LacksOffload(const RuleInput& input, const Layout& layout, Operands& operands) {
  const Supports& has = input.profile.supports;
  if (LacksStateOffload(has, layout.offload, operands)) return true;
  if (layout.offload.activation_layers == 0) return false;
  if (!has.has_activation_offload) {
    return Lacks(FrameworkPart::kActivationOffload, 0, operands);
  }
  if (layout.pp > 1 && !has.activation_offload_with_pipeline) {
    return Lacks(FrameworkPart::kOffloadPipeline, layout.pp, operands);
  }
  return layout.recompute != Recompute::kNone && !has.activation_offload_with_recompute &&
         Lacks(FrameworkPart::kOffloadRecompute, 0, operands);
}

inline bool LacksSchedule(const RuleInput& input, const Layout& layout, Operands& operands) {
  const EnumSet<ScheduleKind> schedules = SchedulesOf(input.profile.supports);
  return !schedules.Has(layout.schedule) &&
         Lacks(FrameworkPart::kSchedule, schedules.bits(), operands);
}

inline bool FrameworkLacksIt(const RuleInput& input, const Layout& layout, Operands& operands) {
  return LacksForModel(input, layout, operands) || LacksZero(input, layout, operands) ||
         LacksSequenceParallel(input, layout, operands) || LacksHsdp(input, layout, operands) ||
         LacksStages(input, layout, operands) || LacksAxis(input, layout, operands) ||
         LacksRecompute(input, layout, operands) || LacksOffload(input, layout, operands) ||
         LacksSchedule(input, layout, operands);
}

// Returns a sentence that names the missing feature and the framework's alternatives.
std::string DescribeFramework(const Operands& operands);

}  // namespace meshwright::planner

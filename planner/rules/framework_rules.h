// The rule that a framework must have what a layout uses: ZeRO stage, schedule, recompute mode,
// axes.
#pragma once

#include <string>

#include "planner/base/enum_set.h"
#include "planner/layout/mesh.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// What a framework may lack.
enum class FrameworkPart : int64_t {
  kZeroStage,
  kZeroMinimum,
  kZeroPipeline,
  kSequence,
  kSequenceNeeded,
  kBlock,
  kModules,
  kContext,
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
  kOptimizerOffload
};

inline EnumSet<ScheduleKind> SchedulesOf(const Supports& supports) {
  EnumSet<ScheduleKind> schedules = {ScheduleKind::kGpipe, ScheduleKind::k1f1b};
  if (supports.has_interleaving) schedules.Add(ScheduleKind::kInterleaved);
  if (supports.has_breadth_first) schedules.Add(ScheduleKind::kBreadthFirst);
  if (supports.has_zb_h1) schedules.Add(ScheduleKind::kZbH1);
  if (supports.has_zb_v) schedules.Add(ScheduleKind::kZbV);
  return schedules;
}

inline bool HasSchedule(const Supports& supports, ScheduleKind schedule) {
  return SchedulesOf(supports).Has(schedule);
}

inline bool FrameworkLacksIt(const RuleInput& input, const Layout& layout, Operands& operands) {
  const Supports& has = input.profile.supports;
  const Layout& l = layout;
  const auto lacks = [&operands](FrameworkPart part, int64_t bound = 0) {
    return Broken(static_cast<int64_t>(part), bound, operands);
  };
  if (input.training.quantisation().narrows() && !has.has_fp8) {
    return lacks(FrameworkPart::kFp8, static_cast<int64_t>(input.training.precision));
  }
  if (!has.has_experts && input.model.has_experts()) return lacks(FrameworkPart::kExperts);
  if (!has.has_muon && input.training.optimizer.orthogonalises()) {
    return lacks(FrameworkPart::kOptimizer);
  }
  if (l.zero > has.max_zero) return lacks(FrameworkPart::kZeroStage, has.max_zero);
  if (l.zero >= 2 && l.pp > 1 && !has.zero23_with_pipeline)
    return lacks(FrameworkPart::kZeroPipeline);
  const bool only_replicates = l.zero == 0 && l.devices() == l.dp;
  if (l.zero < has.min_zero && GroupSize(GroupRole::kReplicas, l) > 1 && !only_replicates) {
    return lacks(FrameworkPart::kZeroMinimum, has.min_zero);
  }
  if (l.sequence_parallel && !has.has_sequence_parallel) return lacks(FrameworkPart::kSequence);
  if (l.tp > 1 && !l.sequence_parallel && has.tp_needs_sequence_parallel) {
    return lacks(FrameworkPart::kSequenceNeeded);
  }
  if (l.recompute == Recompute::kBlock && !has.has_block_recompute)
    return lacks(FrameworkPart::kBlock);
  if (l.recompute == Recompute::kModules &&
      !l.recompute_modules.Without(has.recompute_modules).empty()) {
    return lacks(FrameworkPart::kModules, has.recompute_modules.bits());
  }
  if (l.shard_ranks > 0 && !has.has_hsdp) return lacks(FrameworkPart::kHsdp);
  if (!l.stages.empty() && !has.has_stages) return lacks(FrameworkPart::kStages);
  if (l.cp > 1 && !has.has_context_parallel) return lacks(FrameworkPart::kContext);
  if (l.recompute != Recompute::kNone && !has.has_recompute)
    return lacks(FrameworkPart::kRecompute);
  if (l.offload.optimizer && !has.has_optimizer_offload) {
    return lacks(FrameworkPart::kOptimizerOffload);
  }
  if (l.offload.activation_layers > 0) {
    if (!has.has_activation_offload) return lacks(FrameworkPart::kActivationOffload);
    if (l.pp > 1 && !has.activation_offload_with_pipeline) {
      return lacks(FrameworkPart::kOffloadPipeline, l.pp);
    }
    if (l.recompute != Recompute::kNone && !has.activation_offload_with_recompute) {
      return lacks(FrameworkPart::kOffloadRecompute);
    }
  }
  const EnumSet<ScheduleKind> schedules = SchedulesOf(has);
  return !schedules.Has(l.schedule) && lacks(FrameworkPart::kSchedule, schedules.bits());
}

// Returns a sentence that says what the framework lacks and what it has instead.
std::string DescribeFramework(const Operands& operands);

}  // namespace meshwright::planner

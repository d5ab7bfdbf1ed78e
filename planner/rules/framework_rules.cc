#include "planner/rules/framework_rules.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/layout/mesh.h"
#include "planner/base/enum_set.h"
#include "planner/rules/operands.h"

namespace meshwright::planner {
namespace {

// What a framework may lack.
enum Part : int64_t {
  kZeroStage,
  kZeroMinimum,
  kZeroPipeline,
  kSequence,
  kSequenceNeeded,
  kBlock,
  kContext,
  kSchedule,
  kRecompute
};

EnumSet<ScheduleKind> SchedulesOf(const Supports& supports) {
  EnumSet<ScheduleKind> schedules = {ScheduleKind::kGpipe, ScheduleKind::k1f1b};
  if (supports.has_interleaving) schedules.Add(ScheduleKind::kInterleaved);
  if (supports.has_breadth_first) schedules.Add(ScheduleKind::kBreadthFirst);
  if (supports.has_zb_h1) schedules.Add(ScheduleKind::kZbH1);
  if (supports.has_zb_v) schedules.Add(ScheduleKind::kZbV);
  return schedules;
}

}  // namespace

bool HasSchedule(const Supports& supports, ScheduleKind schedule) {
  return SchedulesOf(supports).Has(schedule);
}

bool FrameworkLacksIt(const RuleInput& input, const Layout& layout, Operands& operands) {
  const Supports& has = input.profile.supports;
  const Layout& l = layout;
  const auto lacks = [&operands](Part part, int64_t bound = 0) {
    return Broken(part, bound, operands);
  };
  if (l.zero > has.max_zero) return lacks(kZeroStage, has.max_zero);
  if (l.zero >= 2 && l.pp > 1 && !has.zero23_with_pipeline) return lacks(kZeroPipeline);
  const bool only_replicates = l.zero == 0 && l.devices() == l.dp;
  if (l.zero < has.min_zero && GroupSize(GroupRole::kReplicas, l) > 1 && !only_replicates) {
    return lacks(kZeroMinimum, has.min_zero);
  }
  if (l.sequence_parallel && !has.has_sequence_parallel) return lacks(kSequence);
  if (l.tp > 1 && !l.sequence_parallel && has.tp_needs_sequence_parallel) {
    return lacks(kSequenceNeeded);
  }
  if (l.recompute == Recompute::kBlock && !has.has_block_recompute) return lacks(kBlock);
  if (l.cp > 1 && !has.has_context_parallel) return lacks(kContext);
  if (l.recompute != Recompute::kNone && !has.has_recompute) return lacks(kRecompute);
  const EnumSet<ScheduleKind> schedules = SchedulesOf(has);
  return !schedules.Has(l.schedule) && lacks(kSchedule, schedules.bits());
}

std::string DescribeFramework(const Operands& operands) {
  const int64_t bound = operands.divisor;
  switch (operands.value) {
    case kZeroStage:
      return absl::StrFormat("the framework has ZeRO stages up to %d", bound);
    case kZeroMinimum:
      return absl::StrFormat("the framework shards with ZeRO stage %d or more", bound);
    case kSequenceNeeded:
      return "the framework's tensor parallel is always sequence parallel (sp1)";
    case kBlock:
      return "the framework recomputes all layers alike (rc=none, selective or full)";
    case kZeroPipeline:
      return "the framework does not combine ZeRO 2 and 3 with pipeline parallel, only "
             "ZeRO 0 and 1";
    case kSequence:
      return "the framework does not have sequence parallel, only sp0";
    case kContext:
      return "the framework does not have context parallel, only cp1";
    case kRecompute:
      return "the framework does not have recompute, only rc=none";
    default:
      return absl::StrCat("the framework does not have this schedule; it has ",
                          NamesOf(EnumSet<ScheduleKind>::FromBits(bound), ScheduleName));
  }
}

}  // namespace meshwright::planner

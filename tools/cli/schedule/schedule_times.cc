#include "tools/cli/schedule/schedule_times.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/cost/stage_time.h"
#include "planner/schedule/placement.h"

namespace meshwright::cli {
namespace {

constexpr double kMaxMilliseconds = 1e9;

absl::Status CheckMilliseconds(const char* field, double value) {
  if (value >= 0.0 && value <= kMaxMilliseconds) return absl::OkStatus();
  return FieldError(field, absl::StrCat(value), "must be a number from 0 to 1e9");
}

planner::PipelineTimes EqualStages(const planner::Layout& layout,
                                   const planner::StageDurations& stage, double hop_s) {
  planner::PipelineTimes times;
  times.stages.assign(static_cast<size_t>(planner::StageCount(layout)), stage);
  times.hop_s = {hop_s};
  return times;
}

}  // namespace

absl::StatusOr<planner::PipelineTimes> TimesByHand(const planner::Layout& layout,
                                                   const RankMilliseconds& rank) {
  RETURN_IF_ERROR(CheckMilliseconds("forward_ms", rank.forward_ms));
  RETURN_IF_ERROR(CheckMilliseconds("backward_ms", rank.backward_ms));
  RETURN_IF_ERROR(CheckMilliseconds("weight_ms", rank.weight_ms));
  RETURN_IF_ERROR(CheckMilliseconds("hop_ms", rank.hop_ms));
  if (rank.forward_ms + rank.backward_ms + rank.weight_ms <= 0.0) {
    return FieldError("forward_ms", absl::StrCat(rank.forward_ms),
                      "forward, backward and weight must not all be 0");
  }
  const double chunk_s = 1e-3 / layout.vpp;
  return EqualStages(
      layout, {rank.forward_ms * chunk_s, rank.backward_ms * chunk_s, rank.weight_ms * chunk_s},
      rank.hop_ms * 1e-3);
}

planner::PipelineTimes TimesOfModel(const planner::EstimateContext& context,
                                    const planner::Layout& layout) {
  planner::PipelineTimes times;
  times.stages = planner::StageDurationsOf(context, layout);
  times.hop_s = {planner::HopTime(context, layout)};
  return times;
}

}  // namespace meshwright::cli

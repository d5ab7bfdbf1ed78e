// VisitFields() names the fields of a trial's result (planner/codec/fields.h). The result's JSON
// has these fields in a database, in an agent's folder and in a command's output. The messages in
// proto/meshwright/v1/sweeps.proto have them too.
//
// Fields that workers of older versions did not send are optional.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "executor/trial/trial.h"
#include "planner/codec/fields.h"
#include "planner/cost/measured_step.h"
#include "planner/cost/time_part.h"
#include "planner/schedule/action.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

template <planner::ConstOr<DeviceMemoryUse> Use, typename Visitor>
void VisitFields(Use& use, Visitor& visit) {
  visit(planner::Needed("peak_reserved_bytes"), use.peak_reserved_bytes);
  visit(planner::Needed("allocator_retries"), use.allocator_retries);
  visit(planner::Needed("communicator_bytes"), use.communicator_bytes);
}

template <planner::ConstOr<PhaseSeconds> Phases, typename Visitor>
void VisitFields(Phases& phases, Visitor& visit) {
  ForEachPhase([&](Phase phase) {
    // Only results of models with experts have the phase kExpertParallel.
    const bool needed = phase != Phase::kExpertParallel;
    visit(needed ? planner::Needed(PhaseKey(phase))
                 : planner::OnlyIf(phases[phase] != 0.0, PhaseKey(phase)),
          phases[phase]);
  });
}

template <planner::ConstOr<CommunicationTotal> Total, typename Visitor>
void VisitFields(Total& total, Visitor& visit) {
  visit(planner::Needed("group"), total.group);
  visit(planner::Needed("operation"), total.operation, planner::kCollectiveKindNames);
  visit(planner::Needed("calls"), total.calls);
  visit(planner::Needed("bytes"), total.bytes);
  visit(planner::Needed("waited_s"), total.waited_s);
  visit(planner::Needed("under_way_s"), total.under_way_s);
}

template <planner::ConstOr<RankResult> Rank, typename Visitor>
void VisitFields(Rank& rank, Visitor& visit) {
  visit(planner::Needed("rank"), rank.rank);
  visit(planner::Needed("pipeline_rank"), rank.pipeline_rank);
  visit(planner::Needed("peak_bytes"), rank.peak_bytes);
  visit(planner::Needed("estimated_bytes"), rank.estimated_bytes);
  visit("estimated_communicator_bytes", rank.estimated_communicator_bytes);
  visit(planner::OnlyIf(rank.peak_host_bytes > 0, "peak_host_bytes"), rank.peak_host_bytes);
  visit(planner::OnlyIf(rank.estimated_host_bytes > 0, "estimated_host_bytes"),
        rank.estimated_host_bytes);
  visit("peak_in_flight", rank.peak_in_flight);
  visit(planner::OnlyIf(rank.expert_load > 0.0, "expert_load"), rank.expert_load);
  visit(planner::OnlyIf(!rank.expert_tokens.empty(), "expert_tokens"), rank.expert_tokens);
  visit("estimated_routed_bytes", rank.estimated_routed_bytes);
  visit("phases", rank.phases);
  visit("communication", rank.communication);
  visit(planner::Inside("device_memory"), rank.device_memory);
}

template <planner::ConstOr<OomDetail> Oom, typename Visitor>
void VisitFields(Oom& oom, Visitor& visit) {
  visit(planner::Needed("rank"), oom.rank);
  visit(planner::Needed("pipeline_rank"), oom.pipeline_rank);
  visit(planner::Needed("requested_bytes"), oom.requested_bytes);
  visit(planner::Needed("held_bytes"), oom.held_bytes);
  visit(planner::Needed("limit_bytes"), oom.limit_bytes);
}

template <planner::ConstOr<MedianInterval> Interval, typename Visitor>
void VisitFields(Interval& interval, Visitor& visit) {
  visit(planner::Needed("low_s"), interval.low_s);
  visit(planner::Needed("high_s"), interval.high_s);
}

// The JSON of a slice trial's result has three objects: one for measured figures, one for modelled
// figures, and one for simulated figures.
inline constexpr std::array<planner::TextPart, 3> kSliceParts = {
    {{"measured", "What was run"},
     {"modelled", "What was charged"},
     {"simulated", "What was composed"}}};
inline constexpr planner::TextParts kMeasured = 1;
inline constexpr planner::TextParts kModelled = 2;
inline constexpr planner::TextParts kSimulated = 4;

constexpr planner::Field MeasuredField(planner::Field field) {
  return InParts(kMeasured, Needed(field));
}
constexpr planner::Field ModelledField(planner::Field field) {
  return InParts(kModelled, Needed(field));
}
constexpr planner::Field SimulatedField(planner::Field field) {
  return InParts(kSimulated, Needed(field));
}

inline constexpr std::array kMeasuredOfAction = {planner::TimePart::kCompute};
inline constexpr std::array kModelledOfAction = {planner::TimePart::kTp, planner::TimePart::kCp,
                                                 planner::TimePart::kDp};

// Visits these parts of a step's time, each under its name. `standing` is a function, such as
// MeasuredField(), that turns a part's name into its field.
template <typename Times, size_t kCount, typename Standing, typename Visitor>
void VisitTimes(Times& times, const std::array<planner::TimePart, kCount>& parts,
                const Standing& standing, Visitor& visit) {
  for (const planner::TimePart part : parts) {
    if constexpr (std::is_const_v<Times>) {
      const double seconds = times[part];
      visit(standing(planner::TimePartKey(part)), seconds);
    } else {
      visit(standing(planner::TimePartKey(part)), times[part]);
    }
  }
}

// Visits the time of expert parallelism, which only models with experts have.
template <typename Times, typename Visitor>
void VisitExpertTime(Times& times, Visitor& visit) {
  const auto modelled = [&](planner::Field field) {
    return InParts(kModelled, planner::OnlyIf(times[planner::TimePart::kEp] != 0.0, field));
  };
  VisitTimes(times, std::array{planner::TimePart::kEp}, modelled, visit);
}

template <planner::ConstOr<SliceAction> Action, typename Visitor>
void VisitFields(Action& action, Visitor& visit) {
  visit(planner::Needed("kind"), action.kind, planner::kActionKindNames);
  visit(planner::Needed("chunk"), action.chunk);
  VisitTimes(action.part, kMeasuredOfAction, MeasuredField, visit);
  VisitTimes(action.part, kModelledOfAction, ModelledField, visit);
  VisitExpertTime(action.part, visit);
}

template <planner::ConstOr<SliceStage> Stage, typename Visitor>
void VisitFields(Stage& stage, Visitor& visit) {
  visit(MeasuredField("pipeline_ranks"), stage.pipeline_ranks);
  visit(planner::Needed("measured_rank"), stage.measured_rank);
  visit(planner::Needed("actions"), stage.actions);
  visit(MeasuredField("optimizer_s"), stage.optimizer_s);
  visit(ModelledField("dp_behind_s"), stage.dp_behind_s);
  visit(MeasuredField("peak_bytes"), stage.peak_bytes);
  visit(MeasuredField("estimated_bytes"), stage.estimated_bytes);
}

template <planner::ConstOr<ChargedOperation> Operation, typename Visitor>
void VisitFields(Operation& operation, Visitor& visit) {
  visit(planner::Needed("measured_rank"), operation.measured_rank);
  visit(planner::Needed("group"), operation.group);
  visit(planner::Needed("operation"), operation.operation, planner::kCollectiveKindNames);
  visit(planner::Needed("ranks"), operation.ranks);
  visit(planner::Needed("stride"), operation.stride);
  visit(planner::Needed("bytes"), operation.bytes);
  visit(planner::Needed("calls"), operation.calls);
  visit(planner::Needed("seconds"), operation.seconds);
}

template <planner::ConstOr<SliceResult> Slice, typename Visitor>
void VisitFields(Slice& slice, Visitor& visit) {
  visit(ModelledField("cluster"), slice.cluster);
  visit(planner::InParts(kMeasured | kModelled, planner::Needed("stages")), slice.stages);
  visit(ModelledField("operations"), slice.charged);
  visit(ModelledField("hop_s"), slice.hop_s);
  VisitTimes(slice.step, planner::kMeasuredParts, MeasuredField, visit);
  VisitTimes(slice.step, planner::kModelledParts, ModelledField, visit);
  VisitExpertTime(slice.step, visit);
  VisitTimes(slice.step, planner::kSimulatedParts, SimulatedField, visit);
  visit.Derived(SimulatedField("step_s"), slice.step.step_s());
}

template <planner::ConstOr<TrialResult> Result, typename Visitor>
void VisitFields(Result& result, Visitor& visit) {
  const bool has_peak = result.peak_flops.has_value();
  visit(planner::Needed("outcome"), result.outcome, kTrialOutcomeNames);
  visit(planner::OnlyIf(result.fault != Fault::kNone, "fault"), result.fault, kFaultNames);
  visit("message", result.message);
  visit(planner::Needed("step_s"), result.step_s);
  visit("step_interval", result.step_interval);
  visit("stop_reason", result.stop_reason, kStopReasonNames);
  visit(planner::Needed("mfu"), result.mfu);
  visit(planner::NullUnless(result.mfu_causal > 0.0, "mfu_causal"), result.mfu_causal);
  visit(planner::Needed("measured_peak_flops"), result.measured_peak_flops);
  visit(planner::OrNull("peak_flops"), result.peak_flops);
  visit(planner::NullUnless(has_peak, "mfu_of_peak"), result.mfu_of_peak);
  visit(planner::NullUnless(has_peak, "mfu_causal_of_peak"), result.mfu_causal_of_peak);
  visit("step_times_s", result.step_times_s);
  visit("losses", result.losses);
  visit("gradient_norms", result.gradient_norms);
  visit("ranks", result.ranks);
  visit("oom", result.oom);
  visit(planner::WithParts(kSliceParts, "slice"), result.slice);
  visit("worker_version", result.worker_version);
  visit("host", result.host);
  visit(planner::OnlyIf(!result.failed_agent.empty(), "failed_agent"), result.failed_agent);
  visit(planner::OnlyIf(!result.command.empty(), "command"), result.command);
  visit(planner::OnlyIf(!result.log_end.empty(), "log_end"), result.log_end);
}

}  // namespace meshwright::trial

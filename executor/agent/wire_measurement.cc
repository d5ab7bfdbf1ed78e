// The part of wire.h that is about what workers measured.
#include <string>
#include <utility>

#include "executor/agent/wire.h"
#include "executor/agent/wire_slice.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/base/utf8.h"

namespace meshwright::agent {
namespace {

v1::PhaseTimes PhasesToWire(const trial::PhaseSeconds& phases) {
  v1::PhaseTimes out;
  out.set_forward_s(phases[trial::Phase::kForward]);
  out.set_backward_s(phases[trial::Phase::kBackward]);
  out.set_tensor_parallel_s(phases[trial::Phase::kTensorParallel]);
  out.set_context_parallel_s(phases[trial::Phase::kContextParallel]);
  out.set_pipeline_s(phases[trial::Phase::kPipeline]);
  out.set_bubble_s(phases[trial::Phase::kBubble]);
  out.set_data_parallel_s(phases[trial::Phase::kDataParallel]);
  out.set_optimizer_s(phases[trial::Phase::kOptimizer]);
  out.set_other_s(phases[trial::Phase::kOther]);
  return out;
}

trial::PhaseSeconds PhasesFromWire(const v1::PhaseTimes& in) {
  trial::PhaseSeconds phases;
  phases[trial::Phase::kForward] = in.forward_s();
  phases[trial::Phase::kBackward] = in.backward_s();
  phases[trial::Phase::kTensorParallel] = in.tensor_parallel_s();
  phases[trial::Phase::kContextParallel] = in.context_parallel_s();
  phases[trial::Phase::kPipeline] = in.pipeline_s();
  phases[trial::Phase::kBubble] = in.bubble_s();
  phases[trial::Phase::kDataParallel] = in.data_parallel_s();
  phases[trial::Phase::kOptimizer] = in.optimizer_s();
  phases[trial::Phase::kOther] = in.other_s();
  return phases;
}

v1::RankMeasurement RankToWire(const trial::RankResult& rank) {
  v1::RankMeasurement out;
  out.set_rank(rank.rank);
  out.set_pipeline_rank(rank.pipeline_rank);
  out.set_peak_bytes(rank.peak_bytes);
  out.set_estimated_bytes(rank.estimated_bytes);
  out.set_estimated_communicator_bytes(rank.estimated_communicator_bytes);
  out.set_peak_in_flight(rank.peak_in_flight);
  if (rank.device_memory) {
    v1::DeviceMemoryUse* to = out.mutable_device_memory();
    to->set_peak_reserved_bytes(rank.device_memory->peak_reserved_bytes);
    to->set_allocator_retries(rank.device_memory->allocator_retries);
    to->set_communicator_bytes(rank.device_memory->communicator_bytes);
  }
  *out.mutable_phases() = PhasesToWire(rank.phases);
  for (const trial::CommunicationTotal& total : rank.communication) {
    v1::Communication* to = out.add_communication();
    to->set_group(ValidUtf8(total.group));
    to->set_operation(std::string(trial::CommOperationName(total.operation)));
    to->set_calls(total.calls);
    to->set_bytes(total.bytes);
    to->set_waited_s(total.waited_s);
    to->set_under_way_s(total.under_way_s);
  }
  return out;
}

absl::StatusOr<trial::RankResult> RankFromWire(const v1::RankMeasurement& in) {
  trial::RankResult rank{.rank = in.rank(),
                  .pipeline_rank = in.pipeline_rank(),
                  .peak_bytes = in.peak_bytes(),
                  .estimated_bytes = in.estimated_bytes(),
                  .peak_in_flight = in.peak_in_flight(),
                  .phases = PhasesFromWire(in.phases()),
                  .estimated_communicator_bytes = in.estimated_communicator_bytes()};
  if (in.has_device_memory()) {
    rank.device_memory =
        trial::DeviceMemoryUse{.peak_reserved_bytes = in.device_memory().peak_reserved_bytes(),
                        .allocator_retries = in.device_memory().allocator_retries(),
                        .communicator_bytes = in.device_memory().communicator_bytes()};
  }
  for (const v1::Communication& total : in.communication()) {
    const auto operation = trial::ParseCommOperation(total.operation());
    if (!operation.has_value()) {
      return FieldError("communication.operation", total.operation(), "must be an operation");
    }
    rank.communication.push_back({.group = total.group(),
                                  .operation = *operation,
                                  .calls = total.calls(),
                                  .bytes = total.bytes(),
                                  .waited_s = total.waited_s(),
                                  .under_way_s = total.under_way_s()});
  }
  return rank;
}

}  // namespace

v1::Measurement ToWire(const trial::TrialResult& result) {
  v1::Measurement out;
  out.set_outcome(std::string(trial::OutcomeName(result.outcome)));
  out.set_message(ValidUtf8(result.message));
  out.set_step_s(result.step_s);
  out.set_mfu(result.mfu);
  out.set_mfu_causal(result.mfu_causal);
  out.set_measured_peak_flops(result.measured_peak_flops);
  if (result.peak_flops) out.set_peak_flops(*result.peak_flops);
  out.set_mfu_of_peak(result.mfu_of_peak);
  out.set_mfu_causal_of_peak(result.mfu_causal_of_peak);
  out.mutable_step_times_s()->Add(result.step_times_s.begin(), result.step_times_s.end());
  out.mutable_losses()->Add(result.losses.begin(), result.losses.end());
  out.mutable_gradient_norms()->Add(result.gradient_norms.begin(), result.gradient_norms.end());
  for (const trial::RankResult& rank : result.ranks) *out.add_ranks() = RankToWire(rank);
  if (result.oom) {
    v1::OomDetail* to = out.mutable_oom();
    to->set_rank(result.oom->rank);
    to->set_pipeline_rank(result.oom->pipeline_rank);
    to->set_requested_bytes(result.oom->requested_bytes);
    to->set_held_bytes(result.oom->held_bytes);
    to->set_limit_bytes(result.oom->limit_bytes);
  }
  out.set_stop_reason(std::string(trial::StopReasonName(result.stop_reason)));
  if (result.step_interval) {
    out.mutable_step_interval()->set_low_s(result.step_interval->low_s);
    out.mutable_step_interval()->set_high_s(result.step_interval->high_s);
  }
  if (result.slice) *out.mutable_slice() = ToWire(*result.slice);
  out.set_worker_version(ValidUtf8(result.worker_version));
  out.set_host(ValidUtf8(result.host));
  return out;
}

absl::StatusOr<trial::TrialResult> FromWire(const v1::Measurement& in) {
  trial::TrialResult result;
  ASSIGN_OR_RETURN(result.outcome, trial::ParseOutcome(in.outcome()));
  result.message = in.message();
  result.step_s = in.step_s();
  result.mfu = in.mfu();
  result.mfu_causal = in.mfu_causal();
  result.measured_peak_flops = in.measured_peak_flops();
  if (in.has_peak_flops()) result.peak_flops = in.peak_flops();
  result.mfu_of_peak = in.mfu_of_peak();
  result.mfu_causal_of_peak = in.mfu_causal_of_peak();
  result.step_times_s.assign(in.step_times_s().begin(), in.step_times_s().end());
  result.losses.assign(in.losses().begin(), in.losses().end());
  result.gradient_norms.assign(in.gradient_norms().begin(), in.gradient_norms().end());
  for (const v1::RankMeasurement& rank : in.ranks()) {
    ASSIGN_OR_RETURN(trial::RankResult read, RankFromWire(rank));
    result.ranks.push_back(std::move(read));
  }
  if (in.has_oom()) {
    result.oom = trial::OomDetail{in.oom().rank(), in.oom().pipeline_rank(), in.oom().requested_bytes(),
                           in.oom().held_bytes(), in.oom().limit_bytes()};
  }
  ASSIGN_OR_RETURN(result.stop_reason, trial::ParseStopReason(in.stop_reason()));
  if (in.has_step_interval()) {
    result.step_interval =
        trial::MedianInterval{.low_s = in.step_interval().low_s(), .high_s = in.step_interval().high_s()};
  }
  if (in.has_slice()) {
    ASSIGN_OR_RETURN(result.slice, FromWire(in.slice()));
  }
  result.worker_version = in.worker_version();
  result.host = in.host();
  return result;
}

}  // namespace meshwright::agent

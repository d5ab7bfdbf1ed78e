// TrialPlan says what a trial runs, and TrialResult is its outcome.
//
// Both are plain data with a JSON form. Every worker reads the plan from its standard input, and
// the result is assembled from the workers' events. This file depends on neither Torch nor gRPC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "executor/trial/memory_peaks.h"
#include "executor/trial/runner_choice.h"
#include "executor/trial/slice_result.h"
#include "executor/trial/step_profile.h"
#include "executor/trial/stop_rule.h"
#include "nlohmann/json.hpp"
#include "planner/layout/layout.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::trial {

inline constexpr int64_t kMostSteps = 100'000;

struct TrialPlan {
  planner::ModelSpec model;
  planner::Layout layout;
  planner::TrainingSpec training;  // its precision is the dtype of weights and activations
  planner::DeviceKind device = planner::DeviceKind::kCpu;
  int32_t steps = 5;                  // exact count, or maximum if adaptive
  bool adaptive = false;              // whether fewer may suffice (executor/trial/stop_rule.h)
  std::optional<double> beat_step_s;  // best median step time known so far, for adaptive steps
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;  // per rank; bounds the allocator
  double timeout_s = 300.0;                   // longest silence of any rank
  // Peak FLOP/s per rank as measured before; if 0, the workers measure it.
  double known_peak_flops = 0.0;
  // Peak FLOP/s per rank in the cluster's specification, on which predicted MFU is based.
  std::optional<double> peak_flops;
  // The planner's estimates by pipeline rank. Each may be empty.
  std::vector<int64_t> estimated_bytes;               // in the allocator
  std::vector<int64_t> estimated_communicator_bytes;  // of communicators, not the allocator
  std::vector<int64_t> estimated_host_bytes;          // offloaded to the host
  // If true, the ranks run one after the other, each with simulated communication
  // (executor/trial/slice_runner.h).
  bool slice = false;
  bool trace = false;  // whether each rank reports its record of the last step
  // Set if the trial runs in the user's own framework (executor/command); it has no workers then.
  std::optional<RunnerChoice> runner;

  friend bool operator==(const TrialPlan&, const TrialPlan&) = default;
};

enum class TrialOutcome { kOk, kOom, kFailed, kTimeout, kCancelled };

inline constexpr EnumNames<TrialOutcome, 5> kTrialOutcomeNames = {{
    {TrialOutcome::kOk, "ok"},
    {TrialOutcome::kOom, "oom"},
    {TrialOutcome::kFailed, "failed"},
    {TrialOutcome::kTimeout, "timeout"},
    {TrialOutcome::kCancelled, "cancelled"},
}};

inline std::string_view TrialOutcomeName(TrialOutcome outcome) {
  return NameOf(kTrialOutcomeNames, outcome);
}

// The cause of a trial's failure. A failure caused by the layout would repeat in another attempt. A
// failure caused by the infrastructure, or by the network between the hosts, may not happen on
// other hosts.
enum class Fault : uint8_t { kNone, kLayout, kInfrastructure, kNetwork };

inline constexpr EnumNames<Fault, 4> kFaultNames = {{
    {Fault::kNone, ""},
    {Fault::kLayout, "layout"},
    {Fault::kInfrastructure, "infrastructure"},
    {Fault::kNetwork, "network"},
}};

inline bool MayPassElsewhere(Fault fault) {
  return fault == Fault::kInfrastructure || fault == Fault::kNetwork;
}

// The rank that ran out of memory, and how many bytes it requested, held and was allowed.
struct OomDetail {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const OomDetail&, const OomDetail&) = default;
};

// The measurements of one rank of a trial.
struct RankResult {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  int64_t peak_bytes = 0;            // peak bytes of live tensors
  int64_t estimated_bytes = 0;       // the plan's estimate of peak_bytes, 0 without one
  int64_t peak_host_bytes = 0;       // peak bytes that its layout offloaded to the host
  int64_t estimated_host_bytes = 0;  // the plan's estimate of peak_host_bytes, 0 without one
  int32_t peak_in_flight = 0;        // most micro-batches between forward and backward
  PhaseSeconds phases = {};          // of one step: means over the timed steps
  std::vector<CommunicationTotal> communication = {};           // of one step: means likewise
  std::optional<DeviceMemoryUse> device_memory = std::nullopt;  // absent on a CPU
  int64_t estimated_communicator_bytes = 0;  // the plan's estimate of communicators' buffers
  // The most tokens that the rank's experts received from a micro-batch in any layer, relative to
  // an even share; 0 in a model without experts.
  double expert_load = 0.0;
  // Tokens that each of the rank's experts received, over all layers and steps.
  std::vector<int64_t> expert_tokens = {};
  // The planner's estimate of peak_bytes given the routing measured in the trial's steps
  // (executor/trial/routed_memory.h); absent if routing was forced.
  std::optional<int64_t> estimated_routed_bytes = std::nullopt;

  friend bool operator==(const RankResult&, const RankResult&) = default;
};

struct TrialResult {
  TrialOutcome outcome = TrialOutcome::kFailed;
  Fault fault = Fault::kNone;  // of a failed or timed-out trial
  // Says what went wrong; empty if nothing did. With the outcome kOk, the message reports a problem
  // after a rank was done. If a worker failed or did not answer, the tail of its output follows.
  std::string message;
  double step_s = 0.0;  // median over the timed steps
  // Confidence interval of that median; absent if too few steps were timed.
  std::optional<MedianInterval> step_interval;
  StopReason stop_reason = StopReason::kNone;  // why there were no more steps
  double mfu = 0.0;                            // PaLM definition, against measured_peak_flops
  double mfu_causal = 0.0;                     // Megatron-LM's, against measured_peak_flops
  double measured_peak_flops = 0.0;    // FLOP/s per rank in a large matmul with all ranks running
  std::optional<double> peak_flops;    // FLOP/s per rank, from the plan
  double mfu_of_peak = 0.0;            // PaLM definition, against peak_flops; 0 without
  double mfu_causal_of_peak = 0.0;     // Megatron-LM's, against peak_flops; 0 without
  std::vector<double> step_times_s;    // every step, in order
  std::vector<double> losses;          // mean cross entropy over the global batch before update i
  std::vector<double> gradient_norms;  // L2 norm of that loss's gradients before update i
  std::vector<RankResult> ranks;       // in a slice trial, the ranks that ran
  std::optional<OomDetail> oom;
  std::optional<SliceResult> slice;  // in a slice trial, the parts of the composed step
  std::string worker_version;
  std::string host;
  // The agent whose part of a gang's trial (executor/gang) failed; empty if it is the reporting
  // agent itself, or if no part failed.
  std::string failed_agent;
  std::string command;  // of a trial with a runner: what was started, as a line for a shell
  std::string log_end;  // of a trial with a runner: the end of what the command printed

  friend bool operator==(const TrialResult&, const TrialResult&) = default;
};

// Returns the number of ranks that share the cores of a host with `local_ranks` of the plan's
// ranks.
inline int64_t RanksAtOnce(const TrialPlan& plan, int64_t local_ranks) {
  return plan.slice ? 1 : local_ranks;
}

nlohmann::json ToJson(const TrialPlan& plan);
// Returns InvalidArgument naming the field if a field is wrong, missing or unknown.
absl::StatusOr<TrialPlan> TrialPlanFromJson(const nlohmann::json& json);
// Returns the fields of executor/trial/result_fields.h.
nlohmann::json ToJson(const TrialResult& result);
// Accepts results of any worker version: fields that the worker did not send are absent, and
// unknown fields are ignored.
absl::StatusOr<TrialResult> TrialResultFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

// One trial: what to run (the plan) and what came of it (the result).
//
// Pure data with a JSON form: the plan goes to every worker on its standard input, the result
// is assembled from the workers' events. Neither Torch nor gRPC is known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "executor/trial/rank_result.h"
#include "executor/trial/slice_result.h"
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
  int32_t steps = 5;                  // exactly so many, or at most where they are adaptive
  bool adaptive = false;              // whether fewer will do (executor/trial/stop_rule.h)
  std::optional<double> beat_step_s;  // best median step known so far, for adaptive steps
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;  // per rank; what the allocator may hold
  double timeout_s = 300.0;                   // longest wait for the next sign of life of any rank
  // FLOP/s of a rank where it was measured before; 0: the workers measure it.
  double known_peak_flops = 0.0;
  // FLOP/s of a rank that the cluster is said to have, which predictions are against.
  std::optional<double> peak_flops;
  // What the planner expects the allocator to count, communicators to take beside it, and the host
  // to hold of what the layout offloads, by pipeline rank; may be empty.
  std::vector<int64_t> estimated_bytes;
  std::vector<int64_t> estimated_communicator_bytes;
  std::vector<int64_t> estimated_host_bytes;
  // Whether the ranks run one by one, each as if the others were there (executor/trial/
  // slice_runner.h).
  bool slice = false;
  bool trace = false;  // whether each rank tells what it did in the last step

  friend bool operator==(const TrialPlan&, const TrialPlan&) = default;
};

// What came of a trial that was run.
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

// What a trial's failure is of: another try of a layout's would end the same way; one of what it
// ran on, or of what lies between the hosts of its ranks, may not happen elsewhere.
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

// Which rank ran out of memory, and by how much.
struct OomDetail {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;

  friend bool operator==(const OomDetail&, const OomDetail&) = default;
};

struct TrialResult {
  TrialOutcome outcome = TrialOutcome::kFailed;
  Fault fault = Fault::kNone;  // of one that failed or gave no sign of life
  // One sentence, empty where all went well; where a worker failed or did not answer the tail of
  // its output follows.
  std::string message;
  double step_s = 0.0;  // median over the timed steps
  // Where that median lies beyond doubt; nothing where too few steps were timed.
  std::optional<MedianInterval> step_interval;
  StopReason stop_reason = StopReason::kNone;  // why there were no more steps
  double mfu = 0.0;                            // PaLM definition, against measured_peak_flops
  double mfu_causal = 0.0;                     // Megatron-LM definition, likewise
  double measured_peak_flops = 0.0;    // per rank, FLOP/s of a large matmul with all ranks running
  std::optional<double> peak_flops;    // per rank, the plan's
  double mfu_of_peak = 0.0;            // PaLM definition, against peak_flops; 0 without
  double mfu_causal_of_peak = 0.0;     // likewise
  std::vector<double> step_times_s;    // every step, in order
  std::vector<double> losses;          // mean cross entropy over the global batch before update i
  std::vector<double> gradient_norms;  // L2 norm of that loss's gradients before update i
  std::vector<RankResult> ranks;       // of a slice trial, those that were run
  std::optional<OomDetail> oom;
  std::optional<SliceResult> slice;  // of a slice trial: where its step comes from
  std::string worker_version;
  std::string host;
  // Agent of a gang (executor/gang) whose part failed; empty where it is the one that tells, or
  // none did.
  std::string failed_agent;

  friend bool operator==(const TrialResult&, const TrialResult&) = default;
};

// How many ranks share the cores of a host that has `local_ranks` of the plan's.
inline int64_t RanksAtOnce(const TrialPlan& plan, int64_t local_ranks) {
  return plan.slice ? 1 : local_ranks;
}

nlohmann::json ToJson(const TrialPlan& plan);
// InvalidArgument naming the field that is wrong, missing or not a plan's.
absl::StatusOr<TrialPlan> TrialPlanFromJson(const nlohmann::json& json);
// The fields are those of executor/trial/result_fields.h, where these are defined. Reading takes
// results of workers of any version: what one did not tell is absent, and what it told beside them
// is passed over.
nlohmann::json ToJson(const TrialResult& result);
absl::StatusOr<TrialResult> TrialResultFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

// A RankEvent is an event by which a rank of a trial reports to the runner. The worker writes each
// event as a line of JSON: the event's fields, its kind under the key `event`, and the rank's
// number under the key `rank`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "executor/trial/memory_peaks.h"
#include "executor/trial/step_profile.h"
#include "executor/trial/step_record.h"
#include "executor/trial/stop_rule.h"
#include "nlohmann/json.hpp"

namespace meshwright::trial {

// "hello": the rank's process has started.
struct HelloEvent {
  int64_t pid = 0;
  std::string host = {};
  std::string version = {};
};

// "begin": the rank begins a step.
struct BeginEvent {
  int32_t step = 0;
};

// "step": the rank has finished a step.
struct StepEvent {
  int32_t step = 0;
  double step_s = 0.0;
  StepProfile profile = {};
  std::optional<double> loss = std::nullopt;  // set on the rank that computes it
  // The rank's contribution to the squared norm of all gradients; absent in a slice trial.
  std::optional<double> gradient_square_sum = std::nullopt;
};

// One rank's record of the last step, and its display name: "rank 3 (tp0 pp1 dp0)".
struct TracedStep {
  std::string name = {};
  StepRecord record = {};
};

// "done": the rank has finished its steps.
struct DoneEvent {
  StopReason stop_reason = StopReason::kNone;
  int64_t peak_bytes = 0;
  std::optional<DeviceMemoryUse> device_memory = std::nullopt;
  int64_t peak_host_bytes = 0;
  int32_t peak_in_flight = 0;
  double measured_peak_flops = 0.0;
  double expert_load = 0.0;  // for this and the next two, see RankResult
  std::vector<int64_t> expert_tokens = {};
  std::optional<int64_t> estimated_routed_bytes = std::nullopt;
  std::optional<TracedStep> trace = std::nullopt;  // set if the plan asks for a trace
};

// "oom": the rank ran out of memory. The fields are those of OomDetail (executor/trial/trial.h).
struct OomEvent {
  int32_t pipeline_rank = 0;
  int64_t requested_bytes = 0;
  int64_t held_bytes = 0;
  int64_t limit_bytes = 0;
};

enum class ErrorKind : uint8_t { kCommunication, kInternal, kPlan };
inline constexpr EnumNames<ErrorKind, 3> kErrorKindNames = {{
    {ErrorKind::kCommunication, "communication"},
    {ErrorKind::kInternal, "internal"},
    {ErrorKind::kPlan, "plan"},
}};

// "error": the rank can't go on or, after "done", did not end cleanly.
struct ErrorEvent {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message = {};
};

// std::monostate stands for an event that is not a trial's.
using RankEvent = std::variant<std::monostate, HelloEvent, BeginEvent, StepEvent, DoneEvent,
                               OomEvent, ErrorEvent>;

// Returns a JSON object with the fields of executor/trial/rank_event_fields.h and the key `event`.
nlohmann::json ToJson(const RankEvent& event);
// Returns InvalidArgument, which names the field, if a field is missing or wrong. Optional numbers
// that were not finite are absent, since JSON has no infinity or NaN.
absl::StatusOr<RankEvent> RankEventFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

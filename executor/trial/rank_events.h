// The events by which a rank of a trial tells what it does: the worker writes each as a line of
// JSON, with the keys `event`, its kind, and `rank` beside its fields, and the runner reads them.
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

// "hello": the rank's process is there.
struct HelloEvent {
  int64_t pid = 0;
  std::string host = {};
  std::string version = {};
};

// "begin": it begins a step.
struct BeginEvent {
  int32_t step = 0;
};

// "step": it has finished one.
struct StepEvent {
  int32_t step = 0;
  double step_s = 0.0;
  StepProfile profile = {};
  std::optional<double> loss = std::nullopt;  // of the rank that knows it
  // Its part of the squared norm of all gradients; none of a slice.
  std::optional<double> gradient_square_sum = std::nullopt;
};

// What a rank did in the last step, and what to call it: "rank 3 (tp0 pp1 dp0)".
struct TracedStep {
  std::string name = {};
  StepRecord record = {};
};

// "done": it has finished its steps.
struct DoneEvent {
  StopReason stop_reason = StopReason::kNone;
  int64_t peak_bytes = 0;
  std::optional<DeviceMemoryUse> device_memory = std::nullopt;
  int64_t peak_host_bytes = 0;
  int32_t peak_in_flight = 0;
  double measured_peak_flops = 0.0;
  double expert_load = 0.0;  // these three as in RankResult
  std::vector<int64_t> expert_tokens = {};
  std::optional<int64_t> estimated_routed_bytes = std::nullopt;
  std::optional<TracedStep> trace = std::nullopt;  // where the plan wants it
};

// "oom": its device's memory does not suffice.
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

// "error": it can't go on, or, after it was done, end well.
struct ErrorEvent {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message = {};
};

// Nothing stands for an event that is not a trial's.
using RankEvent = std::variant<std::monostate, HelloEvent, BeginEvent, StepEvent, DoneEvent,
                               OomEvent, ErrorEvent>;

// Fields of executor/trial/rank_event_fields.h, where these are defined, and `event`.
nlohmann::json ToJson(const RankEvent& event);
// InvalidArgument names the field. JSON has no infinity or NaN: a number that is not finite is
// absent.
absl::StatusOr<RankEvent> RankEventFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

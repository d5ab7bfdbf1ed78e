#include "executor/trial/rank_record.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/message_text.h"
#include "executor/trial/rank_events.h"
#include "nlohmann/json.hpp"

namespace meshwright::trial {
namespace {

constexpr size_t kShownBytes = 1000;

// Errors that devices and their driver report whatever the program did (cudaGetErrorString()).
constexpr std::string_view kDeviceErrors[] = {
    "uncorrectable ECC error",
    "uncorrectable NVLink error",
    "hardware stack error",
    "no CUDA-capable device is detected",
    "CUDA-capable device(s) is/are busy or unavailable",
    "system not yet initialized",
    "unspecified launch failure",
    "GPU is lost",
};

Fault FaultOf(ErrorKind kind, std::string_view message) {
  // A lost peer says nothing about the layout.
  if (kind == ErrorKind::kCommunication) return Fault::kInfrastructure;
  const bool of_device = std::any_of(
      std::begin(kDeviceErrors), std::end(kDeviceErrors),
      [&](std::string_view error) { return message.find(error) != std::string_view::npos; });
  return of_device ? Fault::kInfrastructure : Fault::kLayout;
}

// Returns whether the signal came from another process; a program's own faults raise other signals.
bool IsFromOutside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

void Fail(RankRecord& record, FailureKind kind, std::string message, Fault fault = Fault::kLayout) {
  if (record.done) {
    record.after_done.push_back(std::move(message));
    return;
  }
  // The first failure is the cause.
  if (!record.failure.has_value()) {
    record.failure = RankFailure{.kind = kind, .message = std::move(message), .fault = fault};
  }
}

// Fails the record where a step's number is null: JSON has no infinity or NaN.
void FailWhereNull(const nlohmann::json& event, const char* key, const char* what,
                   RankRecord& record) {
  const auto value = event.find(key);
  if (value == event.end() || !value->is_null()) return;
  Fail(record, FailureKind::kOwn,
       absl::StrCat("had ", what, " that is not finite in step ", event["step"].get<int32_t>()));
}

void Apply(std::monostate, RankRecord&) {}

void Apply(HelloEvent event, RankRecord& record) {
  record.host = std::move(event.host);
  record.version = std::move(event.version);
}

void Apply(const BeginEvent& event, RankRecord& record) { record.begun_steps = event.step + 1; }

void Apply(StepEvent event, RankRecord& record) {
  record.profiles[event.step] = std::move(event.profile);
  record.step_times_s[event.step] = event.step_s;
  if (event.loss) record.losses[event.step] = *event.loss;
  if (event.gradient_square_sum) {
    record.gradient_square_sums[event.step] = *event.gradient_square_sum;
  }
}

void Apply(DoneEvent event, RankRecord& record) {
  record.stop_reason = event.stop_reason;
  record.peak_bytes = event.peak_bytes;
  record.device_memory = event.device_memory;
  record.peak_host_bytes = event.peak_host_bytes;
  record.peak_in_flight = event.peak_in_flight;
  record.measured_peak_flops = event.measured_peak_flops;
  record.expert_load = event.expert_load;
  record.expert_tokens = std::move(event.expert_tokens);
  record.estimated_routed_bytes = event.estimated_routed_bytes;
  if (event.trace) {
    record.trace = RankTrace{.rank = record.rank,
                             .pipeline_rank = record.pipeline_rank,
                             .name = std::move(event.trace->name),
                             .record = std::move(event.trace->record)};
  }
  record.done = true;
}

void Apply(const OomEvent& event, RankRecord& record) {
  record.oom = OomDetail{.rank = record.rank,
                         .pipeline_rank = event.pipeline_rank,
                         .requested_bytes = event.requested_bytes,
                         .held_bytes = event.held_bytes,
                         .limit_bytes = event.limit_bytes};
  Fail(record, FailureKind::kOutOfMemory, "ran out of memory");
}

void Apply(const ErrorEvent& event, RankRecord& record) {
  Fail(record,
       event.kind == ErrorKind::kCommunication ? FailureKind::kCommunication : FailureKind::kOwn,
       absl::StrCat("failed: ", event.message), FaultOf(event.kind, event.message));
}

}  // namespace

void ApplyEvent(const std::string& line, RankRecord& record) {
  const auto unreadable = [&](absl::string_view why) {
    Fail(record, FailureKind::kOwn,
         absl::StrCat("sent an event that can't be read (", why,
                      "): ", ShortText(line, kShownBytes)));
  };
  const absl::StatusOr<nlohmann::json> json = ParseJson("event", line);
  if (!json.ok()) return unreadable(json.status().message());
  absl::StatusOr<RankEvent> event = RankEventFromJson(*json);
  if (!event.ok()) return unreadable(event.status().message());
  const bool is_step = std::holds_alternative<StepEvent>(*event);
  std::visit([&](auto& what) { Apply(std::move(what), record); }, *event);
  if (!is_step) return;
  FailWhereNull(*json, "loss", "a loss", record);
  FailWhereNull(*json, "gradient_square_sum", "a gradient norm", record);
}

void ApplyExit(int wait_status, RankRecord& record) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    std::string message =
        absl::StrCat("was killed by signal ", signal, " (", ::strsignal(signal), ")");
    if (signal == SIGKILL) message += ", as the kernel does when the machine's memory runs out";
    Fail(record, FailureKind::kOwn, std::move(message),
         IsFromOutside(signal) ? Fault::kInfrastructure : Fault::kLayout);
  } else if (WEXITSTATUS(wait_status) != 0) {
    Fail(record, FailureKind::kOwn,
         absl::StrCat("ended with exit code ", WEXITSTATUS(wait_status)));
  } else if (!record.done) {
    Fail(record, FailureKind::kOwn, "ended before it was done");
  }
}

void ApplyLoss(std::string message, Fault fault, RankRecord& record) {
  Fail(record, FailureKind::kLost, std::move(message), fault);
}

void ShiftTimes(double by_s, RankRecord& record) {
  if (by_s == 0.0) return;
  for (auto& [step, profile] : record.profiles) ShiftTimes(by_s, profile);
  if (record.trace.has_value()) ShiftTimes(by_s, record.trace->record);
}

}  // namespace meshwright::trial

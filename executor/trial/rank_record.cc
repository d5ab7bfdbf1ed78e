#include "executor/trial/rank_record.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "planner/codec/json_text.h"
#include "planner/base/short_text.h"

namespace meshwright::trial {
namespace {

constexpr size_t kShownBytes = 1000;

void Fail(RankRecord& record, FailureKind kind, std::string message) {
  if (record.done) {
    record.after_done.push_back(std::move(message));
    return;
  }
  // The first failure is the cause.
  if (!record.failure.has_value()) {
    record.failure = RankFailure{.kind = kind, .message = std::move(message)};
  }
}

void ApplyOom(const nlohmann::json& event, RankRecord& record) {
  record.oom = OomDetail{.rank = record.rank,
                         .pipeline_rank = event.at("pipeline_rank"),
                         .requested_bytes = event.at("requested_bytes"),
                         .held_bytes = event.at("held_bytes"),
                         .limit_bytes = event.at("limit_bytes")};
  Fail(record, FailureKind::kOutOfMemory, "ran out of memory");
}

void ApplyTrace(const nlohmann::json& trace, RankRecord& record) {
  record.trace = RankTrace{.rank = record.rank,
                           .pipeline_rank = record.pipeline_rank,
                           .name = trace.at("name"),
                           .record = StepRecordFromJson(trace.at("record"))};
}

// Takes in a number of a step where the event has it. JSON has no infinity or NaN: one that is not
// finite arrives as null.
void ApplyFinite(const nlohmann::json& event, const char* key, const char* what,
                 std::map<int32_t, double>& by_step, RankRecord& record) {
  const auto value = event.find(key);
  if (value == event.end()) return;
  const int32_t step = event.at("step");
  if (value->is_number()) {
    by_step[step] = *value;
  } else {
    Fail(record, FailureKind::kOwn,
         absl::StrCat("had ", what, " that is not finite in step ", step));
  }
}

void ApplyParsed(const nlohmann::json& event, RankRecord& record) {
  const std::string kind = event.at("event");
  if (kind == "hello") {
    record.host = event.at("host");
    record.version = event.at("version");
  } else if (kind == "begin") {
    record.begun_steps = event.at("step").get<int32_t>() + 1;
  } else if (kind == "step") {
    const int32_t step = event.at("step");
    record.profiles[step] = StepProfileFromJson(event.at("profile"));
    record.step_times_s[step] = event.at("step_s");
    ApplyFinite(event, "loss", "a loss", record.losses, record);
    ApplyFinite(event, "gradient_square_sum", "a gradient norm", record.gradient_square_sums,
                record);
  } else if (kind == "done") {
    record.stop_reason =
        ParseStopReason(event.at("stop_reason").get<std::string>()).value_or(StopReason::kNone);
    record.peak_bytes = event.at("peak_bytes");
    record.device_memory = DeviceMemoryUseFromJson(event);
    record.peak_in_flight = event.at("peak_in_flight");
    record.measured_peak_flops = event.at("measured_peak_flops");
    if (event.contains("trace")) ApplyTrace(event["trace"], record);
    // Only when all of it was read.
    record.done = true;
  } else if (kind == "oom") {
    ApplyOom(event, record);
  } else if (kind == "error") {
    Fail(record,
         event.at("kind") == "communication" ? FailureKind::kCommunication : FailureKind::kOwn,
         absl::StrCat("failed: ", event.at("message").get<std::string>()));
  }
}

}  // namespace

void ApplyEvent(const std::string& line, RankRecord& record) {
  const auto unreadable = [&](absl::string_view why) {
    Fail(record, FailureKind::kOwn,
         absl::StrCat("sent an event that can't be read (", why,
                      "): ", ShortText(line, kShownBytes)));
  };
  const absl::StatusOr<nlohmann::json> event = planner::ParseJson("event", line);
  if (!event.ok()) return unreadable(event.status().message());
  try {
    ApplyParsed(*event, record);
  } catch (const nlohmann::json::exception& error) {
    unreadable(error.what());
  }
}

void ApplyExit(int wait_status, RankRecord& record) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    std::string message =
        absl::StrCat("was killed by signal ", signal, " (", ::strsignal(signal), ")");
    if (signal == SIGKILL) message += ", as the kernel does when the machine's memory runs out";
    Fail(record, FailureKind::kOwn, std::move(message));
  } else if (WEXITSTATUS(wait_status) != 0) {
    Fail(record, FailureKind::kOwn,
         absl::StrCat("ended with exit code ", WEXITSTATUS(wait_status)));
  } else if (!record.done) {
    Fail(record, FailureKind::kOwn, "ended before it was done");
  }
}

}  // namespace meshwright::trial

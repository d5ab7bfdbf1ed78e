#include "executor/trial/device_benchmark.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/benchmark_events.h"
#include "executor/trial/conclusion.h"
#include "executor/trial/timeout.h"
#include "executor/trial/worker_group.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {
namespace {

using nlohmann::json;

constexpr char kPlanKey[] = "device_benchmark";
constexpr planner::TextForm kBenchmarkDeviceText{&planner::DeviceKindName,
                                                 &planner::ParseDeviceKind};
constexpr int64_t kMaxRanks = 1024;
constexpr double kMaxBudgetS = 600.0;

class BenchmarkRun {
 public:
  explicit BenchmarkRun(const BenchmarkRunnerOptions& options) : options_(options) {}

  absl::StatusOr<planner::DeviceBenchmark> Run(const BenchmarkPlan& plan);

 private:
  // Handles events that only a benchmark has; the others are shared with trials.
  void TakeEvent(const std::string& line, RankRecord& record);
  absl::Status TakeOwn(const json& json, RankRecord& record);
  absl::Status TakeMeasured(const MeasuredEvent& event);

  const BenchmarkRunnerOptions& options_;
  WorkerGroup workers_{
      [this](const std::string& line, RankRecord& record) { TakeEvent(line, record); }};
  planner::DeviceBenchmark benchmark_;
};

void BenchmarkRun::TakeEvent(const std::string& line, RankRecord& record) {
  const absl::StatusOr<json> event = ParseJson("event", line);
  absl::Status status = event.status();
  if (status.ok()) status = TakeOwn(*event, record);
  if (status.ok()) {
    ApplyEvent(line, record);
  } else if (!record.failure.has_value()) {
    record.failure = RankFailure{
        .kind = FailureKind::kOwn,
        .message = absl::StrCat("sent an event that can't be read (", status.message(), ")")};
  }
}

absl::Status BenchmarkRun::TakeOwn(const json& line, RankRecord& record) {
  ASSIGN_OR_RETURN(const BenchmarkEvent event, BenchmarkEventFromJson(line));
  if (const auto* device = std::get_if<DeviceEvent>(&event)) {
    benchmark_.device_name = device->name;
    benchmark_.memory_bytes = device->memory_bytes;
    benchmark_.compute_units = device->compute_units;
    benchmark_.physical_cores = device->physical_cores;
    benchmark_.machine = device->machine;
  } else if (const auto* measured = std::get_if<MeasuredEvent>(&event)) {
    return TakeMeasured(*measured);
  } else if (std::holds_alternative<BenchmarkDoneEvent>(event)) {
    record.done = true;
  }
  return absl::OkStatus();
}

template <typename Timing>
absl::Status AddTo(std::vector<Timing>& timings, const std::optional<Timing>& timing) {
  if (!timing) return absl::OkStatus();
  RETURN_IF_ERROR(Validate(*timing));
  timings.push_back(*timing);
  return absl::OkStatus();
}

absl::Status BenchmarkRun::TakeMeasured(const MeasuredEvent& event) {
  RETURN_IF_ERROR(AddTo(benchmark_.matmuls, event.matmul));
  RETURN_IF_ERROR(AddTo(benchmark_.copies, event.copy));
  RETURN_IF_ERROR(AddTo(benchmark_.collectives, event.collective));
  if (options_.progress) options_.progress(event.done, event.cases);
  return absl::OkStatus();
}

absl::Status Failed(const RankRecord& record, absl::string_view how) {
  std::string message = absl::StrCat("device benchmark: rank ", record.rank, " ", how);
  if (!record.output_tail.empty()) absl::StrAppend(&message, "\n", record.output_tail);
  return absl::InternalError(message);
}

absl::StatusOr<planner::DeviceBenchmark> BenchmarkRun::Run(const BenchmarkPlan& plan) {
  RETURN_IF_ERROR(workers_.Start(options_.worker_path, ToJson(plan).dump(), plan.ranks));
  const WorkersEnd end =
      workers_.Watch({.timeout_s = plan.timeout_s, .cancelled = options_.cancelled, .heard = {}});
  if (end == WorkersEnd::kCancelled) {
    return absl::CancelledError("the device benchmark was cancelled");
  }
  if (end == WorkersEnd::kSilent) {
    return absl::DeadlineExceededError(
        absl::StrCat("device benchmark: a worker gave no sign of life for ", plan.timeout_s, " s"));
  }
  if (const RankRecord* cause = Cause(workers_.records())) {
    return Failed(*cause, cause->failure->message);
  }
  // "benchmark_done" is a worker's last event. A failure after it still fails the benchmark, which
  // is cheap to repeat.
  for (const RankRecord& record : workers_.records()) {
    if (!record.after_done.empty()) return Failed(record, record.after_done.front());
  }
  const RankRecord& first = workers_.records().front();
  benchmark_.host = first.host;
  benchmark_.worker_version = first.version;
  benchmark_.devices = plan.ranks;
  return std::move(benchmark_);
}

}  // namespace

template <planner::ConstOr<BenchmarkPlan> Plan, typename Visitor>
void VisitFields(Plan& plan, Visitor& visit) {
  visit("device", plan.device, kBenchmarkDeviceText);
  visit(planner::Needed("ranks"), plan.ranks);
  visit("budget_s", plan.budget_s);
  visit("timeout_s", plan.timeout_s);
}

json ToJson(const BenchmarkPlan& plan) { return {{kPlanKey, planner::WriteJson(plan)}}; }

bool IsBenchmarkPlan(const json& json) { return json.is_object() && json.contains(kPlanKey); }

absl::StatusOr<BenchmarkPlan> BenchmarkPlanFromJson(const json& json) {
  if (!IsBenchmarkPlan(json)) return FieldError(kPlanKey, "(absent)", "this key is needed");
  BenchmarkPlan plan;
  RETURN_IF_ERROR(planner::ReadJson(kPlanKey, json[kPlanKey], planner::UnknownKeys::kPassOver, plan,
                                    absl::StrCat(kPlanKey, ".")));
  RETURN_IF_ERROR(Validate(plan));
  return plan;
}

absl::Status Validate(const BenchmarkPlan& plan) {
  RETURN_IF_ERROR(CheckRange("ranks", plan.ranks, 1, kMaxRanks));
  if (!(plan.budget_s > 0.0 && plan.budget_s <= kMaxBudgetS)) {
    return FieldError("budget_s", absl::StrCat(plan.budget_s), "must be above 0 and at most 600");
  }
  return CheckTimeout(plan.timeout_s);
}

absl::StatusOr<planner::DeviceBenchmark> RunDeviceBenchmark(const BenchmarkPlan& plan,
                                                            const BenchmarkRunnerOptions& options) {
  RETURN_IF_ERROR(Validate(plan));
  return BenchmarkRun(options).Run(plan);
}

}  // namespace meshwright::trial

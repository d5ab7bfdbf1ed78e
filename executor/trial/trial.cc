#include "executor/trial/trial.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/trial/model_json.h"
#include "executor/trial/timeout.h"
#include "planner/codec/json_fields.h"
#include "planner/codec/json_text.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/base/utf8.h"

namespace meshwright::trial {
namespace {

constexpr std::array<std::string_view, 5> kOutcomeNames = {"ok", "oom", "failed", "timeout",
                                                           "cancelled"};

// The enumerator whose name stands at its place in `names`.
template <typename Enum, size_t N>
absl::StatusOr<Enum> ParseName(const std::array<std::string_view, N>& names, std::string_view field,
                               std::string_view name) {
  std::string accepted;
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    if (i > 0) accepted += ", ";
    accepted += names[i];
  }
  return FieldError(field, name, "expected one of " + accepted);
}

template <typename Enum, size_t N>
std::string NameOf(const std::array<std::string_view, N>& names, Enum value) {
  return std::string(names[static_cast<size_t>(value)]);
}

// `value` of `parsed`, its error going to `fields`.
template <typename T>
T Take(planner::JsonFields& fields, absl::StatusOr<T> parsed) {
  if (parsed.ok()) return *std::move(parsed);
  fields.Fail(parsed.status());
  return T();
}

nlohmann::json TrainingToJson(const planner::TrainingSpec& training) {
  return {{"seq_len", training.seq_len},
          {"global_batch", training.global_batch},
          {"precision", std::string(planner::PrecisionName(training.precision))}};
}

absl::StatusOr<planner::TrainingSpec> TrainingFromJson(const nlohmann::json& json) {
  planner::JsonFields fields(json, "training.");
  planner::TrainingSpec training;
  training.seq_len = fields.Int("seq_len");
  training.global_batch = fields.Int("global_batch");
  training.precision = Take(fields, planner::ParsePrecision(fields.String("precision")));
  fields.RefuseUnknownKeys();
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(Validate(training));
  return training;
}

std::vector<int64_t> Integers(planner::JsonFields& fields, const nlohmann::json& json, const char* key) {
  if (!fields.Has(key)) return {};
  std::vector<int64_t> integers;
  for (const nlohmann::json& value : json[key]) {
    if (!value.is_number_integer()) {
      fields.Fail(FieldError(key, planner::ShowJson(value), "expected an integer"));
      return {};
    }
    integers.push_back(value.get<int64_t>());
  }
  return integers;
}

std::vector<double> Numbers(planner::JsonFields& fields, const nlohmann::json& json, const char* key) {
  const auto values = json.find(key);
  if (values == json.end()) return {};
  std::vector<double> numbers;
  for (const nlohmann::json& value : *values) {
    if (!value.is_number()) {
      fields.Fail(FieldError(key, planner::ShowJson(value), "expected numbers"));
      return {};
    }
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

absl::StatusOr<MedianInterval> IntervalFromJson(const nlohmann::json& json) {
  planner::JsonFields fields(json, "step_interval.");
  MedianInterval interval{.low_s = fields.Number("low_s"), .high_s = fields.Number("high_s")};
  RETURN_IF_ERROR(fields.status());
  return interval;
}

absl::StatusOr<OomDetail> OomFromJson(const nlohmann::json& json) {
  planner::JsonFields fields(json, "oom.");
  OomDetail oom{.rank = static_cast<int32_t>(fields.Int("rank")),
                .pipeline_rank = static_cast<int32_t>(fields.Int("pipeline_rank")),
                .requested_bytes = fields.Int("requested_bytes"),
                .held_bytes = fields.Int("held_bytes"),
                .limit_bytes = fields.Int("limit_bytes")};
  RETURN_IF_ERROR(fields.status());
  return oom;
}

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  return kOutcomeNames[static_cast<size_t>(outcome)];
}

absl::StatusOr<Outcome> ParseOutcome(std::string_view name) {
  return ParseName<Outcome>(kOutcomeNames, "outcome", name);
}

nlohmann::json ToJson(const TrialPlan& plan) {
  nlohmann::json json = {{"model", ModelToJson(plan.model)},
                         {"layout", planner::FormatLayout(plan.layout)},
                         {"training", TrainingToJson(plan.training)},
                         {"device", std::string(DeviceKindName(plan.device))},
                         {"steps", plan.steps},
                         {"adaptive", plan.adaptive},
                         {"seed", plan.seed},
                         {"timeout_s", plan.timeout_s},
                         {"estimated_bytes", plan.estimated_bytes},
                         {"estimated_communicator_bytes", plan.estimated_communicator_bytes},
                         {"known_peak_flops", plan.known_peak_flops},
                         {"slice", plan.slice},
                         {"trace", plan.trace}};
  if (plan.peak_flops.has_value()) json["peak_flops"] = *plan.peak_flops;
  if (plan.memory_limit_bytes.has_value()) json["memory_limit_bytes"] = *plan.memory_limit_bytes;
  if (plan.beat_step_s.has_value()) json["beat_step_s"] = *plan.beat_step_s;
  return json;
}

absl::StatusOr<TrialPlan> TrialPlanFromJson(const nlohmann::json& json) {
  if (!json.is_object()) return FieldError("plan", planner::ShowJson(json), "expected an object");
  planner::JsonFields fields(json);
  TrialPlan plan;
  plan.layout = Take(fields, planner::ParseLayout(fields.String("layout")));
  plan.device = Take(fields, ParseDeviceKind(fields.StringOr("device", "cpu")));
  const int64_t steps = fields.Int("steps");
  plan.adaptive = fields.BoolOr("adaptive", false);
  plan.beat_step_s = fields.OptionalNumber("beat_step_s");
  plan.memory_limit_bytes = fields.OptionalInt("memory_limit_bytes");
  plan.timeout_s = fields.NumberOr("timeout_s", plan.timeout_s);
  plan.known_peak_flops = fields.NumberOr("known_peak_flops", 0.0);
  plan.peak_flops = fields.OptionalNumber("peak_flops");
  plan.estimated_bytes = Integers(fields, json, "estimated_bytes");
  plan.estimated_communicator_bytes = Integers(fields, json, "estimated_communicator_bytes");
  plan.slice = fields.BoolOr("slice", false);
  plan.trace = fields.BoolOr("trace", false);
  plan.model = Take(fields, ModelFromJson(fields.Object("model")));
  plan.training = Take(fields, TrainingFromJson(fields.Object("training")));
  // Seeds use all 64 bits.
  if (fields.Has("seed")) {
    const nlohmann::json& seed = json["seed"];
    if (!seed.is_number_integer()) return FieldError("seed", planner::ShowJson(seed), "expected an integer");
    plan.seed = seed.get<uint64_t>();
  }
  fields.RefuseUnknownKeys();
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("steps", steps, 1, kMostSteps));
  plan.steps = static_cast<int32_t>(steps);
  RETURN_IF_ERROR(CheckTimeout(plan.timeout_s));
  if (plan.memory_limit_bytes.has_value()) {
    RETURN_IF_ERROR(CheckRange("memory_limit_bytes", *plan.memory_limit_bytes, 1, INT64_MAX));
  }
  return plan;
}

nlohmann::json ToJson(const TrialResult& result) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const RankResult& rank : result.ranks) ranks.push_back(ToJson(rank));
  nlohmann::json json = {{"outcome", std::string(OutcomeName(result.outcome))},
                         {"message", ValidUtf8(result.message)},
                         {"step_s", result.step_s},
                         {"stop_reason", std::string(StopReasonName(result.stop_reason))},
                         {"mfu", result.mfu},
                         {"mfu_causal", nullptr},
                         {"measured_peak_flops", result.measured_peak_flops},
                         {"peak_flops", nullptr},
                         {"mfu_of_peak", nullptr},
                         {"mfu_causal_of_peak", nullptr},
                         {"step_times_s", result.step_times_s},
                         {"losses", result.losses},
                         {"gradient_norms", result.gradient_norms},
                         {"ranks", std::move(ranks)},
                         {"worker_version", ValidUtf8(result.worker_version)},
                         {"host", ValidUtf8(result.host)}};
  // A worker of an older version told none.
  if (result.mfu_causal > 0.0) json["mfu_causal"] = result.mfu_causal;
  if (result.peak_flops.has_value()) {
    json["peak_flops"] = *result.peak_flops;
    json["mfu_of_peak"] = result.mfu_of_peak;
    json["mfu_causal_of_peak"] = result.mfu_causal_of_peak;
  }
  if (result.step_interval.has_value()) {
    json["step_interval"] = {{"low_s", result.step_interval->low_s},
                             {"high_s", result.step_interval->high_s}};
  }
  if (result.slice.has_value()) json["slice"] = ToJson(*result.slice);
  if (result.oom.has_value()) {
    json["oom"] = {{"rank", result.oom->rank},
                   {"pipeline_rank", result.oom->pipeline_rank},
                   {"requested_bytes", result.oom->requested_bytes},
                   {"held_bytes", result.oom->held_bytes},
                   {"limit_bytes", result.oom->limit_bytes}};
  }
  return json;
}

absl::StatusOr<TrialResult> TrialResultFromJson(const nlohmann::json& json) {
  if (!json.is_object()) return FieldError("result", planner::ShowJson(json), "expected an object");
  planner::JsonFields fields(json);
  TrialResult result;
  result.outcome = Take(fields, ParseOutcome(fields.String("outcome")));
  result.message = fields.StringOr("message", "");
  result.step_s = fields.Number("step_s");
  result.stop_reason = Take(fields, ParseStopReason(fields.StringOr("stop_reason", "")));
  if (fields.Has("step_interval")) {
    result.step_interval = Take(fields, IntervalFromJson(fields.Object("step_interval")));
  }
  result.mfu = fields.Number("mfu");
  result.mfu_causal = fields.NumberOr("mfu_causal", 0.0);
  result.measured_peak_flops = fields.Number("measured_peak_flops");
  result.peak_flops = fields.OptionalNumber("peak_flops");
  result.mfu_of_peak = fields.NumberOr("mfu_of_peak", 0.0);
  result.mfu_causal_of_peak = fields.NumberOr("mfu_causal_of_peak", 0.0);
  result.step_times_s = Numbers(fields, json, "step_times_s");
  result.losses = Numbers(fields, json, "losses");
  result.gradient_norms = Numbers(fields, json, "gradient_norms");
  result.worker_version = fields.StringOr("worker_version", "");
  result.host = fields.StringOr("host", "");
  if (const auto ranks = json.find("ranks"); ranks != json.end()) {
    for (const nlohmann::json& rank : *ranks) {
      result.ranks.push_back(Take(fields, RankResultFromJson(rank)));
    }
  }
  if (fields.Has("slice")) {
    result.slice = Take(fields, SliceResultFromJson(fields.Object("slice")));
  }
  if (fields.Has("oom")) result.oom = Take(fields, OomFromJson(fields.Object("oom")));
  RETURN_IF_ERROR(fields.status());
  return result;
}

}  // namespace meshwright::trial

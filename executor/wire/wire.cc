#include "executor/wire/wire.h"

#include <utility>

#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/result_fields.h"
#include "executor/wire/message_codec.h"
#include "google/protobuf/unknown_field_set.h"
#include "planner/catalog/own_runs.h"
#include "planner/report/answer_fields.h"
#include "planner/report/compare_fields.h"
#include "planner/spec/run_option_table.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::wire {
namespace {

// Text of a source: a preset's name, or JSON under a name.
template <typename Source>
absl::StatusOr<planner::SpecSource> ReadSource(std::string_view field, const Source& source,
                                               std::string_view name, const std::string& json) {
  if (source.source_case() == Source::kPreset) return planner::SpecSource{source.preset(), ""};
  if (source.source_case() == Source::SOURCE_NOT_SET) {
    return FieldError(field, "", "must be a preset's name or the text of a file");
  }
  if (json.empty()) return FieldError(field, "", "the text of the file is empty");
  return planner::SpecSource{std::string(name), json};
}

constexpr int kMostModelNotes = 16;

// The number of a field that a request's texts of a number format had.
constexpr int kDtypeText = 7;

// A client that says its number format as a text is older than this server, which must not take
// its own default for it.
absl::Status RefuseDtypeText(const v1::PlanRequest& request) {
  const google::protobuf::UnknownFieldSet& unknown =
      request.GetReflection()->GetUnknownFields(request);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    if (field.number() != kDtypeText) continue;
    const bool is_text = field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    return FieldError("dtype", is_text ? EscapeControls(field.length_delimited()) : "",
                      "is a text, as clients older than this server send it: use a client of the "
                      "server's version");
  }
  return absl::OkStatus();
}

// A run's options are texts in fields of their names.
absl::Status ReadOptions(const v1::PlanRequest& request, planner::RunOptions& options) {
  for (const planner::RunOption& option : planner::kRunOptions) {
    const auto* field = request.GetDescriptor()->FindFieldByName(std::string(option.name));
    const std::string text = request.GetReflection()->GetString(request, field);
    if (!text.empty()) RETURN_IF_ERROR(option.read(EscapeControls(text), options));
  }
  return absl::OkStatus();
}

void WriteOptions(const planner::RunOptions& options, v1::PlanRequest& request) {
  for (const planner::RunOption& option : planner::kRunOptions) {
    if (HasDefault(option, options)) continue;
    const auto* field = request.GetDescriptor()->FindFieldByName(std::string(option.name));
    request.GetReflection()->SetString(&request, field, option.text(options));
  }
}

}  // namespace

absl::StatusOr<planner::PlanQuery> FromWire(const v1::PlanRequest& request,
                                            std::string_view default_framework) {
  planner::PlanQuery query;
  const std::string model_name =
      request.model().name().empty() ? "model" : EscapeControls(request.model().name());
  ASSIGN_OR_RETURN(query.model,
                   ReadSource("model", request.model(), model_name, request.model().config_json()));
  RETURN_IF_ERROR(CheckRange("model.notes", request.model().notes_size(), 0, kMostModelNotes));
  for (const std::string& note : request.model().notes()) {
    query.model.notes.push_back(EscapeControls(note));
  }
  ASSIGN_OR_RETURN(query.cluster, ReadSource("cluster", request.cluster(), "cluster",
                                             request.cluster().cluster_json()));
  query.framework = planner::SpecSource{std::string(default_framework), ""};
  if (request.has_framework()) {
    ASSIGN_OR_RETURN(query.framework, ReadSource("framework", request.framework(), "framework",
                                                 request.framework().profile_json()));
  }
  query.devices = request.gpus();
  query.training.seq_len = request.seq_len();
  query.training.global_batch = request.global_batch();
  if (request.has_imbalance()) query.training.expert_load = request.imbalance();
  if (request.has_media_tokens()) query.media_tokens = request.media_tokens();
  RETURN_IF_ERROR(ReadOptions(request, query.training.options));
  RETURN_IF_ERROR(CheckRange("measured", request.measured_size(), 0, planner::kMostOwnRuns));
  for (const std::string& run : request.measured()) query.measured.push_back(EscapeControls(run));
  if (request.optimizer() != v1::OPTIMIZER_UNSPECIFIED) {
    ASSIGN_OR_RETURN(query.training.optimizer,
                     planner::ParseOptimizer(TextOf(request.optimizer())));
  }
  RETURN_IF_ERROR(RefuseDtypeText(request));
  if (request.dtype() != v1::DTYPE_UNSPECIFIED) {
    ASSIGN_OR_RETURN(query.training.precision, planner::ParsePrecision(TextOf(request.dtype())));
  }
  return query;
}

v1::PlanRequest ToWire(const planner::PlanQuery& query) {
  v1::PlanRequest out;
  if (query.model.json.empty()) {
    out.mutable_model()->set_preset(query.model.name);
  } else {
    out.mutable_model()->set_config_json(query.model.json);
    out.mutable_model()->set_name(query.model.name);
  }
  out.mutable_model()->mutable_notes()->Add(query.model.notes.begin(), query.model.notes.end());
  if (query.cluster.json.empty()) {
    out.mutable_cluster()->set_preset(query.cluster.name);
  } else {
    out.mutable_cluster()->set_cluster_json(query.cluster.json);
  }
  if (query.framework.json.empty()) {
    out.mutable_framework()->set_preset(query.framework.name);
  } else {
    out.mutable_framework()->set_profile_json(query.framework.json);
  }
  out.set_gpus(query.devices);
  out.set_seq_len(query.training.seq_len);
  out.set_global_batch(query.training.global_batch);
  out.set_dtype(EnumOf<v1::Dtype>(planner::PrecisionName(query.training.precision)));
  out.set_imbalance(query.training.expert_load);
  if (query.media_tokens) out.set_media_tokens(*query.media_tokens);
  WriteOptions(query.training.options, out);
  out.mutable_measured()->Add(query.measured.begin(), query.measured.end());
  out.set_optimizer(EnumOf<v1::Optimizer>(query.training.optimizer.name));
  return out;
}

v1::LayoutEstimate ToWire(const planner::RankedLayout& ranked) {
  return WriteMessage<v1::LayoutEstimate>(ranked);
}

absl::StatusOr<planner::RankedLayout> FromWire(const v1::LayoutEstimate& estimate) {
  return ReadMessage<planner::RankedLayout>(estimate);
}

v1::Explanation ToWire(const planner::RankedLayout& ranked,
                       const planner::Explanation& explanation) {
  return WriteMessage<v1::Explanation>(planner::ExplainedLayout{ranked, explanation});
}

absl::StatusOr<planner::Explanation> FromWire(const v1::Explanation& explanation) {
  ASSIGN_OR_RETURN(planner::ExplainedLayout explained,
                   ReadMessage<planner::ExplainedLayout>(explanation));
  return std::move(explained.explanation);
}

v1::RecommendResponse ToWire(const planner::RecommendAnswer& answer) {
  return WriteMessage<v1::RecommendResponse>(answer);
}

absl::StatusOr<planner::RecommendAnswer> FromWire(const v1::RecommendResponse& response) {
  return ReadMessage<planner::RecommendAnswer>(response);
}

v1::EstimateResponse ToWire(const planner::EstimateAnswer& answer) {
  return WriteMessage<v1::EstimateResponse>(answer);
}

absl::StatusOr<planner::EstimateAnswer> FromWire(const v1::EstimateResponse& response) {
  return ReadMessage<planner::EstimateAnswer>(response);
}

v1::CompareResponse ToWire(const planner::CompareAnswer& answer) {
  return WriteMessage<v1::CompareResponse>(answer);
}

absl::StatusOr<planner::CompareAnswer> FromWire(const v1::CompareResponse& response) {
  return ReadMessage<planner::CompareAnswer>(response);
}

v1::ScaleRequest ToWire(const planner::ScaleQuery& query) {
  v1::ScaleRequest request;
  *request.mutable_plan() = ToWire(query.plan);
  request.set_gpus_low(query.devices.low);
  request.set_gpus_high(query.devices.high);
  request.set_weak(query.weak);
  request.set_refine(query.refine);
  request.set_where(query.plan.where);
  request.set_objective(query.plan.objective);
  request.mutable_search()->Add(query.plan.search.begin(), query.plan.search.end());
  const planner::Budget& budget = query.budget;
  if (budget.tokens) request.set_tokens(*budget.tokens);
  if (budget.within_s) request.set_within_s(*budget.within_s);
  if (budget.price_per_h) request.set_price_per_h(*budget.price_per_h);
  return request;
}

void ReadScale(const v1::ScaleRequest& request, planner::ScaleQuery& query) {
  query.devices = {request.gpus_low(), request.gpus_high()};
  query.weak = request.weak();
  query.refine = request.refine();
  query.plan.where = request.where();
  query.plan.objective = request.objective();
  query.plan.search = {request.search().begin(), request.search().end()};
  if (request.has_tokens()) query.budget.tokens = request.tokens();
  if (request.has_within_s()) query.budget.within_s = request.within_s();
  if (request.has_price_per_h()) query.budget.price_per_h = request.price_per_h();
}

v1::ScaleResponse ToWire(const planner::ScaleAnswer& answer) {
  return WriteMessage<v1::ScaleResponse>(answer);
}

absl::StatusOr<planner::ScaleAnswer> FromWire(const v1::ScaleResponse& response) {
  return ReadMessage<planner::ScaleAnswer>(response);
}

v1::FastestRequest ToWire(const planner::FastestQuery& query) {
  v1::FastestRequest request;
  *request.mutable_plan() = ToWire(query.plan);
  request.set_gpus_low(query.devices.low);
  request.set_gpus_high(query.devices.high);
  request.set_tokens(query.critical.tokens);
  request.set_critical_batch(query.critical.batch);
  request.set_overlap(query.overlap);
  request.set_where(query.plan.where);
  request.mutable_search()->Add(query.plan.search.begin(), query.plan.search.end());
  return request;
}

void ReadFastest(const v1::FastestRequest& request, planner::FastestQuery& query) {
  query.devices = {request.gpus_low(), request.gpus_high()};
  query.critical = {.tokens = request.tokens(), .batch = request.critical_batch()};
  if (request.has_overlap()) query.overlap = request.overlap();
  query.plan.where = request.where();
  query.plan.search = {request.search().begin(), request.search().end()};
}

v1::FastestResponse ToWire(const planner::FastestAnswer& answer) {
  return WriteMessage<v1::FastestResponse>(answer);
}

absl::StatusOr<planner::FastestAnswer> FromWire(const v1::FastestResponse& response) {
  return ReadMessage<planner::FastestAnswer>(response);
}

v1::FitResponse ToWire(const planner::FitAnswer& answer) {
  return WriteMessage<v1::FitResponse>(answer);
}

absl::StatusOr<planner::FitAnswer> FromWire(const v1::FitResponse& response) {
  return ReadMessage<planner::FitAnswer>(response);
}

v1::StudyResponse ToWire(const planner::StudyAnswer& answer) {
  return WriteMessage<v1::StudyResponse>(answer);
}

absl::StatusOr<planner::StudyAnswer> FromWire(const v1::StudyResponse& response) {
  return ReadMessage<planner::StudyAnswer>(response);
}

v1::Funnel ToWire(const planner::Funnel& funnel) { return WriteMessage<v1::Funnel>(funnel); }

planner::Funnel FromWire(const v1::Funnel& funnel) {
  // Counts can always be read.
  return ReadMessage<planner::Funnel>(funnel).value_or(planner::Funnel());
}

v1::Measurement ToWire(const trial::TrialResult& result) {
  return WriteMessage<v1::Measurement>(result);
}

absl::StatusOr<trial::TrialResult> FromWire(const v1::Measurement& measurement) {
  return ReadMessage<trial::TrialResult>(measurement);
}

v1::AttemptRef ToWire(const AttemptKey& key) {
  v1::AttemptRef ref;
  ref.set_trial(FormatTrialName(key.sweep, key.trial));
  ref.set_attempt(key.attempt);
  return ref;
}

absl::StatusOr<AttemptKey> FromWire(const v1::AttemptRef& ref) {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(ref.trial()));
  return AttemptKey{name.sweep, name.number, ref.attempt()};
}

google::protobuf::Timestamp ToWire(absl::Time time) {
  const int64_t micros = absl::ToUnixMicros(time);
  google::protobuf::Timestamp out;
  out.set_seconds(micros / 1'000'000);
  out.set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  return out;
}

absl::Time FromWire(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

}  // namespace meshwright::wire

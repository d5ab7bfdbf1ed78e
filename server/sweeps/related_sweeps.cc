#include "server/sweeps/related_sweeps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "db/shapes.h"
#include "executor/trial/model_form.h"
#include "planner/catalog/spec_fields.h"
#include "planner/codec/json_codec.h"
#include "planner/layout/layout.h"
#include "planner/spec/option_choice.h"

namespace meshwright::server {
namespace {

// The number of earlier sweeps that are considered.
constexpr int32_t kMostSweeps = 128;

bool AskedForFresh(const db::SweepRecord& sweep) {
  const absl::StatusOr<nlohmann::json> request = ParseJson("request", sweep.request_json);
  if (!request.ok() || !request->is_object()) return false;
  const auto create = request->find("create_sweep");
  if (create == request->end() || !create->is_object()) return false;
  const auto fresh = create->find("fresh");
  return fresh != create->end() && *fresh == true;
}

// Returns the device's name; empty if the cluster has none.
std::string DeviceOf(const std::string& cluster) {
  const absl::StatusOr<nlohmann::json> json = ParseJson("cluster", cluster);
  if (!json.ok() || !json->is_object()) return "";
  const auto device = json->find("device");
  if (device == json->end() || !device->is_object()) return "";
  const auto name = device->find("name");
  return name != device->end() && name->is_string() ? name->get<std::string>() : "";
}

// Returns the options that do not have their default; none if the training can't be read.
planner::OptionValues TrainingOptionsOf(const std::string& text) {
  const absl::StatusOr<nlohmann::json> json = ParseJson("training", text);
  planner::TrainingSpec training;
  if (!json.ok() ||
      !planner::ReadJson("training", *json, planner::UnknownKeys::kPassOver, training).ok()) {
    return {};
  }
  return planner::ChangedOptions(training);
}

// Returns the version of the workers whose results of a sweep may correct another's estimates.
const std::string& WorkerVersionOf(const db::SweepRecord& sweep) {
  return sweep.runner.empty() ? sweep.planner_version : sweep.runner;
}

// Returns nullopt if the sweep's model can't be read.
std::optional<planner::SweepTraits> TraitsOf(const db::SweepShape& shape) {
  const absl::StatusOr<nlohmann::json> json =
      ParseJson("model", db::WithName(shape.model, shape.name));
  if (!json.ok()) return std::nullopt;
  trial::ModelForm form;
  if (!planner::ReadJson("model", *json, planner::UnknownKeys::kPassOver, form).ok()) {
    return std::nullopt;
  }
  const planner::ModelSpec model = trial::ModelOf(form);
  if (!Validate(model).ok()) return std::nullopt;
  planner::SweepTraits traits;
  traits.hidden = model.hidden;
  traits.layers = model.layers();
  for (const planner::LayerGroup& group : model.groups) {
    traits.experts = std::max(traits.experts, group.ffn.experts.count);
  }
  traits.seq_len = shape.seq_len;
  traits.global_batch = shape.global_batch;
  traits.devices = shape.devices;
  traits.device = DeviceOf(shape.cluster);
  traits.cluster = shape.cluster_hash;
  traits.framework = shape.profile_hash;
  traits.precision = shape.precision;
  traits.options = TrainingOptionsOf(shape.training);
  return traits;
}

std::vector<planner::RelatedResult> ResultsOf(const std::vector<db::PredictedResult>& found) {
  std::vector<planner::RelatedResult> results;
  for (const db::PredictedResult& one : found) {
    const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(one.layout);
    if (!layout.ok()) continue;
    results.push_back({.point = planner::PointOf(*layout),
                       .residual = std::log(one.step_s / one.predicted_step_s),
                       .step_s = one.step_s,
                       .noise = one.step_noise});
  }
  return results;
}

}  // namespace

absl::StatusOr<planner::RelatedSweeps> FindRelatedSweeps(const db::SweepRecord& sweep,
                                                         db::SweepReader& store) {
  if (sweep.max_trials == 0 || AskedForFresh(sweep)) return planner::RelatedSweeps();
  ASSIGN_OR_RETURN(const std::vector<db::SweepShape> shapes,
                   store.ListSweepShapes(sweep.id, kMostSweeps));
  if (shapes.size() < 2) return planner::RelatedSweeps();
  const std::optional<planner::SweepTraits> own = TraitsOf(shapes.front());
  if (!own) return planner::RelatedSweeps();
  std::vector<planner::RelatedSweep> related_sweeps;
  for (size_t i = 1; i < shapes.size(); ++i) {
    std::optional<planner::SweepTraits> traits = TraitsOf(shapes[i]);
    if (!traits) continue;
    ASSIGN_OR_RETURN(
        const std::vector<db::PredictedResult> found,
        store.ListPredictedResults(shapes[i].id, WorkerVersionOf(sweep),
                                   static_cast<int32_t>(planner::kMostResultsOfARelative)));
    related_sweeps.push_back({shapes[i].name, *std::move(traits), ResultsOf(found)});
  }
  return planner::NearestRelatedSweeps(*own, std::move(related_sweeps));
}

}  // namespace meshwright::server

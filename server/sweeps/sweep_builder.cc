#include "server/sweeps/sweep_builder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "db/measurement.h"
#include "db/shapes.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/named_kernels.h"
#include "executor/trial/trial.h"
#include "executor/wire/wire.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/plan_query.h"
#include "planner/layout/layout_condition.h"
#include "planner/report/estimate_json.h"
#include "planner/search/best_layout.h"

namespace meshwright::server {
namespace {

constexpr int64_t kMaxTrials = 1000;
constexpr int64_t kMinMemoryLimit = 1 << 20;
constexpr int64_t kMaxMemoryLimit = int64_t{1} << 50;

constexpr char kJustCreated[] = "was just created";
constexpr char kWaits[] = "waits for its turn";

struct Candidate {
  planner::RankedLayout ranked;  // as the plan names it
  bool requested = false;
};

std::string WhereOf(const SweepOptions& options) {
  return options.runner ? options.runner->where : "";
}

absl::Status CheckOptions(const SweepOptions& options) {
  // Named layouts alone are enough.
  const int64_t least = options.layouts.empty() ? 1 : 0;
  RETURN_IF_ERROR(CheckRange("trials", options.trials, least, kMaxTrials));
  const auto named = static_cast<int64_t>(options.layouts.size());
  if (named > kMaxTrials) return CheckRange("layouts", named, 0, kMaxTrials);
  if (options.candidates != 0) {
    RETURN_IF_ERROR(CheckRange("candidates", options.candidates, options.trials, kMaxTrials));
  }
  if (!(options.min_gain >= 0.0 && options.min_gain <= 1.0)) {
    return FieldError("min_gain", absl::StrCat(options.min_gain),
                      "must be at least 0 and at most 1");
  }
  RETURN_IF_ERROR(CheckRange("steps", options.steps, 1, trial::kMostSteps));
  if (!options.memory_limit_bytes) return absl::OkStatus();
  return CheckRange("memory_limit_bytes", *options.memory_limit_bytes, kMinMemoryLimit,
                    kMaxMemoryLimit);
}

absl::Status NothingFits(const planner::SearchRequest& request,
                         const planner::SearchResult& result) {
  const std::string nearest =
      result.nearest ? absl::StrFormat(": the nearest, %s, is %.1f MiB over",
                                       planner::FormatLayout(result.nearest->layout),
                                       static_cast<double>(result.nearest_over_bytes) / (1 << 20))
                     : std::string();
  return absl::FailedPreconditionError(absl::StrFormat(
      "no layout of %s on %d devices fits into the memory allowed on a device of %s%s",
      request.model.name, request.devices, request.cluster.name, nearest));
}

db::SweepRecord DescribeSweep(const planner::SearchRequest& request, const SweepOptions& options) {
  db::SweepRecord sweep;
  sweep.name = options.sweep_id;
  sweep.request_id = options.request_id;
  sweep.request_json = options.request_json;
  sweep.reason = kJustCreated;
  sweep.model = request.model.name;
  sweep.cluster = request.cluster.name;
  sweep.cluster_json = planner::ClusterToJson(request.cluster);
  sweep.cluster_hash = db::ShapeHash(sweep.cluster_json);
  sweep.profile = request.profile.name;
  sweep.profile_json = planner::ProfileToJson(request.profile);
  sweep.profile_hash = db::ShapeHash(sweep.profile_json);
  sweep.devices = request.devices;
  sweep.seq_len = request.training.seq_len;
  sweep.global_batch = request.training.global_batch;
  sweep.precision = std::string(planner::PrecisionName(request.training.precision));
  sweep.steps = options.steps;
  sweep.seed = options.seed;
  sweep.memory_limit_bytes = options.memory_limit_bytes;
  if (options.runner) {
    sweep.asked = !options.runner->choice.has_value();
    if (!sweep.asked) sweep.runner = trial::VersionOf(*options.runner->choice);
  }
  return sweep;
}

// Adds one candidate per layout, however often a layout comes.
void AddCandidate(const Candidate& candidate, std::vector<Candidate>& candidates) {
  const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
    return other.ranked.layout == candidate.ranked.layout;
  });
  if (!known) candidates.push_back(candidate);
}

// Returns the layouts that the request names. Whether they fit is for the trials to find out.
absl::StatusOr<std::vector<Candidate>> NamedLayouts(const planner::SearchRequest& request,
                                                    const SweepOptions& options,
                                                    planner::DeviceKind device) {
  std::vector<Candidate> candidates;
  ASSIGN_OR_RETURN(const planner::Condition runs,
                   planner::ParseLayoutCondition("where", WhereOf(options)));
  for (const std::string& text : options.layouts) {
    ASSIGN_OR_RETURN(planner::Layout layout, planner::ParseLayoutOn(text, request.devices));
    ASSIGN_OR_RETURN(const planner::Estimate estimate, planner::CheckAndEstimate(request, layout));
    if (!planner::LayoutMatcher(runs).Matches(layout)) {
      return FieldError(
          "layouts", text,
          absl::StrCat("must be one that the sweep's runner runs: ", WhereOf(options)));
    }
    if (!options.runner) {
      layout = trial::WithNamedKernels(layout, request.profile, device);
      RETURN_IF_ERROR(trial::CheckRules(request.model, layout, request.training, device));
    }
    AddCandidate({{layout, estimate}, /*requested=*/true}, candidates);
  }
  return candidates;
}

db::TrialRecord DescribeTrial(const planner::SearchRequest& request, const SweepOptions& options,
                              const Candidate& candidate, planner::DeviceKind device) {
  trial::TrialPlan plan;
  plan.model = request.model;
  plan.layout = candidate.ranked.layout;
  plan.training = request.training;
  plan.device = device;
  plan.steps = options.steps;
  plan.adaptive = options.adaptive;
  plan.seed = options.seed;
  plan.memory_limit_bytes = options.memory_limit_bytes;
  if (options.runner) plan.runner = options.runner->choice;
  plan.peak_flops =
      planner::RankPeakFlops(request.cluster, request.training.precision, plan.layout.devices());
  plan.estimated_bytes = planner::EstimateAllocatorBytes(planner::ContextOf(request), plan.layout);
  plan.estimated_communicator_bytes =
      planner::EstimateCommunicatorBytes(planner::ContextOf(request), plan.layout);
  plan.estimated_host_bytes = planner::EstimateHostBytes(planner::ContextOf(request), plan.layout);
  db::TrialRecord trial;
  trial.layout = planner::FormatLayout(plan.layout);
  trial.requested = candidate.requested;
  trial.predicted_step_s = candidate.ranked.estimate.time.step_s();
  trial.oom_probability = candidate.ranked.estimate.oom_probability;
  trial.reason = kWaits;
  trial.plan_json = ToJson(plan).dump();
  trial.predicted_json = planner::LayoutToJson(plan.layout, candidate.ranked.estimate).dump();
  return trial;
}

db::ResultShape ShapeOf(const NewSweep& made, const std::string& worker_version, bool adaptive) {
  // All plans of a sweep have one model and one training.
  const db::PlanParts plan = db::SplitPlan(made.candidates.front().plan_json, made.sweep.model);
  return {.model_hash = db::ShapeHash(plan.model),
          .cluster_hash = made.sweep.cluster_hash,
          .training_hash = db::ShapeHash(plan.training),
          .worker_version = worker_version,
          .devices = made.sweep.devices,
          .memory_limit_bytes = made.sweep.memory_limit_bytes,
          .seed = made.sweep.seed,
          .steps = made.sweep.steps,
          .adaptive = adaptive};
}

// Returns what runs the trials.
planner::Runner RunnerFor(const SweepOptions& options, const planner::FrameworkProfile& profile,
                          planner::DeviceKind device) {
  if (options.runner) return {.profile = options.runner->profile};
  return trial::WorkerAsRunner(profile, device);
}

}  // namespace

absl::StatusOr<NewSweep> BuildSweep(planner::SearchRequest request, const SweepOptions& options,
                                    const std::string& planner_version, absl::Time now) {
  RETURN_IF_ERROR(CheckOptions(options));
  const planner::DeviceKind device = request.cluster.device_kind();
  request.runner = RunnerFor(options, request.profile, device);
  ASSIGN_OR_RETURN(request, planner::Narrowed(std::move(request), WhereOf(options)));
  // The trials are the runner's, whichever framework is planned for.
  RETURN_IF_ERROR(planner::CheckOptions(request.runner->profile, request.training));
  if (options.memory_limit_bytes) {
    request.cluster.device.memory_bytes =
        std::min(request.cluster.device.memory_bytes, *options.memory_limit_bytes);
  }
  const auto named = [&](const planner::Layout& layout) {
    return options.runner ? layout : trial::WithNamedKernels(layout, request.profile, device);
  };
  ASSIGN_OR_RETURN(std::vector<Candidate> candidates, NamedLayouts(request, options, device));
  planner::Funnel funnel;
  const auto asked_for = static_cast<int32_t>(candidates.size());
  if (options.trials > 0) {
    request.top =
        options.candidates != 0 ? options.candidates : std::max(kUsualCandidates, options.trials);
    ASSIGN_OR_RETURN(planner::SearchResult result, planner::Search(request));
    if (result.layouts.empty() && candidates.empty()) return NothingFits(request, result);
    funnel = result.funnel;
    for (const planner::RankedLayout& ranked : result.layouts) {
      AddCandidate({{named(ranked.layout), ranked.estimate}, /*requested=*/false}, candidates);
    }
  }
  const auto found = static_cast<int32_t>(candidates.size()) - asked_for;
  const bool chooses = found > options.trials || (found > 0 && options.min_gain > 0.0);
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.ranked.estimate.mfu > b.ranked.estimate.mfu;
  });

  NewSweep made{DescribeSweep(request, options), {}};
  made.sweep.device_kind = std::string(planner::DeviceKindName(device));
  made.sweep.funnel_json = planner::FunnelToJson(funnel).dump();
  made.sweep.planner_version = planner_version;
  made.sweep.create_time = now;
  if (chooses) {
    made.sweep.max_trials = asked_for + std::min(options.trials, found);
    made.sweep.min_gain = options.min_gain;
  }
  for (const Candidate& candidate : candidates) {
    db::TrialRecord trial = DescribeTrial(request, options, candidate, device);
    trial.number = static_cast<int32_t>(made.candidates.size()) + 1;
    trial.is_open = chooses && !candidate.requested;
    made.candidates.push_back(std::move(trial));
  }
  return made;
}

NewSweep RepeatSweep(const db::SweepRecord& source, const std::vector<db::TrialRecord>& trials,
                     const SweepOptions& options, absl::Time now) {
  NewSweep made{source, {}};
  made.sweep.name = options.sweep_id;
  made.sweep.request_id = options.request_id;
  made.sweep.request_json = options.request_json;
  made.sweep.rerun_of = source.name;
  made.sweep.state = db::SweepState::kPending;
  made.sweep.reason = kJustCreated;
  made.sweep.create_time = now;
  made.sweep.end_time.reset();
  made.sweep.max_trials = 0;
  made.sweep.min_gain = 0.0;
  for (const db::TrialRecord& measured : trials) {
    db::TrialRecord trial;
    trial.number = static_cast<int32_t>(made.candidates.size()) + 1;
    trial.layout = measured.layout;
    trial.predicted_step_s = measured.predicted_step_s;
    trial.oom_probability = measured.oom_probability;
    trial.requested = measured.requested;
    trial.reason = kWaits;
    trial.plan_json = measured.plan_json;
    trial.predicted_json = measured.predicted_json;
    made.candidates.push_back(std::move(trial));
  }
  return made;
}

absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made) {
  if (made.candidates.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      std::vector<db::EarlierResult> found,
      store.ListEarlierResults(
          ShapeOf(made, made.sweep.runner.empty() ? worker_version : made.sweep.runner, adaptive)));
  std::map<std::string, db::EarlierResult> by_layout;
  for (db::EarlierResult& result : found) by_layout.emplace(result.layout, std::move(result));
  for (db::TrialRecord& candidate : made.candidates) {
    const auto earlier = by_layout.find(candidate.layout);
    if (earlier == by_layout.end()) continue;
    const db::EarlierResult& result = earlier->second;
    if (candidate.is_open) ++made.sweep.max_trials;
    candidate.is_open = false;
    candidate.state = result.state;
    candidate.reason = absl::StrCat("as ", result.trial, " measured: ", result.reason);
    candidate.reused_from = result.trial;
    candidate.measured = result.measured;
    ++made.sweep.reused;
  }
  return absl::OkStatus();
}

}  // namespace meshwright::server

#include "server/sweeps/reuse.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "db/measurement.h"
#include "db/shapes.h"

namespace meshwright::server {
namespace {

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

}  // namespace

absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made) {
  if (made.candidates.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<db::EarlierResult> found,
                   store.ListEarlierResults(ShapeOf(made, worker_version, adaptive)));
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

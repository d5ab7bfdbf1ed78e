// PlannerApi is the planner as the commands see it: in this process, or in a running server.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/report/answers.h"
#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

class PlannerApi {
 public:
  virtual ~PlannerApi() = default;
  virtual absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) = 0;
  virtual absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                           std::string_view layout) = 0;
  virtual absl::StatusOr<planner::CompareAnswer> Compare(
      const planner::PlanQuery& query, const std::vector<std::string>& layouts) = 0;
  // `progress` is called from time to time, and may be empty.
  virtual absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                                     const planner::ScaleProgress& progress) = 0;
  // `progress` likewise.
  virtual absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                                     const planner::StudyProgress& progress) = 0;
  // `progress` likewise.
  virtual absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& progress) = 0;
  // `layout` may be empty.
  virtual absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                                 std::string_view layout) = 0;
  virtual absl::StatusOr<planner::PresetNames> Presets() = 0;
};

// Returns the planner in this process, which uses every core. Searches of either planner end with
// Cancelled once `context.interrupted` turns true, and, except Fit(), show their progress on a
// terminal behind `context.err` once they take a while. The context outlives the planners.
std::unique_ptr<PlannerApi> LocalPlanner(const CommandContext& context);

// Returns the server's planner; the one in this process where `server` is empty.
std::unique_ptr<PlannerApi> PlannerAt(const ServerFlags& server, const CommandContext& context);

}  // namespace meshwright::cli

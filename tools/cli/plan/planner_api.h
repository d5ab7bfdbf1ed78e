// The planner as the commands see it: in this process, or a running server.
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
  // `progress` is called now and then, and may be empty.
  virtual absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                                     const planner::ScaleProgress& progress) = 0;
  // Likewise.
  virtual absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                                     const planner::StudyProgress& progress) = 0;
  // Likewise.
  virtual absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& progress) = 0;
  // `layout` may be empty.
  virtual absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                                 std::string_view layout) = 0;
  virtual absl::StatusOr<planner::PresetNames> Presets() = 0;
};

// A search of either ends with Cancelled once `context.interrupted` turns true. The context
// outlives them. They say, but for Fit(), on a terminal behind `context.err` how far a search is
// once that takes a while. One in this process takes every core.
std::unique_ptr<PlannerApi> LocalPlanner(const CommandContext& context);

// Of no server: in this process.
std::unique_ptr<PlannerApi> PlannerAt(const ServerFlags& server, const CommandContext& context);

}  // namespace meshwright::cli
